import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ApiAnswer } from '../../support/app.ts';

export interface RawRequest {
  readonly method?: string;
  /** Sent as it is: `fetch` would take the dots out. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** One request over a connection of its own. */
export async function sendRaw(origin: string, { method = 'GET', path, headers, body }: RawRequest): Promise<ApiAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      text(response).then((content) => {
        const isJson = String(response.headers['content-type']).includes('json');
        resolve({
          status: response.statusCode ?? 0,
          headers: toHeaders(response.headersDistinct),
          body: isJson && content !== '' ? JSON.parse(content) : content,
        });
      }, reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

function toHeaders(distinct: NodeJS.Dict<string[]>): Headers {
  const pairs = Object.entries(distinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Headers(pairs);
}

/** Bytes on a connection, and all that comes back until the server ends it. */
export async function sendBytes(origin: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.end(bytes);
  return text(socket);
}
