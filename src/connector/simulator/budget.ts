import type { Clock } from '../../clock.ts';
import { fault } from './fault.ts';

/** The number of calls that a provider accepts in a window of time. The windows follow each other from the first call on. */
export interface BudgetOptions {
  readonly calls: number;
  readonly windowMs: number;
  readonly clock: Clock;
  /** Returns the provider's headers for the rest of the budget. */
  readonly headers?: (state: BudgetState) => Readonly<Record<string, string>>;
  /** Whether a refusal has the header Retry-After. Default true. */
  readonly sendsRetryAfter?: boolean;
}

/** The state of the budget in the current window. */
export interface BudgetState {
  readonly calls: number;
  readonly left: number;
  /** Milliseconds until the next window. */
  readonly resetMs: number;
}

/** Counts the calls of a simulated provider. */
export interface RequestBudget {
  /**
   * Counts a call.
   * @returns the provider's headers for its response
   * @throws Fault 429, with Retry-After unless that is switched off
   */
  readonly take: () => Readonly<Record<string, string>>;
}

/** Creates a budget of calls. */
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
