import type { Knex } from 'knex';
import { type AuditEntry, currentTrace } from '../trace.ts';
import { json } from './json.ts';

/** What is known of a change when it is done. */
export type ChangeNote = Partial<Pick<AuditEntry, 'targetId' | 'instanceId' | 'changes'>>;

const SUCCESS = 200;

/**
 * A transaction that changes something for a caller: the row of the audit log is part of it, so that there is no change without its row and
 * no row that tells of a change that was rolled back. Of several within one request the first has the row. Work that no caller asked for
 * has none. `note` tells what was changed, from what the work came to.
 */
export async function change<Result>(
  knex: Knex,
  work: (via: Knex.Transaction) => Promise<Result>,
  note: (result: Result) => ChangeNote = () => ({}),
): Promise<Result> {
  const entry = currentTrace()?.audit;
  if (entry === undefined || entry.isWritten) return knex.transaction(work);
  const result = await knex.transaction(async (via) => {
    const done = await work(via);
    Object.assign(entry, note(done));
    await writeEntry(via, entry, SUCCESS);
    return done;
  });
  entry.isWritten = true;
  return result;
}

/** Once more with another status it is the same row: what a later step of the request came to. */
export async function writeEntry(via: Knex, entry: AuditEntry, status: number): Promise<void> {
  await via('audit_log')
    .insert({
      at: entry.at,
      request_id: entry.requestId,
      organization_id: entry.organizationId,
      account_id: entry.accountId,
      user_id: entry.userId,
      instance_id: entry.instanceId ?? null,
      method: entry.method,
      resource_uri: entry.resourceUri,
      action: entry.action,
      target: entry.target,
      target_id: entry.targetId ?? null,
      ip_address: entry.ipAddress ?? null,
      status,
      changes: entry.changes === undefined ? null : json(via, entry.changes),
    })
    .onConflict(['account_id', 'at', 'request_id'])
    .merge({ status });
}

type Members = Readonly<Record<string, unknown>>;

/** A member before and after; without `from` it is new, without `to` it is gone. */
export interface Difference {
  readonly from?: unknown;
  readonly to?: unknown;
}

/**
 * What differs between two states of a thing, by member. `show` is for members whose values are not for everybody, such as secrets: they are
 * compared as they are, and told as shown. A member that is undefined is not there.
 */
export function differences(
  before: Members,
  after: Members,
  show: (name: string, value: unknown) => unknown = (_, value) => value,
): Readonly<Record<string, Difference>> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const told = (side: 'from' | 'to', name: string, value: unknown) =>
    value === undefined ? {} : { [side]: show(name, value) };
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, { ...told('from', name, before[name]), ...told('to', name, after[name]) }]),
  );
}
