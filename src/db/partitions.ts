import type { Knex } from 'knex';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import {
  addDays,
  countInDefault,
  createEmptyPartitions,
  createFilledPartition,
  type Day,
  dropPartition,
  endOf,
  firstDayOf,
  isDisturbed,
  listDaysInDefault,
  listPartitions,
  type Partition,
  type PartitionedTable,
  toDay,
} from './partition-store.ts';

export interface PartitionPlatform {
  readonly knex: Knex;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'now'>;
}

export interface KeptTable extends PartitionedTable {
  /** Number of complete days before today that are kept. */
  readonly retentionDays: number;
  /** Returns the first days of partitions before the given day that must be kept nevertheless. */
  readonly listDaysToKeep?: (knex: Knex, before: Day) => Promise<readonly Day[]>;
}

export interface PartitionOptions {
  /** Number of days after today that get partitions in advance. Default 7. */
  readonly aheadDays?: number;
  /**
   * Maximum number of rows that are moved out of the default partition while their partition is still written. Writers wait meanwhile.
   * Default 50,000.
   */
  readonly maxRowsMovedWhileWritten?: number;
}

export interface Partitions {
  /** Creates missing partitions from today on, and moves rows of the default partitions to new ones. */
  readonly ensure: () => Promise<void>;
  /** Drops the partitions that are older than the retention period, except those that must be kept. */
  readonly expire: () => Promise<void>;
}

/**
 * Creates and drops the partitions of tables that only grow, each for a day or a month. Any number of processes can do this at the same
 * time. A step that gets no lock soon is left to the next run.
 */
export function createPartitions(
  { knex, log, clock }: PartitionPlatform,
  tables: readonly KeptTable[],
  { aheadDays = 7, maxRowsMovedWhileWritten = 50_000 }: PartitionOptions = {},
): Partitions {
  const today = () => toDay(new Date(clock.now()));

  async function ensureTable(table: PartitionedTable, existing: ReadonlySet<Day>): Promise<void> {
    const inDefault = new Set(await listDaysInDefault(knex, table));
    const missing = [...new Set([...daysAhead(table), ...inDefault])].filter((day) => !existing.has(day));
    const partitions = missing.map((day) => ({ ...table, day }));
    const [first, ...others] = partitions.filter(({ day }) => !inDefault.has(day));
    if (first !== undefined) {
      const made = await attempt(first, 'make', () => createEmptyPartitions(knex, [first, ...others]));
      if (!made) return;
    }
    for (const partition of partitions) if (inDefault.has(partition.day) && !(await fill(partition))) return;
  }

  function daysAhead({ by }: PartitionedTable): readonly Day[] {
    return Array.from({ length: aheadDays + 1 }, (_, index) => firstDayOf(by, addDays(today(), index)));
  }

  /** Returns false when the table is in use. */
  async function fill(partition: Partition): Promise<boolean> {
    const stillWritten = endOf(partition) >= today();
    if (stillWritten && (await hasTooManyRows(partition))) {
      log.warn(
        nameFor(partition),
        'the rows of a period without a partition are too many to move now; moving them later',
      );
      return true;
    }
    return attempt(partition, 'make', async () => {
      const created = await createFilledPartition(knex, partition, stillWritten);
      if (created) log.warn(nameFor(partition), 'moved the rows of a period without a partition into a new one');
    });
  }

  async function hasTooManyRows(partition: Partition): Promise<boolean> {
    return (await countInDefault(knex, partition, maxRowsMovedWhileWritten + 1)) > maxRowsMovedWhileWritten;
  }

  /** Returns false when the table is in use. Further attempts would block other statements each time. */
  async function attempt(partition: Partition, what: 'make' | 'drop', step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      if (!isDisturbed(error)) throw error;
      log.warn(
        { ...nameFor(partition), err: error },
        `could not ${what} a partition because of other statements; trying again later`,
      );
      return false;
    }
  }

  async function drop(partition: Partition): Promise<boolean> {
    return attempt(partition, 'drop', async () => {
      await dropPartition(knex, partition);
      log.info(nameFor(partition), 'dropped a partition that is older than the retention');
    });
  }

  async function expireTable(table: KeptTable, existing: readonly Partition[]): Promise<void> {
    const oldest = addDays(today(), -table.retentionDays);
    const expired = existing.filter((partition) => endOf(partition) <= oldest);
    if (expired.length === 0) return;
    const kept = new Set(await table.listDaysToKeep?.(knex, oldest));
    for (const partition of expired) if (!kept.has(partition.day) && !(await drop(partition))) return;
  }

  async function forEachTable(work: (table: KeptTable, existing: readonly Partition[]) => Promise<void>) {
    const existing = Map.groupBy(await listPartitions(knex, tables), ({ table }) => table);
    for (const table of tables) await work(table, existing.get(table.table) ?? []);
  }

  return {
    ensure: () => forEachTable((table, existing) => ensureTable(table, new Set(existing.map(({ day }) => day)))),
    expire: () => forEachTable(expireTable),
  };
}

function nameFor({ table, day }: Partition) {
  return { table, day };
}
