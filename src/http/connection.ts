import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SYSTEM_CLOCK } from '../clock.ts';
import { AppError } from '../errors.ts';
import { goOnInTurn, takeTurn } from '../pace.ts';
import { holdReading, holdUntilTaken } from './incoming-body.ts';

/** Maximum size of a request line with its headers: room for a `where` of 16 KB with every character percent-encoded. */
export const MOST_HEADER_BYTES = 64 * 1024;

/** The handler for the requests of a server, and the classes of its requests and responses. */
export interface HttpHandler extends Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  readonly handle: RequestListener;
}

/** Requests of one connection that are begun and have no response yet. A caller that waits for its responses has one. */
const MOST_BEGUN = 4;
/** Maximum number of waiting requests of one connection before it is no longer read. More may have arrived in the same piece. */
const READ_WHILE_WAITING = 16;
/**
 * Maximum number of waiting requests before a connection is closed. A piece of 64 kB has room for two thousand, which need some megabytes.
 */
const MOST_WAITING = 256;

interface RequestRow {
  begun: number;
  readonly waiting: (() => void)[];
  /** While nothing is read. */
  readOn: (() => void) | undefined;
}

/**
 * Returns a listener that starts only a few requests of a connection at a time. A caller can send many in a row without reading a response.
 * Started together, all of them would use memory and time, and end together when the connection breaks. A connection with too many is
 * closed. `watchBody` is called with each request that has a body, before it starts.
 */
export function handOnInARow(handle: RequestListener, watchBody: RequestListener): RequestListener {
  const rows = new WeakMap<Socket, RequestRow>();

  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    if (hasBody(request.headers)) {
      watchBody(request, response);
      holdUntilTaken(request);
    }
    const row = rows.get(socket) ?? { begun: 0, waiting: [], readOn: undefined };
    rows.set(socket, row);
    const begin = () => {
      row.begun++;
      response.on('close', () => {
        row.begun--;
        if (row.waiting.length > 0) goOn(socket, row);
      });
      handle(request, response);
    };
    if (row.begun < MOST_BEGUN) return begin();
    row.waiting.push(begin);
    if (row.waiting.length === READ_WHILE_WAITING) row.readOn ??= holdReading(socket);
    if (row.waiting.length === MOST_WAITING) void closeInTurn(socket);
  };
}

/** Closes one connection per turn, because Node ends each of its many requests separately. */
async function closeInTurn(socket: Socket): Promise<void> {
  await takeTurn();
  socket.destroy();
}

function goOn(socket: Socket, row: RequestRow): void {
  if (socket.destroyed) return;
  row.waiting.shift()?.();
  if (row.waiting.length >= READ_WHILE_WAITING) return;
  row.readOn?.();
  row.readOn = undefined;
}

/** Maximum time in one turn of the event loop for the beginnings of requests, before other work continues. */
const TURN_MS = 5;

/** This measures the time of the process, which the clock of the service does not change. */
const { steady } = SYSTEM_CLOCK;

/** Returns the caller of a request. Requests of one caller start in their order. */
type CallerOf = (request: IncomingMessage) => string;

/**
 * Passes requests on fairly: for a few milliseconds in each turn of the event loop, with callers taking turns. Otherwise a thousand
 * requests that one caller sends at once would be one long stretch of work, for which the requests of all others would wait. A request
 * whose caller has disconnected before its turn is not started.
 */
export function startFairly(handle: RequestListener, callerOf: CallerOf): RequestListener {
  const lines = new Map<string, (() => void)[]>();
  /** The end of the current turn for incoming requests. Undefined between turns. */
  let turnEndsAtMs: number | undefined;

  /**
   * Returns whether the turn has time left. Each request arrives in a callback of its own, so the promises of the previous one are settled
   * and their work is counted.
   */
  function hasTime(): boolean {
    const nowMs = steady();
    if (turnEndsAtMs === undefined) {
      turnEndsAtMs = nowMs + TURN_MS;
      setImmediate(giveTurn);
    }
    return nowMs < turnEndsAtMs;
  }

  async function giveTurn(): Promise<void> {
    turnEndsAtMs = undefined;
    if (lines.size === 0) return;
    const endsAtMs = steady() + TURN_MS;
    turnEndsAtMs = endsAtMs;
    for (let begin = takeNext(); begin !== undefined; begin = takeNext()) {
      begin();
      // A request continues in promises that are already resolved; they belong to its beginning.
      await promisesKept();
      if (steady() >= endsAtMs) break;
    }
    setImmediate(giveTurn);
  }

  /** Takes the first request of the caller whose turn it is. That caller then goes to the end of the queue. */
  function takeNext(): (() => void) | undefined {
    const [turn] = lines;
    if (turn === undefined) return undefined;
    const [caller, line] = turn;
    lines.delete(caller);
    const begin = line.shift();
    if (line.length > 0) lines.set(caller, line);
    return begin;
  }

  return (request, response) => {
    if (lines.size === 0 && hasTime()) return void handle(request, response);
    const caller = callerOf(request);
    const line = lines.get(caller) ?? [];
    line.push(() => {
      if (!isGone(request, response)) handle(request, response);
    });
    lines.set(caller, line);
  };
}

/** Resolves when nothing is left to do that waits for no event. */
async function promisesKept(): Promise<void> {
  // A tick that is requested inside a promise runs after all other promises. Requested elsewhere, it would run before them.
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

function isGone(request: IncomingMessage, response: ServerResponse): boolean {
  return request.socket.destroyed || response.destroyed;
}

/** Returns whether a request has a body. A length of 0 means none. */
export function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding !== undefined || (length !== undefined && Number(length) !== 0);
}

const HUNG_UP = new AppError('INTERNAL', 'The caller hung up.');
const RESPONDED = new AppError('INTERNAL', 'The request has ended.');

/** Returns a signal that aborts when the response is sent, or the caller closes the connection before. Then held memory can be released. */
export function signalEnd(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  // The connection has ended already, so no event will report it.
  if (response.destroyed) controller.abort(HUNG_UP);
  else
    response.on('close', () => {
      if (response.writableFinished) controller.abort(RESPONDED);
      else void abortInTurn(controller);
    });
  return controller.signal;
}

/** Hundreds hang up in one moment when what is between them and here breaks. */
async function abortInTurn(controller: AbortController): Promise<void> {
  await goOnInTurn();
  controller.abort(HUNG_UP);
}

/**
 * Asserts, between two steps of work, that the caller is still connected.
 * @throws the error that `isHangUp` recognizes
 */
export function assertThere(response: ServerResponse): void {
  if (response.destroyed) throw HUNG_UP;
}

/** Returns whether work was aborted because the caller closed the connection. Nothing failed then, and there is nobody to report to. */
export function isHangUp(thrown: unknown): boolean {
  return thrown === HUNG_UP;
}
