import { expect } from 'chai';
import { createOutcomeStore } from '../../src/events/outcomes/outcome-store.ts';
import { theRow } from '../support/database.ts';
import { attemptsOf, deliveries } from '../support/event-rows.ts';
import { ACCOUNT_ID, newEvent, quickSchedules, useEngines } from '../support/events.ts';
import { interceptRaw } from '../support/intercepted-knex.ts';
import { delayed } from '../support/misbehaving-receiver.ts';
import { hang, status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

const QUICK = { heartbeatMs: 50, silentMs: 300, sweepBackstopMs: 100, schedules: quickSchedules(5) };

describe('deliveries in the memory of a process', () => {
  const bench = useEngines();

  it('are fenced: an outcome that comes after a take-over writes nothing', async () => {
    bench.receiver.answer('/fenced', hang);
    const engine = await bench.startFor('/fenced');
    await engine.events.accept([newEvent(1)]);
    const [delivery] = await deliveries(bench.knex);
    if (delivery?.owner == null) throw new Error('The delivery is not owned.');
    const fence = {
      accountId: ACCOUNT_ID,
      id: delivery.id,
      subscriptionId: delivery.subscription_id,
      owner: delivery.owner,
      attempts: 0,
    };
    const attempt = {
      attemptedAt: new Date(),
      durationMs: 1,
      statusCode: 204,
      error: undefined,
      answer: undefined,
    };
    const store = createOutcomeStore(bench.knex);
    const nothing = { delivered: 0, waiting: 0, queued: 0 };
    const stranger = { ...fence, owner: '00000000-0000-7000-8000-000000000001' };
    expect(await store.write([{ kind: 'delivered', lease: stranger, attempt }])).to.deep.equal(nothing);
    expect(await store.write([{ kind: 'delivered', lease: { ...fence, attempts: 1 }, attempt }])).to.deep.equal(
      nothing,
    );
    expect(await attemptsOf(bench.knex)).to.deep.equal([]);
    expect(await deliveries(bench.knex)).to.deep.equal([delivery]);
    expect(await store.write([{ kind: 'delivered', lease: fence, attempt }])).to.deep.equal({
      ...nothing,
      delivered: 1,
    });
    expect(await store.write([{ kind: 'delivered', lease: fence, attempt }])).to.deep.equal(nothing);
  });

  it('go on under a new name when others took the process for dead', async () => {
    bench.receiver.answer('/lost', delayed(400));
    const engine = await bench.startFor('/lost', { options: { ...QUICK, laneConcurrency: 1 } });
    await engine.events.accept([newEvent(1), newEvent(1), newEvent(1)]);
    const before = await theRow(bench.knex('event_owner'));
    await bench.knex('event_owner').delete();
    await until(async () => (await deliveries(bench.knex)).length === 0);
    const after = await theRow(bench.knex('event_owner'));
    expect(after.id).not.to.equal(before.id);
    expect(await engine.measure('causeway_delivery_leases_taken_over_total')).to.equal(3);
    expect(await engine.measure('causeway_delivery_outcomes_fenced_out_total')).to.equal(1);
    expect((await attemptsOf(bench.knex)).filter(({ delivered }) => delivered)).to.have.length(3);
  });

  it('are not sent when the claim of a process ends after others took it for dead and sent them', async () => {
    bench.receiver.answer('/late', status(204));
    const accepting = await bench.startFor('/late', { delivers: false });
    await accepting.events.accept([newEvent(1)]);
    const claimed = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const knex = interceptRaw(bench.knex, async (statement, sql) => {
      const result = await statement();
      if (!sql.includes("set state = 'delivering', owner")) return result;
      claimed.resolve();
      await released.promise;
      return result;
    });
    const frozen = await bench.start({ knex, options: QUICK });
    await claimed.promise;
    await bench.knex('event_owner').delete();
    await bench.start({ options: QUICK });
    await until(async () => (await deliveries(bench.knex)).length === 0);
    await until(async () => (await bench.knex('event_owner')).length === 2);
    released.resolve();
    await until(async () => (await frozen.measure('causeway_delivery_outcomes_fenced_out_total')) === 1);
    expect(bench.received('/late')).to.have.length(1);
  });

  it('are given to others at a stop, those in flight after they ended', async () => {
    bench.receiver.answer('/drain', delayed(150));
    const engine = await bench.startFor('/drain', { options: { laneConcurrency: 2 } });
    await engine.events.accept(Array.from({ length: 10 }, () => newEvent(1)));
    await until(() => bench.received('/drain').length === 2);
    await engine.events.stop(5_000);
    expect(bench.received('/drain')).to.have.length(2);
    expect(await attemptsOf(bench.knex)).to.have.length(2);
    const left = await deliveries(bench.knex);
    expect(left.map(({ state, attempts, owner }) => [state, attempts, owner])).to.deep.equal(
      Array(8).fill(['waiting', 0, null]),
    );
    for (const { due } of left) expect(Number(due)).to.be.at.most(Date.now());
    expect(await bench.knex('event_owner')).to.deep.equal([]);
    const error = await engine.events.accept([newEvent(1)]).catch((reason) => reason);
    expect(error).to.include({
      code: 'OVERLOADED',
      message: 'This process is stopping and accepts no more events. Try again.',
    });
  });

  it('are given back at a stop when the receiver hangs longer than the stop may take', async () => {
    bench.receiver.answer('/stuck', hang);
    const engine = await bench.startFor('/stuck');
    await engine.events.accept([newEvent(1)]);
    await until(() => bench.received('/stuck').length === 1);
    await engine.events.stop(50);
    expect((await deliveries(bench.knex)).map(({ state, attempts }) => [state, attempts])).to.deep.equal([
      ['waiting', 0],
    ]);
    // Broken off: the receiver sees that nobody waits for its answer, and the row was given back once.
    await until(() => bench.receiver.openConnections() === 0);
    expect(await engine.measure('causeway_delivery_outcomes_fenced_out_total')).to.equal(0);
  });

  it('are bounded: what is more goes by the sweep, and all arrive', async () => {
    bench.receiver.answer('/bounded', delayed(5));
    const engine = await bench.startFor('/bounded', {
      options: { maxLaneDeliveries: 10, maxLaneSwept: 10, sweepBackstopMs: 60_000 },
    });
    await engine.events.accept(Array.from({ length: 200 }, () => newEvent(1)));
    expect(await engine.measure('causeway_events_accepted_total', { state: 'waiting' })).to.equal(190);
    expect(await engine.measure('causeway_deliveries_held')).to.be.at.most(10);
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(bench.received('/bounded')).to.have.length(200);
    expect(await engine.measure('causeway_deliveries_held_bytes')).to.equal(0);
  });

  it('are bounded in bytes too', async () => {
    bench.receiver.answer('/bytes', delayed(5));
    const options = { maxBytes: 50_000, maxLaneBytes: 30_000, sweepBackstopMs: 60_000 };
    const engine = await bench.startFor('/bytes', { options });
    await engine.events.accept(Array.from({ length: 40 }, () => newEvent(1, { object: 'x'.repeat(10_000) })));
    expect(await engine.measure('causeway_deliveries_held_bytes')).to.be.at.most(50_000);
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(bench.received('/bytes')).to.have.length(40);
  });

  it('are turned into queued ones when their subscription was deactivated meanwhile', async () => {
    bench.receiver.answer('/meanwhile', delayed(300, status(500)));
    const engine = await bench.startFor('/meanwhile', { options: { laneConcurrency: 1 } });
    await engine.events.accept([newEvent(1)]);
    await until(() => bench.received('/meanwhile').length === 1);
    await bench.knex('subscription').update({ state: 'deactivated' });
    await until(async () => (await deliveries(bench.knex)).every(({ state }) => state !== 'delivering'));
    expect((await deliveries(bench.knex)).map(({ state, attempts }) => [state, attempts])).to.deep.equal([
      ['queued', 1],
    ]);
  });

  it('are shared by two processes without a delivery that both push', async () => {
    bench.receiver.answer('/shared', status(204));
    const engine = await bench.startFor('/shared', { delivers: false, options: { maxLaneDeliveries: 0 } });
    await engine.events.accept(Array.from({ length: 400 }, () => newEvent(1)));
    await Promise.all([bench.start(), bench.start()]);
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(bench.received('/shared')).to.have.length(400);
  });

  it('are left to others by a process that does not deliver', async () => {
    bench.receiver.answer('/left', status(204));
    const engine = await bench.startFor('/left', { delivers: false });
    await engine.events.accept([newEvent(1), newEvent(1)]);
    expect((await deliveries(bench.knex)).map(({ state, owner }) => [state, owner])).to.deep.equal([
      ['waiting', null],
      ['waiting', null],
    ]);
    expect(await bench.knex('event_owner').select()).to.deep.equal([]);
    await bench.start();
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(bench.received('/left')).to.have.length(2);
  });
});
