import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

/** A request that the provider got, and how its body ended. */
export interface StoredRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  bytes: number;
  isWhole: boolean;
  isOver: boolean;
  /** Of the body, where it is at most a megabyte. */
  body: Buffer;
  digest: string;
}

export interface FileStore {
  readonly url: string;
  readonly requests: readonly StoredRequest[];
  /** What it does with requests for this path, once for each; then it answers as always. */
  readonly answer: (path: string, ...behaviours: readonly Behaviour[]) => void;
  readonly reset: () => void;
  readonly close: () => Promise<void>;
}

const KEPT_BYTES = 1024 * 1024;

/** A provider that counts what it is sent: it says `{ id: '7', name: 'seven', size }` of whatever that was. */
export async function startFileStore(): Promise<FileStore> {
  let requests: StoredRequest[] = [];
  let planned = new Map<string, Behaviour[]>();
  const server: Server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const noted = note(request);
    requests.push(noted);
    const behaviour = planned.get(path)?.shift();
    if (behaviour !== undefined) behaviour(request, response);
    else {
      request.resume();
      request.on('end', () => {
        const json = JSON.stringify({ id: '7', name: 'seven', size: noted.bytes });
        response.setHeader('content-type', 'application/json').end(json);
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    answer: (path, ...behaviours) => {
      planned.set(path, [...behaviours]);
    },
    reset: () => {
      requests = [];
      planned = new Map();
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Counts without reading: whoever answers decides when the body is read. */
function note(request: IncomingMessage): StoredRequest {
  const { method = '', url = '', headers } = request;
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  const noted = { method, url, headers, bytes: 0, isWhole: false, isOver: false, body: Buffer.alloc(0), digest: '' };
  const push = request.push.bind(request);
  // A listener for data would make it flow.
  request.push = (piece: Buffer | null) => {
    if (piece !== null) {
      noted.bytes += piece.length;
      hash.update(piece);
      if (noted.bytes <= KEPT_BYTES) kept.push(piece);
    }
    return push(piece);
  };
  request.on('error', () => {});
  const { socket } = request;
  const end = () => {
    if (noted.isOver) return;
    socket.off('close', end);
    noted.isWhole = request.complete;
    noted.isOver = true;
    noted.digest = hash.digest('hex');
  };
  request.once('close', end);
  // A request that was answered before it had come does not tell that it breaks off.
  socket.once('close', end);
  request.on('end', () => {
    noted.body = Buffer.concat(kept);
  });
  return noted;
}
