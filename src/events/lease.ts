import type { Fence } from './outcomes/outcome-store.ts';
import type { ScheduleProgress } from './push/schedule.ts';

/** A delivery that this process holds in memory, to be sent once. */
export interface DeliveryLease extends Fence, ScheduleProgress {
  /** Id of the event, a UUID. */
  readonly eventId: string;
  /** Host of the callback URL, see `hostOf`. */
  readonly host: string;
  /** Id of the instance; undefined for an event of the account itself. */
  readonly instanceId: number | undefined;
  readonly ordered: boolean;
  /** Maximum number of deliveries per second of the subscription. Undefined: no limit. */
  readonly maxPerSecond?: number | undefined;
  /** Whether the endpoint gets the event because its filter could not be decided. */
  readonly unfiltered?: boolean | undefined;
  /** Body as signed and sent. */
  readonly body: Buffer;
  /** Time of acceptance, on the clock's monotonic time in milliseconds; undefined if the sweep loaded the delivery. */
  readonly acceptedAtMs: number | undefined;
  /**
   * Value of the `traceparent` header (W3C Trace Context) under which the event was accepted; undefined if it was not
   * traced.
   */
  readonly traceparent?: string | undefined;
}

/** Whether the delivery was tried before. A retry counts as a probe, and never waits for the breaker. */
export function isRetry({ firstFailedAtMs }: Pick<DeliveryLease, 'firstFailedAtMs'>): boolean {
  return firstFailedAtMs !== undefined;
}

/** Returns whether a delivery was loaded from the database, not passed on when it was accepted. */
export function isSwept({ acceptedAtMs }: Pick<DeliveryLease, 'acceptedAtMs'>): boolean {
  return acceptedAtMs === undefined;
}

/**
 * Returns the host of a URL, with its port unless it is the default one. Returns an empty string for an invalid URL,
 * which is never pushed.
 */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
