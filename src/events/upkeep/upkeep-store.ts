import type { Knex } from 'knex';
import { firstOf } from '../../db/row.ts';

/** The tables with one partition a day (UTC), and the column that picks it. */
const PARTITION_COLUMNS = { event: 'created_at', delivery_attempt: 'attempted_at' } as const;

export type PartitionedTable = keyof typeof PARTITION_COLUMNS;
export const PARTITIONED_TABLES: readonly PartitionedTable[] = ['event', 'delivery_attempt'];

/** A calendar day in UTC, like `2026-11-21`. */
export type Day = string;

export interface Partition {
  readonly table: PartitionedTable;
  readonly day: Day;
}

const DAY_MS = 86_400_000;
/** Any number: who holds this advisory lock changes partitions. */
const LOCK = 7_205_103;
/** Whoever waits for a lock on a whole table keeps everyone behind it waiting as well. */
const LOCK_TIMEOUT = '1s';
/** For moving the rows of a whole day. */
const MOVE_TIMEOUT = '10min';

/** Of both tables, without the default ones. */
export async function listPartitions(knex: Knex): Promise<Partition[]> {
  const { rows } = await knex.raw<{ rows: { parent: string; child: string }[] }>(
    `select parent.relname as parent, child.relname as child
     from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class child on child.oid = inhrelid
     where inhparent = any (?::regclass[])`,
    [[...PARTITIONED_TABLES]],
  );
  return rows.flatMap(({ parent, child }) => {
    const table = PARTITIONED_TABLES.find((name) => name === parent);
    const day = dayOf(child);
    return table === undefined || day === undefined ? [] : [{ table, day }];
  });
}

/** Days of which the default partition holds rows. */
export async function listDaysInDefault(knex: Knex, table: PartitionedTable): Promise<Day[]> {
  const { rows } = await knex.raw<{ rows: { day: Day }[] }>(
    `select distinct (${PARTITION_COLUMNS[table]} at time zone 'UTC')::date as day from ${defaultOf(table)} order by 1`,
  );
  return rows.map(({ day }) => day);
}

/** At most `limit`. */
export async function countInDefault(knex: Knex, { table, day }: Partition, limit: number): Promise<number> {
  const { rows } = await knex.raw<{ rows: { count: number }[] }>(
    `select count(*) as count from (select from ${defaultOf(table)} where ${isOf({ table, day })} limit ?) as found`,
    [limit],
  );
  return firstOf(rows).count;
}

/**
 * Makes a partition; rows of its day in the default partition go along. False when it is there already.
 * `stillWritten`: rows of that day may come in at this moment, and wait until those that came before have moved.
 */
export function createPartition(knex: Knex, partition: Partition, stillWritten: boolean): Promise<boolean> {
  const { table, day } = partition;
  const name = nameOf(partition);
  return changePartitions(knex, async (trx) => {
    if (await isTable(trx, name)) return false;
    // Made beside the table and attached when it is full: nobody waits for a lock while that lasts.
    await trx.raw(`create table ${name} (like ${table} including all)`);
    await trx.raw(`alter table ${name} add constraint ${name}_day check (${isOf(partition)})`);
    if (stillWritten) await lockParent(trx, table);
    const moved = await moveFromDefault(trx, partition);
    // A query that was planned before must not look for moved rows where they were.
    if (moved > 0) await lockParent(trx, table);
    await trx.raw(`alter table ${table} attach partition ${name} for values from (${startOf(day)}) to (${endOf(day)})`);
    await trx.raw(`alter table ${name} drop constraint ${name}_day`);
    return true;
  });
}

/** Detaching concurrently first is not possible beside a default partition; the files go after the locks are released. */
export function dropPartition(knex: Knex, partition: Partition): Promise<void> {
  return changePartitions(knex, async (trx) => {
    await trx.raw(`drop table if exists ${nameOf(partition)}`);
  });
}

/** Days before `day` with events that are still to be delivered. */
export async function listDaysToKeep(knex: Knex, day: Day): Promise<Day[]> {
  const { rows } = await knex.raw<{ rows: { day: Day }[] }>(
    `select distinct (event_at at time zone 'UTC')::date as day from delivery where event_at < ?::timestamptz`,
    [`${day}T00:00:00Z`],
  );
  return rows.map((row) => row.day);
}

/** One at a time over all processes, and never waiting long for others. */
function changePartitions<Result>(knex: Knex, change: (trx: Knex.Transaction) => Promise<Result>): Promise<Result> {
  return knex.transaction(async (trx) => {
    await trx.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await trx.raw(`set local statement_timeout = '${MOVE_TIMEOUT}'`);
    await trx.raw('select pg_advisory_xact_lock(?)', [LOCK]);
    return change(trx);
  });
}

/**
 * Another held a lock for too long, or wrote a row of that day into the default partition meanwhile
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const DISTURBED: ReadonlySet<unknown> = new Set(['55P03', '23514']);

export function isDisturbed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && DISTURBED.has(error.code);
}

async function isTable(trx: Knex.Transaction, name: string): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { found: boolean }[] }>('select to_regclass(?) is not null as found', [name]);
  return firstOf(rows).found;
}

async function lockParent(trx: Knex.Transaction, table: PartitionedTable): Promise<void> {
  await trx.raw(`lock table only ${table} in access exclusive mode`);
}

/** In one statement: a row that comes in meanwhile stays, and the attaching fails on it; the next time finds it. */
async function moveFromDefault(trx: Knex.Transaction, partition: Partition): Promise<number> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `with moved as (delete from ${defaultOf(partition.table)} where ${isOf(partition)} returning *)
     insert into ${nameOf(partition)} select * from moved`,
  );
  return rowCount;
}

/** Names and days are our own: they need no quoting, and stand where PostgreSQL takes no parameters. */
function nameOf({ table, day }: Partition): string {
  return `${table}_${day.replaceAll('-', '')}`;
}

function dayOf(name: string): Day | undefined {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}`;
}

function defaultOf(table: PartitionedTable): string {
  return `${table}_default`;
}

function isOf({ table, day }: Partition): string {
  const column = PARTITION_COLUMNS[table];
  return `${column} >= ${startOf(day)} and ${column} < ${endOf(day)}`;
}

function startOf(day: Day): string {
  return `timestamptz '${day} 00:00:00+00'`;
}

function endOf(day: Day): string {
  return startOf(addDays(day, 1));
}

export function addDays(day: Day, count: number): Day {
  return toDay(new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS));
}

export function toDay(date: Date): Day {
  return date.toISOString().slice(0, 10);
}

/** The unpartitioned tables that only grow, and which of their rows are done with before a time. */
const OLD_ROWS = {
  event_key: 'created_at < :before',
  notification: 'created_at < :before',
  event_owner: `heartbeat_at < :before and not exists (
    select from delivery where delivery.owner = event_owner.id and state = 'delivering')`,
} as const;

export type PurgedTable = keyof typeof OLD_ROWS;

/** Deletes one batch of what is older. Rows that another process deletes are left to it. @returns how many rows */
export async function purgeBatch(knex: Knex, table: PurgedTable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await knex.raw<{ rowCount: number }>(
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${OLD_ROWS[table]} limit :limit for update skip locked))`,
    { before, limit },
  );
  return rowCount;
}
