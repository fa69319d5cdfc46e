import { createPartitions, type KeptTable } from '../db/partitions.ts';
import type { Platform } from '../platform.ts';
import { createActivityHistory } from './history.ts';
import { INTERVALS, type Interval, type Period } from './intervals.ts';
import { createLastCallStore } from './last-call-store.ts';
import { createRecorder, type RecorderOptions } from './recorder.ts';
import { createOpenRun } from './runs.ts';
import { type CountedMetric, mergeTallies, type Tally } from './tallies.ts';
import { createUsageStore } from './usage-store.ts';
import { createWriteActivity } from './write-store.ts';

interface UsageQuestion {
  readonly accountId: number;
  readonly organizationId?: number | undefined;
  readonly metric: Exclude<CountedMetric, 'console_read'>;
  /** Whether the console's own reads are counted among the calls. Default true. */
  readonly hasConsoleReads?: boolean | undefined;
  readonly period: Period;
}

export interface ActivityOptions {
  /** Number of days for which requests are kept. Their counts are kept for other periods. */
  readonly retentionDays: number;
  readonly recorder?: Partial<RecorderOptions> | undefined;
  /** Base path of the API, which precedes the paths of runs. */
  readonly basePath: string;
}

type ActivityPlatform = Pick<Platform, 'knex' | 'behind' | 'shares' | 'log' | 'clock' | 'metrics'>;

/**
 * Builds the activity log: requests and their outcomes, written after the responses, readable by accounts, and
 * deleted after the retention period.
 */
export function composeActivity(
  platform: ActivityPlatform,
  { retentionDays, recorder: options, basePath }: ActivityOptions,
) {
  const { clock, log, metrics } = platform;
  const recorder = createRecorder({ write: createWriteActivity(platform), clock, log, metrics, options });
  const partitions = createPartitions(platform, keptTables(retentionDays), { aheadDays: AHEAD_DAYS });
  return {
    recorder,
    openRun: createOpenRun(platform, recorder, basePath),
    history: createActivityHistory(platform),
    lastCalls: createLastCallStore(platform.knex),
    usage: {
      /**
       * Returns the counts of the caller's account, from old to new. With an `organizationId`, it returns those of each of its accounts,
       * which the caller must be allowed to see.
       * @throws AppError RATE_LIMITED, OVERLOADED
       */
      list: async (question: UsageQuestion): Promise<readonly Tally[]> => {
        const { accountId, organizationId, metric, period, hasConsoleReads = true } = question;
        const owner = organizationId === undefined ? { accountId } : { organizationId };
        const metrics: readonly CountedMetric[] =
          metric === 'call' && hasConsoleReads ? ['call', 'console_read'] : [metric];
        const counted = await platform.shares.list(accountId, (via) =>
          createUsageStore(via).list(owner, metrics, period),
        );
        if (metrics.length === 1) return counted;
        const alike = counted.map((tally) => ({ ...tally, metric }));
        return mergeTallies(alike, period.interval);
      },
    },
    start: partitions.ensure,
    keep: async (): Promise<void> => {
      await partitions.ensure();
      await partitions.expire();
    },
  };
}

/** Number of days for which partitions are created ahead. Upkeep runs every hour. */
const AHEAD_DAYS = 2;

export type Activity = ReturnType<typeof composeActivity>;

/** Rows of counts change again and again: room on the page for the next version, and vacuum before it matters. */
const HOT = 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000';

function keptTables(retentionDays: number): readonly KeptTable[] {
  const byDay = { column: 'at', by: 'day', retentionDays } as const;
  return [
    { table: 'activity', ...byDay },
    { table: 'activity_wire', ...byDay },
    ...(Object.keys(INTERVALS) as Interval[]).map((interval) => usageTable(interval)),
  ];
}

function usageTable(interval: Interval): KeptTable {
  const { keptDays } = INTERVALS[interval];
  return {
    table: `usage_${interval}`,
    column: 'at',
    by: interval === 'minute' ? 'day' : 'month',
    storage: HOT,
    retentionDays: keptDays,
  };
}
