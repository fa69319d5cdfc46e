import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { takeTurn } from '../pace.ts';

/**
 * Reads nothing from a connection, though Node starts to read again whenever a body or an answer goes on.
 * @returns what ends it
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

/**
 * Reads no more of a chunked body until somebody takes it, or throws it away, and then in a turn of its own. Node would read on and keep 64 kB
 * of it before it stops: of one-byte chunks that is long, and much.
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
  // Whoever iterates over it listens for this, and there is no `resume` then.
  request.on('newListener', (event) => {
    if (event === 'readable') take();
  });
}
