import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import Stripe from 'stripe';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { createSimulator, DEMO_RESTRICTED_KEY, DEMO_SECRET_KEY, type StripeSimulatorOptions } from './simulator.ts';

interface Shown {
  readonly id: string;
  readonly [member: string]: unknown;
}

type Found = (row: Shown) => boolean;
const text = (value: unknown) => String(value ?? '').toLowerCase();

/** Searches of customers, each with the rows that it finds, in words of its own. */
const SEARCHES: readonly (readonly [query: string, finds: Found])[] = [
  ['email:"AMY@rocketrides.io"', ({ email }) => text(email) === 'amy@rocketrides.io'],
  ["email~'rides'", ({ email }) => text(email).includes('rides')],
  ['-email:"amy@rocketrides.io"', ({ email }) => text(email) !== 'amy@rocketrides.io'],
  ['email:null', ({ email }) => email === null],
  ['metadata["order_id"]:"6735"', ({ metadata }) => Object(metadata).order_id === '6735'],
  ["-metadata['tier']:null", ({ metadata }) => Object(metadata).tier !== undefined],
  ['metadata["order_id"]:"O\'Neil \\"x\\" \\\\"', ({ metadata }) => /O'Neil/.test(String(Object(metadata).order_id))],
  ['created>1704000000 created<=1704500000', ({ created }) => Number(created) > 1.704e9 && Number(created) <= 1.7045e9],
  [
    'email:null OR metadata["tier"]:"gold"',
    ({ email, metadata }) => email === null || text(Object(metadata).tier) === 'gold',
  ],
];

const REFUSED = [
  'foo:"x"',
  'email>"x"',
  'email~"ab"',
  'email:amy',
  'created:"soon"',
  'email:null AND email:null OR email:null',
  Array.from({ length: 11 }, () => 'email:null').join(' '),
  'email',
  '(email:null)',
];

describe('the simulator of Stripe', () => {
  let served: ServedSimulator;

  const serve = async (options: Partial<StripeSimulatorOptions> = {}) => {
    served = await serveSimulator('stripe', (given) => createSimulator({ ...given, ...options }));
  };
  afterEach(() => served.stop());

  async function call(
    path: string,
    form?: Record<string, string>,
    headers: Record<string, string> = {},
    method?: string,
  ) {
    const response = await served.call<Record<string, unknown> & { data: readonly Shown[] }>(`/v1/${path}`, {
      method: method ?? (form === undefined ? 'GET' : 'POST'),
      headers: { authorization: `Bearer ${DEMO_SECRET_KEY}`, ...headers },
      ...(form !== undefined && { body: new URLSearchParams(form) }),
    });
    return { ...response, error: Object(response.body.error) };
  }

  const searched = (query: string) => call(`customers/search?${new URLSearchParams({ query, limit: '100' })}`);

  it('searches as the query language is documented', async () => {
    await serve();
    const { data } = (await call('customers?limit=100')).body;
    for (const [query, finds] of SEARCHES) {
      const { body } = await searched(query);
      expect(
        body.data?.map(({ id }) => id),
        query,
      ).to.deep.equal(data.filter(finds).map(({ id }) => id)).and.not.empty;
    }
    for (const query of REFUSED)
      expect((await searched(query)).error, query).to.include({ type: 'invalid_request_error' });
  });

  it('finds every text with the words of an exact match in their order', async () => {
    await serve();
    const query = encodeURIComponent('name:"the sky"');
    const names = (await call(`products/search?query=${query}`)).body.data.map(({ name }) => name);
    expect(new Set(names)).to.deep.equal(new Set(['The Sky and the Sea']));
  });

  it('finds a change in a search after a delay, and in a list at once', async () => {
    await serve({ indexLagMs: 60_000 });
    await call('customers', { email: 'new@example.com' });
    expect((await searched('email:"new@example.com"')).body.data).to.have.length(0);
    expect((await call('customers?email=new%40example.com')).body.data).to.have.length(1);
    await served.command('/simulate/clock', { byMs: 61_000 });
    expect((await searched('email:"new@example.com"')).body.data).to.have.length(1);
  });

  it('pages by the id of the last record, and leaves out canceled subscriptions', async () => {
    await serve();
    const first = (await call('subscriptions?limit=30')).body;
    const rest = (await call(`subscriptions?limit=100&starting_after=${first.data.at(-1)?.id}`)).body;
    const all = (await call('subscriptions?limit=100&status=all')).body.data;
    const living = all.filter(({ status }) => status !== 'canceled').map(({ id }) => id);
    expect([...first.data, ...rest.data].map(({ id }) => id)).to.deep.equal(living);
    expect([first.has_more, rest.has_more, living.length < all.length]).to.deep.equal([true, false, true]);
    expect((await call('customers?starting_after=cus_none')).error).to.include({ code: 'resource_missing' });
    expect((await call('customers?limit=101')).status).to.equal(400);
  });

  it('repeats the response for an idempotency key, and rejects other parameters with it', async () => {
    await serve();
    const key = { 'idempotency-key': 'k' };
    const first = await call('products', { name: 'One' }, key);
    const second = await call('products', { name: 'One' }, key);
    expect([second.body.id, second.headers.get('idempotent-replayed')]).to.deep.equal([first.body.id, 'true']);
    expect((await call('products', { name: 'Two' }, key)).error).to.include({ type: 'idempotency_error' });
  });

  it('merges metadata, refunds no more than was paid, and shows deleted customers', async () => {
    await serve();
    const { body: customer } = await call('customers', { 'metadata[a]': '1', 'metadata[b]': '2' });
    const changed = await call(`customers/${customer.id}`, { 'metadata[a]': '', 'metadata[c]': '3', name: '' });
    expect(changed.body).to.deep.include({ metadata: { b: '2', c: '3' }, name: null });
    const { body: charge } = await call('charges', { amount: '500', currency: 'usd', customer: String(customer.id) });
    const refund = (amount: string) => call('refunds', { charge: String(charge.id), amount });
    expect([(await refund('400')).status, (await refund('101')).status, (await refund('100')).status]).to.deep.equal([
      200, 400, 200,
    ]);
    expect((await call(`charges/${charge.id}`)).body).to.include({ amount_refunded: 500, refunded: true });
    await call(`customers/${customer.id}`, undefined, {}, 'DELETE');
    expect((await call(`customers/${customer.id}`)).body).to.deep.equal({
      id: customer.id,
      object: 'customer',
      deleted: true,
    });
    const types = (await call('events?limit=10')).body.data.map(({ type }) => type);
    expect(types[0]).to.equal('customer.deleted');
  });

  it('lets a restricted key read only', async () => {
    await serve();
    const headers = { authorization: `Bearer ${DEMO_RESTRICTED_KEY}` };
    expect((await call('customers', undefined, headers)).status).to.equal(200);
    expect((await call('customers', { name: 'x' }, headers)).status).to.equal(403);
    expect((await call('customers', undefined, { authorization: 'Bearer sk_test_other' })).status).to.equal(401);
  });
});

describe("the simulator of Stripe with Stripe's own client", () => {
  it('lists, searches, writes and sends events that the client accepts', async () => {
    const sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string }[] = [];
    const simulator = createSimulator({ baseUrl: '', send: (webhook) => sent.push(webhook) });
    const server = createServer(simulator.handle).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = Number(Object(server.address()).port);
    const stripe = new Stripe(DEMO_SECRET_KEY, { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0 });
    try {
      const endpoint = await stripe.webhookEndpoints.create({ url: 'https://a.example/', enabled_events: ['*'] });
      const charges = await stripe.charges.list({ limit: 20 }).autoPagingToArray({ limit: 1000 });
      const found = await stripe.charges.search({ query: 'amount>0', limit: 20 }).autoPagingToArray({ limit: 1000 });
      expect([charges.length, found.length]).to.deep.equal([48, 48]);
      const customer = await stripe.customers.create({ name: "O'Neil", metadata: { 'a b': '1' } });
      const [price] = (await stripe.prices.list({ limit: 1 })).data;
      const subscription = await stripe.subscriptions.create({
        customer: customer.id,
        items: [{ price: price?.id ?? '' }],
      });
      expect(subscription.items.data[0]?.price.id).to.equal(price?.id);
      await stripe.customers.update(customer.id, { metadata: { 'a b': '' } });
      await stripe.customers.del(customer.id);
      const types = sent.map(
        ({ body, headers }) =>
          stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', endpoint.secret ?? '').type,
      );
      expect(types).to.deep.equal([
        'customer.created',
        'customer.subscription.created',
        'customer.updated',
        'customer.deleted',
      ]);
      expect((await stripe.events.list()).data.map(({ type }) => type)).to.deep.equal(types.toReversed());
      const error: unknown = await stripe.customers.retrieve('cus_none').catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(Stripe.errors.StripeInvalidRequestError);
      expect(simulator.takeContradictions?.()).to.deep.equal([]);
    } finally {
      server.close();
    }
  });
});
