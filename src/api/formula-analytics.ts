import { INTERVALS, type Interval, pointsOf, readEnd, readStart, startOf } from '../activity/intervals.ts';
import { AppError, pointer } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { reversedPeriod } from '../shared-errors.ts';
import type { ApiServices } from './api-services.ts';
import { callerOf } from './formulas.ts';
import type { Handlers, OperationQuery } from './operation.ts';

type Asked = OperationQuery<'countFormulaExecutions'>;

/** Intervals of a response where no period is given: a week of days, as in the original. */
const USUAL: Readonly<Record<Interval, number>> = { minute: 61, hour: 25, day: 8 };
const MOST_INTERVALS = 1_500;

export function createFormulaAnalyticsHandlers({ formulaRuns: { analytics } }: ApiServices, { clock }: Platform) {
  const periodOf = (query: Asked) => readPeriod(query, clock.now());

  return {
    countFormulaExecutions: async ({ principal: { accountId }, query }) => {
      const period = periodOf(query);
      const counted = await analytics.executions(accountId, period);
      return listed(series(period, counted, ([tally]) => ({ count: tally?.count ?? 0 })));
    },

    countFormulaStatuses: async ({ principal: { accountId }, query }) => {
      const period = periodOf(query);
      const counted = await analytics.executions(accountId, period);
      return listed(
        series(period, counted, ([tally]) => ({
          success: tally?.success ?? 0,
          failed: tally?.failed ?? 0,
          total: tally?.count ?? 0,
        })),
      );
    },

    countAccountFormulaExecutions: async ({ principal, query }) => {
      const period = periodOf(query);
      const { accountId, organizationId, seesAll } = {
        ...callerOf(principal),
        organizationId: principal.organizationId,
      };
      const counted = await analytics.accounts(accountId, seesAll ? organizationId : undefined, period);
      return listed(
        series(period, counted, (tallies) => ({
          total: totalOf(tallies),
          records: tallies.map(({ atMs: _, ...tally }) => tally),
        })),
      );
    },

    countInstanceFormulaExecutions: async ({ principal: { accountId }, query }) => {
      const period = periodOf(query);
      const counted = await analytics.instances(accountId, period);
      return listed(
        series(period, counted, (tallies) => ({
          total: totalOf(tallies),
          records: tallies.map(({ formulaInstanceId, formulaInstanceName, formulaId, count, success, failed }) => ({
            formulaInstanceId,
            ...(formulaInstanceName !== null && { formulaInstanceName }),
            formulaId,
            count,
            success,
            failed,
          })),
        })),
      );
    },

    measureFormulaSteps: async ({ principal: { accountId }, query }) => {
      const period = periodOf(query);
      const measured = await analytics.steps(accountId, period);
      const nothing = { count: 0, executionTime: 0, executionDelay: 0, contextSize: 0 };
      return listed(
        series(period, measured, ([tally]) => {
          const { count, executionTime, executionDelay, contextSize } = tally ?? nothing;
          return { count, executionTime, executionDelay, contextSize };
        }),
      );
    },

    getOpenFormulaExecutions: async ({ principal: { accountId } }) => {
      const { retries, ...counts } = await analytics.now(accountId);
      return {
        body: {
          ...counts,
          retries: retries.map(({ due, ...retry }) => ({ ...retry, retryDate: due.toISOString() })),
        },
      };
    },
  } satisfies Partial<Handlers>;
}

interface Period {
  readonly interval: Interval;
  readonly intervalMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Reads a period as whole intervals. @throws AppError REQUEST_INVALID */
function readPeriod({ from, to, interval = 'day' }: Asked, nowMs: number): Period {
  const { ms } = INTERVALS[interval];
  const endMs = to === undefined ? nowMs : readEnd(to);
  const startMs = from === undefined ? endMs - (USUAL[interval] - 1) * ms : readStart(from);
  if (startMs >= endMs) throw reversedPeriod(pointer('query', 'to'));
  const fromMs = startOf(interval, startMs);
  const toMs = startOf(interval, endMs - 1) + ms;
  const count = (toMs - fromMs) / ms;
  if (count > MOST_INTERVALS) {
    const message = `The period has ${count} ${interval}s; the maximum is ${MOST_INTERVALS}. Send a later 'from', or a longer interval.`;
    throw new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('query', 'interval'), message }] });
  }
  return { interval, intervalMs: ms, fromMs, toMs };
}

/** One entry for each interval, also for those without executions. */
function series<Tally extends { readonly atMs: number }, Entry>(
  period: Period,
  tallies: readonly Tally[],
  toEntry: (tallies: readonly Tally[]) => Entry,
) {
  const found = Map.groupBy(tallies, ({ atMs }) => atMs);
  return pointsOf(period).map((atMs) => ({
    timestamp: new Date(atMs).toISOString(),
    ...toEntry(found.get(atMs) ?? []),
  }));
}

function totalOf(tallies: readonly { readonly count: number }[]): number {
  return tallies.reduce((sum, { count }) => sum + count, 0);
}

function listed<Entry>(body: Entry[]) {
  return { body, headers: { 'Elements-Returned-Count': body.length } };
}
