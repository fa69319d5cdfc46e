import { expect } from 'chai';
import { createEgress } from '../../src/egress/index.ts';
import { attemptsOf, deliveries } from '../support/event-rows.ts';
import { newEvent, quickSchedules, useEngines } from '../support/events.ts';
import { interceptRaw } from '../support/intercepted-knex.ts';
import { status } from '../support/misbehaving-server.ts';
import { createMortal, type Fate } from '../support/mortal.ts';
import { until } from '../support/until.ts';

/** Deaths are noticed in 300 ms instead of 10 s. */
const QUICK = {
  heartbeatMs: 50,
  silentMs: 300,
  sweepBackstopMs: 100,
  outcomeDrainMs: 100,
  schedules: quickSchedules(5),
};

const DEATHS: readonly {
  readonly name: string;
  readonly fate: Fate;
  readonly failsFirst?: boolean;
  readonly pushes: number;
}[] = [
  {
    name: 'when an event is committed, before it hears so',
    fate: { afterStatement: /insert into delivery\s/ },
    pushes: 1,
  },
  { name: 'before its push', fate: { beforePush: true }, pushes: 1 },
  { name: 'when the receiver has answered, before it hears so', fate: { afterPush: true }, pushes: 2 },
  { name: 'before it stores that it delivered', fate: { beforeStatement: /insert into delivery_attempt/ }, pushes: 2 },
  { name: 'when it has stored that it delivered', fate: { afterStatement: /insert into delivery_attempt/ }, pushes: 1 },
  {
    name: 'before it stores that a push failed',
    fate: { beforeStatement: /insert into delivery_attempt/ },
    failsFirst: true,
    pushes: 2,
  },
  {
    name: 'when it has stored that a push failed',
    fate: { afterStatement: /insert into delivery_attempt/ },
    failsFirst: true,
    pushes: 2,
  },
  {
    name: 'when it has claimed a retry, before it hears so',
    fate: { afterStatement: /limit share.room/ },
    failsFirst: true,
    pushes: 2,
  },
  {
    name: 'before it reads the payload of a retry',
    fate: { beforeStatement: /running_bytes/ },
    failsFirst: true,
    pushes: 2,
  },
];

describe('an acknowledged event', () => {
  const bench = useEngines();
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  after(() => egress.close());

  DEATHS.forEach(({ name, fate, failsFirst = false, pushes }, index) => {
    it(`arrives although its process dies ${name}`, async () => {
      const path = `/death-${index}`;
      bench.receiver.answer(path, ...(failsFirst ? [status(500)] : []), status(204));
      const mortal = createMortal(bench.knex, egress, fate);
      const dying = await bench.startFor(path, { ...mortal, options: QUICK });
      dying.events.accept([newEvent(1)]).catch(() => undefined);
      await until(mortal.isDead);
      const heir = await bench.start({ options: QUICK });
      await until(async () => (await attemptsOf(bench.knex)).some(({ delivered }) => delivered));
      await until(async () => (await deliveries(bench.knex)).length === 0);

      const ids = bench.received(path).map(({ headers }) => headers['webhook-id']);
      expect(ids).to.have.length(pushes);
      expect(new Set(ids).size).to.equal(1);
      expect(await heir.measure('causeway_delivery_outcomes_fenced_out_total')).to.equal(0);
    });
  });

  it('is not acknowledged when its process dies before the statement', async () => {
    const mortal = createMortal(bench.knex, egress, { beforeStatement: /insert into delivery\s/ });
    const dying = await bench.startFor('/never', { ...mortal, options: QUICK });
    const error = await dying.events.accept([newEvent(1)]).catch((reason) => reason);
    expect(error).to.be.instanceOf(Error);
    expect(await bench.knex('event')).to.deep.equal([]);
  });

  it('is found by its own process when the answer of the database was lost', async () => {
    bench.receiver.answer('/doubt', status(204));
    let broken = false;
    const knex = interceptRaw(bench.knex, async (statement, sql) => {
      const result = await statement();
      if (broken || !/insert into delivery\s/.test(sql)) return result;
      broken = true;
      throw new Error('The connection broke.');
    });
    const engine = await bench.startFor('/doubt', { knex, options: { ...QUICK, auditMs: 50, auditAgeMs: 100 } });
    const error = await engine.events.accept([newEvent(1)]).catch((reason) => reason);
    expect(error.message).to.equal('The connection broke.');
    await until(() => bench.received('/doubt').length === 1);
    await until(async () => (await deliveries(bench.knex)).length === 0);
  });

  it('keeps its outcome while the database is away, and no more pushes are started than there is room for', async () => {
    bench.receiver.answer('/away', status(204));
    let away = false;
    const knex = interceptRaw(bench.knex, async (statement, sql) => {
      if (away && sql.includes('delivery_attempt')) throw new Error('The database is away.');
      return statement();
    });
    const options = { ...QUICK, maxPendingOutcomes: 10, laneConcurrency: 4, maxLaneConcurrency: 4 };
    const engine = await bench.startFor('/away', { knex, options });
    away = true;
    await engine.events.accept(Array.from({ length: 50 }, () => newEvent(1)));
    await until(() => bench.received('/away').length >= 10);
    expect(bench.received('/away').length).to.be.at.most(14);
    away = false;
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(bench.received('/away')).to.have.length(50);
    expect(await attemptsOf(bench.knex)).to.have.length(50);
  });
});
