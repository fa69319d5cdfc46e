import { expect } from 'chai';
import { useApp } from '../../support/app.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { authorizationOf, createTenants, type OtherTenants } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  createSource,
  DELIVERIES,
  findSubscription,
  listDeliveries,
  QUICK,
  type Receiver,
  sendEvent,
  startReceiver,
  waitForDeliveries,
} from './receiving.ts';

const QUEUED = `channel = 'webhook' AND status = 'queued'`;
/** A receiver that fails is left alone for longer than a test lasts. */
const PATIENT = { failures: 2, hardFailures: 2, shortestParkMs: 3_600_000, longestParkMs: 3_600_000 };

describe('a queue', () => {
  const service = useApp({}, { engineOptions: { ...QUICK, breaker: PATIENT } });
  let receiver: Receiver;
  let tenants: OtherTenants;
  before(async () => {
    receiver = await startReceiver();
    tenants = await createTenants(service);
  });
  after(() => receiver.close());
  afterEach(() => setPolicy('retry'));

  const setPolicy = (policy: string) =>
    service.call('/accounts/settings', { method: 'PATCH', body: { 'notification.webhook.failure.policy': policy } });
  const acknowledge = (where: string, headers = {}) =>
    service.call(DELIVERIES, { method: 'DELETE', query: { where }, headers });

  async function createQueue(name: string, count: number) {
    const url = receiver.open(name);
    const { id } = await createSource(service, url);
    await setPolicy('queue');
    for (let index = 0; index < count; index++) await sendEvent(service, id, { index });
    return { url, id, where: `${QUEUED} AND config.url = '${url}'` };
  }

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
    const message = `Delivery ${second.id} is delivered: only one that is queued can be acknowledged.`;
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
    await waitUntil(async () => (await findSubscription(service, url)).state === 'deactivated');
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
