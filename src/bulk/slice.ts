import type { Clock } from '../clock.ts';
import type { Instance } from '../instances/instance.ts';
import type { Resources } from '../resources/index.ts';
import { waitForCallersMs } from '../resources/rate-limits.ts';
import type { Checkpoint } from './bulk-store.ts';
import type { ClaimedJob, JobFault } from './job.ts';

export interface SliceInput {
  readonly job: ClaimedJob;
  readonly instance: Instance;
  /** Ends the slice: no further work begins, and reads in progress are aborted. */
  readonly signal: AbortSignal;
  /**
   * Aborts writes in progress. When the service stops, it aborts after `signal`, so that writes can complete; otherwise both abort
   * together.
   */
  readonly writeSignal: AbortSignal;
  /** Returns whether a write may begin. After the lease, when another process may write the same, none does, and the slice ends. */
  readonly mayWrite: () => boolean;
}

/** Result of a slice of a job. */
export type SliceEnd =
  /** Only the last step remains to be stored. With `fault`, the rest of the job cannot be done. */
  | { readonly kind: 'done'; readonly last: Checkpoint; readonly fault?: JobFault }
  | ({ readonly kind: 'later' } & EarlyStop);

interface EarlyStop {
  readonly afterMs: number;
  /** Whether the slice ended without progress, to leave the provider's rate limit to callers. */
  readonly isWait: boolean;
}

export interface SliceOptions {
  /** Milliseconds after which a job is released, so that others get a slice. */
  readonly sliceMs: number;
}

/** Parts in a row that leave everything to callers; the next one gets further, however little of the limit is left. */
export const MOST_WAITS = 3;
const LONGEST_WAIT_MS = 3_600_000;

/** Creates the slice of a job. It ends after its time, or when the remaining rate limit of the provider has to stay for callers. */
export function createSlice(
  ports: {
    readonly resources: Pick<Resources, 'rateLimitOf'>;
    readonly clock: Pick<Clock, 'steady'>;
    readonly options: SliceOptions;
  },
  { job, instance }: Pick<SliceInput, 'job' | 'instance'>,
) {
  const { resources, clock, options } = ports;
  const endsAtMs = clock.steady() + options.sliceMs;
  return {
    /**
     * Returns whether the slice ends early and when the job continues; undefined if the slice continues.
     * @param hasAdvanced whether the job has advanced in this slice
     */
    stopEarly: (hasAdvanced: boolean): EarlyStop | undefined => {
      if (hasAdvanced && clock.steady() >= endsAtMs) return { afterMs: 0, isWait: false };
      if (!hasAdvanced && job.waits >= MOST_WAITS) return undefined;
      const waitMs = waitForCallersMs(resources.rateLimitOf(instance));
      return waitMs === undefined ? undefined : { afterMs: Math.min(waitMs, LONGEST_WAIT_MS), isWait: !hasAdvanced };
    },
  };
}
