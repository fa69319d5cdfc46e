import {
  createPartitions,
  type PartitionOptions,
  type PartitionPlatform,
  type Partitions,
} from '../../db/partitions.ts';
import type { Platform } from '../../platform.ts';
import { listDaysToKeep, type PurgedTable, purgeBatch } from './upkeep-store.ts';

interface EventRetention {
  /** Number of days before today for which events and attempts are kept. */
  readonly retentionDays: number;
}

/** Creates the daily partitions of events and attempts. Days with events that are still to be delivered are kept. */
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
const keptDays = ({ retentionDays }: EventRetention): Readonly<Record<PurgedTable, number>> => ({
  ...{ event_key: 7, notification: 90, event_owner: 1, delivery: 0 },
  // Days of attempts end at midnight.
  subscription: retentionDays + 1,
});
const DAY_MS = 86_400_000;

/**
 * Creates the maintenance of the tables of events: partitions in advance, and the deletion of old data. Any process can run it each hour.
 * `batchRows` is the maximum number of rows that one statement deletes.
 */
export function createUpkeep(
  { knex, clock }: Pick<Platform, 'knex'> & { readonly clock: Pick<Platform['clock'], 'now'> },
  partitions: Partitions,
  { batchRows = 5000, ...retention }: EventRetention & { readonly batchRows?: number },
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
    const days = keptDays(retention);
    for (const table of Object.keys(days) as PurgedTable[]) await purge(table, days[table], signal);
  };
}
