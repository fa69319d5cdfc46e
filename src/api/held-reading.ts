import type { Socket } from 'node:net';

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
