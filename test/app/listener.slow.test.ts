import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Listener, openListener } from '../../src/app/listener.ts';
import { type Clock, SYSTEM_CLOCK } from '../../src/clock.ts';
import { createProxyTrust } from '../../src/http/remote-address.ts';
import { createLogger } from '../../src/log.ts';
import { until } from '../support/until.ts';

/** Longer than any test may take: what waits for it fails. */
const FOR_EVER_MS = 600_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

describe('the listener', () => {
  const listeners = new Set<Listener>();
  const sockets = new Set<Socket>();
  const logged: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line: string) => void logged.push(line) } });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all([...listeners].map((listener) => listener.close(0)));
    sockets.clear();
    listeners.clear();
  });

  async function listen(
    handler: Handler,
    options: { maxConnections?: number; trust?: readonly string[]; clock?: Clock } = {},
  ) {
    const { maxConnections = 1000, trust = [], clock = SYSTEM_CLOCK } = options;
    const place = { variable: 'PORT' as const, host: '127.0.0.1', port: 0, log, clock };
    const listener = await openListener(
      { handle: handler },
      { ...place, maxConnections, trust: createProxyTrust(trust) },
    );
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
  const LAST_GET = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const LONG_GET = `GET /${'x'.repeat(8_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
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
    await until(async () => bodies.length === 1);
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
    const response = text(open(listener, GET));
    await asked;
    await listener.close(10);
    expect(await response).to.equal('');
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
    await until(async () => (await answersTo(listener, 1)) === 1);
  });

  it('begins requests that work long in a turn each, however many arrive together', async () => {
    const begunIn: number[] = [];
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn++;
      if (!isOver) setImmediate(count);
    };
    const listener = await listen((_request, response) => {
      begunIn.push(turn);
      spend(8);
      response.end('answer');
    });
    count();
    const answers = text(open(listener, `${GET.repeat(3)}${LAST_GET}`));
    expect((await answers).match(/200 OK/g)).to.have.length(4);
    isOver = true;
    expect(new Set(begunIn)).to.have.property('size', 4);
  });

  it('begins four requests of a connection, and reads a few more, until they are answered', async () => {
    const responses: ServerResponse[] = [];
    const listener = await listen((_request, response) => void responses.push(response));
    const requests = 2_000;
    const socket = open(listener);
    const answers = text(socket);
    const isWritten = new Promise((resolve) => socket.write(`${LONG_GET.repeat(requests)}${LAST_GET}`, resolve));
    await until(async () => responses.length === 4);
    await sleep(200);
    expect(responses).to.have.length(4);
    // 16 MB are more than what waits on the way: the rest is not read.
    expect(await Promise.race([isWritten.then(() => 'written'), sleep(0, 'waits')])).to.equal('waits');
    const answerAll = setInterval(() => {
      for (const response of responses.splice(0)) response.end('answer');
    });
    expect((await answers).match(/200 OK/g)).to.have.length(requests + 1);
    clearInterval(answerAll);
  });

  it('throws a chunked body away that nobody takes, and answers what follows it', async () => {
    const listener = await listen((_request, response) => void response.end('answer'));
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const socket = open(listener, head);
    const answers = text(socket);
    await sleep(50);
    socket.write(`${'1\r\n \r\n'.repeat(50_000)}0\r\n\r\n${LAST_GET}`);
    expect((await answers).match(/200 OK/g)).to.have.length(2);
  });

  describe('of a body whose response is sent before its end', () => {
    const MB = 1024 * 1024;
    const PIECE = Buffer.alloc(MB, ' ');

    /** It has begun to read, as whoever passes a body on: then Node drops nothing. */
    const answerEarly: Handler = async (request, response) => {
      if (request.method === 'GET') return void response.end('answer');
      request.once('readable', () => {
        request.read(1);
        response.end('early');
      });
    };

    async function openEarly(listener: Listener, bytes: number) {
      const socket = open(listener, `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\nx`);
      await once(socket, 'data');
      return socket;
    }

    it('reads and drops the rest, and answers what follows it', async () => {
      const socket = await openEarly(await listen(answerEarly), 90 * MB);
      for (let piece = 0; piece < 90; piece++) socket.write(piece === 0 ? PIECE.subarray(1) : PIECE);
      socket.write(LAST_GET);
      expect(await text(socket)).to.match(/200 OK.*answer/s);
    });

    it('closes the connection where the rest is larger than 100 MB', async () => {
      const socket = await openEarly(await listen(answerEarly), 200 * MB);
      let sent = 0;
      while (!socket.destroyed && sent < 200) {
        await new Promise((resolve) => socket.write(PIECE, resolve));
        sent++;
      }
      expect(sent).to.be.within(100, 199);
    });

    it('closes the connection where the rest does not come within a minute', async () => {
      const waits = new Map<number, (() => void)[]>();
      const clock: Clock = {
        ...SYSTEM_CLOCK,
        after: (ms, call) => {
          waits.set(ms, [...(waits.get(ms) ?? []), call]);
          return () =>
            waits.set(
              ms,
              (waits.get(ms) ?? []).filter((one) => one !== call),
            );
        },
      };
      const socket = await openEarly(await listen(answerEarly, { clock }), MB);
      const response = text(socket);
      await until(async () => waits.get(60_000)?.length === 1);
      for (const end of waits.get(60_000) ?? []) end();
      // No second response comes.
      expect(await response).to.equal('');
    });

    it('closes the connection of a caller that was not asked for its body, and may leave it out', async () => {
      const listener = await listen((_request, response) => void response.end('refused'));
      const head = POST.replace('Content-Length', 'Expect: 100-continue\r\nContent-Length');
      expect(await text(open(listener, head))).to.match(/200 OK.*Connection: close.*refused/s);
    });
  });

  it('closes a connection on which hundreds of requests wait', async () => {
    const responses: ServerResponse[] = [];
    const listener = await listen((_request, response) => void responses.push(response));
    const [patient, impatient] = [open(listener, GET.repeat(200)), open(listener, GET.repeat(300))];
    await closeOf(impatient.resume());
    await until(async () => responses.filter(({ destroyed }) => !destroyed).length === 4);
    expect(patient.closed).to.equal(false);
  });
});

function spend(ms: number): void {
  const endsAtMs = performance.now() + ms;
  while (performance.now() < endsAtMs);
}
