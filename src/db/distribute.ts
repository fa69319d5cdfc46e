import type { Knex } from 'knex';
import { StartError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { createKnex } from './database.ts';
import { FIRST_OF_ACCOUNTS, hasExtension, SEQUENTIAL } from './distributed.ts';
import { DISTRIBUTION, type Placement } from './distribution.ts';
import { withMigrationLock } from './migration-lock.ts';

interface ForeignKey {
  readonly table: string;
  readonly referenced: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * Places the tables on the nodes of a PostgreSQL with Citus, as `DISTRIBUTION` says. It can be repeated at any time, and does nothing where
 * nothing is missing. All changes are one transaction, so a process that is killed leaves the database as it was.
 * @returns the names of the tables that it placed
 * @throws StartError when the database has no Citus
 */
export function distributeDatabase({ url, log }: { readonly url: string; readonly log: Logger }): Promise<string[]> {
  return withMigrationLock({ url, log }, async () => {
    const knex = createKnex({ url, poolSize: 1, log });
    try {
      await assertExtension(knex);
      const placed = await knex.transaction(placeTables);
      if (placed.length > 0) log.info({ tables: placed }, 'distributed the tables of the database');
      return placed;
    } finally {
      await knex.destroy();
    }
  });
}

/**
 * Runs the statements of a migration on a distributed schema. It places a new table before the statements that follow, because a table that
 * is not placed yet can have no foreign key to one that is.
 */
export async function runOnDistributedSchema(trx: Knex, statements: readonly string[]): Promise<void> {
  await trx.raw(SEQUENTIAL);
  for (const statement of statements) {
    await trx.raw(statement);
    const table = CREATED_TABLE.exec(statement)?.groups?.table;
    if (table !== undefined && DISTRIBUTION[table] !== undefined)
      await place(trx, table, DISTRIBUTION[table].placement);
  }
}

/** The name of the table that a statement creates. A partition is placed with its parent. */
const CREATED_TABLE = /^\s*create table (?:if not exists )?(?<table>\w+)\s*\((?!.*\bpartition of\b)/is;

async function placeTables(trx: Knex): Promise<string[]> {
  const missing = await listMissing(trx);
  if (missing.length === 0) return [];
  await trx.raw(SEQUENTIAL);
  const keys = (await listForeignKeys(trx)).filter(
    ({ table, referenced }) => missing.includes(table) || missing.includes(referenced),
  );
  for (const { table, name } of keys) await trx.raw(`alter table ${table} drop constraint ${name}`);
  for (const table of missing) await placeWithRows(trx, table);
  for (const { table, name, definition } of keys)
    await trx.raw(`alter table ${table} add constraint ${name} ${definition}`);
  return missing;
}

/** Returns the tables that exist and are not placed, the first of accounts before the others. */
async function listMissing(trx: Knex): Promise<string[]> {
  const existing = new Set(await listTables(trx));
  const placed = await listPlaced(trx);
  const unknown = [...existing].filter((table) => DISTRIBUTION[table] === undefined);
  if (unknown.length > 0) throw new Error(`src/db/distribution.ts has no place for the tables ${unknown.join(', ')}`);
  const missing = Object.keys(DISTRIBUTION).filter(
    (table) => DISTRIBUTION[table]?.placement !== 'local' && existing.has(table) && !placed.has(table),
  );
  return missing.sort((one, other) => Number(other === FIRST_OF_ACCOUNTS) - Number(one === FIRST_OF_ACCOUNTS));
}

async function placeWithRows(trx: Knex, table: string): Promise<void> {
  await place(trx, table, DISTRIBUTION[table]?.placement ?? 'local');
  // The rows were copied to the nodes. The coordinator keeps the old ones otherwise, where no statement sees them.
  await trx.raw('select truncate_local_data_after_distributing_table(?)', [table]);
}

async function place(trx: Knex, table: string, placement: Placement): Promise<void> {
  if (placement === 'reference') await trx.raw('select create_reference_table(?)', [table]);
  else if (placement === 'account') {
    await trx.raw(`select create_distributed_table(?, 'account_id', colocate_with => ?)`, [
      table,
      table === FIRST_OF_ACCOUNTS ? 'none' : FIRST_OF_ACCOUNTS,
    ]);
  }
}

async function assertExtension(knex: Knex): Promise<void> {
  if (await hasExtension(knex)) return;
  throw new StartError(
    'The database of DATABASE_URL does not have the extension citus, which distributes its tables; run `create extension citus` on every node, ' +
      'and add the workers on the coordinator with citus_add_node',
  );
}

/** Tables that only Citus manages because of a foreign key count as not placed. */
async function listPlaced(knex: Knex): Promise<ReadonlySet<string>> {
  const { rows } = await knex.raw<{ rows: { name: string }[] }>(
    `select logicalrelid::regclass::text as name from pg_dist_partition
     where partmethod = 'h' or (partmethod = 'n' and repmodel = 't')`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Returns the tables of the schema, without partitions. */
async function listTables(knex: Knex): Promise<string[]> {
  const { rows } = await knex.raw<{ rows: { name: string }[] }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function listForeignKeys(knex: Knex): Promise<readonly ForeignKey[]> {
  const { rows } = await knex.raw<{ rows: ForeignKey[] }>(
    `select conrelid::regclass::text as table, confrelid::regclass::text as referenced, quote_ident(conname) as name,
       pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace order by 1, 3`,
  );
  return rows;
}
