import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createOwnerStore } from '../../src/events/owners/owner-store.ts';
import { createClaimStore } from '../../src/events/sweep/claim-store.ts';
import { attemptsOf, deliveries } from '../support/event-rows.ts';
import { ACCOUNT_ID, newEvent, quickSchedules, type TestEngine, useEngines } from '../support/events.ts';
import { delayed } from '../support/misbehaving-receiver.ts';
import { status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

describe('an ordered subscription', () => {
  const bench = useEngines();

  async function startOrdered(path: string, retryMs = 100): Promise<TestEngine> {
    const engine = await bench.startFor(path, {
      options: { schedules: quickSchedules(5, retryMs), sweepBackstopMs: 60_000 },
    });
    engine.sources.set(1, { ordered: true });
    return engine;
  }

  const order = (path: string) => bench.received(path).map(({ body }) => Number(JSON.parse(body).data.objectId));
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, index) => newEvent(1, { objectId: `${index}` }));

  it('gets its events in order, one at a time', async () => {
    let inFlight = 0;
    let most = 0;
    bench.receiver.answer('/ordered', (response, request) => {
      most = Math.max(most, ++inFlight);
      response.once('close', () => inFlight--);
      delayed(2)(response, request);
    });
    const engine = await startOrdered('/ordered');
    await Promise.all(numbered(40).map((event) => engine.events.accept([event])));
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(order('/ordered')).to.deep.equal(Array.from({ length: 40 }, (_, index) => index));
    expect(most).to.equal(1);
  });

  it('waits behind one that fails', async () => {
    bench.receiver.answer('/head', status(204), status(500), status(500), status(204));
    const engine = await startOrdered('/head');
    await engine.events.accept(numbered(5));
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(order('/head')).to.deep.equal([0, 1, 1, 1, 2, 3, 4]);
  });

  it('keeps its order with two processes', async () => {
    bench.receiver.answer('/two', status(500), status(204));
    const engine = await startOrdered('/two', 50);
    const other = await bench.start({ options: { schedules: quickSchedules(5, 50), sweepBackstopMs: 20 } });
    other.urls.set(1, `${bench.receiver.url}/two`);
    await engine.events.accept(numbered(30));
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(order('/two')).to.deep.equal([0, ...Array.from({ length: 30 }, (_, index) => index)]);
    expect(await attemptsOf(bench.knex)).to.have.length(31);
  });

  it('gives nothing but its oldest, whatever a process believes the oldest to be', async () => {
    const engine = await bench.startFor('/heads', { delivers: false });
    engine.sources.set(1, { ordered: true });
    await engine.events.accept(numbered(3));
    const [first, second] = (await deliveries(bench.knex)).map(({ id }) => ({ accountId: ACCOUNT_ID, id }));
    if (first === undefined || second === undefined) throw new Error('The deliveries were not stored.');
    const store = createClaimStore(bench.knex);
    const owner = randomUUID();
    await createOwnerStore(bench.knex).add(owner);
    const input = { owner, now: new Date(Date.now() + 1_000) };
    expect(await store.claimHeads([second], input)).to.deep.equal([]);
    expect((await store.claimHeads([first], input)).map(({ id }) => id)).to.deep.equal([first.id]);
    expect(await store.claimHeads([second], input)).to.deep.equal([]);
    const both = await bench
      .knex('delivery')
      .where({ id: second.id })
      .update({ state: 'delivering', owner: input.owner, due: null })
      .catch((error) => error);
    expect(both).to.include({ code: '23505' });
  });

  it('does not hold up another', async () => {
    bench.receiver.answer('/blocked', status(500));
    bench.receiver.answer('/free', status(204));
    const engine = await startOrdered('/blocked', 60_000);
    engine.urls.set(2, `${bench.receiver.url}/free`);
    engine.sources.set(2, { ordered: true });
    await engine.events.accept([newEvent(1), newEvent(1), newEvent(2), newEvent(2)]);
    await until(() => bench.received('/free').length === 2);
    expect(bench.received('/blocked')).to.have.length(1);
  });
});
