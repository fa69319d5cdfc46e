import type { Knex } from 'knex';
import { isDistributed } from './distributed.ts';
import { firstOf } from './row.ts';
import { codeOf } from './violations.ts';

/** A calendar day in UTC, like `2026-11-21`. */
export type Day = string;

/** A table with a partition per day or month (UTC). Rows without a partition go into its default partition. */
export interface PartitionedTable {
  readonly table: string;
  /** Column of type timestamptz that selects the partition. */
  readonly column: string;
  readonly by: 'day' | 'month';
  /** Storage parameters of its partitions, such as `fillfactor = 70`. */
  readonly storage?: string;
}

export interface Partition extends PartitionedTable {
  /** First day of the partition. */
  readonly day: Day;
}

const DAY_MS = 86_400_000;
/** Any number: who holds this advisory lock changes partitions. */
const LOCK = 7_205_103;
/** A statement that waits for a lock on a whole table also blocks all statements behind it. */
const LOCK_TIMEOUT = '1s';
/** Maximum time to move the rows of a whole partition. */
const MOVE_TIMEOUT = '10min';

/** Returns the partitions of these tables, without the default ones. */
export async function listPartitions(knex: Knex, tables: readonly PartitionedTable[]): Promise<Partition[]> {
  const { rows } = await knex.raw<{ rows: { parent: string; child: string }[] }>(
    `select parent.relname as parent, child.relname as child
     from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class child on child.oid = inhrelid
     where inhparent = any (?::regclass[])`,
    [tables.map(({ table }) => table)],
  );
  return rows.flatMap(({ parent, child }) => {
    const table = tables.find((one) => one.table === parent);
    const day = dayOf(child);
    return table === undefined || day === undefined ? [] : [{ ...table, day }];
  });
}

/** Returns the first day of each partition that rows in the default partition need. */
export async function listDaysInDefault(knex: Knex, table: PartitionedTable): Promise<Day[]> {
  const { rows } = await knex.raw<{ rows: { day: Day }[] }>(
    `select distinct date_trunc('${table.by}', ${table.column} at time zone 'UTC')::date as day
     from ${defaultOf(table)} order by 1`,
  );
  return rows.map(({ day }) => day);
}

/** Counts the rows of the partition that are in the default one, up to `limit`. */
export async function countInDefault(knex: Knex, partition: Partition, limit: number): Promise<number> {
  const { rows } = await knex.raw<{ rows: { count: number }[] }>(
    `select count(*) as count from (select 1 from ${defaultOf(partition)} where ${isOf(partition)} limit ?) as found`,
    [limit],
  );
  return firstOf(rows).count;
}

/**
 * Creates missing partitions for which the default partition has no rows. It uses few messages, because a new database needs dozens of
 * partitions.
 */
export async function createEmptyPartitions(knex: Knex, partitions: readonly Partition[]): Promise<void> {
  await changePartitions(knex, async (trx) => {
    const missing = await missingOf(trx, partitions);
    await runAll(
      trx,
      missing.flatMap((each) => [...make(each), ...attach(each)]),
    );
  });
}

/**
 * Creates a partition and moves its rows out of the default partition.
 * @param stillWritten whether rows of the partition may arrive now; they then wait until the others have moved
 * @returns whether the partition was missing
 */
export function createFilledPartition(knex: Knex, partition: Partition, stillWritten: boolean): Promise<boolean> {
  return changePartitions(knex, async (trx) => {
    if ((await missingOf(trx, [partition])).length === 0) return false;
    await runAll(trx, make(partition));
    if (stillWritten) await lockParent(trx, partition.table);
    const moved = await moveFromDefault(trx, partition);
    // A query that was planned before must not look for moved rows where they were.
    if (moved > 0) await lockParent(trx, partition.table);
    await runAll(trx, attach(partition));
    return true;
  });
}

/** Runs statements as one message. A distributed database passes each on to its nodes, and takes them one by one only. */
async function runAll(trx: Knex.Transaction, statements: readonly string[]): Promise<void> {
  if (statements.length === 0) return;
  if (!(await isDistributed(trx))) return trx.raw(statements.join(';\n'));
  for (const statement of statements) await trx.raw(statement);
}

/**
 * Creates a partition beside the table and attaches it when it is filled, so that no statement waits meanwhile. The parent generates the
 * identities.
 */
function make(partition: Partition): readonly string[] {
  const { table, storage } = partition;
  const name = nameOf(partition);
  const options = storage === undefined ? '' : ` with (${storage})`;
  return [
    `create table ${name} (like ${table} including all excluding identity)${options}`,
    `alter table ${name} add constraint ${name}_time check (${isOf(partition)})`,
  ];
}

function attach(partition: Partition): readonly string[] {
  const { table, day } = partition;
  const name = nameOf(partition);
  return [
    `alter table ${table} attach partition ${name} for values from (${startOf(day)}) to (${startOf(endOf(partition))})`,
    `alter table ${name} drop constraint ${name}_time`,
  ];
}

/**
 * Drops a partition. It cannot be detached concurrently before, because there is a default partition. PostgreSQL deletes the files after
 * the locks are released.
 */
export function dropPartition(knex: Knex, partition: Partition): Promise<void> {
  return changePartitions(knex, async (trx) => {
    await trx.raw(`drop table if exists ${nameOf(partition)}`);
  });
}

/** Changes partitions: one process at a time, without long waits for locks. */
function changePartitions<Result>(knex: Knex, change: (trx: Knex.Transaction) => Promise<Result>): Promise<Result> {
  return knex.transaction(async (trx) => {
    await trx.raw(
      `set local lock_timeout = '${LOCK_TIMEOUT}'; set local statement_timeout = '${MOVE_TIMEOUT}';
       select pg_advisory_xact_lock(${LOCK})`,
    );
    return change(trx);
  });
}

/**
 * Another held a lock for too long, or wrote a row of it into the default partition meanwhile
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const DISTURBED: ReadonlySet<string> = new Set(['55P03', '23514']);

export function isDisturbed(error: unknown): boolean {
  return DISTURBED.has(codeOf(error));
}

/** Another process may have made them meanwhile. */
async function missingOf(trx: Knex.Transaction, partitions: readonly Partition[]): Promise<readonly Partition[]> {
  const { rows } = await trx.raw<{ rows: { missing: boolean }[] }>(
    'select to_regclass(name) is null as missing from unnest(?::text[]) with ordinality as asked (name, at) order by at',
    [partitions.map(nameOf)],
  );
  return partitions.filter((_, index) => rows[index]?.missing);
}

async function lockParent(trx: Knex.Transaction, table: string): Promise<void> {
  await trx.raw(`lock table only ${table} in access exclusive mode`);
}

/**
 * Moves rows with one statement. If a row arrives in the meantime, it stays, attaching the partition fails, and the next attempt finds the
 * row.
 */
async function moveFromDefault(trx: Knex.Transaction, partition: Partition): Promise<number> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `with moved as (delete from ${defaultOf(partition)} where ${isOf(partition)} returning *)
     insert into ${nameOf(partition)} select * from moved`,
  );
  return rowCount;
}

/**
 * Returns a name such as `event_20261121` or `audit_log_202611`. The names are our own, need no quoting, and stand where PostgreSQL allows
 * no parameters.
 */
function nameOf({ table, by, day }: Partition): string {
  return `${table}_${day.slice(0, by === 'day' ? 10 : 7).replaceAll('-', '')}`;
}

function dayOf(name: string): Day | undefined {
  const [, year, month, day = '01'] = /_(\d{4})(\d{2})(\d{2})?$/.exec(name) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}`;
}

function defaultOf({ table }: PartitionedTable): string {
  return `${table}_default`;
}

function isOf(partition: Partition): string {
  const { column, day } = partition;
  return `${column} >= ${startOf(day)} and ${column} < ${startOf(endOf(partition))}`;
}

function startOf(day: Day): string {
  return `timestamptz '${day} 00:00:00+00'`;
}

/** Returns the first day after a partition. */
export function endOf({ by, day }: Pick<Partition, 'by' | 'day'>): Day {
  if (by === 'day') return addDays(day, 1);
  // No month is longer, and none so short that this skips one.
  return firstDayOf('month', addDays(day, 31));
}

/** Returns the first day of the partition that contains a day. */
export function firstDayOf(by: PartitionedTable['by'], day: Day): Day {
  return by === 'day' ? day : `${day.slice(0, 7)}-01`;
}

export function addDays(day: Day, count: number): Day {
  return toDay(new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS));
}

export function toDay(date: Date): Day {
  return date.toISOString().slice(0, 10);
}
