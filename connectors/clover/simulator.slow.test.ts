import { expect } from 'chai';
import { DAY_MS } from '#connector/simulator';
import { callProvider, type ServedSimulator, serveSimulator, type TestCall } from '#connector/testing';
import { createSimulator, DEMO_ACCESS_TOKEN, MERCHANT_ID } from './simulator.ts';

const HEADERS = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}`, 'content-type': 'application/json' };

describe('the Clover simulator', () => {
  let simulator: ServedSimulator;

  before(async () => {
    simulator = await serveSimulator('clover', createSimulator);
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  const call = (path: string, options: TestCall = {}) =>
    callProvider(simulator.url + path, { headers: HEADERS, ...options });

  const at = (path: string, options?: TestCall) => call(`/v3/merchants/${MERCHANT_ID}/${path}`, options);
  const list = async (name: string, ...filters: readonly string[]) => {
    const query = new URLSearchParams({ limit: '1000' });
    for (const filter of filters) query.append('filter', filter);
    return (await at(`${name}?${query}`)).body.elements ?? [];
  };

  it('lets in a token of its merchant at its API, and says 401 to all others', async () => {
    const path = `/v3/merchants/${MERCHANT_ID}/items?limit=1`;
    const responses = await Promise.all([
      call(path),
      call(path, { headers: { ...HEADERS, forwarded: 'host=apisandbox.dev.clover.com' } }),
      call(path, { headers: { ...HEADERS, forwarded: 'host=www.clover.com' } }),
      call(path, { headers: { ...HEADERS, authorization: 'Bearer nope' } }),
      call('/v3/merchants/ANOTHER000000/items'),
    ]);
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 401, 401, 401]);
    expect(responses[3]?.body).to.deep.equal({ message: '401 Unauthorized' });
  });

  it('gives a pair of tokens for a code, and another for a refresh token that is used once', async () => {
    const address = encodeURIComponent('https://app.example/back?x=1');
    const login = await call(`/oauth/v2/authorize?client_id=demo-client&redirect_uri=${address}&state=s&auto=approve`);
    const back = login.location.searchParams;
    const added = { merchant_id: MERCHANT_ID, client_id: 'demo-client', state: 's' };
    expect(Object.fromEntries(back)).to.include({ x: '1', ...added });
    const client = { client_id: 'demo-client', client_secret: 'demo-secret' };
    const exchange = { body: { ...client, code: back.get('code') } };
    const first = await call('/oauth/v2/token', exchange);
    const seconds = Date.now() / 1000;
    expect(first.body.access_token_expiration).to.be.within(seconds + 1700, seconds + 1900);
    expect(first.body.refresh_token_expiration).to.be.above(seconds + 360 * 86_400);
    expect((await call('/oauth/v2/token', exchange)).body.message).to.equal('Failed to validate authentication code');
    const renew = { body: { client_id: 'demo-client', refresh_token: first.body.refresh_token } };
    const second = await call('/oauth/v2/refresh', renew);
    const authorization = `Bearer ${second.body.access_token}`;
    expect((await at('items', { headers: { ...HEADERS, authorization } })).status).to.equal(200);
    expect((await call('/oauth/v2/refresh', renew)).status).to.equal(401);
    await simulator.command('/simulate/clock', { byMs: 30 * 60_000 });
    expect((await at('items', { headers: { ...HEADERS, authorization } })).status).to.equal(401);
  });

  it('wants JSON, the right secret, and each request at its own host', async () => {
    const body = { client_id: 'demo-client', client_secret: 'wrong', code: 'x' };
    const statuses = await Promise.all([
      call('/oauth/v2/token', { body }),
      call('/oauth/v2/token', { body, headers: { ...HEADERS, 'content-type': 'text/plain' } }),
      call('/oauth/v2/token', { body, headers: { ...HEADERS, forwarded: 'host=www.clover.com' } }),
      call('/oauth/v2/authorize?client_id=demo-client', { headers: { ...HEADERS, forwarded: 'host=api.clover.com' } }),
    ]);
    expect(statuses.map(({ status }) => status)).to.deep.equal([401, 415, 404, 404]);
  });

  it('joins filters by AND, ignores cases of texts, and knows a wildcard in names of items', async () => {
    const names = async (...filters: readonly string[]) =>
      new Set((await list('items', ...filters)).map(({ name }: { name: string }) => name));
    expect(await names('name=CAESAR SALAD')).to.deep.equal(new Set(['Caesar Salad', 'caesar salad']));
    expect(await names('name=c*', 'name!=CAESAR SALAD')).to.deep.equal(new Set(['Crème brûlée', "Chef's Special"]));
    expect(await list('items', 'price>=999', 'price<1200')).to.have.length(13);
    expect(await list('items', 'sku IS NULL')).to.have.length(13);
    expect(await list('employees', 'role=OWNER')).to.have.length(1);
    expect(await list('items', "id in ('I000000000001','I000000000002','x')")).to.have.length(2);
  });

  it('takes texts as they are written where it is told to', async () => {
    const strict = await serveSimulator('clover', (options) => createSimulator({ ...options, text: 'as written' }));
    const url = `${strict.url}/v3/merchants/${MERCHANT_ID}/items?filter=name=`;
    const count = async (name: string) => {
      const { body } = await callProvider(url + name, { headers: HEADERS });
      return body.elements.length;
    };
    const counts = [await count('caesar%20salad'), await count('CAESAR%20SALAD'), await count('c*')];
    await strict.stop();
    expect(counts).to.deep.equal([9, 0, 0]);
  });

  it('shows 90 days of orders and payments at a time: the last of what is asked for', async () => {
    const now = Date.now();
    const dayBefore = (days: number) => now - days * DAY_MS;
    // Every sixth order has no state, so it is in no list.
    expect(await list('orders')).to.have.length(34);
    expect(await list('payments', `createdTime>=${dayBefore(500)}`)).to.have.length(40);
    expect(await list('orders', `createdTime>=${dayBefore(500)}`, `createdTime<${dayBefore(200)}`)).to.have.length(7);
    expect(await list('orders', `createdTime>=${dayBefore(180)}`, `createdTime<${dayBefore(95)}`)).to.have.length(0);
    expect(await list('orders', `createdTime<${dayBefore(295)}`, `createdTime>=${dayBefore(385)}`)).to.have.length(8);
  });

  it('refuses filters, orders and pages that Clover does not know', async () => {
    const refused = ['filter=categories.id=x', 'filter=price=abc', 'filter=name LIKE x', 'limit=0', 'orderBy=nope'];
    const responses = await Promise.all(refused.map((query) => at(`items?${query}`)));
    expect(responses.map(({ status }) => status)).to.deep.equal(refused.map(() => 400));
    expect(responses[0]?.body.message).to.equal('Invalid filter field: categories.id');
    expect((await at('payments', { body: { amount: 1 } })).status).to.equal(405);
  });

  it('says which limit was met', async () => {
    const atOnce = await at('items', { headers: { ...HEADERS, 'x-simulate': '429' } });
    const concurrent = ['x-ratelimit-tokenconcurrentlimit', 'retry-after'].map((name) => atOnce.headers.get(name));
    expect(concurrent).to.deep.equal(['5', '7']);
    const limited = await serveSimulator('clover', (options) => createSimulator({ ...options, callsPerSecond: 0 }));
    const { status, headers } = await fetch(`${limited.url}/v3/merchants/${MERCHANT_ID}`, { headers: HEADERS });
    await limited.stop();
    const perSecond = ['x-ratelimit-tokenlimit', 'retry-after'].map((name) => headers.get(name));
    expect([status, ...perSecond]).to.deep.equal([429, '16', null]);
  });
});
