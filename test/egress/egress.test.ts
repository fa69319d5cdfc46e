import { randomBytes } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createEgress, type Egress } from '../../src/egress/index.ts';
import {
  createGzipBomb,
  endless,
  garbage,
  hang,
  json,
  redirect,
  resetBeforeAnswer,
  resetInBody,
  stallInBody,
  status,
  useMisbehavingServer,
} from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { closed, refusalOf } from './await.ts';

const MEGABYTE = 1024 * 1024;
const SECRET = 'secret-4711';

describe('egress', () => {
  const server = useMisbehavingServer({ lifetime: 'test' });
  let egress: Egress;

  beforeEach(() => {
    egress = createEgress({ allow: ['127.0.0.0/8'] });
  });
  afterEach(() => egress.close());

  it('sends method, path, query, headers and body, and answers status, headers and body', async () => {
    server.answer('/echo', json({ ok: true }, 418, { 'x-many': ['a', 'b'] }));
    const response = await egress.request({
      url: `${server.url}/echo?$filter=a%20b#fragment`,
      method: 'POST',
      headers: { 'x-own': 'yes' },
      body: '{"a":1}',
    });
    expect(response.status).to.equal(418);
    expect(response.headers['x-many']).to.equal('a, b');
    expect(response.body.toString()).to.equal('{"ok":true}');
    expect(server.requests).to.have.length(1);
    expect(server.requests[0]).to.deep.include({ method: 'POST', url: '/echo?$filter=a%20b', body: '{"a":1}' });
    expect(server.requests[0]?.headers['x-own']).to.equal('yes');
  });

  it('answers a redirect as it is', async () => {
    server.answer('/away', redirect(`${server.url}/elsewhere`));
    const response = await egress.request({ url: `${server.url}/away` });
    expect(response.status).to.equal(302);
    expect(server.requests).to.have.length(1);
  });

  it('keeps connections for the next calls', async () => {
    server.answer('/one', json(1));
    for (let call = 0; call < 10; call++) await egress.request({ url: `${server.url}/one` });
    // Two: undici lets a connection rest for one turn of the event loop.
    expect(server.connections()).to.be.at.most(2);
  });

  it('opens no more connections to one origin than it may', async () => {
    await egress.close();
    egress = createEgress({ allow: ['127.0.0.0/8'], connectionsPerOrigin: 2 });
    server.answer('/one', json(1));
    await Promise.all(Array.from({ length: 20 }, () => egress.request({ url: `${server.url}/one` })));
    expect(server.requests).to.have.length(20);
    expect(server.connections()).to.equal(2);
  });

  for (const [name, behaviour] of Object.entries({ hang, stallInBody })) {
    it(`gives up at the time-out when the server does this: ${name}`, async () => {
      server.answer('/slow', behaviour);
      const error = await refusalOf(egress.request({ url: `${server.url}/slow`, timeoutMs: 50 }));
      expect(error.reason).to.equal('timeout');
      expect(error.message).to.equal('127.0.0.1 did not respond completely within 50 ms.');
    });
  }

  it('counts the wait for a connection, and sends nothing afterwards', async () => {
    await egress.close();
    egress = createEgress({ allow: ['127.0.0.0/8'], connectionsPerOrigin: 1 });
    server.answer('/slow', hang);
    const first = refusalOf(egress.request({ url: `${server.url}/slow`, timeoutMs: 300 }));
    const second = await refusalOf(egress.request({ url: `${server.url}/waiting`, timeoutMs: 30 }));
    expect(second.reason).to.equal('timeout');
    expect((await first).reason).to.equal('timeout');
    server.answer('/next', json(1));
    await egress.request({ url: `${server.url}/next` });
    expect(server.requests.map(({ url }) => url)).to.deep.equal(['/slow', '/next']);
  });

  for (const [name, behaviour] of Object.entries({ resetBeforeAnswer, resetInBody })) {
    it(`says that the connection broke: ${name}`, async () => {
      server.answer('/reset', behaviour);
      const error = await refusalOf(egress.request({ url: `${server.url}/reset` }));
      expect(error.reason).to.equal('reset');
      expect(server.requests).to.have.length(1);
    });
  }

  it('says that the answer is not HTTP', async () => {
    server.answer('/garbage', garbage);
    expect((await refusalOf(egress.request({ url: `${server.url}/garbage` }))).reason).to.equal('protocol');
  });

  it('says that nothing listens', async () => {
    const { url } = server;
    await server.close();
    const error = await refusalOf(egress.request({ url }));
    expect(error.reason).to.equal('connect');
    expect(error.message).to.equal('The service could not connect to 127.0.0.1.');
  });

  it('says that the server has no TLS', async () => {
    const error = await refusalOf(egress.request({ url: `https://${server.host}/` }));
    expect(error.reason).to.equal('tls');
    expect(server.requests).to.have.length(0);
  });

  it('stops reading at the cap', async () => {
    server.answer('/huge', endless(200 * MEGABYTE));
    const error = await refusalOf(egress.request({ url: `${server.url}/huge`, maxBytes: 4 * MEGABYTE }));
    expect(error.reason).to.equal('too-large');
    expect(error.message).to.equal('127.0.0.1 sent more than 4194304 bytes.');
    await closed(server);
    // What the kernel holds on both sides comes on top.
    expect(server.bytesSent()).to.be.lessThan(20 * MEGABYTE);
  });

  it('reads nothing of a body that announces more than the cap', async () => {
    server.answer('/huge', endless(200 * MEGABYTE, { 'content-length': String(200 * MEGABYTE) }));
    const error = await refusalOf(egress.request({ url: `${server.url}/huge`, maxBytes: 100 * MEGABYTE }));
    expect(error.reason).to.equal('too-large');
    await closed(server);
    expect(server.bytesSent()).to.be.lessThan(20 * MEGABYTE);
  });

  it('takes a body of exactly the cap', async () => {
    server.answer('/full', status(200, {}, Buffer.alloc(1000)));
    const response = await egress.request({ url: `${server.url}/full`, maxBytes: 1000 });
    expect(response.body).to.have.length(1000);
  });

  it('asks for compressed bodies and unpacks them', async () => {
    server.answer('/gzip', status(200, { 'content-encoding': 'gzip' }, gzipSync('packed')));
    server.answer('/brotli', status(200, { 'content-encoding': 'br' }, brotliCompressSync('packed')));
    expect((await egress.request({ url: `${server.url}/gzip` })).body.toString()).to.equal('packed');
    expect((await egress.request({ url: `${server.url}/brotli` })).body.toString()).to.equal('packed');
    expect(server.requests[0]?.headers['accept-encoding']).to.equal('gzip, br');
  });

  it('unpacks a large body, packed small or large', async () => {
    const noise = randomBytes(2 * MEGABYTE);
    server.answer('/noise', status(200, { 'content-encoding': 'gzip' }, gzipSync(noise)));
    server.answer('/zeros', await createGzipBomb(4 * MEGABYTE));
    expect((await egress.request({ url: `${server.url}/noise` })).body.equals(noise)).to.equal(true);
    expect((await egress.request({ url: `${server.url}/zeros` })).body).to.have.length(4 * MEGABYTE);
  });

  it('holds the cap on the unpacked body', async () => {
    server.answer('/bomb', await createGzipBomb(100 * MEGABYTE));
    const error = await refusalOf(egress.request({ url: `${server.url}/bomb`, maxBytes: 8 * MEGABYTE }));
    expect(error.reason).to.equal('too-large');
    const tiny = await refusalOf(egress.request({ url: `${server.url}/bomb`, maxBytes: MEGABYTE / 2 }));
    expect(tiny.reason).to.equal('too-large');
    expect(server.bytesSent()).to.be.lessThan(MEGABYTE);
  });

  it('says that a compressed body is broken or of an unknown kind', async () => {
    server.answer('/broken', status(200, { 'content-encoding': 'gzip' }, 'not gzip'));
    server.answer('/cut', status(200, { 'content-encoding': 'gzip' }, gzipSync('packed').subarray(0, 20)));
    server.answer('/unknown', status(200, { 'content-encoding': 'zstd' }, 'x'));
    for (const path of ['/broken', '/cut', '/unknown']) {
      expect((await refusalOf(egress.request({ url: server.url + path }))).reason, path).to.equal('protocol');
    }
  });

  it('ends the call and its connection when the signal aborts', async () => {
    server.answer('/slow', hang);
    const controller = new AbortController();
    const call = refusalOf(egress.request({ url: `${server.url}/slow`, signal: controller.signal }));
    await until(() => server.requests.length === 1);
    controller.abort(new Error('no longer wanted'));
    const error = await call;
    expect(error.reason).to.equal('aborted');
    expect(error.cause).to.equal(controller.signal.reason);
    await closed(server);
  });

  it('listens once to a signal that many calls share, and ends them all', async () => {
    server.answer('/slow', hang);
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 50 }, () => refusalOf(egress.request({ url: `${server.url}/slow`, signal })));
    expect(getEventListeners(signal, 'abort')).to.have.length(1);
    controller.abort();
    const errors = await Promise.all(calls);
    expect(errors.map(({ reason }) => reason)).to.deep.equal(Array(50).fill('aborted'));
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('stops to listen to a signal when its calls are over', async () => {
    server.answer('/one', json(1));
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 5 }, () => egress.request({ url: `${server.url}/one`, signal })));
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('sends nothing when the signal has aborted before', async () => {
    const error = await refusalOf(egress.request({ url: server.url, signal: AbortSignal.abort() }));
    expect(error.reason).to.equal('aborted');
    expect(server.requests).to.have.length(0);
  });

  it('refuses headers that would end the header or belong to the connection, without showing the value', async () => {
    const hostile: [string, string][] = [
      ['authorization', `${SECRET}\r\nx-injected: 1`],
      ['authorization', `${SECRET}\nx: 1`],
      ['authorization', `${SECRET}\u0000`],
      ['authorization', `${SECRET}\r`],
      ['authorization', `${SECRET}\r\n folded`],
      ['authorization', `${SECRET}\u000b`],
      ['authorization', `${SECRET}\u007f`],
      ['authorization', `${SECRET}\u2028`],
      ['authorization', `${SECRET}\u560a`],
      ['authorization', `${SECRET}\ud800`],
      ['authorization', `${SECRET}€`],
      ['', SECRET],
      [' x', SECRET],
      ['x y', SECRET],
      ['x:', SECRET],
      ['x\u0000', SECRET],
      ['authorizatiön', SECRET],
      ['Connection', `${SECRET}`],
      ['TE', 'trailers'],
      ['Upgrade', 'websocket'],
      ['Expect', '100-continue'],
      ['Keep-Alive', 'timeout=1'],
      ['Trailer', SECRET],
      [`x-${SECRET}\r\n`, '1'],
      ['Host', 'internal'],
      ['transfer-encoding', 'chunked'],
      ['content-length', '5'],
    ];
    for (const [name, value] of hostile) {
      // Frozen ones are looked at once where they can be sent, and each time where they cannot.
      const headers = Object.freeze({ [name]: value });
      for (let time = 0; time < 2; time++) {
        const error = await refusalOf(egress.request({ url: server.url, headers }));
        expect(error.reason).to.equal('invalid');
        expect(String(error.stack)).to.not.contain(SECRET);
      }
    }
    expect(server.requests).to.have.length(0);
  });

  it('sends no line break and no blank of a path or query as it is', async () => {
    server.answer('/a%20b', json(1));
    await egress.request({ url: `${server.url}/a b?c d=%0d%0aX: 1` });
    expect(server.requests.map(({ url }) => url)).to.deep.equal(['/a%20b?c%20d=%0d%0aX:%201']);
    expect(server.requests[0]?.headers).to.not.have.property('x');
  });

  it('never shows headers, path or query in a message', async () => {
    server.answer('/fails', hang, resetBeforeAnswer, garbage);
    for (let call = 0; call < 3; call++) {
      const url = `${server.url}/fails?key=${SECRET}`;
      const error = await refusalOf(egress.request({ url, timeoutMs: 50, headers: { authorization: SECRET } }));
      expect(error.message).to.not.contain(SECRET);
    }
  });

  it('takes no calls after it was closed', async () => {
    await egress.close();
    expect((await refusalOf(egress.request({ url: server.url }))).reason).to.equal('aborted');
  });
});
