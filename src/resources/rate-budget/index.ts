import { LRUCache } from 'lru-cache';
import { atMost } from '../../bounded.ts';
import type { Clock } from '../../clock.ts';
import type { Notifier } from '../../db/notifier.ts';
import type { Logger } from '../../log.ts';
import type { TimedRateLimit } from '../rate-limits.ts';
import { BUDGET_OPTIONS, type Budget, type BudgetKey, createBudget, type RateBudgetOptions } from './budget.ts';
import type { BudgetStore } from './budget-store.ts';
import { type BudgetCounts, NO_COUNTS } from './rate-metrics.ts';
import { createRenewals } from './renewals.ts';

/** The parts of the platform that let processes share budgets. */
export interface SharingPorts {
  readonly store: BudgetStore;
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe'>;
  readonly log: Logger;
  readonly options?: Partial<RateBudgetOptions> | undefined;
}

export interface RateBudgetPorts {
  readonly clock: Clock;
  /** Default: the process shares its budgets with no other. */
  readonly sharing?: SharingPorts | undefined;
  readonly counts?: BudgetCounts | undefined;
}

const MOST_KEPT = 50_000;

/** The rate limits of providers, each one budget for all processes. */
export type RateBudgets = ReturnType<typeof createRateBudgets>;

/** Creates the budgets. What was not used for long is forgotten. */
export function createRateBudgets({ clock, sharing, counts = NO_COUNTS }: RateBudgetPorts) {
  const kept = new LRUCache<string, Budget>(atMost(MOST_KEPT));
  const options: RateBudgetOptions = { ...BUDGET_OPTIONS, ...sharing?.options, isShared: sharing !== undefined };
  const findBudget = ({ accountId, id }: BudgetKey) => kept.get(`${accountId}:${id}`);
  const renewals =
    sharing === undefined
      ? undefined
      : createRenewals({ ...sharing, clock, options, measures: counts, findBudget, getBudget: gateOf });
  const ports = {
    clock,
    options,
    measures: counts,
    renew: (budget: Budget, urgency: 'soon' | 'now') => renewals?.renew(budget, urgency),
    tellRefusal: (budget: Budget, waitMs: number) => renewals?.tellRefusal(budget, waitMs),
    isFailing: () => renewals?.isFailing() === true,
  };

  function gateOf({ accountId, id }: BudgetKey): Budget {
    const name = `${accountId}:${id}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const budget = createBudget(ports, { accountId, id });
    kept.set(name, budget);
    return budget;
  }

  return {
    /** Returns the gate through which the calls on an instance pass. */
    gateOf,
    /** Returns the rate limit of an instance, as it was last reported to any process, until it is renewed. */
    find: (key: BudgetKey): TimedRateLimit | undefined => findBudget(key)?.find(),
    countHeld: () => renewals?.countHeld() ?? { shared: 0, alone: 0 },
    /** Ends all timers, and returns all shares. */
    stop: async (): Promise<void> => {
      for (const budget of kept.values()) budget.close();
      await renewals?.stop();
    },
  };
}
