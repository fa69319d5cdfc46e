import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Clock } from '../../../src/clock.ts';
import type { NewRow, StoredRow } from '../../../src/events/accept/accept-store.ts';
import { hostOf } from '../../../src/events/lease.ts';
import type { ReadySubscription } from '../../../src/events/model.ts';
import type { AttemptOutcome, Fence, OutcomeRow } from '../../../src/events/outcomes/outcome-store.ts';
import {
  createSecret,
  rotate,
  type SigningSecrets,
  validSecrets,
} from '../../../src/events/subscriptions/subscription-secrets.ts';
import type { ClaimedRow } from '../../../src/events/sweep/claim-store.ts';
import { bucketOf } from '../../../src/work-buckets.ts';
import type { ModelDatabase, StoredAttempt } from './stored.ts';

interface Delivery {
  readonly accountId: number;
  readonly id: number;
  readonly subscriptionId: number;
  readonly eventId: string;
  readonly eventAt: Date;
  readonly instanceId: number;
  readonly ordered: boolean;
  state: NewRow['state'];
  owner: string | null;
  due: Date | undefined;
  attempts: number;
  retries: number;
  firstFailedAt: Date | undefined;
  updatedAtMs: number;
}

interface Subscription {
  readonly accountId: number;
  readonly id: number;
  readonly url: string;
  state: 'active' | 'deactivated';
  secrets: SigningSecrets;
}

/** Stands for the transaction of a database without transactions, in which each step is one. */
const NO_TRANSACTION: Knex.Transaction = Object.create(null);

/** Implements the stores of the engine in memory, which takes a hundredth of the time of a real database. */
export function createMemoryDatabase(clock: Clock, { isPerAccount = false } = {}): ModelDatabase {
  const deliveries = new Map<number, Delivery>();
  const attempts: StoredAttempt[] = [];
  const owners = new Map<string, number>();
  const payloads = new Map<string, string>();
  const subscriptions = new Map<number, Subscription>();
  let lastId = 0;

  const all = () => [...deliveries.values()];
  const isRetry = ({ firstFailedAt }: Delivery) => firstFailedAt !== undefined;
  const isActive = (id: number) => subscriptions.get(id)?.state === 'active';
  const byId = (a: Delivery, b: Delivery) => a.id - b.id;
  const byDue = (a: Delivery, b: Delivery) => Number(a.due) - Number(b.due) || byId(a, b);

  function change(delivery: Delivery, changes: Partial<Delivery>): void {
    Object.assign(delivery, changes, { updatedAtMs: clock.now() });
  }

  function idsAbove(afterId: number, count: number, isMeant: (delivery: Delivery) => boolean): readonly number[] {
    const ids = new Set(
      all()
        .filter(isMeant)
        .map(({ subscriptionId }) => subscriptionId),
    );
    return [...ids]
      .filter((id) => id > afterId)
      .toSorted((a, b) => a - b)
      .slice(0, count);
  }

  function claimed(delivery: Delivery, owner: string): ClaimedRow {
    change(delivery, { state: 'delivering', owner, due: undefined });
    const { firstFailedAt = null } = delivery;
    return { ...delivery, firstFailedAt, url: subscriptions.get(delivery.subscriptionId)?.url ?? null };
  }

  function insert(row: NewRow, owner: string | undefined, now: Date): StoredRow {
    const state = isActive(row.subscriptionId) ? row.state : 'queued';
    const id = ++lastId;
    payloads.set(row.eventId, row.payload.toString());
    deliveries.set(id, {
      accountId: row.accountId,
      id,
      subscriptionId: row.subscriptionId,
      eventId: row.eventId,
      eventAt: row.createdAt,
      instanceId: row.instanceId,
      ordered: row.ordered,
      state,
      owner: state === 'delivering' ? (owner ?? null) : null,
      due: state === 'waiting' ? now : undefined,
      attempts: 0,
      retries: 0,
      firstFailedAt: undefined,
      updatedAtMs: clock.now(),
    });
    return { deliveryId: id, state };
  }

  function held({ id, owner, attempts: made }: Fence): Delivery | undefined {
    const delivery = deliveries.get(id);
    return delivery?.owner === owner && delivery.attempts === made ? delivery : undefined;
  }

  function note(
    { id, subscriptionId, eventId, attempts: made }: Delivery,
    { attemptedAt }: AttemptOutcome,
    delivered: boolean,
  ) {
    const attemptedAtMs = attemptedAt.getTime();
    attempts.push({ deliveryId: id, subscriptionId, eventId, attempt: made + 1, attemptedAtMs, delivered });
  }

  /** Writes an outcome. @returns the new state of the delivery; undefined if its lease was lost */
  function write(row: OutcomeRow): 'delivered' | 'waiting' | 'queued' | undefined {
    const delivery = held(row.lease);
    if (delivery === undefined) return undefined;
    if (row.kind === 'delivered') {
      note(delivery, row.attempt, true);
      deliveries.delete(delivery.id);
      return 'delivered';
    }
    const next = row.kind === 'released' ? { state: 'waiting' as const, dueAt: row.dueAt } : row.next;
    const state = isActive(delivery.subscriptionId) ? next.state : 'queued';
    if (row.kind === 'failed') {
      const { retries, firstFailedAt = delivery.firstFailedAt } = row.next;
      note(delivery, row.attempt, false);
      change(delivery, { attempts: delivery.attempts + 1, retries, firstFailedAt });
    }
    change(delivery, { state, owner: null, due: state === 'waiting' ? next.dueAt : undefined });
    return state;
  }

  function queueWaiting(subscriptionId: number): void {
    if (isActive(subscriptionId)) return;
    const waiting = all().filter((one) => one.subscriptionId === subscriptionId && one.state === 'waiting');
    for (const delivery of waiting) change(delivery, { state: 'queued', due: undefined });
  }

  function giveUp(delivery: Delivery, now: Date): void {
    change(delivery, { state: 'waiting', owner: null, due: now });
  }

  function ready({ accountId, id, url, state, secrets }: Subscription): ReadySubscription {
    return {
      accountId,
      id,
      url,
      host: hostOf(url),
      state,
      eventTypes: ['*'],
      secrets: validSecrets(secrets, clock.now()),
    };
  }

  function get(id: number): Subscription {
    const subscription = subscriptions.get(id);
    if (subscription === undefined) throw new Error(`There is no subscription ${id}.`);
    return subscription;
  }

  return {
    stores: {
      accepted: {
        insert: async (rows, owner, now) => new Map(rows.map((row) => [row.eventId, insert(row, owner, now)])),
        transaction: () => Promise.reject(new Error('No event of the model starts a formula.')),
      },

      claims: {
        endpoints: async (afterId, visits, { now, buckets }) =>
          idsAbove(afterId, visits, ({ state }) => state === 'waiting').map((subscriptionId) => {
            const { accountId, url } = get(subscriptionId);
            const isOurs = buckets.includes(bucketOf(subscriptionId));
            const due = all().filter((one) => isOurs && one.subscriptionId === subscriptionId && isDue(one, now));
            return { accountId, subscriptionId, url, dueFirsts: !due.every(isRetry), dueRetries: due.some(isRetry) };
          }),
        fewDue: async (limit, { now, buckets }) => {
          const due = all().filter((one) => isDue(one, now));
          if (due.length > limit) return undefined;
          const ids = new Set(due.map(({ subscriptionId }) => subscriptionId));
          return [...ids]
            .filter((id) => buckets.includes(bucketOf(id)))
            .map((subscriptionId) => {
              const { accountId, url } = get(subscriptionId);
              const own = due.filter((one) => one.subscriptionId === subscriptionId);
              return { accountId, subscriptionId, url, dueFirsts: !own.every(isRetry), dueRetries: own.some(isRetry) };
            });
        },
        claim: async (shares, { owner, now }) =>
          (owners.has(owner) ? shares : [])
            .flatMap(({ subscriptionId, isRetry: retries, limit }) =>
              all()
                .filter((one) => one.subscriptionId === subscriptionId && isRetry(one) === retries && isDue(one, now))
                .toSorted(byDue)
                .slice(0, limit),
            )
            .toSorted(byId)
            .map((delivery) => claimed(delivery, owner)),
        orderedHeads: async (afterId, visits) =>
          idsAbove(afterId, visits, (one) => one.ordered && one.state !== 'queued').flatMap((subscriptionId) => {
            const [head] = unfinished(subscriptionId);
            if (head === undefined || head.state === 'queued') return [];
            return [{ ...head, state: head.state, due: head.due ?? null }];
          }),
        claimHeads: async (heads, { owner, now }) =>
          (owners.has(owner) ? heads : []).flatMap(({ id }) => {
            const delivery = deliveries.get(id);
            if (delivery?.state !== 'waiting' || Number(delivery.due) > now.getTime()) return [];
            const others = unfinished(delivery.subscriptionId);
            const isHead = others[0] === delivery && others.every(({ state }) => state !== 'delivering');
            return isHead ? [claimed(delivery, owner)] : [];
          }),
        payloads: async (rows, maxBytes) => {
          const read = new Map<number, { readonly payload: string }>();
          let bytes = 0;
          for (const { id, eventId } of rows) {
            const payload = payloads.get(eventId);
            bytes += payload?.length ?? 0;
            if (payload !== undefined && (bytes <= maxBytes || read.size === 0)) read.set(id, { payload });
          }
          return read;
        },
        nextDue: async (now, buckets) =>
          all()
            .flatMap(({ state, ordered, due, subscriptionId }) =>
              state === 'waiting' && !ordered && due && buckets.includes(bucketOf(subscriptionId)) ? [due] : [],
            )
            .filter((due) => due > now)
            .toSorted((a, b) => Number(a) - Number(b))[0],
        unpark: async (lanes, now) => {
          const ids = new Set(lanes.map(({ subscriptionId }) => subscriptionId));
          const parked = all().filter(
            (one) =>
              ids.has(one.subscriptionId) &&
              one.state === 'waiting' &&
              !one.ordered &&
              !isRetry(one) &&
              Number(one.due) > now.getTime(),
          );
          for (const delivery of parked) change(delivery, { due: now });
          return parked.length;
        },
      },

      owners: {
        add: async (id) => void owners.set(id, clock.now()),
        count: async () => owners.size,
        heartbeat: async (id) => owners.has(id) && owners.set(id, clock.now()) !== undefined,
        remove: async (id) => void owners.delete(id),
        removeSilent: async (silentMs) => {
          const silent = [...owners].filter(([, atMs]) => atMs < clock.now() - silentMs);
          for (const [id] of silent) owners.delete(id);
          return silent.length;
        },
        takeOver: async (now, limit) => {
          const orphans = all().filter(({ state, owner }) => state === 'delivering' && !owners.has(owner ?? ''));
          for (const delivery of orphans.slice(0, limit)) giveUp(delivery, now);
          return Math.min(limit, orphans.length);
        },
        heldBy: async (id, ageMs) =>
          all().filter(
            ({ state, owner, updatedAtMs }) =>
              state === 'delivering' && owner === id && updatedAtMs < clock.now() - ageMs,
          ),
        giveBack: async (owner, given, { now, ageMs }) => {
          const held = given
            .flatMap(({ id }) => deliveries.get(id) ?? [])
            .filter((one) => one.owner === owner && one.updatedAtMs < clock.now() - ageMs);
          for (const delivery of held) giveUp(delivery, now);
          return held.length;
        },
      },

      // No subscription of the model has a rate.
      rates: { reserve: async () => [] },

      outcomes: {
        isPerAccount: async () => isPerAccount,
        write: async (rows) => {
          const results = rows.map(write);
          const count = (state: string) => results.filter((result) => result === state).length;
          return { delivered: count('delivered'), waiting: count('waiting'), queued: count('queued') };
        },
        exhaust: async (row, within) => {
          if (write({ ...row, kind: 'failed' }) !== 'queued') return false;
          await within(NO_TRANSACTION);
          return true;
        },
        queueWaiting: async ({ subscriptionId }) => queueWaiting(subscriptionId),
      },
    },

    subscriptions: {
      ensure: async (accountId, url) => {
        const known = [...subscriptions.values()].find((one) => one.url === url);
        if (known !== undefined) return ready(known);
        const id = subscriptions.size + 1;
        const made: Subscription = {
          accountId,
          id,
          url,
          state: 'active',
          secrets: [{ secret: createSecret(randomBytes) }],
        };
        subscriptions.set(id, made);
        return ready(made);
      },
      find: async (_accountId, id) => ready(get(id)),
      deactivate: async (_via, _accountId, id) => {
        const wasActive = isActive(id);
        get(id).state = 'deactivated';
        return wasActive;
      },
    },

    release: async (subscriptionId) => {
      get(subscriptionId).state = 'active';
      const queued = all().filter((one) => one.subscriptionId === subscriptionId && one.state === 'queued');
      const due = new Date(clock.now());
      for (const one of queued) change(one, { state: 'waiting', due, retries: 0, firstFailedAt: undefined });
    },

    suspend: async (subscriptionId) => {
      get(subscriptionId).state = 'deactivated';
      queueWaiting(subscriptionId);
    },

    rotateSecret: async (subscriptionId) => {
      const subscription = get(subscriptionId);
      subscription.secrets = rotate(subscription.secrets, createSecret(randomBytes), clock.now());
    },

    redeliver: async (deliveryId) => {
      const original =
        deliveries.get(deliveryId) ?? attempts.find((one) => one.deliveryId === deliveryId && one.delivered);
      if (original === undefined) return;
      const { eventId, subscriptionId } = original;
      const { accountId } = get(subscriptionId);
      const payload = Buffer.from(payloads.get(eventId) ?? '');
      const now = new Date(clock.now());
      const row = { accountId, eventId, subscriptionId, payload, instanceId: subscriptionId, type: '', createdAt: now };
      insert({ ...row, ordered: false, keyHash: undefined, state: 'waiting' }, undefined, now);
    },

    deliveries: async () =>
      all().map(({ due, firstFailedAt, ...one }) => ({
        ...one,
        dueMs: due?.getTime(),
        firstFailedAtMs: firstFailedAt?.getTime(),
      })),
    attempts: async () => attempts,
    subscription: async (id) => {
      const { secrets, ...rest } = get(id);
      return { ...rest, secrets: validSecrets(secrets, clock.now()) };
    },
    // Messages that are collected in one turn are sent in the next one.
    settle: async () => {
      await turn();
      await turn();
    },
  };

  function isDue({ state, ordered, due }: Delivery, now: Date): boolean {
    return state === 'waiting' && !ordered && due !== undefined && due <= now;
  }

  /** Returns the unfinished deliveries of an ordered subscription, oldest first. */
  function unfinished(subscriptionId: number): readonly Delivery[] {
    return all()
      .filter((one) => one.ordered && one.subscriptionId === subscriptionId && one.state !== 'queued')
      .toSorted(byId);
  }
}
