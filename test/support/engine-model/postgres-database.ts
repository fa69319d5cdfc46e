import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Clock } from '../../../src/clock.ts';
import { createKeyring } from '../../../src/db/keyring.ts';
import { createPoolShares } from '../../../src/db/pool-shares.ts';
import { firstOf } from '../../../src/db/row.ts';
import { createDeliveries } from '../../../src/events/deliveries/deliveries.ts';
import { createSubscriptions } from '../../../src/events/subscriptions/subscriptions.ts';
import { silentLog } from '../database.ts';
import { ACCOUNT_ID, createStores } from '../events.ts';
import { createLocalNotifier } from '../notifier.ts';
import type { ModelDatabase } from './stored.ts';

/** Number of turns without a statement after which no further statement is expected. */
const QUIET_TURNS = 4;

/**
 * The real stores with the time of the model. The database judges with its own time whether a process is silent, so the heartbeats of
 * processes that are silent in the model are set back before the query.
 */
export function createPostgresDatabase(knex: Knex, clock: Clock): ModelDatabase {
  const real = createStores(knex);
  const heartbeats = new Map<string, number>();

  const isQuiet = () => knex.client.pool.numUsed() + knex.client.pool.numPendingAcquires() === 0;
  const beats = (id: string) => heartbeats.set(id, clock.now());
  const owners = {
    ...real.owners,
    add: async (id: string) => {
      beats(id);
      await real.owners.add(id);
    },
    heartbeat: async (id: string) => {
      beats(id);
      return real.owners.heartbeat(id);
    },
    removeSilent: async (silentMs: number) => {
      const silent = [...heartbeats].flatMap(([id, atMs]) => (atMs < clock.now() - silentMs ? [id] : []));
      await knex('event_owner')
        .whereIn('id', silent)
        .update({ heartbeat_at: new Date(0) });
      return real.owners.removeSilent(3_600_000);
    },
  };

  const notifier = createLocalNotifier();
  const shares = createPoolShares({ knex, poolSize: 5 });
  const keyring = createKeyring(`model:${randomBytes(32).toString('base64')}`);
  const random = { bytes: randomBytes };
  const subscriptions = createSubscriptions({ knex, shares, keyring, notifier, log: silentLog, random, clock });
  const notifications = { prepare: async () => async () => undefined };
  const quiet = { knex, shares, clock, notifier: { publish: async () => undefined } };
  const deliveries = createDeliveries(quiet, { subscriptions, notifications });

  async function accountOf(table: string, id: number): Promise<number> {
    const [row] = await knex(table).where({ id });
    return row?.account_id ?? ACCOUNT_ID;
  }

  return {
    stores: { ...real, owners },
    subscriptions,
    release: async (id) => void (await deliveries.resume(await accountOf('subscription', id), id)),
    suspend: async (id) => deliveries.suspend(await accountOf('subscription', id), id, 'by hand'),
    rotateSecret: async (id) => subscriptions.update(await accountOf('subscription', id), id, { rotateSecret: true }),
    redeliver: async (id) => {
      const rows = [
        ...(await knex('delivery').where({ id })),
        ...(await knex('delivery_attempt').where({ delivery_id: id })),
      ];
      await deliveries.redeliver(firstOf(rows).account_id, id);
    },

    deliveries: async () =>
      (await knex('delivery').orderBy('id')).map((row) => ({
        id: row.id,
        subscriptionId: row.subscription_id,
        eventId: row.event_id,
        ordered: row.ordered,
        state: row.state,
        owner: row.owner,
        dueMs: row.due?.getTime(),
        attempts: row.attempts,
        retries: row.retries,
        firstFailedAtMs: row.first_failed_at?.getTime(),
        // A time of the database itself, which means nothing in the model.
        updatedAtMs: clock.now(),
      })),

    attempts: async () =>
      (await knex('delivery_attempt').orderBy(['delivery_id', 'attempt'])).map((row) => ({
        deliveryId: row.delivery_id,
        subscriptionId: row.subscription_id,
        eventId: row.event_id,
        attempt: row.attempt,
        attemptedAtMs: row.attempted_at.getTime(),
        delivered: row.delivered,
      })),

    subscription: async (id) => {
      const found = await subscriptions.find(await accountOf('subscription', id), id);
      if (found === undefined) throw new Error(`There is no subscription ${id}.`);
      return found;
    },

    settle: async () => {
      for (let quietTurns = 0; quietTurns < QUIET_TURNS; quietTurns = isQuiet() ? quietTurns + 1 : 0) await turn();
    },
  };
}
