import { expect } from 'chai';
import { type ApiAnswer, pluck, useSharedApp } from '../../support/app.ts';
import { json, startMisbehavingServer, status } from '../../support/misbehaving-server.ts';
import { until } from '../../support/until.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { OUTSIDE_CONNECTORS } from '../support/outside-connectors.ts';
import { rowsOf } from '../support/pages.ts';
import { createSource, findSubscription, listDeliveries, QUICK, sendEvent, useReceiver, verify } from './receiving.ts';

const SETTINGS = '/accounts/settings';

describe('operational events', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS }, { engineOptions: QUICK });
  const receiver = useReceiver();

  afterEach(() => service.send('POST', SETTINGS, {}));

  const list = (where?: string) => service.call('/notifications', { query: { where, pageSize: 5000 } });
  const setCallback = (url: string | null) =>
    service.send('PATCH', SETTINGS, { 'notification.operational.callback.url': url });
  const isDeactivated = async (url: string) => (await findSubscription(service, url)).state === 'deactivated';

  /** Lets the whole schedule of an event fail. */
  async function exhaust(name: string) {
    const url = receiver.open(name);
    const { id } = await createSource(service, url);
    receiver.fail(url);
    const eventId = await sendEvent(service, id);
    await until(() => isDeactivated(url));
    return { url, eventId, subscription: await findSubscription(service, url) };
  }

  const about = ({ body }: ApiAnswer, subscriptionId: number): { type: string; data: Record<string, unknown> }[] =>
    body.filter(({ data }: { data: { subscriptionId: number } }) => data.subscriptionId === subscriptionId);

  it('tell once of a delivery that is exhausted and of the subscription that is deactivated', async () => {
    const { subscription, url } = await exhaust('told');
    const told = about(await list(), subscription.id);
    expect(told.map(({ type }) => type)).to.deep.equal(['delivery.exhausted', 'subscription.deactivated']);
    const [delivery] = await listDeliveries(service, `config.url = '${url}'`);
    expect(told[0]?.data).to.include({ deliveryId: delivery.id, attempts: 6 });
    expect(told[1]?.data).to.include({ reason: subscription.reason });
    for (const notification of told) expect(notification).to.have.all.keys('id', 'type', 'createdDate', 'data');
  });

  it('are listed newest first where that is asked for', async () => {
    const { body } = await list();
    const newest = await service.call('/notifications', { query: { newestFirst: 'true', pageSize: 1 } });
    expect(newest.body).to.deep.equal(body.slice(-1));
    const nextPage = newest.headers.get('elements-next-page-token') ?? '';
    const next = await service.call('/notifications', { query: { newestFirst: 'true', pageSize: 1, nextPage } });
    expect(next.body).to.deep.equal(body.slice(-2, -1));
  });

  it('are sent to the URL that the account names for them, signed with its own secret', async () => {
    const operations = receiver.open('operations');
    await setCallback(operations);
    const { subscription } = await exhaust('told-elsewhere');
    const came = await receiver.waitFor(operations, 2);
    const { secret } = await findSubscription(service, operations);
    const events = came.map((event) => verify(event, secret));
    const stored = about(await list(), subscription.id);
    for (const { type, data } of stored) {
      const sent = came.find(({ body }) => body.type === type);
      expect(sent?.body.data).to.deep.equal({ ...data, accountId: service.accountId });
      expect(sent?.body.id)
        .to.match(/^evt_[0-9a-f]{32}$/)
        .and.equal(sent?.request.headers['webhook-id']);
    }
    expect(events).to.have.length(2);
    const [delivered] = await listDeliveries(service, `config.url = '${operations}' AND status = 'delivered'`);
    expect(delivered).not.to.have.property('instance');
    const [objectName] = delivered.event.type.split('.');
    expect(delivered.record).to.deep.equal({ objectName, id: String(delivered.event.data[`${objectName}Id`]) });
  });

  it('are queued under the policy queue', async () => {
    const operations = receiver.open('operations-queued');
    await service.send('POST', SETTINGS, {
      'notification.webhook.failure.policy': 'queue',
      'notification.operational.callback.url': operations,
    });
    const url = receiver.open('stopped');
    await createSource(service, url);
    const { id } = await findSubscription(service, url);
    await service.send('PATCH', `/notifications/subscriptions/${id}`, { state: 'deactivated' });
    expect(await listDeliveries(service, `config.url = '${operations}' AND status = 'queued'`)).to.have.length(1);
    expect(receiver.at(operations)).to.have.length(0);
  });

  it('about the very subscription that would hear of them are stored only', async () => {
    const operations = receiver.open('operations-down');
    await setCallback(operations);
    receiver.fail(operations);
    await exhaust('cause');
    await until(() => isDeactivated(operations));
    const { id } = await findSubscription(service, operations);
    const told = about(await list(), id).map(({ type }) => type);
    expect(told.filter((type) => type === 'subscription.deactivated')).to.have.length(1);
    const types = (await listDeliveries(service, `config.url = '${operations}'`)).map(
      ({ event }: { event: { type: string } }) => event.type,
    );
    expect(types.sort()).to.deep.equal(['delivery.exhausted', 'subscription.deactivated']);
  });

  it('tell once of an instance whose credentials are refused, until they are taken again', async () => {
    const operations = receiver.open('operations-credentials');
    await setCallback(operations);
    const provider = await startMisbehavingServer();
    provider.answer('/me', json({}));
    const configuration = { 'base.url': provider.url, 'api.key': 'key-of-the-tests' };
    const instance = await service.createInstance('impatient', configuration);
    for (const response of [status(401), status(401), json({ records: [] }), status(401)]) {
      provider.answer('/items', response);
      await service.call('/items', { token: instance.token });
    }
    await provider.close();
    const told = (await list(`type = 'instance.credentials.refused'`)).body;
    const data = {
      instanceId: instance.id,
      name: 'Test',
      elementKey: 'impatient',
      reason: "The provider refuses the credentials for 'list items'.",
    };
    expect(pluck(told, 'data')).to.deep.equal([data, data]);
    const [event] = await receiver.waitFor(operations, 2);
    expect(event?.body).to.deep.include({
      type: 'instance.credentials.refused',
      data: { ...data, accountId: service.accountId },
    });
  });

  it('are listed page by page, and filtered', async () => {
    await exhaust('listed-1');
    await exhaust('listed-2');
    const all = (await list()).body;
    const rows = await rowsOf((nextPage) => service.call('/notifications', { query: { pageSize: 3, nextPage } }));
    expect(rows).to.deep.equal(all);
    const [first] = all;
    expect((await list(`id = ${first.id} AND createdDate = ${first.createdDate}`)).body).to.deep.equal([first]);
    const types = pluck((await list(`type = 'delivery.exhausted'`)).body, 'type');
    expect(new Set(types)).to.deep.equal(new Set(['delivery.exhausted']));
    expectProblem(await list(`typ = 'x'`), 'WHERE_INVALID', "Unknown field 'typ'. Did you mean 'type'?");
  });
});
