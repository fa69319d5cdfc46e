import type { Fence } from './outcomes/outcome-store.ts';
import type { ScheduleProgress } from './push/schedule.ts';

/** A delivery that this process holds in memory, to be sent once. */
export interface DeliveryLease extends Fence, ScheduleProgress {
  /** UUID. */
  readonly eventId: string;
  /** Of the callback URL, see `hostOf`. */
  readonly host: string;
  /** Undefined: an event of the account itself. */
  readonly instanceId: number | undefined;
  readonly ordered: boolean;
  /** As signed and sent. */
  readonly body: Buffer;
  /** By the clock's steady time; undefined: it comes from the sweep. */
  readonly acceptedAtMs: number | undefined;
  /** Of the trace that the event was accepted in. Undefined: it was not recorded. */
  readonly traceparent?: string | undefined;
}

/** One that was tried before: it counts as a probe, and never waits for the breaker. */
export function isRetry({ firstFailedAtMs }: Pick<DeliveryLease, 'firstFailedAtMs'>): boolean {
  return firstFailedAtMs !== undefined;
}

/** It came from the database, not from whoever accepted it. */
export function isSwept({ acceptedAtMs }: Pick<DeliveryLease, 'acceptedAtMs'>): boolean {
  return acceptedAtMs === undefined;
}

/** With its port, where that is not the usual one. Empty for what is no URL: that is not pushed at all. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
