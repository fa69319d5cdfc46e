import { expect } from 'chai';
import type { Config, ListInput } from '#connector';
import {
  type Connection,
  failureOf,
  normalise,
  objectOf,
  type Provider,
  type Row,
  startProvider,
} from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import clover from './index.ts';
import { RECENT } from './lists.ts';
import { objectsIn, orders } from './objects.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION, MERCHANT_ID } from './simulator.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Lists all parts, including empty ones. The first part has no rows, because it only requests the merchant. */
async function walk(connection: Connection, input: Partial<ListInput<unknown>>): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | undefined; ; ) {
    const part = await connection.list(orders, { ...input, ...(cursor !== undefined && { cursor }) });
    rows.push(...part.records.map((record) => normalise(orders, record)));
    cursor = part.next;
    if (cursor === undefined) return rows;
  }
}

describe('clover', () => {
  let provider: Provider;

  before(async () => {
    provider = await startProvider(clover, createSimulator, {
      ...DEMO_CONFIGURATION,
      'oauth.user.token': DEMO_ACCESS_TOKEN,
    });
  });

  after(() => provider.stop());

  function windowsIn(requests: readonly string[], field: string): readonly (readonly [number, number])[] {
    const lists = requests
      .map((request) => new URL(request.replace(/^GET /, '')))
      .filter(({ search }) => search !== '');
    return lists.map(({ searchParams }) => {
      const filters = searchParams.getAll('filter');
      const bound = (start: string) => Number(filters.find((filter) => filter.startsWith(start))?.slice(start.length));
      return [bound(`${field}>=`), bound(`${field}<=`)];
    });
  }

  it('walks orders in windows of less than 90 days that leave no gap, newest first', async () => {
    const connection = provider.connect();
    const rows = await walk(connection, { limit: 50 });
    const windows = windowsIn(connection.requests, 'createdTime');
    expect(new Set(rows.map(({ id }) => id)).size).to.equal(rows.length);
    const distinct = [...new Map(windows.map((window) => [window[1], window])).values()];
    expect(distinct.length).to.be.greaterThan(1);
    for (const [index, [start, end]] of distinct.entries()) {
      expect(end - start).to.be.lessThan(90 * DAY_MS);
      const older = distinct[index + 1];
      if (older !== undefined) expect(older[1]).to.equal(start - 1);
    }
  });

  it('stays within the bounds of a filter, and asks for nothing where they leave nothing', async () => {
    const connection = provider.connect();
    const now = Date.now();
    const bounds = (from: number, to: number) => ({ 'createdTime>=': String(from), 'createdTime<=': String(to) });
    await walk(connection, { filter: bounds(now - 100 * DAY_MS, now - DAY_MS) });
    const windows = windowsIn(connection.requests, 'createdTime');
    expect(windows.map(([start]) => start)).to.include(now - 100 * DAY_MS);
    expect(windows[0]?.[1]).to.equal(now - DAY_MS);
    expect(windows).to.have.length(2);
    const other = provider.connect();
    expect(await walk(other, { filter: bounds(now, now - DAY_MS) })).to.deep.equal([]);
    expect(windowsIn(other.requests, 'createdTime')).to.deep.equal([]);
  });

  it('asks older windows without conditions that restrict a list of orders to its last 90 days', async () => {
    const connection = provider.connect();
    await walk(connection, { filter: { [RECENT]: ['total>=1'], filter: ['employee.id=QT0DES4CXR572'] } });
    const lists = connection.requests.filter((request) => request.includes('createdTime'));
    expect(lists.length).to.be.greaterThan(2);
    const withTotal = lists.filter((request) => decodeURIComponent(request).includes('total>=1'));
    expect(withTotal).to.deep.equal(lists.slice(0, withTotal.length)).and.to.have.length(1);
    expect(lists.every((request) => decodeURIComponent(request).includes('employee.id='))).to.equal(true);
  });

  it('looks for changes by the time of the change, unless something else is asked for beside it', async () => {
    const connection = provider.connect();
    const changed = { 'modifiedTime>=': String(Date.now() - 30 * DAY_MS) };
    await walk(connection, { filter: changed });
    expect(windowsIn(connection.requests, 'modifiedTime')).to.have.length(1);
    const other = provider.connect();
    await walk(other, { filter: { ...changed, filter: ['total>=1'] } });
    expect(other.requests.join('\n')).not.to.include('modifiedTime');
  });

  it('leads to the hosts of the region, or to the sandbox, and to one merchant', () => {
    const { auth, baseUrl, hosts } = clover;
    const addressesOf = (config: Config) => [
      auth.type === 'oauth2' && auth.authorizeUrl?.(config),
      auth.type === 'oauth2' && auth.tokenUrl(config),
      baseUrl(config),
      typeof hosts === 'function' && hosts(config),
    ];
    expect(addressesOf({ merchantId: MERCHANT_ID })).to.deep.equal([
      'https://www.clover.com/oauth/v2/authorize',
      'https://api.clover.com/oauth/v2/token',
      `https://api.clover.com/v3/merchants/${MERCHANT_ID}`,
      ['www.clover.com', 'api.clover.com'],
    ]);
    for (const region of ['eu', 'la']) {
      for (const said of [region, `www.${region}.clover.com`, `api.${region}.clover.com`, `${region}.clover.com`]) {
        expect(addressesOf({ merchantId: MERCHANT_ID, 'clover.region': said }), said).to.deep.equal([
          `https://www.${region}.clover.com/oauth/v2/authorize`,
          `https://api.${region}.clover.com/oauth/v2/token`,
          `https://api.${region}.clover.com/v3/merchants/${MERCHANT_ID}`,
          [`www.${region}.clover.com`, `api.${region}.clover.com`],
        ]);
      }
    }
    const american = { merchantId: MERCHANT_ID, 'clover.region': 'www.clover.com' };
    expect(addressesOf(american)).to.deep.equal(addressesOf({ merchantId: MERCHANT_ID }));
    expect(addressesOf({ merchantId: MERCHANT_ID, 'clover.region': 'eu', 'clover.sandbox': true })).to.deep.equal([
      'https://sandbox.dev.clover.com/oauth/v2/authorize',
      'https://apisandbox.dev.clover.com/oauth/v2/token',
      `https://apisandbox.dev.clover.com/v3/merchants/${MERCHANT_ID}`,
      ['sandbox.dev.clover.com', 'apisandbox.dev.clover.com'],
    ]);
  });
});

describe('amounts of Clover in units of the currency of the merchant', () => {
  let provider: Provider;
  before(async () => {
    provider = await startProvider(clover, (options) => createSimulator({ ...options, currency: 'JPY' }), {
      ...DEMO_CONFIGURATION,
      'oauth.user.token': DEMO_ACCESS_TOKEN,
    });
  });
  after(() => provider.stop());

  for (const [currency, price, priceMajor] of [
    ['JPY', 1999, 1999],
    ['USD', 1999, 19.99],
    ['KWD', 1999, 1.999],
  ] as const) {
    it(`are read, written and filtered in ${currency}`, async () => {
      const items = objectOf(objectsIn(currency), 'items');
      const connection = provider.connect();
      const created = await connection.run(items.create, { values: { name: 'Tea', priceMajor }, fields: [] });
      expect(normalise(items, created)).to.include({ price, priceMajor });
      const { plan } = prepareQuery({ where: `priceMajor >= ${priceMajor}` }, items);
      expect([plan.native, plan.residual]).to.deep.equal([{ filter: [`price>=${price}`] }, undefined]);
    });
  }

  it('are found between two amounts that exist', () => {
    const { plan } = prepareQuery({ where: 'priceMajor > 10.5' }, objectOf(objectsIn('JPY'), 'items'));
    expect(plan.native).to.deep.equal({ filter: ['price>10'] });
  });

  it('are rejected beside another amount, and where they are missing', async () => {
    const items = objectOf(objectsIn('USD'), 'items');
    const messageOf = async (values: object) =>
      (await failureOf(provider.connect().run(items.create, { values: { name: 'Tea', ...values }, fields: [] })))
        .message;
    expect(await messageOf({ price: 5, priceMajor: 5 })).to.equal(
      "'price' and 'priceMajor' are different amounts. Set one of them.",
    );
    expect(await messageOf({ priceMajor: 5.001 })).to.equal(
      "'priceMajor' is 5.001, and amounts of this merchant have 2 decimals.",
    );
    expect(await messageOf({})).to.equal("'price' or 'priceMajor' is required.");
  });

  it('have the currency that Clover reports', async () => {
    const examined = await provider.connect().run({ run: async (context) => clover.examine?.(context) }, {});
    expect(examined).to.deep.equal({ 'clover.currency': 'JPY' });
  });
});
