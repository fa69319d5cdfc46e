import type { Platform } from '../platform.ts';
import type { Period } from './intervals.ts';
import type { CountedMetric, Tally } from './tallies.ts';
import { createUsageStore } from './usage-store.ts';

export interface UsageQuestion {
  /** The account that asks. */
  readonly accountId: number;
  /** There: all accounts of it, which the caller must be allowed to see. */
  readonly organizationId?: number | undefined;
  readonly metric: CountedMetric;
  readonly period: Period;
}

export interface Usage {
  /** What was counted, from old to new; of an organization each account on its own. @throws AppError RATE_LIMITED, OVERLOADED */
  readonly list: (question: UsageQuestion) => Promise<readonly Tally[]>;
}

/** What accounts did, in numbers. */
export function createUsage({ shares }: Pick<Platform, 'shares'>): Usage {
  return {
    list: ({ accountId, organizationId, metric, period }) => {
      const owner = organizationId === undefined ? { accountId } : { organizationId };
      return shares.list(accountId, (via) => createUsageStore(via).list(owner, metric, period));
    },
  };
}
