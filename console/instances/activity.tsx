import { api, askPage, BASE_PATH, type Schemas } from '../api.ts';
import { pathOf } from '../explore/address.ts';
import { Badge } from '../parts/badge.tsx';
import { ConsoleReadsSwitch, consoleReadsOf } from '../parts/console-reads.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import { useMay } from '../who.ts';

type Activity = Schemas['Activity'];

const PAGE_SIZE = 50;
/** Milliseconds after which the list is requested again, because the service stores calls a moment after their response. */
const REFRESH_MS = 3000;

const COLUMNS: readonly Column<Activity>[] = [
  {
    title: 'Call',
    cell: ({ method, path }) => (
      <>
        <strong>{method}</strong> <span class="break">{path.replace(BASE_PATH, '')}</span>
      </>
    ),
  },
  {
    title: 'Response',
    cell: ({ status, code }) => (
      <span class="row">
        <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>{' '}
        {code !== undefined && <code class="small">{code}</code>}
      </span>
    ),
  },
  {
    title: 'Provider calls',
    isNumber: true,
    isMinor: true,
    cell: ({ providerCalls, moreProviderCalls = 0 }) => providerCalls.length + moreProviderCalls,
  },
  { title: 'Took', isNumber: true, isMinor: true, cell: ({ durationMs }) => sayDuration(durationMs) },
  { title: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
];

/** Lists the calls on the instance. */
export function InstanceActivity({ id }: { readonly id: number }) {
  const may = useMay();
  if (!may('viewAccountLogs'))
    return (
      <Empty title="You need the privilege viewAccountLogs to see activity. Ask an administrator of the organization." />
    );
  return <Calls id={id} />;
}

function Calls({ id }: { readonly id: number }) {
  const address = useQuery();
  const reads = consoleReadsOf(address.query);
  const list = usePages(
    (nextPage, signal) =>
      askPage<Activity>(
        api.GET('/instances/{id}/activity', {
          signal,
          params: {
            path: { id },
            query: { pageSize: PAGE_SIZE, ...reads, ...(nextPage !== undefined && { nextPage }) },
          },
        }),
      ),
    [id, reads],
    { everyMs: REFRESH_MS },
  );
  return (
    <>
      <div class="row end">
        <ConsoleReadsSwitch {...address} />
        <button type="button" disabled={list.isLoading} onClick={list.reload}>
          Refresh
        </button>
      </div>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length > 0 ? (
            <Table
              label="Activity"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ requestId }) => requestId}
              linkOf={({ requestId }) => `/console/activity/${requestId}`}
            />
          ) : (
            <Empty title="The instance has no requests in the retention period.">
              <a href={pathOf(id)}>Show its records</a>
            </Empty>
          )
        }
      </Show>
      <Pager {...list} />
    </>
  );
}
