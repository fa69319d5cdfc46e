import type { PoolShares } from '../db/pool-shares.ts';
import { type AnalyticsScope, createAnalyticsStore } from './analytics-store.ts';

/** A period of whole intervals. */
type AnalyticsPeriod = Omit<AnalyticsScope, 'accountIds'>;

export type FormulaAnalytics = ReturnType<typeof createFormulaAnalytics>;

/** Counts and measures the executions of an account. */
export function createFormulaAnalytics({ shares }: { readonly shares: PoolShares }) {
  const read = <Result>(
    accountId: number,
    query: (store: ReturnType<typeof createAnalyticsStore>) => Promise<Result>,
  ): Promise<Result> => shares.list(accountId, (via) => query(createAnalyticsStore(via)));

  return {
    executions: (accountId: number, period: AnalyticsPeriod) =>
      read(accountId, (store) => store.countExecutions({ ...period, accountIds: [accountId] })),

    instances: (accountId: number, period: AnalyticsPeriod) =>
      read(accountId, (store) => store.countByInstance({ ...period, accountIds: [accountId] })),

    steps: (accountId: number, period: AnalyticsPeriod) =>
      read(accountId, (store) => store.measureSteps({ ...period, accountIds: [accountId] })),

    /** @param organizationId counts all accounts of this organization; undefined: only the own one */
    accounts: (accountId: number, organizationId: number | undefined, period: AnalyticsPeriod) =>
      read(accountId, async (store) => {
        const accountIds = organizationId === undefined ? [accountId] : await store.listAccountIds(organizationId);
        return store.countByAccount({ ...period, accountIds });
      }),

    /** Returns the executions that have not ended, and the planned retries. */
    now: (accountId: number) =>
      read(accountId, async (store) => ({
        ...(await store.countOpen(accountId)),
        retries: await store.listRetries(accountId),
      })),
  };
}
