import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createClientErrorHandler } from '../../src/http/client-error.ts';
import { listen } from '../../suite/listen.ts';
import { sendBytes } from '../api/support/raw-request.ts';
import { useSharedApp } from '../support/app.ts';
import { silentLog } from '../support/database.ts';
import { until } from '../support/until.ts';

const LONG = 'x'.repeat(100_000);

const REFUSED = {
  'a request line that is too long': {
    bytes: `GET /${LONG} HTTP/1.1\r\nhost: x\r\n\r\n`,
    statusLine: 'HTTP/1.1 431 Request Header Fields Too Large',
    code: 'HEADERS_TOO_LARGE',
    message: 'The request line and the headers are larger than 64 KB together.',
  },
  'headers that are too long': {
    bytes: `GET /elements HTTP/1.1\r\nhost: x\r\nx-long: ${LONG}\r\n\r\n`,
    statusLine: 'HTTP/1.1 431 Request Header Fields Too Large',
    code: 'HEADERS_TOO_LARGE',
    message: 'The request line and the headers are larger than 64 KB together.',
  },
  'what is not HTTP': {
    bytes: 'nonsense\r\n\r\n',
    statusLine: 'HTTP/1.1 400 Bad Request',
    code: 'REQUEST_INVALID',
    message: 'The request is not well-formed HTTP.',
  },
  'two lengths of one body': {
    bytes: 'POST /elements HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    statusLine: 'HTTP/1.1 400 Bad Request',
    code: 'REQUEST_INVALID',
    message: 'The request is not well-formed HTTP.',
  },
} as const;

describe('what never becomes a request', () => {
  const service = useSharedApp();

  for (const [what, { bytes, statusLine, code, message }] of Object.entries(REFUSED)) {
    it(`is answered in the form of every error: ${what}`, async () => {
      const response = await sendBytes(service.app.url, bytes);
      const [head = '', body = ''] = response.split('\r\n\r\n');
      const [first, ...headers] = head.split('\r\n');
      expect(first).to.equal(statusLine);
      const problem = JSON.parse(body);
      expect(problem).to.deep.equal({ requestId: problem.requestId, code, message });
      expect(headers).to.have.members([
        ...[`Elements-Request-Id: ${problem.requestId}`, 'X-Content-Type-Options: nosniff'],
        ...['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'],
      ]);
      expect(service.logged.some((line) => line.includes(problem.requestId))).to.equal(true);
    });
  }
});

describe('createClientErrorHandler', () => {
  it('ends the connection though the other end never closes it', async () => {
    const server = createServer().on('clientError', createClientErrorHandler({ log: silentLog, clock: SYSTEM_CLOCK }));
    const port = await listen(server);
    const sockets = Array.from({ length: 20 }, () => connect({ host: '127.0.0.1', port, allowHalfOpen: true }));
    const answers = sockets.map((socket) => {
      socket.write('GARBAGE\r\n\r\n');
      return text(socket);
    });
    for (const response of await Promise.all(answers)) expect(response).to.match(/^HTTP\/1\.1 400 Bad Request/);
    const open = () =>
      new Promise((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))));
    await until(async () => (await open()) === 0);
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('lets its answer be read by somebody who is still sending', async () => {
    const server = createServer().on('clientError', createClientErrorHandler({ log: silentLog, clock: SYSTEM_CLOCK }));
    const port = await listen(server);
    const socket = connect({ host: '127.0.0.1', port });
    const received = text(socket);
    socket.write('GARBAGE\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    socket.end('x'.repeat(100_000));
    expect(await received).to.match(/"message":"The request is not well-formed HTTP\."\}$/);
    server.close();
  });

  it('does not break into an answer that has begun', async () => {
    const server = createServer((_request, response) => void response.write('first half'));
    server.on('clientError', createClientErrorHandler({ log: silentLog, clock: SYSTEM_CLOCK }));
    const port = await listen(server);
    const socket = connect({ host: '127.0.0.1', port });
    const received = text(socket);
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    socket.write('no chunk\r\n\r\n');
    const answer = await received;
    server.close();
    expect(answer)
      .to.include('first half')
      .and.match(/^HTTP\/1\.1 200 OK/);
    expect(answer.match(/HTTP\/1\.1/g)).to.have.length(1);
  });
});
