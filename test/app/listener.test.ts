import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createProxyTrust } from '../../src/api/remote-address.ts';
import { type Listener, openListener } from '../../src/app/listener.ts';
import { createLogger } from '../../src/log.ts';
import { waitUntil } from '../api/support/wait-until.ts';

/** Longer than any test may take: what waits for it fails. */
const FOR_EVER_MS = 600_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

describe('the listener', () => {
  const listeners = new Set<Listener>();
  const sockets = new Set<Socket>();
  const logged: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line: string) => void logged.push(line) },
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all([...listeners].map((listener) => listener.close(0)));
    sockets.clear();
    listeners.clear();
  });

  async function listen(handler: Handler, options: { maxConnections?: number; trust?: readonly string[] } = {}) {
    const { maxConnections = 1000, trust = [] } = options;
    const place = { host: '127.0.0.1', port: 0, log };
    const listener = await openListener(handler, { ...place, maxConnections, trust: createProxyTrust(trust) });
    listeners.add(listener);
    return listener;
  }

  /** A connection whose end of ours stays open whatever the server does. */
  function open({ port }: Listener, bytes = ''): Socket {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    sockets.add(socket);
    socket.on('error', () => {});
    if (bytes !== '') socket.write(bytes);
    return socket;
  }

  /** `once` would take an error for the end of the test. */
  const closeOf = (socket: Socket) =>
    new Promise<void>((resolve) => void socket.once('end', resolve).once('close', () => resolve()));

  const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n';

  it('closes at once what waits for its caller', async () => {
    const bodies: IncomingMessage[] = [];
    const big = Buffer.alloc(32 * 1024 * 1024);
    const listener = await listen((request, response) => {
      if (request.url === '/big') return void response.end(big);
      if (request.method === 'GET') return void response.end('answer');
      bodies.push(request.on('error', () => {}).resume());
    });
    const idle = open(listener, GET).resume();
    await once(idle, 'data');
    for (const bytes of ['', 'GET / HTTP/1.1\r\nHost: x\r\nX-Half', `${POST}half`, 'GARBAGE\r\n\r\n']) {
      open(listener, bytes).resume();
    }
    // Nobody reads this answer.
    open(listener, 'GET /big HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitUntil(async () => bodies.length === 1);
    await sleep(50);
    await listener.close(FOR_EVER_MS);
  });

  it('lets what is worked on end, and takes nothing more', async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<ServerResponse>();
    const listener = await listen((_request, response) => onAsked(response));
    const answer = text(open(listener, GET));
    const response = await asked;
    const closed = listener.close(FOR_EVER_MS);
    const refused = open(listener, GET);
    await closeOf(refused);
    // Longer than a caller may be silent while the service stops.
    await sleep(1_200);
    response.end('in the end');
    expect(await answer).to.match(/^HTTP\/1\.1 200 OK.*in the end/s);
    await closed;
  });

  it('lets a body arrive that goes on arriving', async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const listener = await listen((request, response) => {
      onAsked();
      text(request).then((body) => response.end(`got ${body}`));
    });
    const socket = open(listener, POST);
    const answer = text(socket);
    await asked;
    const closed = listener.close(FOR_EVER_MS);
    for (const character of '0123456789') {
      await sleep(100);
      socket.write(character);
    }
    expect(await answer).to.match(/got 0123456789/);
    await closed;
  });

  it('cuts what is not answered in time', async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const listener = await listen(() => onAsked());
    const answer = text(open(listener, GET));
    await asked;
    await listener.close(10);
    expect(await answer).to.equal('');
  });

  it('gives one address a quarter of the connections, and a proxy as many as there are', async () => {
    const answersTo = async (listener: Listener, count: number) => {
      const answered = Array.from({ length: count }, async () => {
        const socket = open(listener, GET);
        const first = await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closeOf(socket)]);
        return String(first).startsWith('HTTP/1.1 200');
      });
      return (await Promise.all(answered)).filter(Boolean).length;
    };
    const answer: Handler = (_request, response) => void response.end('answer');
    const listener = await listen(answer, { maxConnections: 8 });
    expect(await answersTo(listener, 6)).to.equal(2);
    expect(logged.join('')).to.include('refused a connection').and.include('"address":"127.0.0.1"');

    const behindProxy = await listen(answer, { maxConnections: 8, trust: ['127.0.0.1'] });
    expect(await answersTo(behindProxy, 12)).to.equal(8);

    // A place that is free again is given again.
    for (const socket of sockets) socket.destroy();
    await waitUntil(async () => (await answersTo(listener, 1)) === 1);
  });
});
