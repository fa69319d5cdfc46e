import type { Knex } from 'knex';
import { columnLiterals } from '../../db/array-literal.ts';
import { isDistributed, isOfAccount, perAccount } from '../../db/distributed.ts';
import { type ColumnsOf, firstOf, type RowOf } from '../../db/row.ts';

type DeliveryKey = RowOf<'delivery', 'account_id' | 'id'>;

export type OwnerStore = ReturnType<typeof createOwnerStore>;

/** Creates the store of owners. All times come from the database, so that the clocks of processes may differ. */
export function createOwnerStore(knex: Knex) {
  return {
    add: async (id: string): Promise<void> => {
      await knex('event_owner').insert({ id });
    },

    /** Returns the number of living owners. */
    count: async (): Promise<number> => {
      const { rows } = await knex.raw<{ rows: { readonly count: number }[] }>(
        'select count(*)::int as count from event_owner',
      );
      return firstOf(rows).count;
    },

    /** Returns false when the row is gone because another process considered this one dead. */
    heartbeat: async (id: string): Promise<boolean> =>
      (await knex('event_owner').where({ id }).update({ heartbeat_at: knex.fn.now() })) > 0,

    remove: async (id: string): Promise<void> => {
      await knex('event_owner').where({ id }).delete();
    },

    /** Removes owners that were silent for this long. From then on they own nothing, even if their processes run. */
    removeSilent: async (silentMs: number): Promise<number> =>
      knex('event_owner').whereRaw("heartbeat_at < now() - ? * interval '1 millisecond'", [silentMs]).delete(),

    /**
     * Releases deliveries of dead owners to the sweep, at least `limit` if there are as many, including ordered ones. Attempts are not
     * changed.
     * @returns number of released deliveries
     */
    takeOver: async (now: Date, limit: number): Promise<number> => {
      if (await isDistributed(knex)) return takeOverPerAccount(knex, now, limit);
      const { rowCount } = await knex.raw<{ rowCount: number }>(TAKE_OVER, [now, limit]);
      return rowCount;
    },

    /** Returns the deliveries that this owner has held for at least `ageMs`, according to the database. */
    heldBy: async (id: string, ageMs: number): Promise<readonly DeliveryKey[]> =>
      knex('delivery')
        .select({ accountId: 'account_id', id: 'id' } satisfies ColumnsOf<'delivery', 'account_id' | 'id'>)
        .where({ owner: id, state: 'delivering' })
        .whereRaw("updated_at < now() - ? * interval '1 millisecond'", [ageMs]),

    /**
     * Releases deliveries that this owner has held for at least `ageMs`. Those that it released and claimed again since they were found are
     * not among them.
     * @returns number of deliveries
     */
    giveBack: async (
      owner: string,
      deliveries: readonly DeliveryKey[],
      { now, ageMs }: { readonly now: Date; readonly ageMs: number },
    ): Promise<number> => {
      const counts = await perAccount(knex, deliveries, async (via, ofOne, accountId) => {
        const { rowCount } = await via.raw<{ rowCount: number }>(giveBack(accountId), [
          now,
          ...columnLiterals(ofOne, ['accountId', 'id']),
          owner,
          ageMs,
        ]);
        return rowCount;
      });
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/**
 * Reads between the ids of living owners, where only dead ones have rows, so that the many short-lived entries of the living are never
 * read. Both ends of the id space count as living, because no owner gets them.
 */
const GAPS = `
  with living as (
    select id from event_owner
    union all values ('00000000-0000-0000-0000-000000000000'::uuid), ('ffffffff-ffff-ffff-ffff-ffffffffffff')
  ),
  gap as (select id as low, lead(id) over (order by id) as high from living)`;

const TAKE_OVER = `${GAPS}
  update delivery d set state = 'waiting', owner = null, due = ?, updated_at = now()
  where d.state = 'delivering' and d.ctid = any(array(
    select orphan.place from gap
    cross join lateral (
      select o.ctid as place from delivery o
      where o.state = 'delivering' and o.owner > gap.low and o.owner < gap.high
      limit ?
      for update skip locked
    ) orphan
    where gap.high is not null
  ))`;

/** A distributed database locks rows of one account at a time only. This finds the accounts first, without a lock. */
async function takeOverPerAccount(knex: Knex, now: Date, limit: number): Promise<number> {
  const { rows } = await knex.raw<{ rows: RowOf<'delivery', 'account_id'>[] }>(ACCOUNTS_OF_ORPHANS, [limit]);
  let released = 0;
  for (const { accountId } of rows) {
    if (released >= limit) break;
    const { rowCount } = await knex.raw<{ rowCount: number }>(TAKE_OVER_OF_ACCOUNT, [
      now,
      accountId,
      accountId,
      limit - released,
    ]);
    released += rowCount;
  }
  return released;
}

const ACCOUNTS_OF_ORPHANS = `${GAPS}
  select distinct o.account_id as "accountId" from delivery o
  join gap on o.owner > gap.low and o.owner < gap.high
  where o.state = 'delivering'
  limit ?`;

const TAKE_OVER_OF_ACCOUNT = `
  update delivery d set state = 'waiting', owner = null, due = ?, updated_at = now()
  where d.account_id = ? and d.state = 'delivering' and d.ctid = any(array(
    select o.ctid from delivery o
    where o.account_id = ? and o.state = 'delivering' and not exists (select from event_owner where id = o.owner)
    limit ?
    for update skip locked
  ))`;

const giveBack = (accountId: number | undefined) => `
  update delivery d set state = 'waiting', owner = null, due = ?, updated_at = now()
  from unnest(?::bigint[], ?::bigint[]) as g(account_id, id)
  where d.account_id = g.account_id and d.id = g.id and d.state = 'delivering' and d.owner = ?
    and d.updated_at < now() - ? * interval '1 millisecond' ${isOfAccount('d', accountId)}`;
