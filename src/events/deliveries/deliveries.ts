import type { Knex } from 'knex';
import { change, differences } from '../../db/change.ts';
import type { PoolShares, WorkStep } from '../../db/pool-shares.ts';
import { AppError } from '../../errors.ts';
import type { Platform } from '../../platform.ts';
import { missing, reversedPeriod } from '../../shared-errors.ts';
import { prepareCondition } from '../../where/index.ts';
import { showEventId } from '../event-id.ts';
import { DELIVERY_FIELDS } from '../filter.ts';
import type { EventRecord } from '../model.ts';
import type { Notifications } from '../notifications/notifications.ts';
import { queueWaiting } from '../outcomes/outcome-store.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import { DUE_TOPIC, RELEASED_TOPIC } from '../sweep/announcement.ts';
import { createDeliveryListingStore, type DeliveryRow, type EventContent } from './delivery-listing-store.ts';
import { readQueueFilter } from './release-filter.ts';
import {
  createRedeliveryStore,
  createReleaseStore,
  type QueuePart,
  type QueueTarget,
  type RedeliveryPeriod,
  type ReleasedBatch,
} from './steering-store.ts';

/** An event that is being sent to a callback URL, or was delivered. */
export interface Delivery extends Omit<DeliveryRow, 'eventId' | 'eventAt'> {
  /** Event id as receivers see it: `evt_…`. */
  readonly eventId: string;
  /** Body as sent; undefined if it was not requested, or if the event has been deleted. */
  readonly payload: string | undefined;
  /** Record of the event. Null if it names none, or if the event is no longer kept. */
  readonly record: EventRecord | null;
}

interface DeliveryQuery {
  /** A filter in the query language over `DELIVERY_FIELDS`. */
  readonly where?: string | undefined;
  /** Whether the newest deliveries come first. Default: the oldest. */
  readonly newestFirst?: boolean | undefined;
  readonly afterId?: number | undefined;
  readonly limit: number;
  /** Whether payloads are read. */
  readonly hydrate: boolean;
}

interface Released {
  /** Subscriptions that were deactivated. */
  readonly reactivated: number;
  /** Deliveries that were queued. */
  readonly released: number;
}

/** Platform parts that deliveries need. */
interface DeliveryPlatform extends Pick<Platform, 'knex'> {
  readonly shares: Pick<PoolShares, 'list' | 'bulk'>;
  readonly notifier: Pick<Platform['notifier'], 'publish'>;
  readonly clock: Pick<Platform['clock'], 'now'>;
}

interface DeliveryNeighbours {
  readonly subscriptions: Pick<Subscriptions, 'get' | 'deactivate' | 'reactivate' | 'remove'>;
  readonly notifications: Pick<Notifications, 'prepare'>;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Maximum size of one response; a page ends before the delivery that would exceed it. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;
const MAX_REDELIVERIES = 100_000;
/** Seen only where a removal ended half-way. */
const LEAVING = 'It is being removed.';
/** Change of a deactivation in the audit log. */
const DEACTIVATED = { state: { from: 'active', to: 'deactivated' } };

/**
 * Creates the service for deliveries.
 * @param batchRows maximum number of rows that one statement locks
 */
export function createDeliveries(
  { knex, shares, notifier, clock }: DeliveryPlatform,
  { subscriptions, notifications }: DeliveryNeighbours,
  batchRows = 5000,
) {
  const now = () => new Date(clock.now());
  const announceDue = () => notifier.publish(DUE_TOPIC, '');

  async function describe(
    via: Knex,
    accountId: number,
    rows: readonly DeliveryRow[],
    hasPayloads: boolean,
  ): Promise<readonly Delivery[]> {
    const asked = { hasPayloads, maxBytes: MAX_PAGE_BYTES };
    const contents = await createDeliveryListingStore(via).contents(accountId, rows, asked);
    return rows.slice(0, contents.length).map((row, index) => toDelivery(row, contents[index]));
  }

  async function get(accountId: number, id: number, via = knex): Promise<Delivery> {
    const row = await createDeliveryListingStore(via).find(accountId, id);
    if (row === undefined) throw notFound(id);
    const [delivery] = await describe(via, accountId, [row], true);
    return delivery ?? toDelivery(row);
  }

  /**
   * Releases a queue. It first reactivates subscriptions, so that the following statements also see every delivery that was queued because
   * of a subscription's state.
   */
  const releaseQueue = (accountId: number, target: QueueTarget): Promise<Released> =>
    shares.bulk(accountId, (step) => releaseInSteps(accountId, target, step));

  async function releaseInSteps(accountId: number, target: QueueTarget, step: WorkStep): Promise<Released> {
    const { urls, subscriptionId: id } = target;
    const publish = await notifications.prepare(accountId);
    const reactivate = async (trx: Knex.Transaction) => {
      const changed = await subscriptions.reactivate(trx, accountId, { urls, id });
      for (const { id: subscriptionId, url } of changed) {
        await publish(trx, 'subscription.reactivated', { subscriptionId, url });
      }
      return changed.length;
    };
    const reactivated = await change(knex, reactivate, (count) => ({ changes: { ...target, reactivated: count } }));
    const tally = createTally('released');
    const parts = await step(() => createReleaseStore(knex).findQueued(accountId, target));
    for (const part of parts) await releasePart(accountId, part, { step, tally });
    return { reactivated, released: tally.sum() };
  }

  /**
   * Releases deliveries in batches, so that no statement locks many rows. Each batch is released before the next one, in the order of the
   * ids. So a delivery that fails and is queued again meanwhile is not released twice; otherwise a receiver that rejects everything would
   * keep this loop running.
   */
  async function releasePart(accountId: number, part: QueuePart, { step, tally }: Tallied): Promise<void> {
    for (let afterId: number | null = 0; afterId !== null; ) {
      const limits = { afterId, limit: batchRows, now: now() };
      const release = (via: Knex) => createReleaseStore(via).release(accountId, part, limits);
      const batch: ReleasedBatch = await step(() => countChange(release, tally));
      if (afterId === 0 && batch.count > 0) await notifier.publish(RELEASED_TOPIC, String(part.subscriptionId));
      if (batch.count > 0) await announceDue();
      afterId = batch.lastId;
    }
  }

  /** Deletes queued deliveries in batches. Deliveries that are queued meanwhile stay. */
  async function acknowledgeInSteps(
    accountId: number,
    target: QueueTarget,
    step: WorkStep,
    { isRemoved = false } = {},
  ): Promise<number> {
    const find = (via: Knex) => createReleaseStore(via).findQueued(accountId, target);
    const parts = await step(() => change(knex, find, () => ({ changes: { ...target, acknowledged: 0 } })));
    const tally = createTally('acknowledged');
    for (const part of parts) {
      const acknowledge = async (via: Knex) => ({
        count: await createReleaseStore(via).acknowledge(accountId, part, { limit: batchRows, isRemoved }),
      });
      await repeat(step, async () => (await countChange(acknowledge, tally)).count);
    }
    return tally.sum();
  }

  /** Adds the number of changes so far to the audit log, in the transaction of each batch. */
  async function countChange<Batch extends Counted>(work: (via: Knex) => Promise<Batch>, tally: Tally): Promise<Batch> {
    const batch = await change(knex, work, ({ count }) => ({ changes: tally.with(count) }));
    tally.add(batch.count);
    return batch;
  }

  function queueInSteps(accountId: number, subscriptionId: number, step: WorkStep): Promise<number> {
    return repeat(step, () => queueWaiting(knex, { accountId, subscriptionId }, batchRows));
  }

  return {
    /**
     * Lists deliveries. A page with large payloads is shorter than its limit.
     * @throws AppError for an invalid `where`
     */
    list: async (accountId: number, { where, newestFirst, afterId, limit, hydrate: hasPayloads }: DeliveryQuery) => {
      const condition = conditionOf(where);
      return shares.list(accountId, async (via) => {
        const selection = { condition, newestFirst, afterId };
        const rows = await createDeliveryListingStore(via).list(accountId, selection, limit + 1);
        const page = rows.slice(0, limit);
        const shown = await describe(via, accountId, page, hasPayloads);
        return { rows: shown, last: rows.length > shown.length ? shown.at(-1) : undefined };
      });
    },

    /**
     * Returns a delivery.
     * @throws AppError NOT_FOUND
     */
    get: async (accountId: number, id: number) => ({
      ...(await get(accountId, id)),
      history: await shares.list(accountId, (via) => createDeliveryListingStore(via).attempts(accountId, id)),
    }),

    /**
     * Counts deliveries per status, each up to 100,000.
     * @throws AppError for an invalid `where`
     */
    count: async (accountId: number, where: string | undefined) => {
      const condition = conditionOf(where);
      const counted = await shares.list(accountId, (via) =>
        createDeliveryListingStore(via).count(accountId, condition),
      );
      const counts = { queued: 0, delivering: 0, retrying: 0, delivered: 0 };
      for (const { status, count } of counted) counts[status] = count;
      return counts;
    },

    /**
     * Releases the deliveries that `where` selects; only the conditions of decision D7 are allowed.
     * @throws AppError for any other `where`
     */
    release: (accountId: number, where: string) => releaseQueue(accountId, readQueueFilter(where)),

    /**
     * Deletes the queued deliveries that `where` selects, with the same conditions as `release`.
     * @returns the number of deleted deliveries
     * @throws AppError for any other `where`
     */
    acknowledge: async (accountId: number, where: string) => {
      const target = readQueueFilter(where);
      return shares.bulk(accountId, (step) => acknowledgeInSteps(accountId, target, step));
    },

    /** Deletes a queued delivery. @throws AppError NOT_FOUND, CONFLICT when it is not queued */
    acknowledgeOne: async (accountId: number, id: number) => {
      await change(knex, async (via) => {
        if (await createReleaseStore(via).acknowledgeOne(accountId, id)) return;
        const { status } = await get(accountId, id, via);
        throw new AppError('CONFLICT', `Delivery ${id} is ${status}. Only a queued delivery can be acknowledged.`);
      });
    },

    /**
     * Releases all deliveries of one subscription.
     * @throws AppError NOT_FOUND
     */
    resume: async (accountId: number, subscriptionId: number) => {
      await subscriptions.get(accountId, subscriptionId);
      return releaseQueue(accountId, { subscriptionId });
    },

    /**
     * Deactivates the subscription and queues its waiting deliveries.
     * @throws AppError NOT_FOUND
     */
    suspend: async (accountId: number, subscriptionId: number, reason: string) => {
      const { url } = await subscriptions.get(accountId, subscriptionId);
      const publish = await notifications.prepare(accountId);
      const deactivate = async (trx: Knex.Transaction) => {
        const isDeactivated = await subscriptions.deactivate(trx, accountId, subscriptionId, reason);
        if (isDeactivated) await publish(trx, 'subscription.deactivated', { subscriptionId, url, reason });
        return isDeactivated;
      };
      await shares.bulk(accountId, async (step) => {
        await step(() => change(knex, deactivate, (isDeactivated) => ({ changes: isDeactivated ? DEACTIVATED : {} })));
        await queueInSteps(accountId, subscriptionId, step);
      });
    },

    /**
     * Removes a subscription with its queued and waiting deliveries. It is deactivated first and stays until they are gone, so that a
     * removal that was interrupted can be repeated.
     * @throws AppError NOT_FOUND
     */
    discard: async (accountId: number, subscriptionId: number) => {
      const { url } = await subscriptions.get(accountId, subscriptionId);
      const deactivate = (trx: Knex) => subscriptions.deactivate(trx, accountId, subscriptionId, LEAVING);
      await shares.bulk(accountId, async (step) => {
        await step(() => change(knex, deactivate, () => ({ changes: differences({ url }, {}) })));
        await queueInSteps(accountId, subscriptionId, step);
        await acknowledgeInSteps(accountId, { subscriptionId }, step);
        await step(() => knex.transaction((trx) => subscriptions.remove(trx, accountId, subscriptionId)));
        // Removes deliveries that were queued between the last two steps. An event may use its URL again already.
        await acknowledgeInSteps(accountId, { subscriptionId }, step, { isRemoved: true });
      });
    },

    /** Sends the event of a delivery again, as a new delivery. @throws AppError NOT_FOUND, CONFLICT when the event is no longer kept */
    redeliver: async (accountId: number, id: number) => {
      const redeliver = async (via: Knex) => {
        const newId = await createRedeliveryStore(via).redeliver(accountId, id, now());
        if (newId !== undefined) return newId;
        await get(accountId, id, via);
        throw new AppError(
          'CONFLICT',
          `Delivery ${id} cannot be sent again: its event is no longer kept, or its endpoint was deleted.`,
        );
      };
      const made = await change(knex, redeliver, (newId) => ({ changes: { newDeliveryId: newId } }));
      // As it was made: once it is announced, its first attempt can begin before it is read.
      const delivery = await get(accountId, made);
      await announceDue();
      return delivery;
    },

    /**
     * Sends all events of a period again, as new deliveries.
     * @returns the number of new deliveries
     * @throws AppError REQUEST_INVALID for more than 100,000
     */
    redeliverPeriod: async (accountId: number, period: RedeliveryPeriod) => {
      assertPeriod(period);
      const redeliver = async (via: Knex) => {
        const most = { limit: MAX_REDELIVERIES, now: now() };
        const found = await createRedeliveryStore(via).redeliverPeriod(accountId, period, most);
        if (found > MAX_REDELIVERIES) throw tooManyEvents();
        return found;
      };
      const noteOf = (redelivered: number) => ({ changes: { ...period, redelivered } });
      const count = await shares.bulk(accountId, (step) => step(() => change(knex, redeliver, noteOf)));
      if (count > 0) await announceDue();
      return count;
    },
  };
}

/** Repeats a statement, each time for as many rows as one statement may lock, until there are none. @returns the number of rows */
async function repeat(step: WorkStep, statement: () => Promise<number>): Promise<number> {
  let all = 0;
  for (;;) {
    const count = await step(statement);
    if (count === 0) return all;
    all += count;
  }
}

interface Counted {
  readonly count: number;
}

/** The counts of the batches of a change, by name. */
type Tally = ReturnType<typeof createTally>;

interface Tallied {
  readonly step: WorkStep;
  readonly tally: Tally;
}

function createTally(name: string) {
  let sum = 0;
  return {
    sum: () => sum,
    add: (count: number) => {
      sum += count;
    },
    with: (count: number) => ({ [name]: sum + count }),
  };
}

function conditionOf(where: string | undefined) {
  return where === undefined ? undefined : prepareCondition(where, { fields: DELIVERY_FIELDS });
}

function toDelivery({ eventId, eventAt: _, ...row }: DeliveryRow, content?: EventContent): Delivery {
  const { payload, record = null } = content ?? {};
  return { ...row, eventId: showEventId(eventId), payload: payload ?? undefined, record };
}

function assertPeriod({ from, to }: RedeliveryPeriod): void {
  if (from < to) return;
  throw reversedPeriod('/body/to');
}

function tooManyEvents(): AppError {
  const message = `There are more than ${MAX_REDELIVERIES} events to send again, and none was sent. Shorten the period, or send a subscriptionId or a status.`;
  return new AppError('REQUEST_INVALID', message, { details: [{ path: '/body', message }] });
}

function notFound(id: number): AppError {
  return missing('delivery', id);
}
