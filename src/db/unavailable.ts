/// <reference path="./knex-postgres.d.ts" />
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { currentSpan, errorTypeOf, inBackground, type Span } from '../trace.ts';
import { describeStatement } from './statement-span.ts';

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

  override async _query(connection: unknown, query: unknown): Promise<unknown> {
    const span = currentSpan()?.child({ name: 'query', kind: 'client' });
    try {
      const result = await super._query(connection, query);
      endStatement(span, connection, query);
      return result;
    } catch (cause) {
      endStatement(span, connection, query, errorTypeOf(cause));
      if (!isBroken(connection) && !isPassing(cause)) throw cause;
      throw new DatabaseUnavailableError(`The connection to the database broke: ${describe(cause)}`, { cause });
    }
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

/** @internal Returns whether an error is temporary: PostgreSQL cannot serve the statement now, or the connection broke. */
export function isPassing(error: unknown): boolean {
  const code = error instanceof Error ? codeOf(error) : '';
  return PASSING.has(code) || /^08/.test(code);
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}
