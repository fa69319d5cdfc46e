import { useLocation } from 'preact-iso';
import { api, ask, askPage } from '../api.ts';
import type { PageProps } from '../navigation.ts';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery, withQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { type AuditEntry, AuditEntryDialog, ResponseCell } from './audit-entry.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { useAccountNames, useUserNames } from './names.ts';

/** The filter of entries in the address. */
export interface AuditQuery {
  readonly kind?: string;
  /** Id or e-mail address of the user. */
  readonly user?: string;
  /** Id or external id of the account. */
  readonly account?: string;
  /** Start and end as a `datetime-local` field writes them: local, to the minute. */
  readonly from?: string;
  readonly to?: string;
  readonly where?: string;
}

const PATH = '/console/organization/audit';
const PAGE_SIZE = 50;

/** Lists the changes, newest first, and shows the entry that the path names beside them. */
export function AuditLog({ below }: PageProps) {
  const { query } = useQuery();
  const { route } = useLocation();
  const sought: AuditQuery = query;
  const list = usePages((nextPage, signal) => readPage(sought, nextPage, signal), [query]);
  const rows = list.value?.rows ?? [];
  const users = useUserNames(rows.map(({ userId }) => userId));
  const accounts = useAccountNames(rows.map(({ accountId }) => accountId));
  const columns: readonly Column<AuditEntry>[] = [
    { title: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
    {
      title: 'Who',
      cell: ({ userId }) => (userId === null ? 'unknown user' : (users.get(userId) ?? `user ${userId}`)),
    },
    { title: 'Action', cell: ({ action, target }) => `${action} ${target}` },
    {
      title: 'Request',
      isMinor: true,
      cell: ({ method, resourceUri }) => (
        <code>
          {method} {resourceUri.replace('/elements/api-v2', '')}
        </code>
      ),
    },
    { title: 'Response', cell: ({ status }) => <ResponseCell status={status} /> },
    { title: 'Account', isMinor: true, cell: ({ accountId }) => accounts.get(accountId) ?? accountId },
  ];
  return (
    <>
      <AuditFilters />
      <Show loaded={list}>
        {(page) =>
          page.rows.length === 0 ? (
            <Empty title="No entry matches the filter." />
          ) : (
            <Table
              label="Audit log"
              columns={columns}
              rows={page.rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => withQuery(`${PATH}/${id}`, query)}
            />
          )
        }
      </Show>
      <Pager {...list} />
      {below !== undefined && <AuditEntryDialog key={below} id={below} onClose={() => route(withQuery(PATH, query))} />}
    </>
  );
}

async function readPage(
  { kind, user, account, from, to, where }: AuditQuery,
  nextPage: string | undefined,
  signal: AbortSignal,
) {
  const query = {
    pageSize: PAGE_SIZE,
    ...(user && { userId: await findUser(user, signal) }),
    ...(account && { accountId: account }),
    ...(from && { from: new Date(from).toISOString() }),
    ...(to && { to: new Date(to).toISOString() }),
    ...(where && { where }),
    ...(nextPage && { nextPage }),
  };
  return askPage(listOf(kind)({ signal, params: { query } }));
}

type ListOptions = NonNullable<Parameters<typeof readWhole>[0]>;

const readWhole = (options: { signal: AbortSignal; params: { query: Record<string, string | number> } }) =>
  api.GET('/audit-logs', options);

/** Returns the function that lists a kind of entries, because the API has a list for each kind. */
function listOf(kind: string | undefined): (options: ListOptions) => ReturnType<typeof readWhole> {
  if (kind === 'authentication') return (options) => api.GET('/audit-logs/authentication', options);
  if (kind === 'element-instances') return (options) => api.GET('/audit-logs/element-instances', options);
  if (kind === 'elements') return (options) => api.GET('/audit-logs/elements', options);
  if (kind === 'users') return (options) => api.GET('/audit-logs/users', options);
  if (kind === 'settings') return (options) => api.GET('/audit-logs/settings', options);
  return readWhole;
}

async function findUser(named: string, signal: AbortSignal): Promise<number> {
  if (/^\d+$/.test(named)) return Number(named);
  const { id } = await ask(api.GET('/users/{emailOrId}', { signal, params: { path: { emailOrId: named } } }));
  return id;
}
