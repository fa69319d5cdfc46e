import { writeAddress } from '../address.ts';
import { api, askPage } from '../api.ts';
import { useLoad } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { Answer, type AuditEntry } from './audit-log.tsx';
import { useAccountNames, useUserNames } from './names.ts';

/** One entry with all that it tells. */
export function AuditEntryDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const loaded = useLoad(
    (signal) =>
      askPage(api.GET('/audit-logs', { signal, params: { query: { where: `id = ${Number(id)}` } } })).then(
        ({ rows: [entry] }) => ({ entry }),
      ),
    [id],
  );
  return (
    <Dialog title="Entry of the audit log" onClose={onClose} isSide>
      <Show loaded={loaded}>
        {({ entry }) =>
          entry === undefined ? (
            <Empty title="There is no such entry, or it is not kept any more." />
          ) : (
            <Entry entry={entry} />
          )
        }
      </Show>
    </Dialog>
  );
}

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { timestamp, userId, accountId, action, target, method, resourceUri, status, ipAddress, requestId } = entry;
  const users = useUserNames([userId]);
  const accounts = useAccountNames([accountId]);
  return (
    <>
      <dl class="facts">
        <dt>When</dt>
        <dd>
          {timestamp} (<Time at={timestamp} />)
        </dd>
        <dt>Who</dt>
        <dd>
          {userId === null ? (
            'nobody known'
          ) : (
            <a href={writeAddress('/console/organization/audit', { user: String(userId) })}>
              {users.get(userId) ?? `user ${userId}`}
            </a>
          )}
        </dd>
        <dt>Account</dt>
        <dd>{accounts.get(accountId) ?? accountId}</dd>
        <dt>What</dt>
        <dd>
          {action} {target}
        </dd>
        <dt>Request</dt>
        <dd>
          <code>
            {method} {resourceUri}
          </code>
        </dd>
        <dt>Answer</dt>
        <dd>
          <Answer status={status} />
        </dd>
        <dt>From</dt>
        <dd>{ipAddress ?? 'unknown'}</dd>
        {entry.instanceId !== undefined && (
          <>
            <dt>Instance</dt>
            <dd>
              <a href={`/console/instances/${entry.instanceId}`}>{entry.instanceId}</a>
            </dd>
          </>
        )}
        <dt>Request id</dt>
        <dd>
          <code>{requestId}</code> <Copy text={requestId} what="the request id" />
        </dd>
      </dl>
      <Changes changes={entry.changes} />
    </>
  );
}

interface Change {
  readonly member: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

const COLUMNS: readonly Column<Change>[] = [
  { title: 'Member', cell: ({ member }) => <code>{member}</code> },
  { title: 'From', cell: ({ from }) => from ?? <span class="soft">–</span> },
  { title: 'To', cell: ({ to }) => to ?? <span class="soft">–</span> },
];

function Changes({ changes }: Pick<AuditEntry, 'changes'>) {
  const rows = Object.entries(changes ?? {}).map(readChange);
  if (rows.length === 0) return <p class="soft">The entry tells of no changed members.</p>;
  return (
    <>
      <h3>Changes</h3>
      <Table label="Changes" columns={COLUMNS} rows={rows} keyOf={({ member }) => member} />
    </>
  );
}

/** A member has what it was and what it is, or what it became. */
function readChange([member, value]: readonly [string, unknown]): Change {
  if (typeof value !== 'object' || value === null || !('from' in value || 'to' in value))
    return { member, from: undefined, to: print(value) };
  return {
    member,
    from: 'from' in value ? print(value.from) : undefined,
    to: 'to' in value ? print(value.to) : undefined,
  };
}

function print(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
