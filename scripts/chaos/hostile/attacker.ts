import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

let attackers = 0;

/**
 * Returns an address that is neither that of the healthy tenant, as in real life, nor that of the attacker before, who may be blocked by
 * now.
 */
function nextAddress(): string {
  attackers++;
  return `127.77.${Math.floor(attackers / 250)}.${(attackers % 250) + 1}`;
}

const KEPT_CHARACTERS = 2_000;

export interface HostileRequest {
  readonly method?: string;
  /** Path from the root of the service, sent unchanged. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Number of kept characters of the response. Default 2,000. */
  readonly keptCharacters?: number;
}

export interface HostileResponse {
  readonly status: number;
  /** The beginning of the body. */
  readonly text: string;
}

/** The counts of the responses to the hostile client. */
export interface Tally {
  readonly note: (response: string) => void;
  readonly print: () => string;
  readonly has: (pattern: RegExp) => boolean;
}

export function createTally(): Tally {
  const counts = new Map<string, number>();
  const sorted = () => [...counts].sort(([, one], [, other]) => other - one);
  return {
    note: (response) => void counts.set(response, (counts.get(response) ?? 0) + 1),
    print: () =>
      sorted()
        .slice(0, 5)
        .map(([response, count]) => `${response} ×${count}`)
        .join(', '),
    has: (pattern) => [...counts.keys()].some((response) => pattern.test(response)),
  };
}

/** A client of the service with an address of its own, for one input. */
export interface Attacker {
  /** Sends a request and records its status once the whole response has arrived. It never fails. */
  readonly send: (what: HostileRequest) => Promise<void>;
  /** Sends a request, records its status, and returns the response. */
  readonly ask: (what: HostileRequest) => Promise<HostileResponse>;
  /** Opens a connection for arbitrary use. It is closed when the attack ends. */
  readonly open: () => Socket;
  readonly close: () => void;
}

export function createAttacker(origin: string, tally: Tally, signal: AbortSignal): Attacker {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const localAddress = nextAddress();

  function ask({
    method = 'GET',
    path,
    headers,
    body,
    keptCharacters = KEPT_CHARACTERS,
  }: HostileRequest): Promise<HostileResponse> {
    return new Promise((resolve, reject) => {
      const options = { hostname, port, method, path, headers, agent, signal, localAddress };
      const sent = request(options, (response) => {
        let text = '';
        response.setEncoding('latin1');
        response.on('data', (chunk: string) => {
          if (text.length < keptCharacters) text += chunk.slice(0, keptCharacters);
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.once('error', reject);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  }

  async function send(what: HostileRequest): Promise<void> {
    try {
      const { status, text } = await ask(what);
      tally.note(`${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim());
    } catch (error) {
      tally.note(signal.aborted ? 'given up' : describe(error));
    }
  }

  function open(): Socket {
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    sockets.add(socket);
    socket.on('error', (error) => tally.note(describe(error)));
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }

  return {
    send,
    ask,
    open,
    close: () => {
      agent.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function describe(error: unknown): string {
  return String(Object(error).code ?? error);
}
