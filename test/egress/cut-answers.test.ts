import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createEgress, type Egress, type EgressRequest } from '../../src/egress/index.ts';
import {
  type Behaviour,
  createGzipBomb,
  endless,
  json,
  resetInBody,
  stallInBody,
  status,
  useMisbehavingServer,
} from '../support/misbehaving-server.ts';
import { closed, refusalOf } from './await.ts';

const MEGABYTE = 1024 * 1024;
const CUT = { maxBytes: 4096, onExcess: 'cut' } as const;

describe('egress where a longer answer is cut', () => {
  const server = useMisbehavingServer({ lifetime: 'test' });
  let egress: Egress;

  beforeEach(() => {
    egress = createEgress({ allow: ['127.0.0.0/8'] });
  });
  afterEach(() => egress.close());

  const request = (path: string, options: Partial<EgressRequest> = {}) =>
    egress.request({ url: server.url + path, method: 'POST', body: '{}', ...CUT, ...options });

  const LONG: Record<string, Behaviour> = {
    'without a length': endless(200 * MEGABYTE),
    'of an announced length': endless(200 * MEGABYTE, { 'content-length': String(200 * MEGABYTE) }),
  };
  for (const [what, behaviour] of Object.entries(LONG)) {
    it(`is complete at the cap, and closes the connection, with a body ${what}`, async () => {
      server.answer('/long', behaviour);
      const response = await request('/long');
      expect(response.status).to.equal(200);
      expect(response.body.toString()).to.equal('x'.repeat(4096));
      await closed(server);
      expect(server.bytesSent()).to.be.lessThan(20 * MEGABYTE);
    });
  }

  it('does not wait for the end of a body that has reached the cap', async () => {
    server.answer('/stalls', (response) => void response.write('y'.repeat(4096)));
    expect((await request('/stalls', { timeoutMs: 20_000 })).body).to.have.length(4096);
    await closed(server);
  });

  it('joins the pieces of a body that comes a byte at a time up to the cap', async () => {
    server.answer('/drip', drip);
    expect((await request('/drip', { maxBytes: 5 })).body.toString()).to.equal('01234');
    await closed(server);
  });

  it('fails at the time-out while a body that comes slowly has not reached the cap', async () => {
    server.answer('/stalls', stallInBody);
    server.answer('/drip', drip);
    for (const path of ['/stalls', '/drip']) {
      expect((await refusalOf(request(path, { timeoutMs: 60 }))).reason, path).to.equal('timeout');
    }
    await closed(server);
  });

  it('keeps the connection after an answer that is short enough', async () => {
    server.answer('/short', json({ ok: true }));
    for (let call = 0; call < 5; call++) expect((await request('/short')).body.toString()).to.equal('{"ok":true}');
    expect(server.connections()).to.be.at.most(2);
  });

  it('says that the connection broke before the cap', async () => {
    server.answer('/reset', resetInBody);
    expect((await refusalOf(request('/reset'))).reason).to.equal('reset');
  });

  it('asks for no compression and unpacks nothing', async () => {
    const packed = gzipSync('packed');
    server.answer('/packed', status(200, { 'content-encoding': 'gzip' }, packed));
    server.answer('/broken', status(200, { 'content-encoding': 'gzip' }, 'not gzip'));
    server.answer('/bomb', await createGzipBomb(100 * MEGABYTE));
    expect((await request('/packed')).body.equals(packed)).to.equal(true);
    expect((await request('/broken')).body.toString()).to.equal('not gzip');
    expect((await request('/bomb')).body).to.have.length(4096);
    expect(server.requests[0]?.headers['accept-encoding']).to.equal('identity');
  });

  it('takes a late failure of a cut answer for nothing', async () => {
    server.answer('/long', endless(MEGABYTE));
    const controller = new AbortController();
    const response = await request('/long', { signal: controller.signal });
    controller.abort();
    await closed(server);
    expect(response.body).to.have.length(4096);
  });
});

/** A byte every millisecond, for ever. */
const drip: Behaviour = (response) => {
  let sent = 0;
  const timer = setInterval(() => response.write(String(sent++ % 10)), 1);
  response.once('close', () => clearInterval(timer));
};
