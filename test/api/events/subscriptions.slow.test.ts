import { expect } from 'chai';
import { type ApiAnswer, pluck, useSharedApp } from '../../support/app.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { rowsOf } from '../support/pages.ts';
import { readEverything, useTenants } from '../support/tenants.ts';
import {
  createSource,
  findSubscription,
  listDeliveries,
  QUICK,
  sendEvent,
  useReceiver,
  verify,
  waitForDeliveries,
} from './receiving.ts';

const PATH = '/notifications/subscriptions';

describe('subscriptions', () => {
  const service = useSharedApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();
  const tenants = useTenants(service);

  const patch = (id: number, body: unknown) => service.send('PATCH', `${PATH}/${id}`, body);

  it('come with the first instance that delivers to a URL, and are one for all instances of it', async () => {
    const url = receiver.open('shared');
    await createSource(service, url);
    await createSource(service, url);
    const body = await service.get(PATH, { query: { where: `config.url = '${url}'` } });
    expect(body).to.have.length(1);
    expect(body[0]).to.deep.include({ channel: 'webhook', config: { url }, state: 'active', queued: 0, retrying: 0 });
    expect(body[0]).not.to.have.any.keys('reason', 'previousSecretExpiresAt');
  });

  it('come with a change of the configuration too', async () => {
    const [first, second] = [receiver.open('before'), receiver.open('after')];
    const { id } = await createSource(service, first);
    const changed = await service.send('PATCH', `/instances/${id}/configuration`, {
      'event.notification.callback.url': second,
    });
    expect(changed.status).to.equal(200);
    expect(await findSubscription(service, second)).to.include({ state: 'active' });
    await sendEvent(service, id);
    await receiver.waitFor(second, 1);
    expect(receiver.at(first)).to.have.length(0);
  });

  it('are listed with their secrets masked; a single one shows its own', async () => {
    const url = receiver.open('masked');
    await createSource(service, url);
    const body = await service.get(PATH, { query: { where: `url = '${url}'` } });
    expect(body[0].secret).to.equal('********');
    const single = await service.call(`${PATH}/${body[0].id}`);
    expect(single.body.secret).to.match(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(single.body).to.deep.equal({ ...body[0], secret: single.body.secret });
  });

  it('keep their secrets encrypted and out of the log', async () => {
    const url = receiver.open('kept');
    const { id } = await createSource(service, url);
    const { secret } = await findSubscription(service, url);
    await sendEvent(service, id);
    await receiver.waitFor(url, 1);
    expect(await readEverything(service)).not.to.include(secret.slice('whsec_'.length));
    expect(service.logged.join('\n')).not.to.include(secret.slice('whsec_'.length));
  });

  it('are listed page by page without gap or overlap', async () => {
    for (const name of ['page-1', 'page-2', 'page-3', 'page-4', 'page-5'])
      await createSource(service, receiver.open(name));
    const where = `url LIKE '%/page-%'`;
    const all = await service.call(PATH, { query: { where } });
    expect(all.body).to.have.length(5);
    const rows = await rowsOf((nextPage) => service.call(PATH, { query: { where, pageSize: 2, nextPage } }));
    expect(rows).to.deep.equal(all.body);
  });

  it('take no token of another listing', async () => {
    const page = await service.call(PATH, { query: { pageSize: 1 } });
    const nextPage = page.headers.get('elements-next-page-token') ?? '';
    for (const query of [{ nextPage, where: `state = 'active'` }, { nextPage: 'forged' }]) {
      expectProblem(await service.call(PATH, { query }), 'REQUEST_INVALID', /^nextPage does not belong/);
    }
    expectProblem(await tenants.stranger.call(PATH, { query: { nextPage } }), 'REQUEST_INVALID', /^nextPage/);
    expectProblem(await service.call('/notifications', { query: { nextPage } }), 'REQUEST_INVALID', /^nextPage/);
  });

  it('refuse a filter that cannot be understood', async () => {
    const unknown = await service.call(PATH, { query: { where: `stat = 'active'` } });
    expectProblem(unknown, 'WHERE_INVALID', "Unknown field 'stat'. Did you mean 'state'?");
    expectProblem(await service.call(PATH, { query: { where: 'state =' } }), 'WHERE_SYNTAX');
  });

  it('keep the secret before a rotation valid beside the new one', async () => {
    const url = receiver.open('rotated');
    const { id } = await createSource(service, url);
    const before = await findSubscription(service, url);
    const rotated = await patch(before.id, { rotateSecret: true });
    expect(rotated.body.secret)
      .to.match(/^whsec_/)
      .and.not.equal(before.secret);
    const hours = (Date.parse(rotated.body.previousSecretExpiresAt) - Date.now()) / 3_600_000;
    expect(hours).to.be.within(23.9, 24);
    await sendEvent(service, id);
    const [event] = await receiver.waitFor(url, 1);
    if (event === undefined) throw new Error('Nothing came');
    expect(String(event.request.headers['webhook-signature']).split(' ')).to.have.length(2);
    expect(verify(event, before.secret)).to.deep.equal(verify(event, rotated.body.secret));
  });

  it('drop the oldest secret when they are rotated twice', async () => {
    const url = receiver.open('rotated-twice');
    const { id } = await createSource(service, url);
    const first = await findSubscription(service, url);
    const second = (await patch(first.id, { rotateSecret: true })).body;
    const third = (await patch(first.id, { rotateSecret: true })).body;
    await sendEvent(service, id);
    const [event] = await receiver.waitFor(url, 1);
    if (event === undefined) throw new Error('Nothing came');
    expect(() => verify(event, first.secret)).to.throw('No matching signature found');
    expect(verify(event, second.secret)).to.deep.equal(verify(event, third.secret));
  });

  it('are deactivated by hand: what comes later is queued, and goes out when they are resumed', async () => {
    const url = receiver.open('by-hand');
    const { id } = await createSource(service, url);
    const { id: subscriptionId } = await findSubscription(service, url);
    const stopped = await patch(subscriptionId, { state: 'deactivated' });
    expect(stopped.body).to.include({ state: 'deactivated', reason: 'by the caller' });
    expect(Date.parse(stopped.body.stateChangedDate)).to.be.within(Date.parse(stopped.body.createdDate), Date.now());
    const sent = [await sendEvent(service, id), await sendEvent(service, id), await sendEvent(service, id)];
    expect(await listDeliveries(service, `subscriptionId = ${subscriptionId} AND status = 'queued'`)).to.have.length(3);
    expect(await findSubscription(service, url)).to.include({ queued: 3, retrying: 0 });
    expect(receiver.at(url)).to.have.length(0);

    const resumed = await patch(subscriptionId, { state: 'active' });
    expect(resumed.body).to.include({ state: 'active' }).and.not.have.property('reason');
    const came = await receiver.waitFor(url, 3);
    expect(came.map(({ body }) => body.id)).to.have.members(sent);
    const told = await service.get('/notifications', { query: { pageSize: 5000 } });
    const types = pluck(
      told.filter(({ data }: ApiAnswer['body']) => data.subscriptionId === subscriptionId),
      'type',
    );
    expect(types).to.deep.equal(['subscription.deactivated', 'subscription.reactivated']);
  });

  it('queue what waits for a retry when they are deactivated by hand', async () => {
    const url = receiver.open('waiting');
    const { id } = await createSource(service, url);
    const { id: subscriptionId } = await findSubscription(service, url);
    receiver.server.answer('/waiting', (response) => {
      response.setHeader('retry-after', '3600');
      response.statusCode = 503;
      response.end();
    });
    await sendEvent(service, id);
    await receiver.waitFor(url, 1);
    await patch(subscriptionId, { state: 'deactivated' });
    const [queued] = await waitForDeliveries(service, `subscriptionId = ${subscriptionId} AND status = 'queued'`, 1);
    expect(queued)
      .to.include({ attempts: receiver.at(url).length })
      .and.not.have.property('nextAttemptDate');
  });

  it('stay as they are when the state asked for is the one they have', async () => {
    const url = receiver.open('same');
    await createSource(service, url);
    const before = await findSubscription(service, url);
    expect((await patch(before.id, { state: 'active' })).body).to.deep.equal(before);
    const stopped = (await patch(before.id, { state: 'deactivated' })).body;
    expect((await patch(before.id, { state: 'deactivated' })).body).to.deep.equal(stopped);
  });

  it('refuse a change that there is not', async () => {
    const url = receiver.open('refused');
    await createSource(service, url);
    const { id } = await findSubscription(service, url);
    for (const body of [{}, { state: 'paused' }, { rotateSecret: false }, { rotateSecret: 'yes' }, { url: 'x' }, []]) {
      expectProblem(await patch(id, body), 'REQUEST_INVALID');
    }
  });

  it('do not exist under an id that is none', async () => {
    expectProblem(await service.call(`${PATH}/999999`), 'NOT_FOUND', 'There is no subscription 999999.');
    expectProblem(await patch(999_999, { state: 'active' }), 'NOT_FOUND');
    for (const id of ['0', 'x', '9007199254740993'])
      expectProblem(await service.call(`${PATH}/${id}`), 'REQUEST_INVALID');
  });
});
