/// <reference path="./knex-postgres.d.ts" />
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { currentSpan, errorTypeOf, inBackground, type Span } from '../trace.ts';
import { repeatGivenUp } from './given-up.ts';
import { describeStatement } from './statement-span.ts';
import { codeOf } from './violations.ts';

/**
 * No connection to PostgreSQL was available, or the connection broke. Another attempt may succeed; it is unknown whether the query was
 * executed.
 */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/**
 * PostgreSQL's words for "not now", whatever the query: https://www.postgresql.org/docs/current/errcodes-appendix.html.
 * Shut down by an administrator, after a crash, starting; too many connections. Class 08 is "connection exception".
 */
const PASSING: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '53300']);

/**
 * Citus reports this if a node was lost while it committed, with the code of an internal error. It also does for a deferred constraint that
 * fails, but the service has none.
 */
const LOST_IN_COMMIT = /^could not commit transaction for shard \d+ on at least one active node$/;
const INTERNAL_ERROR = 'XX000';

/** query_canceled, lock_not_available. */
const OUT_OF_TIME: ReadonlySet<string> = new Set(['57014', '55P03']);

/**
 * Distinguishes the loss of the database from every other failure, once for all queries, because the driver has no code for some cases. In
 * a trace, each query is a span.
 */
export class LossReportingClient extends PostgresClient {
  override async acquireConnection(): Promise<unknown> {
    try {
      return await super.acquireConnection();
    } catch (cause) {
      throw new DatabaseUnavailableError(`The service could not connect to the database: ${describe(cause)}`, {
        cause,
      });
    }
  }

  /** A connection serves many requests, so it must not belong to the trace of the request that first needed it. */
  override acquireRawConnection(): Promise<unknown> {
    return inBackground(() => super.acquireRawConnection());
  }

  /** A statement without a transaction is one of its own. If the database ends it because of others, it runs again. */
  override async _query(connection: unknown, query: unknown): Promise<unknown> {
    const run = () => report(connection, query, () => super._query(connection, query));
    return this.transacting === true ? run() : repeatGivenUp(run);
  }
}

/** Adds a statement to the trace, and reports the loss of the database. */
async function report(connection: unknown, query: unknown, statement: () => Promise<unknown>): Promise<unknown> {
  const span = currentSpan()?.child({ name: 'query', kind: 'client' });
  try {
    const result = await statement();
    endStatement(span, connection, query);
    return result;
  } catch (cause) {
    endStatement(span, connection, query, errorTypeOf(cause));
    if (!isBroken(connection) && !isPassing(cause)) throw cause;
    throw new DatabaseUnavailableError(`The connection to the database broke: ${describe(cause)}`, { cause });
  }
}

function endStatement(span: Span | undefined, connection: unknown, query: unknown, errorType?: string): void {
  span?.end(() => {
    const { name, attributes } = describeStatement(connection, query);
    // PostgreSQL's own code, where it is one: https://www.postgresql.org/docs/current/errcodes-appendix.html.
    const status = errorType !== undefined && SQLSTATE.test(errorType) ? errorType : undefined;
    return { name, attributes: { ...attributes, 'db.response.status_code': status }, errorType };
  });
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Returns whether PostgreSQL ended a statement because of a time limit, also while it waited for a lock. */
export function isOutOfTime(error: unknown): boolean {
  return OUT_OF_TIME.has(codeOf(error));
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

/**
 * Returns whether a database that answers reports that it lost a connection: of a distributed one, the coordinator reports that it cannot reach
 * another node. The transaction is rolled back then, unless the node was lost during the commit.
 */
export function isNodeLost(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError && /^08/.test(codeOf(error.cause));
}

/** @internal Returns whether an error is temporary: PostgreSQL cannot serve the statement now, or the connection broke. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return PASSING.has(code) || /^08/.test(code) || (code === INTERNAL_ERROR && LOST_IN_COMMIT.test(error.message));
}
