import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import pg from 'pg';
import { type Clock, type EndWait, SYSTEM_CLOCK } from '../clock.ts';
import type { Logger } from '../log.ts';
import { connectionOptions } from './database.ts';
import { firstOf } from './row.ts';

export interface NotifierOptions {
  readonly url: string;
  /** Sends messages. The notifier listens on a dedicated connection of its own. */
  readonly knex: Knex;
  readonly log: Logger;
  /** Milliseconds between two checks of the listening connection, and the limit of one check. Default 10 s and 5 s. */
  readonly heartbeatMs?: number;
  readonly heartbeatTimeoutMs?: number;
  readonly clock?: Clock;
}

export interface Notifier {
  /** Connects and listens; rejects when the first connection fails. Later ones are tried again until `close`. */
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
  /**
   * Publishes a message to every process, including this one. Within a transaction (`via`), it is published at the commit, or never.
   * @throws RangeError above 7900 bytes, the limit of PostgreSQL
   */
  readonly publish: (topic: string, payload: string, via?: Knex) => Promise<void>;
  /**
   * Resolves when every process has handled all messages so far, or after a second, so that a process that hangs does not block others.
   * PostgreSQL sends them to all processes at the same time, but one may process them later than another.
   */
  readonly settle: () => Promise<void>;
  /**
   * Subscribes to a topic.
   * @returns the function that ends the subscription
   */
  readonly subscribe: (topic: string, handler: (payload: string) => void) => () => void;
  /**
   * Calls the handler when messages may have been missed. Drop everything that messages keep up to date.
   * @returns the function that ends the subscription
   */
  readonly onGap: (handler: () => void) => () => void;
}

const CHANNEL = 'causeway';
const MAX_MESSAGE_BYTES = 7900;
/** The name of every listening connection. Its count is the number of expected replies. */
const LISTENER = 'causeway listener';
/** The message that requests a reply from every process, with its id. */
const ASK = 'settle';
const SAY = 'settled';
const SETTLE_TIMEOUT_MS = 1_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;

/** Creates the channel of messages between processes (LISTEN and NOTIFY). A message can get lost, so use `onGap` too. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { knex, log, clock = SYSTEM_CLOCK } = options;
  const handlersByTopic = new Map<string, Set<(payload: string) => void>>();
  const gapHandlers = new Set<() => void>();
  /** The callbacks for replies, by the id of the request. */
  const settling = new Map<string, () => void>();
  const listener = createListener(options, {
    onMessage: (message) => {
      const { topic, payload } = parseMessage(message);
      if (topic === ASK) listener.reply(formatMessage(SAY, payload));
      if (topic === SAY) settling.get(payload)?.();
      callAll(handlersByTopic.get(topic) ?? [], log, payload);
    },
    onGap: () => callAll(gapHandlers, log),
  });

  async function publish(topic: string, payload: string, via = knex): Promise<void> {
    await via.raw('select pg_notify(?, ?)', [CHANNEL, formatMessage(topic, payload)]);
  }

  /**
   * Asks all listening processes to confirm. A process that begins to listen later needs no messages from before, because its cache is
   * empty.
   * @returns the number of listening processes
   */
  async function askAll(mark: string): Promise<number> {
    const { rows } = await knex.raw<{ rows: { readonly count: number }[] }>(
      'select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = ?',
      [LISTENER],
    );
    await publish(ASK, mark);
    return firstOf(rows).count;
  }

  return {
    start: listener.start,
    close: listener.close,
    publish,
    settle: () =>
      new Promise((resolve) => {
        const mark = randomUUID();
        let heard = 0;
        let wanted = Number.POSITIVE_INFINITY;
        const end = () => {
          endWait();
          settling.delete(mark);
          resolve();
        };
        const endWait = clock.after(SETTLE_TIMEOUT_MS, end);
        const endIfAll = () => {
          if (heard >= wanted) end();
        };
        settling.set(mark, () => {
          heard += 1;
          endIfAll();
        });
        askAll(mark).then(
          (count) => {
            wanted = count;
            endIfAll();
          },
          (error: unknown) => {
            // The change was committed, so the caller cannot undo it.
            log.warn({ err: error }, 'could not check whether every process has received a notification');
            end();
          },
        );
      }),
    subscribe: (topic, handler) => {
      const handlers = handlersByTopic.get(topic) ?? new Set();
      handlersByTopic.set(topic, handlers.add(handler));
      return () => handlers.delete(handler);
    },
    onGap: (handler) => {
      gapHandlers.add(handler);
      return () => gapHandlers.delete(handler);
    },
  };
}

interface ListenerEvents {
  readonly onMessage: (message: string) => void;
  readonly onGap: () => void;
}

function createListener(options: NotifierOptions, events: ListenerEvents) {
  const { url, log, heartbeatMs = 10_000, heartbeatTimeoutMs = 5_000, clock = SYSTEM_CLOCK } = options;
  let client: pg.Client | undefined;
  /** The end of the last statement on the connection. The driver takes one statement at a time. */
  let idle: Promise<unknown> = Promise.resolve();
  let endWait: EndWait | undefined;
  let failedAttempts = 0;
  let closed = false;

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...connectionOptions(url), query_timeout: heartbeatTimeoutMs });
    next.on('error', (error) => lose(next, error));
    next.on('end', () => lose(next, new Error('The server ended the connection')));
    next.on('notification', ({ payload }) => events.onMessage(payload ?? ''));
    try {
      await next.connect();
      // By a statement: the URL of the database may have a name of its own.
      await next.query(`listen ${CHANNEL}; set application_name = '${LISTENER}'`);
    } catch (error) {
      discard(next);
      throw error;
    }
    if (closed) return discard(next);
    client = next;
    idle = Promise.resolve();
    failedAttempts = 0;
    scheduleHeartbeat(next);
  }

  /** A connection that died silently (a firewall, a failed-over host) shows only when something is sent over it. */
  function scheduleHeartbeat(current: pg.Client): void {
    if (closed || client !== current) return;
    endWait = clock.after(heartbeatMs, () => {
      query(current, 'select 1').then(
        () => scheduleHeartbeat(current),
        (error) => lose(current, error),
      );
    });
  }

  function lose(lost: pg.Client, error: unknown): void {
    if (closed || client !== lost) return;
    log.warn({ err: error }, 'lost the connection that listens for notifications');
    discard(lost);
    reconnectLater();
  }

  function discard(discarded: pg.Client): void {
    endWait?.();
    if (client === discarded) client = undefined;
    discarded.end().catch((error) => log.debug({ err: error }, 'a listening connection did not end cleanly'));
  }

  function reconnectLater(): void {
    const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failedAttempts);
    failedAttempts += 1;
    endWait = clock.after(delayMs, () => {
      reconnect().catch((error) => {
        if (closed) return;
        log.warn({ err: error }, 'could not listen for notifications; trying again');
        reconnectLater();
      });
    });
  }

  async function reconnect(): Promise<void> {
    await connect();
    if (!closed) events.onGap();
  }

  function query(current: pg.Client, text: string, values?: readonly string[]): Promise<unknown> {
    const result = idle.then(() => current.query(text, values && [...values]));
    idle = result.catch(() => {});
    return result;
  }

  /** Replies on the connection of the request, so that it needs none of the pool. */
  function reply(message: string): void {
    if (client === undefined) return;
    query(client, 'select pg_notify($1, $2)', [CHANNEL, message]).catch((error: unknown) => {
      log.debug({ err: error }, 'could not confirm that a notification was handled');
    });
  }

  return {
    reply,
    start: connect,
    close: async () => {
      closed = true;
      endWait?.();
      await client?.end();
    },
  };
}

function formatMessage(topic: string, payload: string): string {
  const message = JSON.stringify([topic, payload]);
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) {
    throw new RangeError(`A notification of topic ${topic} has more than ${MAX_MESSAGE_BYTES} bytes`);
  }
  return message;
}

function parseMessage(message: string): { readonly topic: string; readonly payload: string } {
  const [topic, payload] = JSON.parse(message);
  return { topic: String(topic), payload: String(payload) };
}

/** Calls all handlers, even if one of them throws. */
function callAll<Arguments extends unknown[]>(
  handlers: Iterable<(...values: Arguments) => void>,
  log: Logger,
  ...values: Arguments
): void {
  for (const handler of handlers) {
    try {
      handler(...values);
    } catch (error) {
      log.error({ err: error }, 'a notification handler failed');
    }
  }
}
