import { expect } from 'chai';
import { findFreePort } from '../../embedded/free-port.ts';
import { servesMeasurements } from '../../src/api/measurements.ts';
import { createShared } from '../../src/http/shared.ts';
import { type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';
import { expectProblem } from './support/expect-problem.ts';
import { sendRaw } from './support/raw-request.ts';

const PROXY = '/oauth/proxy/pX0Jc2sQmW4nB7vT1yLk9RfHdG3aZeUo';

describe('what needs no authorization', () => {
  const service = useApp({ TRUST_PROXY: '127.0.0.1' });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    sendRaw(service.app.url, { path, headers });

  for (const path of [
    ...['/openapi.json', '/openapi.yaml', '/docs', '/docs/where', '/docs/reference/events', '/docs/elements/odata'],
  ]) {
    it(`is printed once and not sent to whoever has it: ${path}`, async () => {
      const first = await get(path);
      expect(first.status).to.equal(200);
      const etag = first.headers.get('etag') ?? '';
      expect(etag).to.match(/^"[\w-]{43}"$/);
      expect(first.headers.get('cache-control')).to.equal('no-cache');
      const again = await get(path, { 'if-none-match': etag });
      expect({ status: again.status, body: again.body }).to.deep.equal({ status: 304, body: '' });
      expect(again.headers.get('elements-request-id')).to.be.a('string');
      expect((await get(path, { 'if-none-match': '"another"' })).body).to.deep.equal(first.body);
    });
  }

  it('is never taken for anything else by a browser, refusals included', async () => {
    const refused = { 'content-type': 'text/plain' };
    for (const [path, headers] of [
      ['/openapi.json', {}],
      ['/docs', {}],
      ['/docs/where', {}],
      ['/docs/assets/docs.css', {}],
      ['/health/live', {}],
      ['/health/ready', {}],
      ['/metrics', {}],
      ['/nothing', {}],
      ['/oauth/callback?code=x', {}],
      [`${PROXY}?state=x`, {}],
      ['/elements/api-v2/elements', {}],
      ['/elements/api-v2/elements', { authorization: 'User x, Organization y' }],
      ['/elements/api-v2/nothing', refused],
    ] as const) {
      expect((await get(path, headers)).headers.get('x-content-type-options'), path).to.equal('nosniff');
    }
    expect((await service.call('/elements')).headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('asks the database for the redirects of one address 600 times a minute at most', async () => {
    const redirect = (address: string) => get(`${PROXY}?state=x`, { 'x-forwarded-for': address });
    const first = await Promise.all(Array.from({ length: 600 }, () => redirect('192.0.2.1')));
    expect(new Set(first.map(({ status }) => status))).to.deep.equal(new Set([400]));
    let refused = await redirect('192.0.2.1');
    while (refused.status !== 429) refused = await redirect('192.0.2.1');
    expectProblem(refused, 'RATE_LIMITED', /^Too many requests of this address: the limit is 600 a minute\. /);
    expect(refused.headers.get('ratelimit-limit')).to.equal('600');
    expect((await redirect('192.0.2.2')).status).to.equal(400);
  });

  it('says no name that is longer than anything sensible', async () => {
    const long = 'x'.repeat(20_000);
    const response = await get(`/${long}`);
    expectProblem(response, 'NOT_FOUND', `There is no GET /${'x'.repeat(99)}….`);
    const nested = await service.call(`/elements?${long}[]x=1`);
    expectProblem(nested, 'REQUEST_INVALID', `Unknown query parameter '${'x'.repeat(100)}…'.`);
    const unknown = await service.call(`/elements?${long}=1`);
    expectProblem(unknown, 'REQUEST_INVALID');
    expect(JSON.stringify(unknown.body)).to.have.lengthOf.at.most(500);
  });

  it('reads the names of a query in one pass, whatever they are', async () => {
    const before = process.cpuUsage();
    for (const character of '?&[') {
      const response = await service.call(`/elements?${character.repeat(60_000)}`);
      expect(response.status, character).to.be.oneOf([200, 400]);
    }
    // A pattern that went back for each of them took 2 s a request.
    const { user } = process.cpuUsage(before);
    expect(user / 1e6).to.be.lessThan(1.5);
  });
});

describe('the measurements', () => {
  const open = useApp();
  const guarded = useApp({ METRICS_TOKEN: 'a-token-of-the-scraper' });
  const apart = useApp({ METRICS_PORT: '0' });

  it('are open to this machine alone', () => {
    const serves = (host: string, more: Partial<Parameters<typeof servesMeasurements>[0]> = {}) =>
      servesMeasurements({
        host,
        publicUrl: undefined,
        trustProxy: [],
        metricsPort: undefined,
        metricsToken: undefined,
        ...more,
      });
    for (const host of ['127.0.0.1', 'localhost', '::1', '127.1.2.3']) expect(serves(host), host).to.equal(true);
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'causeway.internal']) {
      expect(serves(host), host).to.equal(false);
      expect(serves(host, { metricsToken: 'a token' }), host).to.equal(true);
      expect(serves(host, { metricsToken: 'a token', metricsPort: 1 }), host).to.equal(false);
    }
    for (const publicUrl of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:8080'])
      expect(serves('127.0.0.1', { publicUrl }), publicUrl).to.equal(true);
    for (const behind of [
      { publicUrl: 'https://causeway.example.com' },
      { publicUrl: 'http://192.0.2.1:8080/base' },
      { trustProxy: ['127.0.0.1'] },
    ]) {
      expect(serves('127.0.0.1', behind), JSON.stringify(behind)).to.equal(false);
      expect(serves('127.0.0.1', { ...behind, metricsToken: 'a token' }), JSON.stringify(behind)).to.equal(true);
    }
  });

  for (const [variable, value] of Object.entries({
    HOST: '0.0.0.0',
    PUBLIC_URL: 'https://causeway.example.com',
    TRUST_PROXY: '127.0.0.1',
  })) {
    it(`are off while others reach the service (${variable}), until a port or a token is set`, async () => {
      const token = 'a-token-of-the-scraper';
      /** Without and with the token on the port of the API; on the port of their own. */
      const statuses = (more: Readonly<Record<string, string>>) =>
        withService({ [variable]: value, ...more }, async ({ app: { metricsUrl } }, origin) => [
          (await get(origin)).status,
          (await get(origin, { authorization: `Bearer ${token}` })).status,
          metricsUrl === undefined ? undefined : (await get(`http://127.0.0.1:${new URL(metricsUrl).port}`)).status,
        ]);
      expect(await statuses({})).to.deep.equal([404, 404, undefined]);
      expect(await statuses({ METRICS_PORT: '0' })).to.deep.equal([404, 404, 200]);
      expect(await statuses({ METRICS_TOKEN: token })).to.deep.equal([401, 200, undefined]);
    });
  }

  const get = (origin: string, headers: Readonly<Record<string, string>> = {}) =>
    sendRaw(origin, { path: '/metrics', headers });

  async function withService<Result>(
    environment: Readonly<Record<string, string>>,
    work: (service: StartedApp, origin: string) => Promise<Result>,
  ): Promise<Result> {
    const PORT = String(await findFreePort());
    const service = await startTestApp({ ...environment, PORT, SIMULATORS_PORT: 'off' });
    try {
      // PUBLIC_URL is where nobody listens.
      return await work(service, `http://127.0.0.1:${PORT}`);
    } finally {
      await service.stop();
    }
  }

  it('need the token where there is one', async () => {
    for (const authorization of ['', 'Bearer another-token', 'a-token-of-the-scraper']) {
      const response = await get(guarded.app.url, { authorization });
      expectProblem(response, 'UNAUTHENTICATED', '/metrics needs the header `Authorization: Bearer <METRICS_TOKEN>`.');
      expect(response.headers.get('www-authenticate')).to.equal('Bearer realm="causeway metrics"');
    }
    const answer = await get(guarded.app.url, { authorization: 'Bearer a-token-of-the-scraper' });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include('causeway_build_info');
    expect(guarded.logged.join('')).not.to.include('a-token-of-the-scraper');
  });

  it('are nowhere else when they have a port of their own', async () => {
    expectProblem(await sendRaw(apart.app.url, { path: '/metrics' }), 'NOT_FOUND', 'There is no GET /metrics.');
    const { origin, pathname: path } = new URL(apart.app.metricsUrl ?? '');
    const response = await sendRaw(origin, { path });
    expect(response.status).to.equal(200);
    expect(response.body).to.include('causeway_build_info');
    expectProblem(await sendRaw(origin, { path: '/elements/api-v2/elements' }), 'NOT_FOUND');
    expect(open.app.metricsUrl).to.equal(undefined);
  });
});

describe('createShared', () => {
  it('does the work once for all who ask meanwhile, and again after a failure', async () => {
    const clock = createVirtualClock();
    let runs = 0;
    let fails = false;
    const ask = createShared(
      async () => {
        runs += 1;
        if (fails) throw new Error('broken');
        return runs;
      },
      { clock, ms: 100 },
    );
    expect(await Promise.all([ask(), ask(), ask()])).to.deep.equal([1, 1, 1]);
    await clock.advance(99);
    expect(await ask()).to.equal(1);
    await clock.advance(1);
    fails = true;
    const outcomes = await Promise.allSettled([ask(), ask()]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(runs).to.equal(2);
    fails = false;
    expect(await ask()).to.equal(3);
  });
});
