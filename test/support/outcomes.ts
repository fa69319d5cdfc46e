import type { DeliveryLease } from '../../src/events/lease.ts';
import type { DeliveryOutcome } from '../../src/events/outcomes/outcome-queue.ts';

type WithoutLease<Kind> = Kind extends unknown ? Omit<Kind, 'lease'> : never;

/** The outcome of a push, without its delivery. */
export type Result = WithoutLease<DeliveryOutcome>;

export type Ending =
  | { readonly kind: 'delivered'; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly isHard: boolean };

/** Returns an outcome as the dispatcher receives it. Members that are only stored have arbitrary values. */
export function ended(ending: Ending): Result {
  const durationMs = ending.kind === 'delivered' ? ending.durationMs : 1;
  const attempt = { attemptedAt: new Date(0), durationMs, statusCode: 200, error: undefined, answer: undefined };
  if (ending.kind === 'delivered') return { kind: 'delivered', attempt };
  const next = { state: 'waiting', dueAt: new Date(0), retries: 1, firstFailedAt: new Date(0) } as const;
  return { kind: 'failed', isHard: ending.isHard, attempt, next };
}

let lastId = 0;

/** Returns a delivery that a dispatcher may push. */
export function newLease(more: Partial<DeliveryLease> = {}): DeliveryLease {
  return {
    accountId: 1,
    id: ++lastId,
    subscriptionId: 1,
    host: 'receiver.example.com',
    owner: 'o',
    attempts: 0,
    retries: 0,
    firstFailedAtMs: undefined,
    eventId: 'e',
    instanceId: 1,
    ordered: false,
    body: Buffer.alloc(10),
    acceptedAtMs: undefined,
    ...more,
  };
}
