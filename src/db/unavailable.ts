import PostgresClient from 'knex/lib/dialects/postgres/index.js';

/** No connection to PostgreSQL could be had, or the one in use broke. Another try may work: a query may have been done or not. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/**
 * PostgreSQL's words for "not now", whatever the query: https://www.postgresql.org/docs/current/errcodes-appendix.html.
 * Shut down by an administrator, after a crash, starting; too many connections. Class 08 is "connection exception".
 */
const PASSING: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '53300']);

/** query_canceled, lock_not_available. */
const OUT_OF_TIME: ReadonlySet<string> = new Set(['57014', '55P03']);

/** Tells the loss of the database from every other failure, once and for every query: the driver has no code for some of it. */
export class LossReportingClient extends PostgresClient {
  override async acquireConnection(): Promise<unknown> {
    try {
      return await super.acquireConnection();
    } catch (cause) {
      throw new DatabaseUnavailableError(`No connection to the database could be had: ${describe(cause)}`, { cause });
    }
  }

  override async _query(connection: unknown, query: unknown): Promise<unknown> {
    try {
      return await super._query(connection, query);
    } catch (cause) {
      if (!isBroken(connection) && !isPassing(cause)) throw cause;
      throw new DatabaseUnavailableError(`The connection to the database broke: ${describe(cause)}`, { cause });
    }
  }
}

/** PostgreSQL ended a statement, or one that waited for a lock, because its time was over. */
export function isOutOfTime(error: unknown): boolean {
  return error instanceof Error && OUT_OF_TIME.has(codeOf(error));
}

/** An operator reads it at a start that fails. When every address of a host refuses, Node's error has a code and no message. */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || codeOf(cause);
}

/** knex notes on a connection that it ended. */
function isBroken(connection: unknown): boolean {
  return Boolean(Object(connection).__knex__disposed);
}

/** @internal PostgreSQL says that it cannot now, or the connection broke. */
export function isPassing(error: unknown): boolean {
  const code = error instanceof Error ? codeOf(error) : '';
  return PASSING.has(code) || /^08/.test(code);
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}
