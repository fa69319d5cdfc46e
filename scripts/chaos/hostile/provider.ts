import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { METADATA } from './metadata.ts';

export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** The responses of a hostile OData service. */
export interface HostileService {
  /** The response for `$metadata`. Default: one entity set, `items`. */
  readonly metadata?: Behaviour;
  readonly rows?: Behaviour;
  /** The response for the service document, which is read when an instance is created. */
  readonly root?: Behaviour;
}

/** Providers and receivers of the attacker, all on one address. */
export interface HostileSite {
  /** Starts a service and returns its address. */
  readonly serve: (name: string, service: HostileService) => string;
  /** Returns a URL that accepts any request. */
  readonly receive: (name: string, behaviour: Behaviour) => string;
  /** Removes all services and closes their connections. */
  readonly clear: () => void;
  readonly close: () => Promise<void>;
}

const OWN_ADDRESS = '127.0.0.3';

export async function startSite(): Promise<HostileSite> {
  const behaviours = new Map<string, Behaviour>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.on('error', () => response.destroy()).resume();
    response.on('error', () => response.destroy());
    const [, name = '', rest = ''] = /^\/([^/?]+)(\/[^?]*)?/.exec(request.url ?? '') ?? [];
    const behave = behaviours.get(name + rest) ?? behaviours.get(name) ?? nothing;
    behave(response, request);
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(0, OWN_ADDRESS, done);
  });
  const origin = `http://${OWN_ADDRESS}:${(server.address() as AddressInfo).port}`;
  return {
    serve: (name, { metadata = xml(METADATA), rows = json({ value: [] }), root = json({ value: [] }) }) => {
      const segment = segmentOf(name);
      behaviours.set(segment, rows);
      behaviours.set(`${segment}/$metadata`, metadata);
      behaviours.set(`${segment}/`, root);
      return `${origin}/${segment}`;
    },
    receive: (name, behaviour) => {
      behaviours.set(segmentOf(name), behaviour);
      return `${origin}/${segmentOf(name)}`;
    },
    clear: () => {
      behaviours.clear();
      server.closeAllConnections();
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function segmentOf(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]+/g, '-');
}

type Headers = Readonly<Record<string, string>>;

const nothing: Behaviour = (response) => void response.writeHead(404).end();

export const hang: Behaviour = () => {};

export function answer(body: string | Buffer, headers: Headers = {}, status = 200): Behaviour {
  return (response) => void response.writeHead(status, headers).end(body);
}

export function json(value: unknown, headers: Headers = {}, status = 200): Behaviour {
  const body = typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value);
  return answer(body, { 'content-type': 'application/json', ...headers }, status);
}

export function xml(body: string | Buffer): Behaviour {
  return answer(body, { 'content-type': 'application/xml' });
}

/** Sends the same piece repeatedly, as fast as the client reads it. */
export function endless(piece: Buffer, totalBytes: number, headers: Headers): Behaviour {
  return (response) => {
    response.writeHead(200, headers);
    let left = totalBytes;
    const pump = () => {
      while (left > 0 && !response.destroyed) {
        left -= piece.length;
        if (!response.write(piece)) return void response.once('drain', pump);
      }
      response.end();
    };
    pump();
  };
}

/** Sends a body one byte at a time. */
export function trickle(body: string, everyMs: number, headers: Headers): Behaviour {
  return (response) => {
    response.writeHead(200, headers);
    let sent = 0;
    const timer = setInterval(() => {
      if (sent < body.length) response.write(body[sent++]);
      else response.end();
    }, everyMs);
    response.once('close', () => clearInterval(timer));
  };
}
