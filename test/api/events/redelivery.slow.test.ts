import { expect } from 'chai';
import { useApp } from '../../support/app.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { authorizationOf, createTenants, withDatabase } from '../support/tenants.ts';
import {
  createSource,
  DELIVERIES,
  findSubscription,
  listDeliveries,
  QUICK,
  sendEvent,
  useReceiver,
  waitForDeliveries,
} from './receiving.ts';

const REDELIVERIES = '/notifications/subscriptions/redeliveries';
const FAR = { from: '2020-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' };

describe('redelivery', () => {
  const service = useApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();

  const redeliver = (id: number, headers = {}) =>
    service.call(`${DELIVERIES}/${id}/redelivery`, { method: 'POST', headers });
  const redeliverPeriod = (body: object, headers = {}) => service.send('POST', REDELIVERIES, body, { headers });

  /** An instance of a new URL with events that were delivered. */
  async function createDelivered(name: string, count: number) {
    const url = receiver.open(name);
    const { id } = await createSource(service, url);
    const eventIds: string[] = [];
    for (let index = 0; index < count; index++) eventIds.push(await sendEvent(service, id, { index }));
    const deliveries = await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, count);
    const { id: subscriptionId } = await findSubscription(service, url);
    return { url, eventIds, deliveries, subscriptionId, instanceId: id };
  }

  it('sends the same event in a new delivery, which is answered', async () => {
    const { url, eventIds, deliveries } = await createDelivered('again', 1);
    const [first] = deliveries;
    const { body } = await redeliver(first.id);
    expect(body).to.deep.include({ event: first.event, config: { url }, subscriptionId: first.subscriptionId });
    expect(body.id).to.be.above(first.id);
    const came = await receiver.waitFor(url, 2);
    expect(came.map(({ request }) => request.headers['webhook-id'])).to.deep.equal([eventIds[0], eventIds[0]]);
    expect(came[1]?.request.body).to.equal(came[0]?.request.body);
    const [second] = await waitForDeliveries(service, `id = ${body.id} AND status = 'delivered'`, 1);
    expect(second).to.include({ attempts: 1 });
    expect(await listDeliveries(service, `id = ${first.id}`)).to.deep.equal([first]);
  });

  it('works for a delivery that is queued, and queues where nothing may be pushed', async () => {
    const { url, subscriptionId, instanceId } = await createDelivered('queued', 1);
    await service.send('PATCH', `/notifications/subscriptions/${subscriptionId}`, { state: 'deactivated' });
    await sendEvent(service, instanceId);
    const [queued] = await listDeliveries(service, `config.url = '${url}' AND status = 'queued'`);
    expect((await redeliver(queued.id)).body).to.include({ status: 'queued', attempts: 0 });
    expect(receiver.at(url)).to.have.length(1);
  });

  it('is made once for an Idempotency-Key', async () => {
    const { url, deliveries } = await createDelivered('keyed', 1);
    const headers = { 'Idempotency-Key': 'redelivery-1' };
    const first = await redeliver(deliveries[0].id, headers);
    expect((await redeliver(deliveries[0].id, headers)).body).to.deep.equal(first.body);
    expect(await listDeliveries(service, `config.url = '${url}'`)).to.have.length(2);
  });

  it('is a conflict when the event is no longer kept', async () => {
    const { deliveries, eventIds } = await createDelivered('forgotten', 1);
    await withDatabase(service, (knex) =>
      knex.raw(`delete from event where id = ?`, [String(eventIds[0]).slice('evt_'.length)]),
    );
    const [{ id }] = deliveries;
    const message = `Delivery ${id} cannot be sent again: its event is no longer kept, or its endpoint was deleted.`;
    expectProblem(await redeliver(id), 'CONFLICT', message);
    const body = await service.get(`${DELIVERIES}/${id}`);
    expect(body.event).to.deep.equal({ id: eventIds[0], type: 'test.created' });
  });

  it('does not exist for a delivery that does not', async () => {
    expectProblem(await redeliver(999_999_999), 'NOT_FOUND', 'There is no delivery 999999999.');
  });

  describe('of a period', () => {
    it('sends each event of a subscription once, oldest first, however often it was delivered', async () => {
      const { url, eventIds, deliveries, subscriptionId } = await createDelivered('period', 4);
      await redeliver(deliveries[2].id);
      await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 5);
      expect((await redeliverPeriod({ ...FAR, subscriptionId })).body).to.deep.equal({ redelivered: 4 });
      const all = await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 9);
      const again = all.slice(5).map(({ event }: { event: { id: string } }) => event.id);
      expect(again).to.deep.equal(eventIds);
    });

    it('takes deliveries by the time they were made: from is part of it, to is not', async () => {
      const { deliveries, subscriptionId, url } = await createDelivered('bounds', 3);
      await withDatabase(service, async (knex) => {
        for (const [index, { id }] of deliveries.entries()) {
          await knex('delivery_attempt')
            .where({ delivery_id: id })
            .update({ delivery_created_at: new Date(`2026-01-01T00:00:0${index}Z`) });
        }
      });
      const period = { from: '2026-01-01T00:00:01Z', to: '2026-01-01T00:00:02Z', subscriptionId };
      expect((await redeliverPeriod(period)).body).to.deep.equal({ redelivered: 1 });
      const all = await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 4);
      expect(all[3].event.id).to.equal(deliveries[1].event.id);
    });

    it('takes deliveries of one status when it is given', async () => {
      const { subscriptionId, instanceId } = await createDelivered('of-status', 2);
      await service.send('PATCH', `/notifications/subscriptions/${subscriptionId}`, { state: 'deactivated' });
      await sendEvent(service, instanceId);
      const count = async (status: string) =>
        (await redeliverPeriod({ ...FAR, subscriptionId, status })).body.redelivered;
      expect(await count('retrying')).to.equal(0);
      expect(await count('delivering')).to.equal(0);
      expect(await count('delivered')).to.equal(2);
      expect(await count('queued')).to.equal(3);
    });

    it('sends nothing of another account', async () => {
      const { stranger, sibling } = await createTenants(service);
      const { subscriptionId, url } = await createDelivered('period-isolated', 1);
      for (const tenant of [stranger, sibling]) {
        const headers = authorizationOf(tenant);
        expect((await redeliverPeriod(FAR, headers)).body).to.deep.equal({ redelivered: 0 });
        expect((await redeliverPeriod({ ...FAR, subscriptionId }, headers)).body).to.deep.equal({ redelivered: 0 });
      }
      expect(await listDeliveries(service, `config.url = '${url}'`)).to.have.length(1);
    });

    it('refuses more than 100,000 events, and sends none of them', async function many() {
      this.timeout(60_000);
      const { subscriptionId, url } = await createDelivered('too-many', 1);
      await withDatabase(service, async (knex) => {
        await knex.raw(
          `with made as (
             insert into event (account_id, id, created_at, type, payload)
             select 1, gen_random_uuid(), now(), 'test.created', '{}' from generate_series(1, 100000) returning *
           )
           insert into delivery (account_id, subscription_id, event_id, event_at, type, state)
           select account_id, ?, id, created_at, type, 'queued' from made`,
          [subscriptionId],
        );
      });
      const response = await redeliverPeriod({ ...FAR, subscriptionId });
      const message = /^There are more than 100000 events to send again, and none was sent\. Shorten the period/;
      expectProblem(response, 'REQUEST_INVALID', message);
      const counts = await service.call(`${DELIVERIES}/counts`, { query: { where: `config.url = '${url}'` } });
      expect(counts.body).to.deep.equal({ queued: 100_000, delivering: 0, retrying: 0, delivered: 1 });
    });

    it('refuses a body that is not of its form', async () => {
      for (const body of [
        {},
        { from: FAR.from },
        { from: 'yesterday', to: FAR.to },
        { ...FAR, status: 'all' },
        { ...FAR, subscriptionId: '1' },
        { ...FAR, other: 1 },
      ]) {
        expectProblem(await redeliverPeriod(body), 'REQUEST_INVALID');
      }
      const message = "'to' must be after 'from'.";
      expectProblem(await redeliverPeriod({ from: FAR.to, to: FAR.from }), 'REQUEST_INVALID', message);
      expectProblem(
        await redeliverPeriod({ from: FAR.to, to: FAR.to }),
        'REQUEST_INVALID',
        "'to' must be after 'from'.",
      );
    });
  });
});
