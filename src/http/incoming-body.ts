import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { countPiece, type Flow, takeTurn } from '../pace.ts';

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

/** Limits for a body. */
interface ArrivalBounds {
  /** Milliseconds after the headers within which the body must have arrived. A rest that is dropped has the same time. */
  readonly ms: number;
  /** Called with the connection of a body that is late. */
  readonly end: (socket: Socket) => void;
  /** Maximum number of bytes that are dropped after the response. */
  readonly droppedBytes: number;
}

const timed = new WeakMap<IncomingMessage, () => void>();

/**
 * Ends a request whose body is late, and drops the rest of a body after the response is sent, so that the connection can carry the next
 * request. Node drops only a body that was never read. The connection is closed if the rest exceeds the bounds.
 */
export function watchBody(
  request: IncomingMessage,
  response: ServerResponse,
  clock: Pick<Clock, 'after'>,
  bounds: ArrivalBounds,
): void {
  const endWait = clock.after(bounds.ms, () => {
    if (!request.complete) bounds.end(request.socket);
  });
  timed.set(request, endWait);
  request.once('close', endWait);
  response.once('finish', () => {
    if (!request.complete) dropRest(request, clock, bounds);
  });
}

/** Removes the time limit of a body, as long as some of it arrives. Silent connections still end. */
export function letTakeItsTime(request: IncomingMessage): void {
  timed.get(request)?.();
}

function dropRest(request: IncomingMessage, clock: Pick<Clock, 'after'>, { ms, droppedBytes }: ArrivalBounds): void {
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
    if (dropped > droppedBytes) socket.destroy();
  });
  request.resume();
}
