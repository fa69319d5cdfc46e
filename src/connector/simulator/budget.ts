import type { Clock } from '../../clock.ts';
import { fault } from './fault.ts';

/** How many calls the provider accepts in a window of time; the windows follow each other from the first call on. */
export interface BudgetOptions {
  readonly calls: number;
  readonly windowMs: number;
  readonly clock: Clock;
  /** The provider's headers for what is left. */
  readonly headers?: (state: BudgetState) => Readonly<Record<string, string>>;
  /** Whether a refusal says how long to wait. Default true. */
  readonly sendsRetryAfter?: boolean;
}

export interface BudgetState {
  readonly calls: number;
  readonly left: number;
  /** Until the next window. */
  readonly resetMs: number;
}

export interface RequestBudget {
  /** Counts a call. @returns the provider's headers for its answer. @throws Fault 429, with Retry-After unless it is kept back */
  readonly take: () => Readonly<Record<string, string>>;
}

export function createBudget(options: BudgetOptions): RequestBudget {
  const { calls, windowMs, clock, headers = () => ({}), sendsRetryAfter = true } = options;
  let startMs = clock.steady();
  let used = 0;
  return {
    take: () => {
      const nowMs = clock.steady();
      if (nowMs - startMs >= windowMs) [startMs, used] = [nowMs, 0];
      used++;
      const resetMs = startMs + windowMs - nowMs;
      const limitHeaders = headers({ calls, left: Math.max(0, calls - used), resetMs });
      if (used <= calls) return limitHeaders;
      const wait = sendsRetryAfter && { 'retry-after': String(Math.ceil(resetMs / 1000)) };
      throw fault(429, `More than ${calls} calls in ${windowMs} ms.`, { headers: { ...wait, ...limitHeaders } });
    },
  };
}
