import { Empty } from '../parts/show.tsx';
import type { PageProps } from '../places.ts';
import { InstanceList } from './list.tsx';

export function Instances({ below }: PageProps) {
  if (below === undefined) return <InstanceList />;
  return <Empty title="There is no such instance." />;
}
