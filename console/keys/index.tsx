import type { PageProps } from '../navigation.ts';
import { AccessKeyList } from './list.tsx';
import { NewAccessKey } from './new.tsx';

/** Keys for programs, each of which can do less than its user. */
export function AccessKeys({ below }: PageProps) {
  return below === 'new' ? <NewAccessKey /> : <AccessKeyList />;
}
