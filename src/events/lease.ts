import type { Fence } from './outcomes/outcome-store.ts';
import type { Progress } from './push/transition.ts';

/** A delivery that this process holds in memory, to be sent once. */
export interface Lease extends Fence, Progress {
  /** UUID. */
  readonly eventId: string;
  /** Undefined: an event of the account itself. */
  readonly instanceId: number | undefined;
  readonly ordered: boolean;
  /** As signed and sent. */
  readonly body: Buffer;
  /** By `performance.now()`; undefined: it comes from the sweep. */
  readonly acceptedAtMs: number | undefined;
}

/** One that was tried before: it counts as a probe, and never waits for the breaker. */
export function isRetry({ firstFailedAtMs }: Pick<Lease, 'firstFailedAtMs'>): boolean {
  return firstFailedAtMs !== undefined;
}
