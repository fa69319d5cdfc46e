import { expect } from 'chai';
import Stripe from 'stripe';
import type { ChangesPage, ProviderResponse, WebhookCall } from '#connector';
import { failureOf, objectOf, type Provider, startProvider } from '#connector/testing';
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
