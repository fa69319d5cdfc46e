import { quoteText } from '../../src/where/print.ts';
import { api, askPage, type Schemas } from '../api.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { sayLacking, useMay } from '../who.ts';

export type ConnectSession = Schemas['ConnectSession'];

export const PATH = '/console/connect';
const PAGE_SIZE = 50;
const REFRESHED_MS = 10_000;

const TONES: Readonly<Record<ConnectSession['status'], Tone>> = {
  open: 'busy',
  completed: 'good',
  failed: 'bad',
  expired: 'warn',
};

const COLUMNS: readonly Column<ConnectSession>[] = [
  { title: 'Session', cell: ({ id, name }) => name ?? `Session ${id}` },
  {
    title: 'State',
    cell: ({ status, problem }) => (
      <>
        <Status status={status} /> {problem !== undefined && <Badge tone="warn">not shown</Badge>}
      </>
    ),
  },
  { title: 'Elements', isMinor: true, cell: ({ elements }) => sayElements(elements) },
  { title: 'Tags', isMinor: true, cell: ({ tags }) => tags.join(', ') },
  { title: 'Made', isMinor: true, cell: ({ createdDate }) => <Time at={createdDate} /> },
  { title: 'Expires', cell: ({ expiresDate }) => <Time at={expiresDate} /> },
];

export function ConnectSessionList() {
  const mayConnect = useMay()('createElementInstances');
  const {
    query: { status = '' },
    change,
  } = useQuery();
  const list = usePages(
    (nextPage, signal) => {
      const query = {
        pageSize: PAGE_SIZE,
        ...(status && { where: `status = ${quoteText(status)}` }),
        ...(nextPage && { nextPage }),
      };
      return askPage(api.GET('/connect/sessions', { signal, params: { query } }));
    },
    [status],
    { everyMs: REFRESHED_MS },
  );
  if (!mayConnect)
    return (
      <Empty title="Your roles do not include connect sessions. Ask an administrator.">
        {sayLacking('createElementInstances')}
      </Empty>
    );
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Connect sessions</h1>
        <span class="row">
          <select
            aria-label="State"
            value={status}
            onChange={({ currentTarget }) => change({ status: currentTarget.value })}
          >
            <option value="">any state</option>
            {Object.keys(TONES).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          <a class="button main" href={`${PATH}/new`}>
            New session
          </a>
        </span>
      </header>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title={status === '' ? 'There are no sessions yet.' : 'No session matches. Choose another state.'}>
              <p>
                A session has a link with which a user of your product connects one account. The user sees none of your
                secrets.
              </p>
              <a href={`${PATH}/new`}>Create a session</a>
            </Empty>
          ) : (
            <Table
              label="Connect sessions"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => `${PATH}/${id}`}
            />
          )
        }
      </Show>
      <Pager {...list} />
    </div>
  );
}

export function Status({ status }: Pick<ConnectSession, 'status'>) {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}

export function sayElements(elements: readonly string[]): string {
  return elements.length === 0 ? 'all' : elements.join(', ');
}
