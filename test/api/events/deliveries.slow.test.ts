import { expect } from 'chai';
import { type ApiAnswer, pluck, useSharedApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { pagesOf } from '../support/pages.ts';
import { authorizationOf, useTenants, withDatabase } from '../support/tenants.ts';
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

const SETTINGS = '/accounts/settings';

describe('deliveries', () => {
  const service = useSharedApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();
  const tenants = useTenants(service);

  afterEach(() => setPolicy(service, 'retry'));

  const release = (where: string, headers = {}) =>
    service.call(DELIVERIES, { method: 'PUT', query: { where }, headers });

  const createQueue = (name: string, count: number, configuration: object = {}) =>
    fillQueue(service, receiver.open(name), count, configuration);

  const eventIdsOf = ({ body }: ApiAnswer): string[] => body.map(({ event }: { event: { id: string } }) => event.id);

  describe('under the policy queue', () => {
    it('are queued, and reading them consumes nothing', async () => {
      const { url, eventIds, where } = await createQueue('pulled', 3);
      for (let time = 0; time < 2; time++) {
        const response = await service.call(DELIVERIES, { query: { where } });
        expect(eventIdsOf(response)).to.deep.equal(eventIds);
        for (const delivery of response.body) {
          expect(delivery).to.deep.include({ channel: 'webhook', status: 'queued', config: { url }, attempts: 0 });
          expect(delivery).not.to.have.any.keys('nextAttemptDate', 'lastError');
        }
      }
      expect(receiver.at(url)).to.have.length(0);
    });

    it('are listed newest first where that is asked for, page by page', async () => {
      const { eventIds, where } = await createQueue('newest', 3);
      const query = { where, newestFirst: 'true', pageSize: 2 };
      const first = await service.call(DELIVERIES, { query });
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      const second = await service.call(DELIVERIES, { query: { ...query, nextPage } });
      expect([...eventIdsOf(first), ...eventIdsOf(second)]).to.deep.equal(eventIds.toReversed());
      const turned = await service.call(DELIVERIES, { query: { ...query, newestFirst: 'false', nextPage } });
      expectProblem(turned, 'REQUEST_INVALID', /nextPage does not belong to this listing/);
    });

    it('are released by PUT though the policy stays, and counted', async () => {
      const { url, eventIds, where } = await createQueue('released', 3);
      const response = await release(where);
      expect(response.body).to.deep.equal({ reactivated: 0, released: 3 });
      const came = await receiver.waitFor(url, 3);
      expect(came.map(({ body }) => body.id)).to.have.members(eventIds);
      await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 3);
      expect((await release(where)).body).to.deep.equal({ reactivated: 0, released: 0 });
      expect(await service.get(SETTINGS)).to.include({ 'notification.webhook.failure.policy': 'queue' });
    });

    it('are released oldest first where the order counts', async () => {
      const { url, eventIds, where } = await createQueue('in-order', 8, { 'event.notification.ordered': true });
      await release(where);
      const came = await receiver.waitFor(url, 8);
      expect(came.map(({ body }) => body.id)).to.deep.equal(eventIds);
    });

    it('are released for the URLs that are named, and no others', async () => {
      const [first, second, third] = [
        await createQueue('named-1', 1),
        await createQueue('named-2', 1),
        await createQueue('named-3', 2),
      ];
      const response = await release(
        `${QUEUED} AND config.url IN ('${first.url}', '${second.url}', 'https://unknown.example')`,
      );
      expect(response.body).to.deep.equal({ reactivated: 0, released: 2 });
      await receiver.waitFor(first.url, 1);
      await receiver.waitFor(second.url, 1);
      expect(await listDeliveries(service, third.where)).to.have.length(2);
      expect((await release(`${third.where} AND config.url = '${first.url}'`)).body).to.include({ released: 0 });
    });

    it('are released all without a URL', async () => {
      const queues = [await createQueue('all-1', 1), await createQueue('all-2', 2)];
      const body = await service.get(`${DELIVERIES}/counts`, { query: { where: QUEUED } });
      expect((await release(QUEUED)).body).to.deep.equal({ reactivated: 0, released: body.queued });
      for (const { url, eventIds } of queues) await receiver.waitFor(url, eventIds.length);
      expect(await listDeliveries(service, QUEUED)).to.deep.equal([]);
    });

    it('are released in more than one batch', async function many() {
      this.timeout(60_000);
      const { url, where } = await createQueue('batches', 1);
      const { id } = await findSubscription(service, url);
      await withDatabase(service, (knex) =>
        knex.raw(
          `insert into delivery (account_id, subscription_id, event_id, event_at, instance_id, type, state)
           select account_id, subscription_id, event_id, event_at, instance_id, type, state from delivery, generate_series(1, 5100)
           where subscription_id = ?`,
          [id],
        ),
      );
      receiver.fail(url);
      expect((await release(where)).body).to.deep.equal({ reactivated: 0, released: 5101 });
      await until(async () => receiver.at(url).length > 0);
      await service.send('PATCH', `/notifications/subscriptions/${id}`, { state: 'deactivated' });
    });
  });

  describe('whose retries all fail', () => {
    it('deactivate their subscription; later events are queued, PUT resumes, and all go out', async () => {
      const url = receiver.open('exhausted');
      const { id } = await createSource(service, url);
      receiver.fail(url);
      const sent = [await sendEvent(service, id, { number: 1 })];
      await until(async () => (await findSubscription(service, url)).state === 'deactivated');
      const subscription = await findSubscription(service, url);
      expect(subscription.reason).to.match(/503/);
      expect(receiver.at(url)).to.have.length(6);

      sent.push(await sendEvent(service, id, { number: 2 }), await sendEvent(service, id, { number: 3 }));
      const queued = await listDeliveries(service, `${QUEUED} AND config.url = '${url}'`);
      expect(queued.map(({ event }: { event: { id: string } }) => event.id)).to.deep.equal(sent);
      expect(queued[0]).to.include({ attempts: 6 });
      expect(queued[0].lastError).to.match(/503/);
      const quoted = `'${queued[0].lastError.replaceAll("'", "''")}'`;
      const same = await listDeliveries(service, `lastError = ${quoted} AND id = ${queued[0].id}`);
      expect(same).to.deep.equal([queued[0]]);
      expect(await service.get(SETTINGS)).to.include({ 'notification.webhook.failure.policy': 'retry' });

      receiver.recover(url);
      expect((await release(`${QUEUED} AND config.url = '${url}'`)).body).to.deep.equal({
        reactivated: 1,
        released: 3,
      });
      const came = await receiver.waitFor(url, 9);
      expect(came.slice(6).map(({ body }) => body.id)).to.have.members(sent);
      expect(await findSubscription(service, url))
        .to.include({ state: 'active' })
        .and.not.have.property('reason');
      await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 3);
    });

    it('begin a new schedule when they are released, and deactivate it again', async () => {
      const url = receiver.open('exhausted-twice');
      const { id } = await createSource(service, url);
      receiver.fail(url);
      await sendEvent(service, id);
      await until(async () => (await findSubscription(service, url)).state === 'deactivated');
      expect((await release(`${QUEUED} AND config.url = '${url}'`)).body).to.deep.equal({
        reactivated: 1,
        released: 1,
      });
      await receiver.waitFor(url, 12);
      await until(async () => (await findSubscription(service, url)).state === 'deactivated');
      expect(receiver.at(url)).to.have.length(12);
    });
  });

  describe('are not released by a where', () => {
    it('of another form', async () => {
      for (const where of [`status = 'queued'`, `${QUEUED} AND id = 1`, `${QUEUED} OR id = 1`]) {
        const message = /The filter accepts only channel = 'webhook' AND status = 'queued'/;
        expectProblem(await release(where), 'WHERE_UNSUPPORTED', message);
      }
      expectProblem(await release('status ='), 'WHERE_SYNTAX');
      expectProblem(await release(`statu = 'queued'`), 'WHERE_INVALID');
    });

    it('that is missing or empty', async () => {
      expectProblem(await service.send('PUT', DELIVERIES), 'REQUEST_INVALID');
      expectProblem(await release(''), 'REQUEST_INVALID');
    });
  });

  describe('in listings', () => {
    it('come page by page without gap or overlap while they change their status', async () => {
      const { url, eventIds, where } = await createQueue('paged', 7);
      const filter = `config.url = '${url}'`;
      const pages = await pagesOf(async (nextPage) => {
        const page = await service.call(DELIVERIES, { query: { where: filter, pageSize: 3, nextPage } });
        if (nextPage === undefined) await release(where).then(() => receiver.waitFor(url, 7));
        return page;
      });
      expect(pages[0]?.headers.get('link')).to.include('rel="next"');
      const ids = pages.flatMap(eventIdsOf);
      expect(ids).to.deep.equal(eventIds);
      const big = await service.call(DELIVERIES, { query: { where: filter, pageSize: 6 } });
      expect(eventIdsOf(big)).to.deep.equal(ids.slice(0, 6));
    });

    it('are all there without a where', async () => {
      const body = await service.get(DELIVERIES, { query: { pageSize: 5000 } });
      const counts = await service.get(`${DELIVERIES}/counts`);
      const total = counts.queued + counts.delivering + counts.retrying + counts.delivered;
      expect(body).to.have.length(Math.min(total, 5000)).and.above(10);
      const ids = pluck(body, 'id');
      expect(ids).to.deep.equal([...ids].sort((one, other) => one - other));
    });

    it('show the payload as it is sent, or none with hydrate=false', async () => {
      const { url, where } = await createQueue('hydrated', 1);
      const full = await service.call(DELIVERIES, { query: { where } });
      const bare = await service.call(DELIVERIES, { query: { where, hydrate: 'false' } });
      const { id, type } = full.body[0].event;
      expect(bare.body).to.deep.equal([{ ...full.body[0], event: { id, type } }]);
      await release(where);
      const [came] = await receiver.waitFor(url, 1);
      expect(came?.body).to.deep.equal(full.body[0].event);
    });

    it('can be filtered by everything they show', async () => {
      const { url } = await createQueue('filtered', 1);
      const [shown] = await listDeliveries(service, `config.url = '${url}'`);
      const matching = [
        ...[`id = ${shown.id}`, `channel = '${shown.channel}'`, `status = '${shown.status}'`],
        ...[`subscriptionId = ${shown.subscriptionId}`, `attempts = 0`, `event.type = 'test.created'`],
        ...[`event.id = '${shown.event.id}'`, `event.timestamp = ${shown.event.timestamp}`, `lastError IS NULL`],
        ...[`instance.id = ${shown.instance.id}`, `createdDate = ${shown.createdDate}`],
        ...[`updatedDate = ${shown.updatedDate}`, `nextAttemptDate IS NULL`],
      ];
      const others = [
        ...[`id != ${shown.id}`, `channel != 'webhook'`, `status = 'delivered'`],
        ...[`subscriptionId < ${shown.subscriptionId}`, `attempts > 0`, `event.type LIKE 'x%'`],
        ...[`event.id = 'evt_${'0'.repeat(32)}'`, `event.timestamp > ${shown.event.timestamp}`],
        ...[`lastError LIKE '%'`, `instance.id != ${shown.instance.id}`, `createdDate > ${shown.createdDate}`],
        ...[`updatedDate < ${shown.updatedDate}`, `nextAttemptDate IS NOT NULL`],
      ];
      for (const part of matching) {
        expect(await listDeliveries(service, `config.url = '${url}' AND ${part}`), part).to.deep.equal([shown]);
      }
      for (const part of others) {
        expect(await listDeliveries(service, `config.url = '${url}' AND ${part}`), part).to.deep.equal([]);
      }
    });

    it('find a delivered one by what it shows', async () => {
      const url = receiver.open('delivered-filter');
      const { id } = await createSource(service, url);
      await sendEvent(service, id);
      const [shown] = await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 1);
      for (const part of [
        ...[`attempts = 1`, `createdDate = ${shown.createdDate}`, `updatedDate = ${shown.updatedDate}`],
        ...[`event.id = '${shown.event.id}'`, `instance.id = ${id}`, `nextAttemptDate IS NULL`],
      ]) {
        expect(await listDeliveries(service, `config.url = '${url}' AND ${part}`), part).to.deep.equal([shown]);
      }
    });

    it('show a retry that is planned, and find it by its time', async () => {
      const { url, where } = await createQueue('planned', 1);
      const [{ id }] = await listDeliveries(service, where);
      const planned = '2999-01-01T00:00:00.123Z';
      await withDatabase(service, (knex) =>
        knex('delivery')
          .where({ id })
          .update({
            state: 'waiting',
            due: new Date(planned),
            attempts: 1,
            first_failed_at: knex.fn.now(),
            last_error: 'The receiver returned 503.',
          }),
      );
      const [shown] = await listDeliveries(service, `config.url = '${url}' AND nextAttemptDate = ${planned}`);
      expect(shown).to.include({
        id,
        status: 'retrying',
        attempts: 1,
        nextAttemptDate: planned,
        lastError: 'The receiver returned 503.',
      });
      expect(await listDeliveries(service, `status = 'retrying' AND id = ${id}`)).to.deep.equal([shown]);
      expect(await listDeliveries(service, `status != 'retrying' AND id = ${id}`)).to.deep.equal([]);
      expect(await findSubscription(service, url)).to.include({ queued: 0, retrying: 1 });
      const counts = await service.call(`${DELIVERIES}/counts`, { query: { where: `config.url = '${url}'` } });
      expect(counts.body).to.deep.equal({ queued: 0, delivering: 0, retrying: 1, delivered: 0 });
    });

    it('refuse a filter, a page or a token that is not theirs', async () => {
      const call = (query: Readonly<Record<string, string>>) => service.call(DELIVERIES, { query });
      const message = "Unknown field 'event.tipe'. Did you mean 'event.type'?";
      expectProblem(await call({ where: `event.tipe = 'x'` }), 'WHERE_INVALID', message);
      expectProblem(await call({ where: `id = 'x'` }), 'WHERE_INVALID');
      expectProblem(await call({ where: 'id' }), 'WHERE_SYNTAX');
      expectProblem(await call({ nextPage: 'forged' }), 'REQUEST_INVALID', /^nextPage does not belong/);
      expectProblem(await call({ pageSize: '0' }), 'REQUEST_INVALID');
      expectProblem(await call({ hydrate: 'perhaps' }), 'REQUEST_INVALID');
      expectProblem(await call({ page: '2' }), 'REQUEST_INVALID');
    });
  });

  it('are counted by status, of a filter too', async () => {
    const { url, where } = await createQueue('counted', 2);
    const counts = (filter: string) => service.call(`${DELIVERIES}/counts`, { query: { where: filter } });
    const ofUrl = `config.url = '${url}'`;
    expect((await counts(ofUrl)).body).to.deep.equal({ queued: 2, delivering: 0, retrying: 0, delivered: 0 });
    await release(where);
    await waitForDeliveries(service, `${ofUrl} AND status = 'delivered'`, 2);
    expect((await counts(ofUrl)).body).to.deep.equal({ queued: 0, delivering: 0, retrying: 0, delivered: 2 });
    expect((await counts(`${ofUrl} AND status = 'queued'`)).body).to.include({ delivered: 0 });
    expectProblem(await counts('nothing = 1'), 'WHERE_INVALID');
  });

  it('do not exist under an id that is none', async () => {
    expectProblem(await service.call(`${DELIVERIES}/999999999`), 'NOT_FOUND', 'There is no delivery 999999999.');
    expectProblem(await service.call(`${DELIVERIES}/x`), 'REQUEST_INVALID');
  });

  it('are those of the caller’s account only', async () => {
    const { url, where } = await createQueue('isolated', 1);
    const [{ id }] = await listDeliveries(service, where);
    for (const tenant of [tenants.stranger, tenants.sibling]) {
      const headers = authorizationOf(tenant);
      expect(await service.get(DELIVERIES, { headers })).to.deep.equal([]);
      expect(await service.get(`${DELIVERIES}/counts`, { headers })).to.deep.equal({
        queued: 0,
        delivering: 0,
        retrying: 0,
        delivered: 0,
      });
      expectProblem(await service.call(`${DELIVERIES}/${id}`, { headers }), 'NOT_FOUND', `There is no delivery ${id}.`);
      const again = await service.call(`${DELIVERIES}/${id}/redelivery`, { method: 'POST', headers });
      expectProblem(again, 'NOT_FOUND', `There is no delivery ${id}.`);
      expect((await release(QUEUED, headers)).body).to.deep.equal({ reactivated: 0, released: 0 });
      expect((await release(where, headers)).body).to.deep.equal({ reactivated: 0, released: 0 });
    }
    expect(await listDeliveries(service, where)).to.have.length(1);
    expect(receiver.at(url)).to.have.length(0);
  });
});
