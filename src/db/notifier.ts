import type { Knex } from 'knex';
import pg from 'pg';
import { type Clock, type EndWait, SYSTEM_CLOCK } from '../clock.ts';
import type { Logger } from '../log.ts';
import { connectionOptions } from './database.ts';

export interface NotifierOptions {
  readonly url: string;
  /** Sends; a dedicated connection of the notifier's own listens. */
  readonly knex: Knex;
  readonly log: Logger;
  /** Time between two checks that the listening connection lives, and the time one may take. Default 10 s and 5 s. */
  readonly heartbeatMs?: number;
  readonly heartbeatTimeoutMs?: number;
  readonly clock?: Clock;
}

export interface Notifier {
  /** Connects and listens; rejects when the first connection fails. Later ones are tried again until `close`. */
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
  /**
   * Tells every process, this one included. Within a transaction (`via`) it is told at commit, or never.
   * @throws RangeError above 7900 bytes: PostgreSQL carries no more.
   */
  readonly publish: (topic: string, payload: string, via?: Knex) => Promise<void>;
  /** @returns the function that ends the subscription */
  readonly subscribe: (topic: string, handler: (payload: string) => void) => () => void;
  /** Called when messages may have been missed: whatever they keep in step must be dropped. */
  readonly onGap: (handler: () => void) => () => void;
}

const CHANNEL = 'causeway';
const MAX_MESSAGE_BYTES = 7900;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;

/** Messages between processes over LISTEN/NOTIFY. They come at most once, so `onGap` is part of the bargain. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { knex, log } = options;
  const handlersByTopic = new Map<string, Set<(payload: string) => void>>();
  const gapHandlers = new Set<() => void>();
  const listener = createListener(options, {
    onMessage: (message) => {
      const { topic, payload } = parseMessage(message);
      callAll(handlersByTopic.get(topic) ?? [], log, payload);
    },
    onGap: () => callAll(gapHandlers, log),
  });

  return {
    start: listener.start,
    close: listener.close,
    publish: async (topic, payload, via = knex) => {
      await via.raw('select pg_notify(?, ?)', [CHANNEL, formatMessage(topic, payload)]);
    },
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
      await next.query(`listen ${CHANNEL}`);
    } catch (error) {
      discard(next);
      throw error;
    }
    if (closed) return discard(next);
    client = next;
    failedAttempts = 0;
    scheduleHeartbeat(next);
  }

  /** A connection that died silently (a firewall, a failed-over host) shows only when something is sent over it. */
  function scheduleHeartbeat(current: pg.Client): void {
    if (closed || client !== current) return;
    endWait = clock.after(heartbeatMs, () => {
      current.query('select 1').then(
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

  return {
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

/** One handler that throws must not keep the others from hearing. */
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
