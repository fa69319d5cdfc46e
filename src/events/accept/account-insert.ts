import type { Knex } from 'knex';
import { inTransaction } from '../../db/transaction.ts';
import type { NewRow, OtherDelivery, StoredColumns } from './new-row.ts';

/**
 * Inserts keys, events and deliveries of one account on a distributed database, in one transaction. Each statement goes to the node of the
 * account. One statement for all would store the rows of each of its parts on the coordinator in between.
 * @returns the deliveries, without those of events whose key was seen before
 */
export function insertOfAccount(
  knex: Knex,
  rows: readonly NewRow[],
  owner: string | undefined,
  now: Date,
): Promise<readonly StoredColumns[]> {
  const insert = async (via: Knex): Promise<readonly StoredColumns[]> => {
    const [first] = rows;
    const fresh = await keepNew(via, rows);
    if (first === undefined || fresh.length === 0) return [];
    await via('event').insert(fresh.map(toEvent));
    const asleep = await findAsleep(via, first.accountId, fresh.flatMap(targetsOf));
    const deliveries = fresh.flatMap((row) =>
      targetsOf(row).map((target) =>
        toDelivery(row, target, { owner, now, isAsleep: asleep.has(target.subscriptionId) }),
      ),
    );
    return via('delivery').insert(deliveries).returning(['event_id', 'subscription_id', 'id', 'state']);
  };
  return inTransaction(knex, insert);
}

/** Stores the keys, in their order so that two processes with the same keys cannot block each other. Returns the rows that are new. */
async function keepNew(via: Knex, rows: readonly NewRow[]): Promise<readonly NewRow[]> {
  const keys = rows.flatMap(({ accountId, keyHash }) =>
    keyHash === undefined ? [] : [{ account_id: accountId, key_hash: keyHash }],
  );
  if (keys.length === 0) return rows;
  keys.sort((one, other) => Buffer.compare(one.key_hash, other.key_hash));
  const stored: { key_hash: Buffer }[] = await via('event_key')
    .insert(keys)
    .onConflict()
    .ignore()
    .returning('key_hash');
  const isNew = new Set(stored.map(({ key_hash }) => key_hash.toString('hex')));
  return rows.filter(({ keyHash }) => keyHash === undefined || isNew.has(keyHash.toString('hex')));
}

/**
 * Returns the deactivated subscriptions, locked until the commit, so that a reactivation finds the deliveries that are queued here. An active
 * one is not locked: the outcome of the delivery or the sweep reads its state again.
 */
async function findAsleep(
  via: Knex,
  accountId: number,
  targets: readonly OtherDelivery[],
): Promise<ReadonlySet<number>> {
  const ids = [...new Set(targets.map(({ subscriptionId }) => subscriptionId))];
  const rows: { id: number }[] = await via('subscription')
    .select('id')
    .where({ account_id: accountId })
    .whereIn('id', ids)
    .whereNot('state', 'active')
    .orderBy('id')
    .forShare();
  return new Set(rows.map(({ id }) => id));
}

function targetsOf(row: NewRow): readonly OtherDelivery[] {
  return [row, ...(row.others ?? [])];
}

function toEvent(row: NewRow) {
  return {
    account_id: row.accountId,
    id: row.eventId,
    created_at: row.createdAt,
    instance_id: row.instanceId,
    type: row.type,
    payload: row.payload.toString('utf8'),
    record: row.record ?? null,
    traceparent: row.traceparent ?? null,
  };
}

interface DeliveryContext {
  readonly owner: string | undefined;
  readonly now: Date;
  readonly isAsleep: boolean;
}

function toDelivery(row: NewRow, target: OtherDelivery, { owner, now, isAsleep }: DeliveryContext) {
  const state = isAsleep ? 'queued' : target.state;
  return {
    account_id: row.accountId,
    subscription_id: target.subscriptionId,
    event_id: row.eventId,
    event_at: row.createdAt,
    instance_id: row.instanceId,
    type: row.type,
    ordered: target.ordered,
    unfiltered: target.unfiltered ?? false,
    state,
    owner: state === 'delivering' ? (owner ?? null) : null,
    due: state === 'waiting' ? now : null,
  };
}
