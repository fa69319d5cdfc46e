import knexPackage, { type Knex } from 'knex';
import pg from 'pg';
import { untilAborted } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { LossReportingClient } from './unavailable.ts';

interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly log: Logger;
}

export interface Database {
  readonly knex: Knex;
  /** Closes all connections after running queries have ended. */
  readonly close: () => Promise<void>;
  /** Returns whether one round trip succeeds before the signal aborts. */
  readonly isReachable: (signal: AbortSignal) => Promise<boolean>;
  /** Returns whether a round trip succeeds on a new connection outside the pool. */
  readonly respondsToOthers: (signal: AbortSignal) => Promise<boolean>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Limits of statements. One that runs or waits longer is a fault of ours, and holds a connection or locks that others need. */
const TIMEOUTS = {
  statement_timeout: 60_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
} as const;

const ASIDE_STATEMENT_MS = 10_000;
/** Name under which the separate connections appear in `pg_stat_activity`. */
export const ASIDE = 'causeway activity';

/** `_int8` in pg_type; the driver's table has no name for it. */
const INT8_ARRAY = 1016;

type TextParser = (text: string) => unknown;

/** Types that are read otherwise than the driver does by default, by their PostgreSQL type id. */
const TYPE_PARSERS: Readonly<Record<number, TextParser>> = {
  [pg.types.builtins.INT8]: parseBigint,
  [INT8_ARRAY]: parseBigintArray,
  // A calendar day has no instant: as a Date it would move with the zone of this process.
  [pg.types.builtins.DATE]: (text) => text,
};

/** Opens a pool; connections are made when they are needed. Queries fail with DatabaseUnavailableError when it is lost. */
export function openDatabase({ url, poolSize, log }: DatabaseOptions): Database {
  const knex = createKnex({ url, poolSize, log, timeouts: TIMEOUTS });
  const succeeds = async (work: PromiseLike<unknown>, signal: AbortSignal): Promise<boolean> => {
    try {
      await untilAborted(work, signal);
      return true;
    } catch (error) {
      log.warn({ err: error }, 'could not reach the database');
      return false;
    }
  };
  return {
    knex,
    close: () => knex.destroy(),
    isReachable: (signal) => succeeds(knex.raw('select 1'), signal),
    respondsToOthers: (signal) => succeeds(askOnce(url), signal),
  };
}

async function askOnce(url: string): Promise<void> {
  const client = new pg.Client(connectionOptions(url));
  // A connection that breaks fails the query; without a listener it would end the process as well.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end();
  }
}

interface KnexOptions extends DatabaseOptions {
  readonly applicationName?: string;
  /** Timeouts in milliseconds, by PostgreSQL's names. */
  readonly timeouts?: Readonly<Partial<Record<keyof typeof TIMEOUTS, number>>>;
}

/** Opens one connection outside the pool, for statements that end soon or are repeated. */
export function openAside({ url, log }: Pick<DatabaseOptions, 'url' | 'log'>): Knex {
  const timeouts = { ...TIMEOUTS, statement_timeout: ASIDE_STATEMENT_MS };
  return createKnex({ url, poolSize: 1, log, timeouts, applicationName: ASIDE });
}

/** @internal Creates a knex instance. The migrations use it too, with a pool of their own without time limits. */
export function createKnex({ url, poolSize, log, timeouts, applicationName }: KnexOptions): Knex {
  return knexPackage({
    client: LossReportingClient,
    connection: {
      ...connectionOptions(url),
      ...timeouts,
      ...(applicationName !== undefined && { application_name: applicationName }),
    },
    pool: { min: 0, max: poolSize },
    acquireConnectionTimeout: CONNECT_TIMEOUT_MS,
    log: knexLog(log),
  });
}

/** knex writes to the console otherwise, past the redactor. */
function knexLog(log: Logger): Knex.Logger {
  const write = (level: 'debug' | 'warn') => (message: unknown) =>
    log[level]({ knex: message }, 'message of the query builder');
  return { debug: write('debug'), deprecate: write('debug'), warn: write('warn'), error: write('warn') };
}

/** @internal Returns the options that all connections of this program to PostgreSQL share. */
export function connectionOptions(url: string) {
  return {
    connectionString: url,
    application_name: 'causeway',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: typeParser },
  };
}

function typeParser(id: number, format: string = 'text') {
  if (format === 'binary') return pg.types.getTypeParser(id, 'binary');
  return TYPE_PARSERS[id] ?? pg.types.getTypeParser(id, 'text');
}

/** Parses a one-dimensional array of numbers, which PostgreSQL never quotes. Other dimensions are never stored or aggregated here. */
function parseBigintArray(text: string): (number | null)[] {
  const items = text.slice(1, -1);
  return items === '' ? [] : items.split(',').map((item) => (item === 'NULL' ? null : parseBigint(item)));
}

/** Our ids are JSON integers; one that a double cannot hold must not be changed silently. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The bigint ${text} is beyond the integers JSON can carry`);
  return value;
}

/** The pool of knex (tarn). */
interface Pool {
  readonly numUsed: () => number;
  readonly numFree: () => number;
  readonly numPendingAcquires: () => number;
}

const COUNTS: Readonly<Record<string, (pool: Pool) => number>> = {
  used: (pool) => pool.numUsed(),
  free: (pool) => pool.numFree(),
  // Work that waits for a connection: above zero for long, the pool is too small or the database too slow.
  waiting: (pool) => pool.numPendingAcquires(),
};

export function measurePool(knex: Knex, metrics: Metrics): void {
  metrics.gauge({
    name: 'causeway_database_connections',
    help: 'Connections of the pool to PostgreSQL, by state; waiting counts the pending requests for a connection.',
    labelNames: ['state'],
    collect: (gauge) => {
      const pool: Pool | undefined = knex.client.pool;
      if (pool === undefined) return;
      for (const [state, count] of Object.entries(COUNTS)) gauge.set({ state }, count(pool));
    },
  });
}
