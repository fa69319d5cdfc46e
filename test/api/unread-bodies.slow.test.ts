import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';

const KB = 1024;
const BASE = '/elements/api-v2';
/** Less than any time limit of the service: an answer that comes later came by one of them. */
const SOON_MS = 8_000;

const PIECE = Buffer.alloc(64 * KB, 'x');
const FORM = 'multipart/form-data; boundary=b';
const FORM_HEAD =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\nid\r\n';
const BAD_FORM_HEAD = '--b\r\nContent-Disposition: form-data\r\n\r\n1\r\n';

interface Upload {
  readonly method?: string;
  readonly path: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly begin?: string;
}

describe('a body that is not read to its end', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const sockets = new Set<Socket>();
  let provider: Server;
  let user: string;
  let element: string;

  before(async () => {
    // It answers every upload as providers answer a wrong token or too many requests: by the head alone.
    provider = createServer((request, response) => {
      if (request.method === 'GET') response.setHeader('content-type', 'application/json').end('{}');
      else response.writeHead(429, { 'content-type': 'text/plain' }).end('not now');
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const { token } = await service.createInstance('storing', {
      'base.url': url,
      'upload.url': url,
      'api.key': 'a-key',
    });
    user = `User ${service.userSecret}, Organization ${service.organizationSecret}`;
    element = `${user}, Element ${token}`;
  });
  after(async () => {
    provider.closeAllConnections();
    provider.close();
    await once(provider, 'close');
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });

  function open() {
    const { hostname, port } = new URL(service.app.url);
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.add(socket);
    let received = '';
    const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    socket.on('data', (piece: Buffer) => {
      received += piece.toString('latin1');
    });
    socket.on('error', () => {});
    /** Resolves when there are so many answers, or the connection has ended. */
    const answers = async (count: number) => {
      const signal = AbortSignal.timeout(SOON_MS);
      while (statuses().length < count && !socket.closed) {
        await Promise.race([once(socket, 'data', { signal }), once(socket, 'close', { signal })]);
      }
      return statuses();
    };
    return { socket, answers };
  }

  function headOf({ method = 'POST', path, headers = {} }: Upload, more: Readonly<Record<string, string>>): string {
    const given = { Host: 'x', 'Content-Type': 'application/octet-stream', ...headers, ...more };
    const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  }

  const LAST = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

  const chunk = (bytes: Buffer | string) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);

  const UPLOADS: Readonly<Record<string, () => Upload>> = {
    'a passthrough that the provider answers early': () => ({
      path: `${BASE}/passthrough/it`,
      status: 429,
      headers: { Authorization: element },
    }),
    'a passthrough of a method that is none': () => ({
      method: 'PURGE',
      path: `${BASE}/passthrough/it`,
      status: 405,
      headers: { Authorization: element },
    }),
    'an upload that the provider answers early': () => ({
      path: `${BASE}/files`,
      status: 429,
      headers: { Authorization: element, 'Content-Type': FORM },
      begin: FORM_HEAD,
    }),
    'a form that is none': () => ({
      path: `${BASE}/files`,
      status: 400,
      headers: { Authorization: element, 'Content-Type': FORM },
      begin: BAD_FORM_HEAD,
    }),
    'a bulk upload of an object that is not known': () => ({
      path: `${BASE}/bulk/nothing`,
      status: 404,
      headers: { Authorization: element, 'Content-Type': FORM },
      begin: FORM_HEAD,
    }),
    'JSON that is too long': () => ({
      path: `${BASE}/instances`,
      status: 413,
      headers: { Authorization: user, 'Content-Type': 'application/json' },
    }),
    'a media type that is not taken': () => ({
      path: `${BASE}/instances`,
      status: 415,
      headers: { Authorization: user },
    }),
    'a caller that is not known': () => ({ path: `${BASE}/instances`, status: 401 }),
    'a path that leads nowhere': () => ({ path: `${BASE}/nowhere`, status: 404, headers: { Authorization: user } }),
    'an event address that is nobody’s': () => ({ path: `${BASE}/events/storing/none`, status: 401 }),
    'a method that is not taken': () => ({ path: '/docs', status: 405 }),
  };

  for (const [name, describeUpload] of Object.entries(UPLOADS)) {
    for (const framing of ['of a length that was told', 'of untold length'] as const) {
      it(`leaves the connection to the next request: ${name}, ${framing}`, async () => {
        const upload = describeUpload();
        const { socket, answers } = open();
        const isTold = framing === 'of a length that was told';
        const frame = isTold ? (bytes: Buffer | string) => bytes : chunk;
        const begin = upload.begin ?? '';
        const length = begin.length + 40 * PIECE.length;
        socket.write(
          headOf(upload, isTold ? { 'Content-Length': String(length) } : { 'Transfer-Encoding': 'chunked' }),
        );
        if (begin !== '') socket.write(frame(begin));
        for (let piece = 0; piece < 20; piece++) socket.write(frame(PIECE));
        // Long enough for the answer of those that wait for no more of the body.
        await sleep(50);
        for (let piece = 0; piece < 20; piece++) socket.write(frame(PIECE));
        if (!isTold) socket.write('0\r\n\r\n');
        socket.write(LAST);
        expect(await answers(2)).to.deep.equal([upload.status, 200]);
      });
    }
  }
});
