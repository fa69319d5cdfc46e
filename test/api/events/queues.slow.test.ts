import { expect } from 'chai';
import { pluck, useApp, useSharedApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { authorizationOf, useTenants } from '../support/tenants.ts';
import {
  createSource,
  DELIVERIES,
  fillQueue,
  findSubscription,
  listDeliveries,
  QUEUED,
  QUICK,
  sendEvent,
  setPolicy,
  useReceiver,
  waitForDeliveries,
} from './receiving.ts';

/** A receiver that fails is left alone for longer than a test lasts. */
const PATIENT = { failures: 2, hardFailures: 2, shortestParkMs: 3_600_000, longestParkMs: 3_600_000 };

describe('a queue', () => {
  const service = useApp({}, { engineOptions: { ...QUICK, breaker: PATIENT } });
  const receiver = useReceiver();
  const tenants = useTenants(service);
  afterEach(() => setPolicy(service, 'retry'));

  const acknowledge = (where: string, headers = {}) =>
    service.call(DELIVERIES, { method: 'DELETE', query: { where }, headers });

  const createQueue = (name: string, count: number) => fillQueue(service, receiver.open(name), count);

  it('is empty once it was acknowledged, and other queues are as they were', async () => {
    const [mine, other] = [await createQueue('read', 3), await createQueue('unread', 2)];
    expect((await acknowledge(mine.where)).body).to.deep.equal({ acknowledged: 3 });
    expect(await listDeliveries(service, mine.where)).to.deep.equal([]);
    expect(await listDeliveries(service, other.where)).to.have.length(2);
    expect((await acknowledge(mine.where)).body).to.deep.equal({ acknowledged: 0 });
    expect((await acknowledge(QUEUED)).body).to.deep.equal({ acknowledged: 2 });
  });

  it('takes the same filters as its release, and needs one', async () => {
    expectProblem(await acknowledge(`status = 'queued'`), 'WHERE_UNSUPPORTED', /channel = 'webhook' is missing/);
    expectProblem(await acknowledge(`${QUEUED} AND id > 3`), 'WHERE_UNSUPPORTED');
    expectProblem(await acknowledge(''), 'REQUEST_INVALID');
  });

  it('loses a single delivery that is acknowledged, and only one that is queued', async () => {
    const { url, where } = await createQueue('single', 2);
    const [first, second] = await listDeliveries(service, where);
    const remove = (id: number, headers = {}) => service.call(`${DELIVERIES}/${id}`, { method: 'DELETE', headers });
    expect((await remove(first.id)).body).to.deep.equal({ id: first.id });
    expectProblem(await remove(first.id), 'NOT_FOUND', `There is no delivery ${first.id}.`);
    await service.call(DELIVERIES, { method: 'PUT', query: { where } });
    await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 1);
    const message = `Delivery ${second.id} is delivered. Only a queued delivery can be acknowledged.`;
    expectProblem(await remove(second.id), 'CONFLICT', message);
  });

  it('is its account’s alone', async () => {
    const { where } = await createQueue('private', 1);
    const [{ id }] = await listDeliveries(service, where);
    for (const tenant of [tenants.sibling, tenants.stranger]) {
      const headers = authorizationOf(tenant);
      expect((await acknowledge(where, headers)).body).to.deep.equal({ acknowledged: 0 });
      expectProblem(await service.call(`${DELIVERIES}/${id}`, { method: 'DELETE', headers }), 'NOT_FOUND');
    }
    expect(await listDeliveries(service, where)).to.have.length(1);
  });

  it('goes at once when it is released after a deactivation, however long its receiver would be left alone', async () => {
    const url = receiver.open('mended');
    const { id } = await createSource(service, url);
    receiver.fail(url);
    for (let count = 0; count < 3; count++) await sendEvent(service, id);
    await until(async () => (await findSubscription(service, url)).state === 'deactivated');
    await waitForDeliveries(service, `${QUEUED} AND config.url = '${url}'`, 3);
    const before = receiver.at(url).length;
    receiver.recover(url);
    const where = `${QUEUED} AND config.url = '${url}'`;
    expect((await service.call(DELIVERIES, { method: 'PUT', query: { where } })).body).to.deep.equal({
      reactivated: 1,
      released: 3,
    });
    await receiver.waitFor(url, before + 3);
    await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 3);
  });
});

describe('a subscription', () => {
  const service = useSharedApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();
  const tenants = useTenants(service);

  const pathOf = (id: number) => `/notifications/subscriptions/${id}`;
  const patch = (id: number, body: unknown) => service.send('PATCH', pathOf(id), body);
  const remove = (id: number, headers = {}) => service.call(pathOf(id), { method: 'DELETE', headers });
  const send = (instanceId: number, type: string) =>
    service.send('POST', '/events/test', { instanceId, type, data: {} });

  async function subscribe(name: string) {
    const url = receiver.open(name);
    const instance = await createSource(service, url);
    return { url, instance, subscription: await findSubscription(service, url) };
  }

  describe('with types of events', () => {
    it('gets those and no others, which are not even stored', async () => {
      const { url, instance, subscription } = await subscribe('choosy');
      expect(subscription.eventTypes).to.deep.equal(['*']);
      const eventTypes = ['employees.*', 'files.created'];
      expect((await patch(subscription.id, { eventTypes })).body.eventTypes).to.deep.equal(eventTypes);
      for (const type of ['files.deleted', 'employee.created', 'more.files.created']) {
        const message = `Subscription ${subscription.id} does not receive events of the type ${type}. Add the type to its eventTypes.`;
        expectProblem(await send(instance.id, type), 'CONFLICT', message);
      }
      for (const type of ['employees.created', 'files.created', 'employees.deleted']) await send(instance.id, type);
      const came = await receiver.waitFor(url, 3);
      expect(came.map(({ body }) => body.type)).to.have.members([
        'employees.created',
        'files.created',
        'employees.deleted',
      ]);
      expect(await listDeliveries(service, `config.url = '${url}'`)).to.have.length(3);
      await patch(subscription.id, { eventTypes: ['*'] });
      expect((await send(instance.id, 'files.deleted')).status).to.equal(200);
    });

    it('refuses what is no type', async () => {
      const { subscription } = await subscribe('badly-chosen');
      for (const eventTypes of [[], ['*.created'], ['emp*'], [''], ['a.*.b'], 'a.*', null]) {
        expectProblem(await patch(subscription.id, { eventTypes }), 'REQUEST_INVALID', /eventTypes/);
      }
    });

    it('holds for operational events too', async () => {
      const { url, subscription } = await subscribe('told');
      const { subscription: other } = await subscribe('told-of');
      const set = (callbackUrl: string | null) =>
        service.send('PATCH', '/accounts/settings', { 'notification.operational.callback.url': callbackUrl });
      await set(url);
      await patch(subscription.id, { eventTypes: ['subscription.reactivated'] });
      await patch(other.id, { state: 'deactivated' });
      await patch(other.id, { state: 'active' });
      const [first] = await receiver.waitFor(url, 1);
      expect(first?.body.type).to.equal('subscription.reactivated');
      await set(null);
    });
  });

  describe('as it was read', () => {
    it('can be sent back with a change, and what cannot be changed is named', async () => {
      const { subscription } = await subscribe('read-back');
      const changed = await patch(subscription.id, { ...subscription, eventTypes: ['employees.*'] });
      expect(changed.body).to.deep.include({
        secret: subscription.secret,
        state: 'active',
        eventTypes: ['employees.*'],
      });
      expect((await patch(subscription.id, { ...subscription, secret: '********', queued: 7 })).status).to.equal(200);
      const wrong = await patch(subscription.id, {
        ...subscription,
        config: { url: 'https://x.example' },
        id: 99,
        x: 1,
      });
      const message = "'id' cannot be changed. Leave it out, or send it as it was read. (and 2 more, see details)";
      expectProblem(wrong, 'REQUEST_INVALID', message);
      expect(pluck(wrong.body.details, 'path')).to.have.members(['/body/id', '/body/config', '/body/x']);
      expect(JSON.stringify(wrong.body)).not.to.include(subscription.secret);
    });
  });

  describe('that nothing uses any more', () => {
    it('can be deleted with what is queued for it, and comes anew with its URL', async () => {
      const { url, instance, subscription } = await subscribe('left');
      await patch(subscription.id, { state: 'deactivated' });
      await sendEvent(service, instance.id);
      const message = `Subscription ${subscription.id} is in use: instance ${instance.id} sends events to ${url}.`;
      expectProblem(await remove(subscription.id), 'CONFLICT', message);
      expectProblem(await remove(subscription.id, authorizationOf(tenants.stranger)), 'NOT_FOUND');
      await service.send('DELETE', `/instances/${instance.id}`);
      expect((await remove(subscription.id)).body).to.deep.equal({ id: subscription.id });
      expectProblem(await remove(subscription.id), 'NOT_FOUND', `There is no subscription ${subscription.id}.`);
      expectProblem(await patch(subscription.id, { state: 'active' }), 'NOT_FOUND');
      const listed = await service.call('/notifications/subscriptions', { query: { where: `url = '${url}'` } });
      expect(listed.body).to.deep.equal([]);
      expect(await listDeliveries(service, `config.url = '${url}'`)).to.deep.equal([]);

      const { id } = await createSource(service, url);
      const anew = await findSubscription(service, url);
      expect(anew).to.deep.include({ state: 'active', eventTypes: ['*'], queued: 0 });
      expect(anew.secret).not.to.equal(subscription.secret);
      await sendEvent(service, id);
      await receiver.waitFor(url, 1);
    });

    it('is in use while operational events go there', async () => {
      const { url, instance, subscription } = await subscribe('operations');
      await service.send('DELETE', `/instances/${instance.id}`);
      const key = 'notification.operational.callback.url';
      await service.send('PATCH', '/accounts/settings', { [key]: url });
      const message = `Subscription ${subscription.id} is in use: the setting ${key} sends events to ${url}.`;
      expectProblem(await remove(subscription.id), 'CONFLICT', message);
      await service.send('PATCH', '/accounts/settings', { [key]: null });
      expect((await remove(subscription.id)).status).to.equal(200);
    });
  });
});
