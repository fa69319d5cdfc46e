import pg from 'pg';
import type { Logger } from '../log.ts';
import { connectionOptions } from './database.ts';

/** Any number, the same in every process: it names the lock within the database. */
const MIGRATION_LOCK = 7_205_001;

/**
 * Runs work that changes the schema. Processes that start together take turns by an advisory lock, which ends with its connection. So a
 * killed process leaves no lock, unlike knex's own lock row.
 */
export async function withMigrationLock<Result>(
  { url, log }: { readonly url: string; readonly log: Logger },
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = new pg.Client(connectionOptions(url));
  lock.on('error', (error) => log.error({ err: error }, 'lost the connection that holds the migration lock'));
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await work();
  } finally {
    await lock.end();
  }
}
