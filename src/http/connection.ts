import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  Server,
  ServerOptions,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { takeTurn } from '../pace.ts';
import { countPiece, type Flow } from '../turn-budget.ts';

/** Maximum size of a request line with its headers: room for a `where` of 16 KB with every character percent-encoded. */
export const MOST_HEADER_BYTES = 64 * 1024;

/**
 * Stops reading from a connection, even where Node would start again because a body or a response continues.
 * @returns a function that ends this
 */
export function holdReading(socket: Socket): () => void {
  const again = () => void socket.pause();
  // Node begins to read in its own listener, which is called before this one.
  socket.on('resume', again);
  socket.pause();
  return () => {
    socket.off('resume', again);
    if (!socket.destroyed) socket.resume();
  };
}

/** Returns the control that pauses and resumes reading from a caller. */
export function flowOf({ socket }: IncomingMessage): Flow {
  let goOn: (() => void) | undefined;
  return {
    pause: () => {
      goOn ??= holdReading(socket);
    },
    resume: () => {
      goOn?.();
      goOn = undefined;
    },
  };
}

/**
 * Reads no more of a chunked body until it is consumed or dropped, and then in a turn of its own. Node would keep up to 64 kB of it before
 * it stops, which is a long time and much memory for chunks of one byte.
 */
export function holdUntilTaken(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  const readOn = holdReading(request.socket);
  let isTaken = false;
  const take = () => {
    if (isTaken) return;
    isTaken = true;
    if (request.complete) readOn();
    else void takeTurn().then(readOn);
  };
  request.once('resume', take);
  // A reader that iterates over the body listens for this event, and never calls `resume`.
  request.on('newListener', (event) => {
    if (event === 'readable') take();
  });
}

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
 * closed.
 */
export function handOnInARow(handle: RequestListener): RequestListener {
  const rows = new WeakMap<Socket, RequestRow>();

  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    holdUntilTaken(request);
    const row = rows.get(socket) ?? { begun: 0, waiting: [], readOn: undefined };
    rows.set(socket, row);
    const begin = () => {
      row.begun++;
      response.on('close', () => {
        row.begun--;
        goOn(socket, row);
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

/** Returns whether a request has a body. A length of 0 means none. */
export function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding !== undefined || (length !== undefined && Number(length) !== 0);
}

const timed = new WeakMap<IncomingMessage, () => void>();

/** Ends requests whose bodies have not arrived `ms` milliseconds after their headers, by calling `end`. */
export function timeBodies(server: Server, clock: Pick<Clock, 'after'>, { ms, end }: BodyTime): void {
  server.prependListener('request', (request: IncomingMessage) => {
    if (!hasBody(request.headers)) return;
    const endWait = clock.after(ms, () => {
      if (!request.complete) end(request.socket);
    });
    timed.set(request, endWait);
    request.once('close', endWait);
  });
}

export interface BodyTime {
  readonly ms: number;
  readonly end: (socket: Socket) => void;
}

/** Removes the time limit of a body, as long as some of it arrives. Silent connections still end. */
export function letTakeItsTime(request: IncomingMessage): void {
  timed.get(request)?.();
}

/** Limits for the rest of a body whose request already has its response. */
export interface RestBounds {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * Reads and drops the rest of a body after its response is sent, so that the connection can carry the next request. Node does so only for a
 * body that was never read. It closes the connection if the rest exceeds the bounds.
 */
export function dropRests(server: Server, clock: Pick<Clock, 'after'>, bounds: RestBounds): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!hasBody(request.headers)) return;
    response.once('finish', () => {
      if (!request.complete) dropRest(request, clock, bounds);
    });
  });
}

function dropRest(request: IncomingMessage, clock: Pick<Clock, 'after'>, { bytes, ms }: RestBounds): void {
  const { socket } = request;
  // Its end would write a second response.
  letTakeItsTime(request);
  request.once(
    'close',
    clock.after(ms, () => void socket.destroy()),
  );
  // A reader that still waits for a piece would hold back all of them.
  request.unpipe();
  for (const event of ['data', 'readable']) request.removeAllListeners(event);
  const flow = flowOf(request);
  let dropped = 0;
  request.on('data', (piece: Buffer) => {
    dropped += piece.length;
    countPiece(flow, piece.length);
    if (dropped > bytes) socket.destroy();
  });
  request.resume();
}
