import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as openRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { json as readJson } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';

const MB = 1024 * 1024;
const MOST = 100 * MB;
const PIECE = Buffer.alloc(64 * 1024, 'x');

/** Pieces of one buffer, as many as make so many bytes: a large body that is nowhere as a whole. */
function* bytes(count: number): Generator<Buffer, void> {
  for (let left = count; left > 0; left -= PIECE.length) yield left < PIECE.length ? PIECE.subarray(0, left) : PIECE;
}

describe('a transfer that is passed through', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  let server: Server;
  let token: string;
  /** What the provider does with everything but the probe. */
  let behave: (request: IncomingMessage, response: ServerResponse) => void;
  /** Uploads as they ended at the provider. */
  let uploads: { readonly bytes: number; readonly isWhole: boolean }[];

  before(async () => {
    server = createServer((request, response) => {
      if (request.url === '/me') response.setHeader('content-type', 'application/json').end('{}');
      else behave(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const settings = { 'base.url': `http://127.0.0.1:${port}`, 'api.key': 'a-key' };
    ({ token } = await service.createInstance('filing', settings));
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  beforeEach(() => {
    uploads = [];
  });

  function open(method: string, headers: Readonly<Record<string, string>> = {}) {
    const { hostname, port } = new URL(service.app.url);
    const authorization = `User ${service.userSecret}, Element ${token}`;
    const path = '/elements/api-v2/passthrough/it';
    return openRequest({ hostname, port, method, path, agent: false, headers: { authorization, ...headers } });
  }

  /** What came of an answer, without keeping it. */
  async function get(headers: Readonly<Record<string, string>> = {}) {
    const [response]: IncomingMessage[] = await once(open('GET', headers).end(), 'response');
    if (response === undefined) throw new Error('There was no answer.');
    let count = 0;
    response.on('data', (piece: Buffer) => {
      count += piece.length;
    });
    const error = await finished(response).then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason.code,
    );
    return { status: response.statusCode, bytes: count, isWhole: response.complete && error === undefined };
  }

  function takeUpload(request: IncomingMessage, response: ServerResponse): void {
    let count = 0;
    request.on('data', (piece: Buffer) => {
      count += piece.length;
    });
    request.on('error', () => {});
    request.on('close', () => uploads.push({ bytes: count, isWhole: request.complete }));
    request.on('end', () => response.end('taken'));
  }

  it('is whole up to 100 MB, both ways', async () => {
    behave = (_request, response) => void Readable.from(bytes(MOST)).pipe(response);
    expect(await get()).to.deep.equal({ status: 200, bytes: MOST, isWhole: true });
    behave = takeUpload;
    const sent = open('POST', { 'transfer-encoding': 'chunked' });
    Readable.from(bytes(MOST)).pipe(sent);
    const [response] = await once(sent, 'response');
    expect(response.statusCode).to.equal(200);
    await finished(response.resume());
    expect(uploads).to.deep.equal([{ bytes: MOST, isWhole: true }]);
  });

  it('is cut, and seen to be, when an answer of untold length goes beyond 100 MB', async () => {
    let sent: ServerResponse | undefined;
    behave = (_request, response) => {
      sent = response;
      Readable.from(bytes(MOST + 1)).pipe(response);
    };
    const cut = await get();
    expect(cut).to.include({ status: 200, isWhole: false });
    expect(cut.bytes).to.be.at.most(MOST);
    await until(async () => sent?.destroyed === true);
    const lines = service.logged.filter((line) => line.includes('/passthrough/it') && line.includes('"cut":true'));
    expect(lines).to.have.length(1);
  });

  it('is refused when a body of untold length goes beyond 100 MB, and the provider gets no whole one', async () => {
    behave = takeUpload;
    const sent = open('POST', { 'transfer-encoding': 'chunked' });
    // The service ends the connection once it has answered.
    sent.on('error', () => {});
    Readable.from(bytes(MOST + 1)).pipe(sent);
    const [response] = await once(sent, 'response');
    expect(response.statusCode).to.equal(413);
    expect(await readJson(response)).to.include({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The body is larger than 100 MB.',
    });
    await until(async () => uploads.length === 1);
    expect(uploads[0]?.isWhole).to.equal(false);
    sent.destroy();
  });

  for (const [framing, told] of [
    ['of a length that was told', { 'content-length': String(10 * MB) }],
    ['of untold length', {}],
  ] as const) {
    for (const encoding of ['identity', 'gzip, br']) {
      it(`is cut, and seen to be, when the provider hangs up in an answer ${framing} (${encoding})`, async () => {
        behave = (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json', ...told });
          response.write(Buffer.alloc(3 * MB, 'x'), () => response.socket?.resetAndDestroy());
        };
        const cut = await get({ 'accept-encoding': encoding });
        expect(cut).to.include({ status: 200, isWhole: false });
        expect(cut.bytes).to.be.at.most(3 * MB);
      });
    }
  }

  it('is an error where the provider hangs up before it answers a body', async () => {
    behave = (request) => void request.once('data', () => request.socket.resetAndDestroy());
    const sent = open('POST', { 'transfer-encoding': 'chunked' });
    sent.on('error', () => {});
    Readable.from(bytes(10 * MB)).pipe(sent);
    const [response] = await once(sent, 'response');
    expect(response.statusCode).to.equal(502);
    expect(await readJson(response)).to.include({ code: 'PROVIDER_UNAVAILABLE' });
    sent.destroy();
  });

  it('reaches the provider as a broken one when the caller hangs up in a body', async () => {
    behave = takeUpload;
    const sent = open('POST', { 'content-length': String(10 * MB) });
    sent.on('error', () => {});
    sent.write(Buffer.alloc(5 * MB), () => sent.destroy());
    await until(async () => uploads.length === 1);
    expect(uploads[0]?.isWhole).to.equal(false);
  });
});
