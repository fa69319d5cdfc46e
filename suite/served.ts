import { createServer, type IncomingMessage } from 'node:http';
import type { Simulator, SimulatorOptions } from '#connector/simulator';
import { listen } from './listen.ts';
import { stopServer } from './stop-server.ts';

export type CreateSimulator = (options: SimulatorOptions) => Simulator;

/** A request to a simulator, as the provider would see it. */
export interface SeenRequest {
  readonly method: string;
  /** The host to which the caller addressed the request. Undefined for a request to the simulator itself. */
  readonly host: string | undefined;
  /** The path with the query. */
  readonly target: string;
}

/** A response of a simulator. */
interface SimulatorResponse<Body> extends Pick<Response, 'status' | 'headers'> {
  readonly text: string;
  /** The parsed JSON; an empty object for anything else. Its type is not checked: a missing member fails the test that reads it. */
  readonly body: Body;
}

/** A simulator that runs in this process. */
export interface ServedSimulator {
  /** The value of `simulatorsUrl` for a client. */
  readonly simulatorsUrl: string;
  /** The address of this provider, without a slash at the end. */
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /**
   * Sends a command of the simulator kit, `POST /simulate/…`.
   * @returns the JSON of its response
   * @throws Error when the simulator rejects it
   */
  readonly command: (path: string, body?: object, method?: 'POST' | 'DELETE') => Promise<unknown>;
  /** Sends a request to a path of the provider, as a client would. Redirects are not followed. */
  readonly call: <Body>(path: string, request?: RequestInit) => Promise<SimulatorResponse<Body>>;
  /** Restores the initial data. */
  readonly reset: () => void;
  /** Returns the requests and responses so far that contradict the provider's official description, and forgets them. */
  readonly takeContradictions: () => readonly string[];
  /**
   * Ends the simulator.
   * @throws Error when requests or responses contradict the provider's official description
   */
  readonly stop: () => Promise<void>;
}

/** Serves a simulator at `/<key>`, as the platform does. */
export async function serveSimulator(key: string, create: CreateSimulator): Promise<ServedSimulator> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    request.url = (request.url ?? '/').slice(key.length + 1) || '/';
    seen.push(seenOf(request));
    simulator.handle(request, response);
  });
  const simulatorsUrl = `http://127.0.0.1:${await listen(server)}`;
  const url = `${simulatorsUrl}/${key}`;
  let simulator = create({ baseUrl: url });
  const earlier: string[] = [];
  const takeContradictions = () => [...earlier.splice(0), ...(simulator.takeContradictions?.() ?? [])];
  return {
    simulatorsUrl,
    url,
    seen,
    command: async (path, body = {}, method = 'POST') => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    call: async <Body>(path: string, request: RequestInit = {}) => {
      const response = await fetch(url + path, { redirect: 'manual', ...request });
      const text = await response.text();
      const body: Body = /^[{[]/.test(text) ? JSON.parse(text) : {};
      return { status: response.status, headers: response.headers, text, body };
    },
    reset: () => {
      earlier.push(...(simulator.takeContradictions?.() ?? []));
      simulator = create({ baseUrl: url });
    },
    takeContradictions,
    stop: async () => {
      await stopServer(server);
      const contradictions = takeContradictions();
      if (contradictions.length > 0) throw contradicted(key, contradictions);
    },
  };
}

function contradicted(key: string, contradictions: readonly string[]): Error {
  const lines = [...new Set(contradictions)].slice(0, MOST_SHOWN);
  return new Error(
    `${contradictions.length} requests or responses contradict the official description of '${key}':\n${lines.join('\n')}`,
  );
}

const MOST_SHOWN = 20;

function seenOf({ method = 'GET', url = '/', headers }: IncomingMessage): SeenRequest {
  const host = /host="?([^";,]+)/.exec(String(headers.forwarded ?? ''))?.[1];
  return { method, host, target: url };
}
