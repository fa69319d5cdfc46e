import {
  createPartitions,
  type PartitionOptions,
  type PartitionPlatform,
  type Partitions,
} from '../../db/partitions.ts';
import type { Platform } from '../../platform.ts';
import { listDaysToKeep, type PurgedTable, purgeBatch } from './upkeep-store.ts';

export interface EventRetention {
  /** Days that events and attempts are kept before today. */
  readonly retentionDays: number;
}

/** The daily partitions of events and attempts. The day of an event that is still to be delivered stays. */
export function createEventPartitions(
  platform: PartitionPlatform,
  { retentionDays }: EventRetention,
  options?: PartitionOptions,
): Partitions {
  return createPartitions(
    platform,
    [
      { table: 'event', column: 'created_at', by: 'day', retentionDays, listDaysToKeep },
      { table: 'delivery_attempt', column: 'attempted_at', by: 'day', retentionDays },
    ],
    options,
  );
}

/** Days that rows are kept. A provider repeats an event for hours, not for weeks. */
const KEPT_DAYS: Readonly<Record<PurgedTable, number>> = { event_key: 7, notification: 90, event_owner: 1 };
const DAY_MS = 86_400_000;

/** Keeps the tables of events in shape: partitions ahead, and an end to what is old. To be run each hour, by any process. `batchRows`: of one DELETE. */
export function createUpkeep(
  { knex, clock }: Pick<Platform, 'knex'> & { readonly clock: Pick<Platform['clock'], 'now'> },
  partitions: Partitions,
  batchRows = 5000,
) {
  async function purge(table: PurgedTable, days: number, signal: AbortSignal): Promise<void> {
    const before = new Date(clock.now() - days * DAY_MS);
    for (let deleted = batchRows; deleted === batchRows; ) {
      signal.throwIfAborted();
      deleted = await purgeBatch(knex, table, before, batchRows);
    }
  }

  return async (signal: AbortSignal): Promise<void> => {
    await partitions.ensure();
    await partitions.expire();
    for (const table of Object.keys(KEPT_DAYS) as PurgedTable[]) await purge(table, KEPT_DAYS[table], signal);
  };
}
