import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Simulator, SimulatorOptions } from '#connector/simulator';
import { stopServer } from './stop-server.ts';

export type CreateSimulator = (options: SimulatorOptions) => Simulator;

/** What a simulator was asked, as the provider would have seen it. */
export interface SeenRequest {
  readonly method: string;
  /** The host that was meant; undefined where the simulator was called as such. */
  readonly host: string | undefined;
  /** Path and query. */
  readonly target: string;
}

/** A simulator that runs in this process. */
export interface ServedSimulator {
  /** What `simulatorsUrl` is for a client. */
  readonly simulatorsUrl: string;
  /** Of this provider, without a slash at the end. */
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** `POST /simulate/…`, as the simulator kit has them. @returns the JSON of its answer. @throws Error when the simulator refuses it */
  readonly command: (path: string, body?: object, method?: 'POST' | 'DELETE') => Promise<unknown>;
  /** Back to the first data. */
  readonly reset: () => void;
  readonly stop: () => Promise<void>;
}

/** Serves a simulator below `/<key>`, as the platform does. */
export async function serveSimulator(key: string, create: CreateSimulator): Promise<ServedSimulator> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    request.url = (request.url ?? '/').slice(key.length + 1) || '/';
    seen.push(seenOf(request));
    simulator.handle(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulator listens on no port.');
  const simulatorsUrl = `http://127.0.0.1:${address.port}`;
  const url = `${simulatorsUrl}/${key}`;
  let simulator = create({ baseUrl: url });
  return {
    simulatorsUrl,
    url,
    seen,
    command: async (path, body = {}, method = 'POST') => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    reset: () => {
      simulator = create({ baseUrl: url });
    },
    stop: () => stopServer(server),
  };
}

function seenOf({ method = 'GET', url = '/', headers }: IncomingMessage): SeenRequest {
  const host = /host="?([^";,]+)/.exec(String(headers.forwarded ?? ''))?.[1];
  return { method, host, target: url };
}
