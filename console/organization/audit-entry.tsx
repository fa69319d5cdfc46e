import { api, askPage, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fact } from '../parts/fact.tsx';
import { withQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useAccountNames, useUserNames } from './names.ts';

export type AuditEntry = Schemas['AuditLogEntry'];

/** Shows one entry with all its data. */
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
            <Empty title="This entry does not exist, or its retention period is over." />
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
        <Fact name="When">
          {timestamp} (<Time at={timestamp} />)
        </Fact>
        <Fact name="Who">
          {userId === null ? (
            'unknown user'
          ) : (
            <a href={withQuery('/console/organization/audit', { user: String(userId) })}>
              {users.get(userId) ?? `user ${userId}`}
            </a>
          )}
        </Fact>
        <Fact name="Account">{accounts.get(accountId) ?? accountId}</Fact>
        <Fact name="Action">
          {action} {target}
        </Fact>
        <Fact name="Request">
          <code>
            {method} {resourceUri}
          </code>
        </Fact>
        <Fact name="Response">
          <ResponseCell status={status} />
        </Fact>
        <Fact name="From">{ipAddress ?? 'unknown'}</Fact>
        {entry.instanceId !== undefined && (
          <Fact name="Instance">
            <a href={`/console/instances/${entry.instanceId}`}>{entry.instanceId}</a>
          </Fact>
        )}
        <Fact name="Request id">
          <code>{requestId}</code> <Copy text={requestId} what="the request id" />
        </Fact>
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
  if (rows.length === 0) return <p class="soft">The entry has no changed members.</p>;
  return (
    <>
      <h3>Changes</h3>
      <Table label="Changes" columns={COLUMNS} rows={rows} keyOf={({ member }) => member} />
    </>
  );
}

/** Reads the change of a member: its values before and after, or the new value only. */
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

export function ResponseCell({ status }: { readonly status: number }) {
  return <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>;
}
