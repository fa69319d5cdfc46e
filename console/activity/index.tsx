import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { useMay } from '../who.ts';
import { RequestList } from './list.tsx';
import { RequestPage } from './request.tsx';

/** Shows the list of requests, or one request: `/console/activity/{requestId}`. */
export function Activity({ below }: PageProps) {
  const may = useMay();
  if (!may('viewAccountLogs'))
    return (
      <Empty title="You may not see the activity of this account.">
        <p>
          You need the privilege <code>viewAccountLogs</code>. Ask an administrator of the organization for it.
        </p>
      </Empty>
    );
  return below === undefined ? <RequestList /> : <RequestPage key={below} requestId={below} />;
}
