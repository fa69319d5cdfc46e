import type { Knex } from 'knex';
import { columnLiterals } from '../db/array-literal.ts';
import { isDistributed, perAccount } from '../db/distributed.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ActivityRow } from './activity-store.ts';

/** Time of an instance's last call, and its last error. */
export interface LastCalls {
  readonly lastCallAt: Date;
  readonly lastError:
    | { readonly at: Date; readonly status: number; readonly code: string | null; readonly requestId: string }
    | undefined;
}

interface LastCallRow {
  readonly instanceId: number;
  readonly lastCallAt: Date;
  readonly at: Date | null;
  readonly status: number | null;
  readonly code: string | null;
  readonly requestId: string | null;
}

/** Creates the store of the last calls on instances, with one row per instance. */
export function createLastCallStore(knex: Knex) {
  return {
    /**
     * Notes calls that were recorded together. Processes record at the same time, so an earlier time never replaces a later one. The order
     * of the rows prevents that two processes block each other, and the lock prevents that an instance is deleted meanwhile.
     */
    note: async (rows: readonly ActivityRow[]): Promise<void> => {
      // Calls about an instance, such as a change of its name, are none on it and have no element.
      const calls = rows.filter(
        ({ instanceId, elementKey, isConsoleRead }) => instanceId !== null && elementKey !== null && !isConsoleRead,
      );
      if (calls.length === 0) return;
      if (await isDistributed(knex)) {
        await perAccount(knex, calls, noteOfAccount);
        return;
      }
      await knex.raw(
        `with call as (
           select * from unnest(?::bigint[], ?::bigint[], ?::timestamptz[], ?::smallint[], ?::text[], ?::uuid[])
             as call (account_id, instance_id, at, status, code, request_id)
         ), known as (
           select account_id, id from instance
           where (account_id, id) in (select account_id, instance_id from call) order by account_id, id for key share
         )
         insert into instance_call as last
         select known.account_id, id, (select max(at) from call where call.account_id = known.account_id and instance_id = id),
           failed.at, failed.status, failed.code, failed.request_id
         from known left join lateral (
           select * from call where call.account_id = known.account_id and instance_id = id and status >= 400 order by at desc limit 1
         ) failed on true
         on conflict (account_id, instance_id) do update set
           last_call_at = greatest(last.last_call_at, excluded.last_call_at),
           (last_error_at, last_error_status, last_error_code, last_error_request_id) = (
             select at, status, code, request_id from (values
               (last.last_error_at, last.last_error_status, last.last_error_code, last.last_error_request_id),
               (excluded.last_error_at, excluded.last_error_status, excluded.last_error_code, excluded.last_error_request_id)
             ) error (at, status, code, request_id) order by at desc nulls last limit 1
           )`,
        columnLiterals(calls, ['accountId', 'instanceId', 'at', 'status', 'code', 'requestId']),
      );
    },

    /** Returns the last calls of instances of the account, by id. */
    find: async (accountId: number, ids: readonly number[]): Promise<ReadonlyMap<number, LastCalls>> => {
      const { rows } = await knex.raw<{ rows: LastCallRow[] }>(
        `select instance_id as "instanceId", last_call_at as "lastCallAt", last_error_at as at, last_error_status as status,
           last_error_code as code, last_error_request_id as "requestId"
         from instance_call where account_id = ? and instance_id = any(?)`,
        [accountId, [...ids]],
      );
      return new Map(rows.map((row) => [row.instanceId, toLastCalls(row)]));
    },
  };
}

function toLastCalls({ lastCallAt, at, status, code, requestId }: LastCallRow): LastCalls {
  const hasError = at !== null && status !== null && requestId !== null;
  return { lastCallAt, lastError: hasError ? { at, status, code, requestId } : undefined };
}

/** Notes calls of one account on a distributed database, where each statement goes to the node of the account. */
function noteOfAccount(knex: Knex, calls: readonly ActivityRow[], accountId?: number): Promise<void> {
  const byInstance = Map.groupBy(calls, ({ instanceId }) => instanceId ?? 0);
  const note = async (via: Knex): Promise<void> => {
    const known = await via('instance')
      .where({ account_id: accountId })
      .whereIn('id', [...byInstance.keys()])
      .orderBy('id')
      .select('id')
      .forKeyShare();
    if (known.length === 0) return;
    const rows = known.map(({ id }) => toRow(accountId ?? 0, id, byInstance.get(id) ?? []));
    await via('instance_call')
      .insert(rows)
      .onConflict(['account_id', 'instance_id'])
      .merge({
        last_call_at: via.raw('greatest(instance_call.last_call_at, excluded.last_call_at)'),
        ...Object.fromEntries(ERROR_COLUMNS.map((column) => [column, via.raw(ofLaterError(column))])),
      });
  };
  return inTransaction(knex, note);
}

const ERROR_COLUMNS = ['last_error_at', 'last_error_status', 'last_error_code', 'last_error_request_id'] as const;

function ofLaterError(column: (typeof ERROR_COLUMNS)[number]): string {
  return `case when excluded.last_error_at > coalesce(instance_call.last_error_at, '-infinity')
    then excluded.${column} else instance_call.${column} end`;
}

function toRow(accountId: number, instanceId: number, calls: readonly ActivityRow[]) {
  const latestFirst = calls.toSorted((one, other) => other.at.getTime() - one.at.getTime());
  const failed = latestFirst.find(({ status }) => status >= 400);
  return {
    account_id: accountId,
    instance_id: instanceId,
    last_call_at: latestFirst[0]?.at,
    last_error_at: failed?.at ?? null,
    last_error_status: failed?.status ?? null,
    last_error_code: failed?.code ?? null,
    last_error_request_id: failed?.requestId ?? null,
  };
}
