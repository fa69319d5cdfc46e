import { expect } from 'chai';
import { CloudEvent, HTTP } from 'cloudevents';
import pg from 'pg';
import { pluck, useApp } from '../../support/app.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../../support/authorization-server.ts';
import { until } from '../../support/until.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { readEverything } from '../support/tenants.ts';
import { DELIVERIES, listDeliveries, QUICK, type ReceivedEvent, useReceiver, verify } from './receiving.ts';
import { post, SHOP_SECRET, type ShopEvent, sign, useShopServer } from './shop.ts';

const PATH = '/notifications/subscriptions';
const MASK = '********';
const ROUNDS = 15;

describe('endpoints', () => {
  const shop = useShopServer();
  const service = useApp(
    { MAX_ENDPOINTS_PER_ACCOUNT: '6', SIMULATORS_PORT: 'off' },
    Object.assign(shop.overrides, { engineOptions: QUICK }),
  );
  const receiver = useReceiver();
  let authorizationServer: AuthorizationServer;
  let made = 0;

  before(async () => {
    authorizationServer = await startAuthorizationServer();
  });
  after(() => authorizationServer.close());
  afterEach(async () => {
    const body = await service.get(PATH, { query: { where: 'endpoint = TRUE' } });
    for (const { id } of body) await service.send('DELETE', `${PATH}/${id}`);
  });

  const create = (body: object) => service.send('POST', PATH, body);
  const patch = (id: number, body: object) => service.send('PATCH', `${PATH}/${id}`, body);
  const test = (id: number, body?: object) => service.send('POST', `${PATH}/${id}/test`, body);
  const newUrl = () => receiver.open(`endpoint-${made++}`);
  const newShop = (more: object = {}, name = 'shop') =>
    service.createInstance(
      'shop',
      { 'hooks.secret': SHOP_SECRET, simulator: true, 'event.notification.enabled': true, ...more },
      { name },
    );

  async function createEndpoint(more: object = {}) {
    const url = newUrl();
    const { status, body } = await create({ url, ...more });
    expect(status, JSON.stringify(body)).to.equal(200);
    return { ...body, url };
  }

  const shopEvent = (record: object | undefined, item = `i${made++}`, what = 'updated'): ShopEvent => ({
    what,
    item,
    ...(record !== undefined && { record: { ...record } }),
  });
  async function happen(instance: { readonly eventUrl: string }, ...events: readonly ShopEvent[]): Promise<void> {
    const body = JSON.stringify({ events });
    const { status } = await post(instance.eventUrl, body, sign(body, SHOP_SECRET));
    expect(status).to.equal(200);
  }
  const items = (events: readonly ReceivedEvent[]) => events.map(({ body }) => body.data.objectId);

  it('are created with a secret, shown with what they want, and listed beside callback URLs', async () => {
    const url = newUrl();
    const input = {
      url,
      name: 'Won',
      eventTypes: ['deals.*'],
      where: "elementKey = 'shop'",
      hubs: ['general'],
      tags: ['a'],
    };
    const { body } = await create(input);
    expect(body).to.deep.include({ ...input, endpoint: true, format: 'standard', ordered: false, active: true });
    expect(body.secret).to.match(/^whsec_/);
    expect(body.config).to.deep.equal({ url });
    const listed = await service.call(PATH, { query: { where: "endpoint = TRUE AND name = 'Won'" } });
    expect(listed.body).to.deep.equal([{ ...body, secret: MASK }]);
    expect(await service.get(`${PATH}/${body.id}`)).to.deep.equal(body);
  });

  it('leave the subscription of a callback URL as it was', async () => {
    const url = newUrl();
    await newShop({ 'event.notification.callback.url': url });
    await create({ url });
    const body = await service.get(PATH, { query: { where: `url = '${url}' AND endpoint = FALSE` } });
    expect(body).to.have.length(1);
    expect(Object.keys(body[0])).to.have.members([
      ...['id', 'channel', 'config', 'state', 'eventTypes', 'secret', 'createdDate', 'updatedDate'],
      ...['stateChangedDate', 'queued', 'retrying'],
    ]);
    expectProblem(await patch(body[0].id, { name: 'x' }), 'REQUEST_INVALID', /Unknown member 'name'/);
  });

  it('get what they want beside the callback URL, once each and signed with their own secrets', async () => {
    const callback = newUrl();
    const instance = await newShop({ 'event.notification.callback.url': callback });
    const all = await createEndpoint();
    const big = await createEndpoint({ where: 'object.size >= 10' });
    const other = await createEndpoint({ eventTypes: ['orders.*'] });
    await happen(instance, shopEvent({ size: 3 }, 'small'), shopEvent({ size: 12 }, 'large'));
    expect(items(await receiver.waitFor(callback, 2))).to.have.members(['small', 'large']);
    expect(items(await receiver.waitFor(all.url, 2))).to.have.members(['small', 'large']);
    const [event, ...more] = await receiver.waitFor(big.url, 1);
    expect(more).to.deep.equal([]);
    expect(event?.body.data.objectId).to.equal('large');
    if (event === undefined) throw new Error('nothing came');
    expect(verify(event, big.secret)).to.deep.include({ type: 'items.updated' });
    expect(receiver.at(other.url)).to.deep.equal([]);
    const ids = new Set([callback, all.url, big.url].map((url) => receiver.at(url).at(-1)?.body.id));
    expect([...ids].every((id) => receiver.at(all.url).some(({ body }) => body.id === id))).to.equal(true);
    expect(await listDeliveries(service, `subscriptionId = ${big.id}`)).to.have.length(1);
  });

  it('get events of instances without a callback URL', async () => {
    const instance = await newShop();
    const endpoint = await createEndpoint();
    await happen(instance, shopEvent({ size: 1 }, 'only'));
    expect(items(await receiver.waitFor(endpoint.url, 1))).to.deep.equal(['only']);
  });

  it('choose by instance, element, hub and tag', async () => {
    const [first, second] = [await newShop({}, 'first'), await newShop({}, 'second')];
    await service.send('PATCH', `/instances/${second.id}`, { tags: ['vip'] });
    const ofFirst = await createEndpoint({ instances: [first.id], elementKeys: ['shop'], hubs: ['general'] });
    const tagged = await createEndpoint({ tags: ['vip', 'gold'] });
    const named = await createEndpoint({ where: "instance.name = 'second' AND instance.tags = 'vip'" });
    const elsewhere = await createEndpoint({ elementKeys: ['market'] });
    await happen(first, shopEvent({}, 'of-first'));
    await happen(second, shopEvent({}, 'of-second'));
    expect(items(await receiver.waitFor(ofFirst.url, 1))).to.deep.equal(['of-first']);
    expect(items(await receiver.waitFor(tagged.url, 1))).to.deep.equal(['of-second']);
    expect(items(await receiver.waitFor(named.url, 1))).to.deep.equal(['of-second']);
    expect(receiver.at(elsewhere.url)).to.deep.equal([]);
  });

  it('read the record once for all filters that ask for it, and send it unfiltered where that is impossible', async () => {
    const instance = await newShop({ 'event.notification.hydrate': false });
    const wants = { where: "object.name = 'Item there'" };
    const [one, two] = [await createEndpoint(wants), await createEndpoint(wants)];
    const not = await createEndpoint({ where: "object.name = 'Item elsewhere'" });
    await happen(instance, shopEvent(undefined, 'there'));
    const [event] = await receiver.waitFor(one.url, 1);
    await receiver.waitFor(two.url, 1);
    expect(event?.body.data).not.to.have.any.keys('unfiltered');
    expect(shop.ids().filter((id) => id === 'there')).to.have.length(1);

    await happen(instance, shopEvent(undefined, 'missing1'), shopEvent(undefined, 'gone', 'deleted'));
    const unfiltered = await receiver.waitFor(not.url, 2);
    expect(items(unfiltered)).to.have.members(['missing1', 'gone']);
    expect(unfiltered.map(({ body }) => body.data.unfiltered)).to.deep.equal([true, true]);
  });

  it('say in a redelivery, too, that an event is unfiltered', async () => {
    const instance = await newShop({ 'event.notification.hydrate': false });
    const from = new Date(Date.now() - 1000).toISOString();
    const endpoint = await createEndpoint({ where: 'object.size = 1' });
    await happen(instance, shopEvent(undefined, 'gone', 'deleted'), shopEvent({ size: 1 }, 'plain'));
    await receiver.waitFor(endpoint.url, 2);
    const of = `subscriptionId = ${endpoint.id}`;
    await until(async () => (await listDeliveries(service, `${of} AND status = 'delivered'`)).length === 2);
    const marks = async (count: number) => {
      const events = await receiver.waitFor(endpoint.url, count);
      return events.map(({ body: { data } }) => `${data.objectId} ${data.unfiltered === true}`).toSorted();
    };
    const twice = ['gone true', 'gone true', 'plain false', 'plain false'];

    for (const { id } of await listDeliveries(service, of)) {
      const { status } = await service.send('POST', `${DELIVERIES}/${id}/redelivery`);
      expect(status).to.equal(200);
    }
    expect(await marks(4), 'single').to.deep.equal(twice);
    const redeliver = async (more: object) => {
      const body = { from, to: new Date(Date.now() + 1000).toISOString(), subscriptionId: endpoint.id, ...more };
      const answer = await service.change('POST', '/notifications/subscriptions/redeliveries', body);
      expect(answer).to.deep.equal({ redelivered: 2 });
    };
    await redeliver({});
    expect(await marks(6), 'of a period').to.deep.equal([...twice, 'gone true', 'plain false'].toSorted());
    await until(async () => (await listDeliveries(service, `${of} AND status = 'delivered'`)).length === 6);
    await redeliver({ status: 'delivered' });
    expect(await marks(8), 'of a status').to.deep.equal([...twice, ...twice].toSorted());

    // A delivery that was not delivered yet has it in its own row.
    await patch(endpoint.id, { state: 'deactivated' });
    await redeliver({ status: 'delivered' });
    const [queued] = await listDeliveries(service, `${of} AND status = 'queued'`);
    await service.send('POST', `${DELIVERIES}/${queued.id}/redelivery`);
    await patch(endpoint.id, { state: 'active' });
    const all = await marks(11);
    const again = queued.record.id === 'gone' ? 'gone true' : 'plain false';
    expect(all, 'of a queued one').to.deep.equal([...twice, ...twice, 'gone true', 'plain false', again].toSorted());
  });

  it('send CloudEvents that the official SDK accepts, signed over the raw body', async () => {
    const instance = await newShop();
    const endpoint = await createEndpoint({ format: 'cloudevents' });
    await happen(instance, shopEvent({ size: 5 }, 'a b/ü'));
    await until(async () => receiver.at(endpoint.url).length === 1);
    const [received] = receiver.at(endpoint.url);
    if (received === undefined) throw new Error('nothing came');
    const { headers, body } = received.request;
    expect(headers['content-type']).to.equal('application/cloudevents+json');
    verify(received, endpoint.secret);
    const event = HTTP.toEvent({ headers: { ...headers }, body });
    if (Array.isArray(event)) throw new Error('one event was sent');
    expect(new CloudEvent({ ...event }, true).validate()).to.equal(true);
    expect(event).to.deep.include({
      specversion: '1.0',
      id: headers['webhook-id'],
      type: 'items.updated',
      source: `/accounts/${received.body.data.accountId}/instances/${instance.id}`,
      subject: 'items/a%20b%2F%C3%BC',
      elementkey: 'shop',
      instanceid: String(instance.id),
    });
    expect(event.data).to.deep.include({ objectId: 'a b/ü', object: { size: 5 } });
  });

  it('send the original form of the body', async () => {
    const instance = await newShop();
    const endpoint = await createEndpoint({ format: 'elements' });
    await happen(instance, shopEvent({ size: 5 }));
    const [event] = await receiver.waitFor(endpoint.url, 1);
    expect(event?.body).to.deep.include({ topic: 'event', action: 'updated' });
    expect(event?.body.message.companyId).to.be.a('number').above(0);
    expect(event?.request.headers['elements-webhook-id']).to.equal(event?.request.headers['webhook-id']);
  });

  it('send headers and basic or bearer authentication, and show and log none of their values', async () => {
    const instance = await newShop();
    const secrets = ['header-value-of-mine', 'password-of-mine', 'bearer-token-of-mine'] as const;
    const basic = await createEndpoint({
      headers: { 'X-Team': secrets[0], 'X-Short': 'ab' },
      authentication: { type: 'basic', username: 'me', password: secrets[1] },
    });
    expect(basic.headers).to.deep.equal({ 'X-Team': MASK, 'X-Short': MASK });
    expect(basic.authentication).to.deep.equal({ type: 'basic', username: 'me', password: MASK });
    const bearer = await createEndpoint({ authentication: { type: 'bearer', token: secrets[2] } });
    await happen(instance, shopEvent({}));
    const [first] = await receiver.waitFor(basic.url, 1);
    const [second] = await receiver.waitFor(bearer.url, 1);
    const credentials = Buffer.from(`me:${secrets[1]}`).toString('base64');
    expect(first?.request.headers).to.deep.include({ 'x-team': secrets[0], authorization: `Basic ${credentials}` });
    expect(second?.request.headers.authorization).to.equal(`Bearer ${secrets[2]}`);

    const kept = await patch(basic.id, { headers: { 'X-Team': MASK }, authentication: basic.authentication });
    expect(kept.body.headers).to.deep.equal({ 'X-Team': MASK });
    await happen(instance, shopEvent({}));
    const [, again] = await receiver.waitFor(basic.url, 2);
    expect(again?.request.headers).to.deep.include({ 'x-team': secrets[0], authorization: `Basic ${credentials}` });

    await until(
      async () => (await listDeliveries(service, `subscriptionId = ${basic.id} AND status = 'delivered'`)).length === 2,
    );
    const [delivery] = await listDeliveries(service, `subscriptionId = ${basic.id}`);
    const body = await service.get(`${DELIVERIES}/${delivery.id}`);
    expect(body.attemptHistory[0].requestHeaders).to.include({ 'X-Team': '[redacted]', 'X-Short': '[redacted]' });
    const everything = `${await readEverything(service)}\n${service.logged.join('\n')}\n${JSON.stringify(body)}`;
    for (const secret of [...secrets, credentials]) expect(everything).not.to.include(secret);
  });

  it('keep a token of client credentials until it expires, and renew it once after a 401', async () => {
    const instance = await newShop();
    const { machine, tokenRequests } = authorizationServer;
    const tokenUrl = `${authorizationServer.url}/token`;
    const url = `${authorizationServer.url}/api/items`;
    const { body, status } = await create({ url, authentication: { type: 'oauth2', tokenUrl, ...machine } });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.authentication).to.deep.equal({
      type: 'oauth2',
      tokenUrl,
      clientId: machine.clientId,
      clientSecret: MASK,
    });
    const delivered = async (count: number) => {
      const where = `subscriptionId = ${body.id} AND status = 'delivered'`;
      await until(async () => (await listDeliveries(service, where)).length === count);
      return listDeliveries(service, where);
    };
    const before = tokenRequests.length;
    await happen(instance, shopEvent({}));
    await delivered(1);
    await happen(instance, shopEvent({}), shopEvent({}));
    await delivered(3);
    expect(tokenRequests.slice(before)).to.have.length(1);
    expect(tokenRequests.at(-1)?.parameters.grant_type).to.equal('client_credentials');

    authorizationServer.expireAccessTokens();
    await happen(instance, shopEvent({}));
    const deliveries = await delivered(4);
    expect(tokenRequests.slice(before)).to.have.length(2);
    expect(pluck(deliveries, 'attempts')).to.deep.equal([1, 1, 1, 1]);
    const everything = `${await readEverything(service)}\n${service.logged.join('\n')}`;
    for (const secret of [machine.clientSecret, ...authorizationServer.apiTokens])
      expect(everything).not.to.include(secret);
  });

  it('report a token endpoint that refuses, as a failed attempt', async () => {
    const instance = await newShop();
    const { url: server, machine } = authorizationServer;
    const wrong = { ...machine, clientSecret: 'a-wrong-secret-of-the-machine' };
    const endpoint = await createEndpoint({
      authentication: { type: 'oauth2', tokenUrl: `${server}/token`, ...wrong },
    });
    await happen(instance, shopEvent({}));
    const where = `subscriptionId = ${endpoint.id} AND lastError LIKE 'token: %'`;
    await until(async () => (await listDeliveries(service, where)).length === 1);
    const [{ lastError }] = await listDeliveries(service, where);
    expect(lastError).to.equal(`token: The token endpoint at ${new URL(server).host} returned 401 (invalid_client).`);
    expect(receiver.at(endpoint.url)).to.deep.equal([]);
  });

  it('are deactivated when their token endpoint refuses for good, which is reported', async () => {
    const instance = await newShop();
    const witness = await createEndpoint();
    const { url: server, machine } = authorizationServer;
    const wrong = { ...machine, clientSecret: 'a-wrong-secret-of-the-machine' };
    const authentication = { type: 'oauth2', tokenUrl: `${server}/token`, ...wrong };
    const endpoint = await createEndpoint({ authentication });
    const before = authorizationServer.tokenRequests.length;
    const events = Array.from({ length: 12 }, () => shopEvent({}));
    await happen(instance, ...events);
    expect(await receiver.waitFor(witness.url, 12), 'others are not delayed').to.have.length(12);
    await until(async () => (await service.call(`${PATH}/${endpoint.id}`)).body.state === 'deactivated');
    await until(
      async () =>
        (await listDeliveries(service, `subscriptionId = ${endpoint.id} AND status = 'queued'`)).length === 12,
    );
    const body = await service.get(`${PATH}/${endpoint.id}`);
    expect(body.reason).to.match(/Last error: token: The token endpoint at .* returned 401 \(invalid_client\)\./);
    const told = await service.get('/notifications', { query: { newestFirst: 'true', pageSize: 50 } });
    const ofEndpoint = told.filter(
      ({ data }: { data: { subscriptionId?: number } }) => data.subscriptionId === endpoint.id,
    );
    expect(pluck(ofEndpoint, 'type')).to.include.members(['delivery.exhausted', 'subscription.deactivated']);
    expect(receiver.at(endpoint.url)).to.deep.equal([]);
    // At most one for each attempt. Attempts at the same time share one.
    const attempts = await listDeliveries(service, `subscriptionId = ${endpoint.id}`);
    const most = attempts.reduce((sum: number, { attempts: made }: { attempts: number }) => sum + made, 0);
    expect(authorizationServer.tokenRequests.length - before).to.be.within(1, most);
  });

  it('keep their secrets to the server that they are for', async () => {
    const endpoint = await createEndpoint({
      headers: { 'X-Key': 'the value of a header' },
      authentication: { type: 'bearer', token: 'the-bearer-token' },
    });
    const moved = { url: 'http://127.0.0.1:9/elsewhere' };
    const refusal = await patch(endpoint.id, moved);
    expectProblem(refusal, 'REQUEST_INVALID', /The stored values of 'headers' are for the server of the URL before/);
    expect(pluck(refusal.body.details, 'path')).to.deep.equal(['/body/headers', '/body/authentication']);
    const read = await service.get(`${PATH}/${endpoint.id}`);
    const masked = { ...moved, headers: read.headers, authentication: read.authentication };
    expectProblem(await patch(endpoint.id, masked), 'REQUEST_INVALID', /stands for the stored secret/);
    const path = await patch(endpoint.id, { url: `${endpoint.url}/deeper` });
    expect(path.status, 'another path of the server').to.equal(200);
    const resent = { ...moved, headers: { 'X-Key': 'another value' }, authentication: null };
    const { status, body } = await patch(endpoint.id, resent);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.include({ config: moved, headers: { 'X-Key': MASK } });
    expect(body).not.to.have.property('authentication');
  });

  it('lose no change when two requests change one at the same time', async () => {
    const changes = [
      { name: 'a' },
      { where: 'object.size = 1' },
      { headers: { 'x-a': 'abcdefg' } },
      { maxPerSecond: 5 },
    ];
    // The members of `maxPerSecond` and of the others are in two tables, and not every round makes both meet.
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await createEndpoint();
      const answers = await Promise.all(changes.map((change) => patch(id, change)));
      for (const answer of answers.filter(({ status }) => status !== 200))
        expectProblem(answer, 'CONFLICT', /was changed by another request at the same time/);
      const body = await service.get(`${PATH}/${id}`);
      const kept = changes.filter((_, index) => answers[index]?.status === 200).flatMap(Object.keys);
      expect(kept.length).to.be.at.least(1);
      expect(body).to.include.all.keys(kept);
      await service.send('DELETE', `${PATH}/${id}`);
    }
  });

  it('are sent what their filter let through, whatever it is changed to', async () => {
    const instance = await newShop();
    const endpoint = await createEndpoint({ where: 'object.size = 1' });
    await patch(endpoint.id, { state: 'deactivated' });
    await happen(instance, shopEvent({ size: 1 }, 'before'), shopEvent({ size: 2 }, 'unwanted'));
    await patch(endpoint.id, { where: 'object.size = 2' });
    await happen(instance, shopEvent({ size: 1 }, 'unwanted too'), shopEvent({ size: 2 }, 'after'));
    await patch(endpoint.id, { state: 'active' });
    const events = await receiver.waitFor(endpoint.url, 2);
    expect(items(events)).to.have.members(['before', 'after']);
  });

  it('leave nothing behind when they are deleted while deliveries are open', async () => {
    const instance = await newShop();
    const from = new Date(Date.now() - 60_000).toISOString();
    const endpoint = await createEndpoint({ headers: { 'x-a': 'a value to forget' }, maxPerSecond: 2 });
    await happen(instance, ...Array.from({ length: 20 }, () => shopEvent({})));
    await receiver.waitFor(endpoint.url, 1);
    const of = `subscriptionId = ${endpoint.id}`;
    expect((await service.send('DELETE', `${PATH}/${endpoint.id}`)).status).to.equal(200);
    await until(
      async () => (await listDeliveries(service, `${of} AND status IN ('delivering', 'retrying')`)).length === 0,
    );
    const delivered = await listDeliveries(service, `${of} AND status = 'delivered'`);
    expect(delivered.length).to.be.within(1, 19);
    expect(receiver.at(endpoint.url).length, 'sent').to.be.within(1, 19);
    for (const { id } of await listDeliveries(service, `${of} AND status = 'queued'`))
      expect((await service.send('DELETE', `${DELIVERIES}/${id}`)).status).to.equal(200);
    const [{ id }] = delivered;
    const again = await service.send('POST', `${DELIVERIES}/${id}/redelivery`);
    expectProblem(again, 'CONFLICT', /its endpoint was deleted/);
    const period = { from, to: new Date(Date.now() + 1000).toISOString(), subscriptionId: endpoint.id };
    const body = await service.change('POST', '/notifications/subscriptions/redeliveries', period);
    expect(body).to.deep.equal({ redelivered: 0 });
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    const { rows } = await client.query('select secrets from endpoint where subscription_id = $1', [endpoint.id]);
    await client.end();
    expect(rows).to.deep.equal([{ secrets: null }]);
  });

  it('keep an order, and are sent no faster than their rate', async () => {
    const instance = await newShop();
    const ordered = await createEndpoint({ ordered: true });
    const paced = await createEndpoint({ maxPerSecond: 5 });
    const names = ['1', '2', '3', '4', '5', '6'];
    for (const name of names) await happen(instance, shopEvent({}, name));
    expect(items(await receiver.waitFor(ordered.url, 6))).to.deep.equal(names);
    const startedAt = performance.now();
    expect(items(await receiver.waitFor(paced.url, 6))).to.have.members(names);
    // Six at five a second take a second; the first of them went before this was measured.
    expect(performance.now() - startedAt).to.be.within(300, 5_000);
  });

  it('get nothing while they are not active, and nothing after a change of what they want', async () => {
    const instance = await newShop();
    const witness = await createEndpoint();
    const endpoint = await createEndpoint({ active: false });
    await happen(instance, shopEvent({}, 'unseen'));
    await receiver.waitFor(witness.url, 1);
    await patch(endpoint.id, { active: true, where: 'object.size = 1' });
    await happen(instance, shopEvent({ size: 1 }, 'seen'), shopEvent({ size: 2 }, 'other'));
    await receiver.waitFor(witness.url, 3);
    expect(items(await receiver.waitFor(endpoint.url, 1))).to.deep.equal(['seen']);
    const { body } = await patch(endpoint.id, { where: null, name: null });
    expect(body).not.to.have.any.keys('where', 'name');
    await service.send('DELETE', `${PATH}/${endpoint.id}`);
    await happen(instance, shopEvent({}, 'late'));
    await receiver.waitFor(witness.url, 4);
    expect(receiver.at(endpoint.url)).to.have.length(1);
    expectProblem(await service.call(`${PATH}/${endpoint.id}`), 'NOT_FOUND');
  });

  it('can be sent back as they were read', async () => {
    const endpoint = await createEndpoint({
      name: 'Same',
      headers: { 'x-a': 'a secret value' },
      authentication: { type: 'bearer', token: 'the-bearer-token' },
      maxPerSecond: 3,
      where: "object.nme = 'x'",
    });
    const read = await service.get(`${PATH}/${endpoint.id}`);
    const { status, body } = await patch(endpoint.id, read);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect({ ...body, updatedDate: '' }).to.deep.equal({ ...read, updatedDate: '' });
  });

  it('are tested alone, with a verdict of their filter', async () => {
    const instance = await newShop({ 'event.notification.callback.url': newUrl() });
    const witness = await createEndpoint();
    const endpoint = await createEndpoint({ instances: [instance.id], where: 'object.size > 5' });
    const asked = [
      [{ type: 'items.updated', object: { size: 6 } }, true, false],
      [{ type: 'items.updated', object: { size: 5 } }, false, false],
      [undefined, true, true],
    ] as const;
    for (const [body, matches, unfiltered] of asked) {
      const { status, body: answer } = await test(endpoint.id, body);
      expect(status, JSON.stringify(answer)).to.equal(200);
      expect(answer).to.deep.include({
        subscriptionId: endpoint.id,
        config: { url: endpoint.url },
        matches,
        unfiltered,
      });
    }
    const events = await receiver.waitFor(endpoint.url, 3);
    expect(events.map(({ body }) => body.data.instance.id)).to.deep.equal([instance.id, instance.id, instance.id]);
    expect(receiver.at(witness.url)).to.deep.equal([]);
  });

  it('warn of fields that are unknown, and store the filter', async () => {
    const warned = async (where: string) => {
      const { warnings = [], id } = await createEndpoint({ where, elementKeys: ['shop'] });
      await service.send('DELETE', `${PATH}/${id}`);
      return warnings;
    };
    expect(await warned("object.name = 'x' AND type LIKE 'items.%'")).to.deep.equal([]);
    expect(await warned("objectName = 'items' AND object.nam = 'x'")).to.deep.equal([
      {
        field: 'object.nam',
        message:
          "Unknown field 'nam'. Did you mean 'name'? No object that the service knows has it. In a record without it, it counts as null.",
      },
    ]);
    expect(await warned("objectNam = 'items'")).to.deep.equal([
      {
        field: 'objectNam',
        message:
          "Unknown field 'objectNam'. Did you mean 'objectName'? Fields of the record follow 'object.'. The field counts as null.",
      },
    ]);
  });

  it('are refused with precise errors', async () => {
    const url = newUrl();
    const refused: readonly (readonly [object, RegExp, string?])[] = [
      [{ url, where: 'object.size >' }, /cannot be read at position 13/, 'WHERE_SYNTAX'],
      [{ url, where: "instance.id = 'x'" }, /'instance.id' is of type integer/, 'WHERE_INVALID'],
      [{ url: 'ftp://example.com' }, /'url' cannot be called: /],
      [{ url, instances: [987_654] }, /There is no instance 987654 in this account\./],
      [{ url, elementKeys: ['shp'] }, /Unknown element 'shp'. Did you mean 'shop'\?/],
      [{ url, hubs: ['generl'] }, /Unknown hub 'generl'. Did you mean 'general'\?/],
      [{ url, headers: { 'Webhook-Id': 'x' } }, /The service itself sets the header 'Webhook-Id'/],
      [{ url, headers: { 'x y': 'x' } }, /A header name has only/],
      [{ url, headers: { x: 'a\nb' } }, /The value of the header 'x' contains a character/],
      [{ url, headers: { x: MASK } }, /stands for the stored secret/],
      [
        { url, authentication: { type: 'bearer', token: 'ab\u20ac' } },
        /'token' has a character that no header can have/,
      ],
      [{ url, authentication: { type: 'bearer', token: 'a b' } }, /'token' has a character that no header can have/],
      [{ url, authentication: { type: 'basic', username: 'a:b', password: 'c' } }, /'username' contains a colon/],
      [{ url, authentication: { type: 'basic', username: 'a' } }, /'password' is required for the type basic/],
      [
        { url, authentication: { type: 'bearer', token: 'a', scope: 'b' } },
        /'scope' does not belong to the type bearer/,
      ],
      [
        { url, authentication: { type: 'oauth2', tokenUrl: 'ftp://a', clientId: 'a', clientSecret: 'b' } },
        /'tokenUrl' cannot be called/,
      ],
      [{ url, maxPerSecond: 0 }, /maxPerSecond/],
      [{ url, format: 'xml' }, /format/],
      [{ url, whre: 'x' }, /whre/],
    ];
    for (const [body, message, code = 'REQUEST_INVALID'] of refused)
      expectProblem(await create(body), code as 'REQUEST_INVALID', message);
    for (let index = 0; index < 6; index++) await createEndpoint();
    expectProblem(await create({ url }), 'CONFLICT', /The account has 6 endpoints, which is the maximum/);
  });
});
