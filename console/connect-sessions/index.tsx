import type { PageProps } from '../navigation.ts';
import { ConnectSessionList } from './list.tsx';
import { NewConnectSession } from './new.tsx';
import { ConnectSessionDetail } from './session.tsx';

/** Shows the connect sessions: links with which users of a product connect their accounts. */
export function ConnectSessions({ below }: PageProps) {
  if (below === undefined) return <ConnectSessionList />;
  return below === 'new' ? <NewConnectSession /> : <ConnectSessionDetail key={below} id={below} />;
}
