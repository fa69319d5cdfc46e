import { expect } from 'chai';
import * as fc from 'fast-check';
import Stripe from 'stripe';
import type { ChangesPage, ProviderResponse, WebhookCall } from '#connector';
import { failureOf, objectOf, type Provider, startProvider } from '#connector/testing';
import { createRecordMapper } from '../../src/resources/record.ts';
import { pushedField } from '../../src/where/index.ts';
import { prepareQuery } from '../../src/where/query.ts';
import { changesOf, endpoints } from './events.ts';
import { toForm } from './fields.ts';
import stripe from './index.ts';
import { objectsOf } from './objects.ts';
import type { Filter } from './search.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

const OBJECTS = objectsOf({ 'metadata.keys': 'order_id, a-b' });
const CUSTOMERS = objectOf(OBJECTS, 'customers');
const filterOf = (name: string, where: string) =>
  prepareQuery({ where }, objectOf(OBJECTS, name)).plan.native as Filter;

describe('filters of Stripe', () => {
  for (const [name, where, inputs, query] of [
    ['charges', "customer = 'cus_1' AND created >= 2026-01-31", { customer: 'cus_1', 'created[gte]': '1769817600' }],
    ['customers', 'created = 2026-01-31', { 'created[gte]': '1769817600', 'created[lte]': '1769817600' }],
    ['products', "id IN ('a', 'b')", { 'ids[]': ['a', 'b'] }],
    ['prices', "active = true AND type = 'recurring'", { active: 'true', type: 'recurring' }],
    ['charges', "amount > 10 AND currency != 'usd'", undefined, 'amount>10 AND -currency:"usd"'],
    // Whatever the currency is: 10.5 is 10.5, 1050 or 10500 in the smallest unit.
    ['charges', 'amount_major > 10.5', undefined, 'amount>10'],
    ['charges', 'amount_major <= 10.5', undefined, 'amount<=10500'],
    ['charges', 'amount_major = 10.5', undefined, 'amount:1050 OR amount:10500'],
    ['charges', 'amount_major = 10', undefined, 'amount:10 OR amount:1000 OR amount:10000'],
    ['invoices', 'total_major > -10.5', undefined, 'total>-10500'],
    ['invoices', 'total_major < -10.5', undefined, 'total<=-11'],
    // One currency has one unit.
    ['charges', "amount_major > 10.5 AND currency = 'usd'", undefined, 'amount>1050 AND currency:"usd"'],
    ['charges', "currency = 'jpy' AND amount_major < 10.5", undefined, 'currency:"jpy" AND amount<=10'],
    ['charges', "amount_major = 10.5 AND currency = 'kwd'", undefined, 'amount:10500 AND currency:"kwd"'],
    ['charges', "amount_major = 10 AND currency = 'ugx'", undefined, 'amount:1000 AND currency:"ugx"'],
    ['charges', "currency IN ('usd', 'eur')", undefined, 'currency:"usd" OR currency:"eur"'],
    ['charges', "status = 'failed' AND status = 'pending'", undefined, 'status:"failed" AND status:"pending"'],
    ['charges', 'refunded = false', undefined, '-refunded:"true"'],
    ['customers', `name LIKE '%Sky "Sea"%'`, undefined, String.raw`name~"Sky \"Sea\""`],
    ['customers', "metadata.order_id = '6735'", undefined, 'metadata["order_id"]:"6735"'],
    ['customers', 'metadata.order_id IS NULL', undefined, 'metadata["order_id"]:null'],
    // Neither the list nor the search has both.
    ['subscriptions', "customer = 'cus_1' OR status = 'active'", undefined, undefined],
    ['customers', "name LIKE '%ab%'", undefined, undefined],
    ['customers', String.raw`name = 'a\\b'`, undefined, undefined],
  ] as const) {
    it(`of ${name}: ${where}`, () => {
      const native = filterOf(name, where);
      if (inputs !== undefined) expect(native.inputs).to.deep.equal(inputs);
      else expect([native?.inputs, native?.query]).to.deep.equal([undefined, query]);
    });
  }
});

describe('amounts of Stripe in units of their currency', () => {
  let provider: Provider;
  before(async () => {
    provider = await startProvider(stripe, createSimulator, DEMO_CONFIGURATION);
  });
  after(() => provider.stop());

  /** Source: docs.stripe.com/currencies, as a factor for each currency. */
  const FACTORS: Readonly<Record<string, number>> = {
    ...{ bif: 1, clp: 1, djf: 1, gnf: 1, jpy: 1, kmf: 1, krw: 1, mga: 1, pyg: 1, rwf: 1, vnd: 1, vuv: 1, xaf: 1 },
    ...{ xof: 1, xpf: 1, bhd: 1000, jod: 1000, kwd: 1000, omr: 1000, tnd: 1000 },
    // Without decimals at the banks, and with two in Stripe's API.
    ...{ isk: 100, ugx: 100, huf: 100, twd: 100, usd: 100, eur: 100, gbp: 100, chf: 100, inr: 100, brl: 100 },
  };
  const intents = objectOf(OBJECTS, 'payment_intents');
  const amounts = ({ fields }: typeof intents, ...names: readonly string[]) =>
    names.map((name) => pushedField(name, fields[name] ?? { type: 'number' }));
  const shown = (record: unknown) => createRecordMapper(amounts(intents, 'amount', 'amount_major', 'currency'))(record);

  it('are read as they were written, in every currency', async () => {
    const connection = provider.connect();
    const currencies = fc.constantFrom(...Object.keys(FACTORS));
    await fc.assert(
      fc.asyncProperty(currencies, fc.integer({ min: 0, max: 99_999_999 }), async (currency, minor) => {
        const major = minor / (FACTORS[currency] ?? 0);
        const values = { amount_major: major, currency };
        const created = Object(await connection.run(intents.create, { values, fields: [] }));
        expect(shown(created)).to.deep.equal({ amount: minor, amount_major: major, currency });
        const changed = { id: created.id, values: { amount_major: major * 2 }, fields: [] };
        expect(shown(await connection.run(intents.update, changed))).to.include({ amount: minor * 2 });
      }),
      { numRuns: 60 },
    );
  });

  it('are rejected with too many decimals, without a currency, and beside another amount', async () => {
    const connection = provider.connect();
    const messageOf = async (values: object) =>
      (await failureOf(connection.run(intents.create, { values: { ...values }, fields: [] }))).message;
    expect(await messageOf({ amount_major: 9.5, currency: 'jpy' })).to.equal(
      "'amount_major' is 9.5, and amounts in jpy have 0 decimals.",
    );
    expect(await messageOf({ amount_major: 9 })).to.equal("'amount_major' needs a currency. Set 'amount' instead.");
    expect(await messageOf({ currency: 'eur' })).to.equal("'amount' or 'amount_major' is required.");
    expect(await messageOf({ amount: 9, amount_major: 9, currency: 'eur' })).to.equal(
      "'amount' and 'amount_major' are different amounts. Set one of them.",
    );
  });
});

describe('forms of Stripe', () => {
  it('have brackets for members and items, and empty texts for what is removed', () => {
    const values = {
      name: null,
      balance: -5,
      shipping: { address: { city: 'Ōsaka' } },
      items: [{ price: 'p' }],
      images: [],
    };
    expect(toForm(values)).to.deep.equal({
      ...{ name: '', balance: '-5', 'shipping[address][city]': 'Ōsaka', 'items[0][price]': 'p', images: '' },
    });
  });
});

describe('webhooks of Stripe', () => {
  const NOW = 1_769_817_600_000;
  const secret = 'whsec_demo';
  const event = {
    ...{ id: 'evt_1', object: 'event', type: 'customer.updated', created: NOW / 1000 },
    data: { object: { id: 'cus_1', object: 'customer', created: 1 }, previous_attributes: { name: 'a' } },
  };
  const payload = JSON.stringify(event);
  const callWith = (signature: string, body = payload): WebhookCall => ({
    ...{ method: 'POST', url: 'https://causeway.example/', body: Buffer.from(body) },
    headers: { 'stripe-signature': signature },
  });
  const sign = (at: number) =>
    Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(at / 1000) });
  const verdictOf = (call: WebhookCall) =>
    typeof endpoints.verify === 'function' && endpoints.verify(call, { secret, now: NOW, config: {} });

  it('are genuine if their signature is that of Stripe', () => {
    const header = sign(NOW);
    expect(verdictOf(callWith(header))).to.equal('genuine');
    // While a secret is rolled, there are two signatures. Other schemes are ignored.
    expect(verdictOf(callWith(header.replace(',v1=', `,v1=${'0'.repeat(64)},v0=x,v1=`)))).to.equal('genuine');
    expect(verdictOf(callWith(header.replace(',v1=', ',v0=')))).to.equal('forged');
    expect(verdictOf(callWith(header, `${payload} `))).to.equal('forged');
    expect(verdictOf(callWith(sign(NOW - 301_000)))).to.equal('stale');
    expect(verdictOf(callWith(''))).to.equal('unsigned');
  });

  const read = (more: object, config = {}) =>
    endpoints
      .events(callWith('', JSON.stringify({ ...event, ...more })), config)
      .map((each) => [each.objectName, each.action]);

  it('report changes of objects', () => {
    expect(read({})).to.deep.equal([['customers', 'updated']]);
    expect(read({ type: 'customer.subscription.deleted' })).to.deep.equal([['subscriptions', 'updated']]);
    expect(read({ type: 'product.deleted' })).to.deep.equal([['products', 'deleted']]);
    for (const type of ['customer.discount.deleted', 'charge.dispute.created', 'invoice.upcoming', 'payout.paid']) {
      expect(read({ type })).to.deep.equal([]);
    }
  });

  it('belong to the account that the instance names', () => {
    expect(read({ account: 'acct_1' })).to.deep.equal([]);
    expect(read({ account: 'acct_1' }, { 'stripe.account': 'acct_1' })).to.have.length(1);
  });

  it('take the first event of a charge as its creation', () => {
    const charge = { object: { id: 'ch_1', created: NOW / 1000 - 2 } };
    expect(read({ type: 'charge.succeeded', data: charge })).to.deep.equal([['charges', 'created']]);
    const later = { object: { id: 'ch_1', created: NOW / 1000 - 3600 } };
    expect(read({ type: 'charge.succeeded', data: later })).to.deep.equal([['charges', 'updated']]);
  });

  it('leave events of the current second to the next poll', () => {
    const { feed } = changesOf('customers');
    const body = { data: [event, { ...event, id: 'evt_0', created: event.created - 1 }], has_more: false };
    const response: ProviderResponse = { status: 200, headers: { date: new Date(NOW + 500).toUTCString() }, body };
    const page =
      feed !== undefined && 'read' in feed ? feed.read(response, { since: '2026-01-01T00:00:00Z' }) : undefined;
    expect(page satisfies ChangesPage | undefined).to.deep.equal({
      changes: [{ id: 'cus_1', action: 'updated', at: new Date(NOW - 1000).toISOString() }],
    });
  });
});

describe('Stripe', () => {
  let provider: Provider;
  before(async () => {
    provider = await startProvider(stripe, createSimulator, DEMO_CONFIGURATION);
  });
  after(() => provider.stop());

  it('sends a creation again after a failure, with the same idempotency key', async () => {
    const connection = provider.connect({}, { retry: true });
    await provider.command('/simulate/trouble', { trouble: '503; retry-after=0', times: 1, method: 'POST' });
    const created = await connection.run(CUSTOMERS.create, { values: { name: 'Once' }, fields: [] });
    expect(created).to.include({ name: 'Once' });
    expect(connection.requests.filter((request) => request.startsWith('POST'))).to.have.length(2);
  });

  it('does not find a deleted customer', async () => {
    const connection = provider.connect();
    const { id } = Object(await connection.run(CUSTOMERS.create, { values: { name: 'Gone' }, fields: [] }));
    await connection.run(CUSTOMERS.remove, { id });
    expect((await failureOf(connection.run(CUSTOMERS.get, { id, fields: [] }))).code).to.equal('NOT_FOUND');
  });

  it('registers an endpoint anew, and keeps its secret', async () => {
    const connection = provider.connect();
    const url = 'https://causeway.example/events/1';
    const first = await connection.run(endpoints.registration?.create, { url });
    const second = await connection.run(endpoints.registration?.create, { url });
    expect(second.id).to.not.equal(first.id);
    expect(second.secret).to.match(/^whsec_/);
    await connection.run(endpoints.registration?.remove, { id: second.id, url });
  });
});
