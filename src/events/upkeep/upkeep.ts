import type { Platform } from '../../platform.ts';
import {
  addDays,
  countInDefault,
  createPartition,
  type Day,
  dropPartition,
  isDisturbed,
  listDaysInDefault,
  listDaysToKeep,
  listPartitions,
  PARTITIONED_TABLES,
  type Partition,
  type PartitionedTable,
  type PurgedTable,
  purgeBatch,
  toDay,
} from './upkeep-store.ts';

export type PartitionPlatform = Pick<Platform, 'knex' | 'log'> & { readonly clock: Pick<Platform['clock'], 'now'> };

export interface PartitionOptions {
  /** Days that are kept in full before today. */
  readonly retentionDays: number;
  /** Days after today that have their partitions. Default 7. */
  readonly aheadDays?: number;
  /** Rows of a day that still comes in are moved out of the default partition up to here: writers wait meanwhile. Default 50,000. */
  readonly maxRowsMovedFromToday?: number;
}

export interface Partitions {
  /** Makes what is missing from today on, and gives what landed in the default partitions one of its own. */
  readonly ensure: () => Promise<void>;
  /** Drops the days that are older than the retention, but for events that are still to be delivered. */
  readonly expire: () => Promise<void>;
}

/**
 * The daily partitions of events and attempts. Any number of processes may look after them at once. A step that does not
 * get its lock soon is left to the next time.
 */
export function createPartitions(
  { knex, log, clock }: PartitionPlatform,
  { retentionDays, aheadDays = 7, maxRowsMovedFromToday = 50_000 }: PartitionOptions,
): Partitions {
  const now = () => new Date(clock.now());

  async function ensureTable(table: PartitionedTable, existing: ReadonlySet<Day>): Promise<void> {
    const today = toDay(now());
    const ahead = Array.from({ length: aheadDays + 1 }, (_, index) => addDays(today, index));
    const inDefault = new Set(await listDaysInDefault(knex, table));
    for (const day of new Set([...ahead, ...inDefault])) {
      if (existing.has(day)) continue;
      if (!(await create({ table, day }, inDefault.has(day), today))) return;
    }
  }

  async function create(partition: Partition, isInDefault: boolean, today: Day): Promise<boolean> {
    const stillWritten = isInDefault && partition.day >= addDays(today, -1);
    if (stillWritten && (await hasTooManyRows(partition))) {
      log.warn(partition, 'a day without a partition has too many rows to move while it comes in; it is moved later');
      return true;
    }
    return attempt(partition, 'make', async () => {
      const created = await createPartition(knex, partition, stillWritten);
      if (created && isInDefault) log.warn(partition, 'moved the rows of a day that had no partition into one');
    });
  }

  async function hasTooManyRows(partition: Partition): Promise<boolean> {
    return (await countInDefault(knex, partition, maxRowsMovedFromToday + 1)) > maxRowsMovedFromToday;
  }

  /** False when somebody works on the table: trying on would keep others waiting each time. */
  async function attempt(partition: Partition, what: 'make' | 'drop', step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      if (!isDisturbed(error)) throw error;
      log.warn({ ...partition, err: error }, `disturbed when about to ${what} a partition; trying again later`);
      return false;
    }
  }

  async function drop(partition: Partition): Promise<boolean> {
    return attempt(partition, 'drop', async () => {
      await dropPartition(knex, partition);
      log.info(partition, 'dropped a partition that is older than the retention');
    });
  }

  return {
    ensure: async () => {
      const existing = await listPartitions(knex);
      for (const table of PARTITIONED_TABLES) {
        const days = existing.filter((partition) => partition.table === table).map(({ day }) => day);
        await ensureTable(table, new Set(days));
      }
    },
    expire: async () => {
      const oldest = addDays(toDay(now()), -retentionDays);
      const expired = (await listPartitions(knex)).filter(({ day }) => day < oldest);
      if (expired.length === 0) return;
      const needed = new Set(await listDaysToKeep(knex, oldest));
      for (const table of PARTITIONED_TABLES) {
        const droppable = expired.filter((one) => one.table === table && !(table === 'event' && needed.has(one.day)));
        for (const partition of droppable) if (!(await drop(partition))) break;
      }
    },
  };
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
