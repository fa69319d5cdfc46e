import { useMemo, useState } from 'preact/hooks';
import { api, askPage, BASE_PATH, type Schemas } from '../api.ts';
import { ConsoleReadsSwitch, consoleReadsOf } from '../parts/console-reads.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import { kindOf, whereOf } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { Status } from './status.tsx';

type Request = Schemas['Activity'];

const PAGE_SIZE = 50;

const COLUMNS: readonly Column<Request>[] = [
  {
    title: 'Time',
    cell: ({ timestamp }) => (
      <span class="whole">
        <Time at={timestamp} />
      </span>
    ),
  },
  {
    title: 'Request',
    cell: ({ method, path }) => (
      <code class="clamp" title={path}>
        <span class="soft">{method}</span> {shorten(path)}
      </code>
    ),
  },
  { title: 'Status', cell: (request) => <Outcome request={request} /> },
  { title: 'Took', isNumber: true, cell: ({ durationMs }) => sayDuration(durationMs) },
  { title: 'Provider calls', isNumber: true, isMinor: true, cell: callCount },
  {
    title: 'Instance',
    isMinor: true,
    cell: ({ instanceId, elementKey }) =>
      instanceId !== undefined && (
        <a class="whole" href={`/console/instances/${instanceId}`}>
          #{instanceId} {elementKey}
        </a>
      ),
  },
];

/** Lists the requests to the service and the background work, the newest first. */
export function RequestList() {
  const address = useQuery();
  const [version, setVersion] = useState(0);
  const key = JSON.stringify(address.query);
  // The current time is read again when the filter changes or the list is reloaded.
  const where = useMemo(() => whereOf(address.query, Date.now()), [key, version]);
  const kind = kindOf(address.query);
  const reads = consoleReadsOf(address.query);
  const list = usePages(
    (nextPage, signal) =>
      askPage(
        api.GET('/activity', {
          signal,
          params: {
            query: { kind, pageSize: PAGE_SIZE, ...reads, ...(where && { where }), ...(nextPage && { nextPage }) },
          },
        }),
      ),
    [kind, where, reads, version],
  );
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Activity</h1>
        <ConsoleReadsSwitch {...address} />
      </header>
      <FilterBar {...address} where={where} refresh={() => setVersion(version + 1)} />
      <Show loaded={list} lines={10}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Nothing isFiltered={where !== undefined || kind !== 'all'} />
          ) : (
            <Table
              label="Requests"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ requestId }) => requestId}
              linkOf={({ requestId }) => `/console/activity/${requestId}`}
            />
          )
        }
      </Show>
      <Pager {...list} />
    </div>
  );
}

function Outcome({ request: { status, code, cut } }: { readonly request: Request }) {
  return (
    <span class="row">
      <Status status={status} />
      {code !== undefined && <code class="small">{code}</code>}
      {cut && <span class="small soft">interrupted</span>}
    </span>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No request matches the filter.">
      <p>
        The service keeps activity for 7 days, unless the operator sets another period. A request appears a second after
        its response.
      </p>
      <a href="/console/activity">Show all requests</a>
    </Empty>
  ) : (
    <Empty title="There are no requests yet.">
      <p>This page shows each request to the API, with the calls to the provider that it caused.</p>
      <a href="/console/explore">Send a request in Explore</a>
    </Empty>
  );
}

/** Returns a path without the base path that all requests to the API begin with. */
export function shorten(path: string): string {
  return path.startsWith(`${BASE_PATH}/`) ? path.slice(BASE_PATH.length) : path;
}

function callCount({ providerCalls, moreProviderCalls = 0 }: Request): number {
  return providerCalls.length + moreProviderCalls;
}
