import type { Knex } from 'knex';
import { codeOf } from '../../db/violations.ts';
import type { Logger } from '../../log.ts';
import type { Notifications } from '../notifications/notifications.ts';
import type { DeliveryOutcome } from './outcome-queue.ts';
import type { OutcomeRow, OutcomeStore, WrittenOutcomes } from './outcome-store.ts';

/** The outcome of a part of a batch. */
type Stored = {
  readonly outcomes: readonly DeliveryOutcome[];
} /** Outcomes that are in none of these numbers came too late: their leases were lost before. */ & (
  | { readonly kind: 'stored'; readonly written: WrittenOutcomes }
  /** The database will never accept it. The comparison of database and memory finds its lease and releases it. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unstored' }
);

export interface OutcomePorts {
  readonly store: Pick<OutcomeStore, 'write' | 'exhaust' | 'queueWaiting'>;
  readonly subscriptions: {
    /** Deactivates a subscription within the transaction. Returns false when it was not active. */
    readonly deactivate: (via: Knex, accountId: number, id: number, reason: string) => Promise<boolean>;
  };
  readonly notifications: Pick<Notifications, 'prepare'>;
  readonly log: Logger;
}

type Exhausted = Extract<DeliveryOutcome, { readonly kind: 'exhausted' }>;

/**
 * Stores a batch: most of it by one statement, and each end of a schedule in a transaction of its own. It yields each part when it is stored.
 */
export async function* storeOutcomes(ports: OutcomePorts, batch: readonly DeliveryOutcome[]): AsyncGenerator<Stored> {
  const rows = batch.filter((outcome) => outcome.kind !== 'exhausted');
  if (rows.length > 0) yield* storeRows(ports, rows);
  for (const outcome of batch) if (outcome.kind === 'exhausted') yield storeEnd(ports, outcome);
}

/** Stores rows so that one that the database rejects does not affect the others. */
async function* storeRows(
  ports: OutcomePorts,
  outcomes: readonly (DeliveryOutcome & OutcomeRow)[],
): AsyncGenerator<Stored> {
  const { store, log } = ports;
  try {
    yield { kind: 'stored', outcomes, written: await store.write(outcomes) };
  } catch (error) {
    if (!isRefusal(error)) {
      log.warn({ err: error, outcomes: outcomes.length }, 'could not store outcomes of deliveries; trying again');
      yield { kind: 'unstored', outcomes };
    } else if (outcomes.length === 1) {
      yield refuse(log, outcomes, error);
    } else {
      const middle = outcomes.length >> 1;
      yield* storeRows(ports, outcomes.slice(0, middle));
      yield* storeRows(ports, outcomes.slice(middle));
    }
  }
}

async function storeEnd(ports: OutcomePorts, outcome: Exhausted): Promise<Stored> {
  const { log } = ports;
  const outcomes = [outcome];
  try {
    const queued = (await exhaust(ports, outcome)) ? 1 : 0;
    return { kind: 'stored', outcomes, written: { delivered: 0, waiting: 0, queued } };
  } catch (error) {
    if (isRefusal(error)) return refuse(log, outcomes, error);
    log.warn({ err: error, deliveryId: outcome.lease.id }, 'could not store the end of a delivery; trying again');
    return { kind: 'unstored', outcomes };
  }
}

/**
 * Ends a schedule in one transaction: the delivery is queued, the subscription is deactivated, and both are published. Then the waiting
 * deliveries are queued.
 * @returns false when the lease was lost
 */
async function exhaust({ store, subscriptions, notifications }: OutcomePorts, ended: Exhausted): Promise<boolean> {
  const { accountId, id: deliveryId, subscriptionId } = ended.lease;
  const attempts = ended.lease.attempts + 1;
  const lastError = ended.attempt.error ?? 'no reason';
  const reason = `Every retry of delivery ${deliveryId} failed. Last error: ${lastError}`;
  const publish = await notifications.prepare(accountId);
  const isOurs = await store.exhaust(ended, async (via) => {
    await publish(via, 'delivery.exhausted', { deliveryId, subscriptionId, attempts, lastError });
    const deactivated = await subscriptions.deactivate(via, accountId, subscriptionId, reason);
    if (deactivated) await publish(via, 'subscription.deactivated', { subscriptionId, reason });
  });
  // Also where it is not ours any more: a try before may have come to its end only half-way.
  await store.queueWaiting(ended.lease);
  return isOurs;
}

function refuse(log: Logger, outcomes: readonly DeliveryOutcome[], error: unknown): Stored {
  for (const { lease } of outcomes) {
    const { id: deliveryId, accountId } = lease;
    log.error({ err: error, deliveryId, accountId }, 'the database rejected the outcome of a delivery');
  }
  return { kind: 'refused', outcomes };
}

/** The SQLSTATE classes of data that PostgreSQL will never accept. Any other failure may pass. */
const REFUSALS: ReadonlySet<string> = new Set(['21', '22', '23', '42', '54']);

function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return code.length === 5 && REFUSALS.has(code.slice(0, 2));
}
