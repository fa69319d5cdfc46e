import pg from 'pg';
import { type Clock, SYSTEM_CLOCK, sleep } from '../clock.ts';
import { StartError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { connectionOptions } from './database.ts';
import { isPassing } from './unavailable.ts';

interface AwaitDatabaseOptions {
  /** URL of the database, from DATABASE_URL. */
  readonly url: string;
  /** Maximum time in milliseconds until the database responds; 0 tries once. */
  readonly waitMs: number;
  readonly log: Logger;
  /** Aborts the wait, which then throws the reason of the signal. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

const RETRY_MS = 500;
const OLDEST_VERSION = 15;

/**
 * Resolves when the database accepts connections. It waits for a database that is not reachable yet, because programs that start together
 * start in any order. A database that rejects the log-in is not tried again.
 * @throws StartError that names DATABASE_URL, without its password
 */
export async function awaitDatabase(options: AwaitDatabaseOptions): Promise<void> {
  const { url, waitMs, log, signal, clock = SYSTEM_CLOCK } = options;
  const startedAtMs = clock.steady();
  let reported: string | undefined;
  for (;;) {
    const fault = await ask(url);
    if (fault === undefined) return;
    const name = `DATABASE_URL ${maskUrl(url)}`;
    if (fault.isFinal) throw new StartError(`${name} cannot be used: ${fault.reason}`, { cause: fault.error });
    if (clock.steady() - startedAtMs >= waitMs) {
      const waited = waitMs === 0 ? '' : ` after ${waitMs / 1000} s (DATABASE_WAIT)`;
      throw new StartError(`${name} does not respond${waited}: ${fault.reason}`, { cause: fault.error });
    }
    if (reported !== fault.reason) log.warn(`${name} does not respond yet; waiting for it: ${fault.reason}`);
    reported = fault.reason;
    await sleep(clock, RETRY_MS, signal);
  }
}

interface Fault {
  readonly reason: string;
  readonly isFinal: boolean;
  readonly error?: unknown;
}

async function ask(url: string): Promise<Fault | undefined> {
  const client = new pg.Client(connectionOptions(url));
  // A broken connection fails the query. Without a listener, it would also end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query("select current_setting('server_version_num')::int / 10000 as version");
    const version = Number(rows[0]?.version);
    if (version >= OLDEST_VERSION) return undefined;
    return { reason: `it is PostgreSQL ${version}; use version ${OLDEST_VERSION} or newer`, isFinal: true };
  } catch (error) {
    return { reason: describe(error), isFinal: isResponse(error) && !isPassing(error), error };
  } finally {
    await client.end();
  }
}

/** PostgreSQL said something, or showed a certificate; otherwise nothing came, or not to its end. */
function isResponse(error: unknown): boolean {
  return error instanceof pg.DatabaseError || /CERT|_SIGNATURE$|^ERR_TLS|^ERR_SSL/.test(String(Object(error).code));
}

/** When every address of a host refuses, Node's error has a code and no message. */
function describe(error: unknown): string {
  const { message, code } = Object(error);
  return String(message || code || error).replaceAll(/\s*\n\s*/g, ' ');
}

/** Masks the password of a URL, and removes its parameters, which may contain a password, too. */
function maskUrl(text: string): string {
  const url = new URL(text);
  if (url.password !== '') url.password = '********';
  return `${url.protocol}//${url.username}${url.password && `:${url.password}`}${url.username && '@'}${url.host}${url.pathname}`;
}
