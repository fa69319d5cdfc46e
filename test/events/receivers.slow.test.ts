import { expect } from 'chai';
import { SCHEDULES } from '../../src/events/push/schedule.ts';
import { theRow } from '../support/database.ts';
import { attemptsOf, deliveries } from '../support/event-rows.ts';
import { newEvent, quickSchedules, useEngines } from '../support/events.ts';
import {
  closeKeptAlive,
  delayed,
  hugeHeaders,
  retryAfter,
  slowHeaders,
  slowLoris,
} from '../support/misbehaving-receiver.ts';
import {
  type Behaviour,
  endless,
  garbage,
  hang,
  redirect,
  resetBeforeAnswer,
  resetInBody,
  status,
} from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

const OPTIONS = { attemptTimeoutMs: 300, schedules: quickSchedules(1), maxResponseBytes: 4096 };

const FAILING: readonly { readonly name: string; readonly behaviour: Behaviour; readonly error: RegExp }[] = [
  {
    name: 'answers byte by byte',
    behaviour: slowLoris,
    error: /^timeout: \S+ did not respond completely within 300 ms\.$/,
  },
  { name: 'sends its headers byte by byte', behaviour: slowHeaders, error: /^timeout: / },
  { name: 'never answers', behaviour: hang, error: /^timeout: / },
  { name: 'resets the connection', behaviour: resetBeforeAnswer, error: /^reset: / },
  { name: 'resets the connection in its answer', behaviour: resetInBody, error: /^reset: / },
  { name: 'sends headers without end', behaviour: hugeHeaders, error: /^protocol: / },
  { name: 'speaks another protocol', behaviour: garbage, error: /^protocol: / },
  { name: 'redirects', behaviour: redirect('/elsewhere'), error: /^status: The receiver returned 302\.$/ },
  { name: 'answers 410', behaviour: status(410), error: /^status: The receiver returned 410\.$/ },
];

describe('a receiver that misbehaves', () => {
  const bench = useEngines();

  FAILING.forEach(({ name, behaviour, error }, index) => {
    it(`and ${name} fails, and gets the event again`, async () => {
      const path = `/failing-${index}`;
      bench.receiver.answer(path, behaviour, status(204));
      const engine = await bench.startFor(path, { options: OPTIONS });
      await engine.events.accept([newEvent(1)]);
      await until(async () => (await attemptsOf(bench.knex)).length === 2);
      const [first, second] = await attemptsOf(bench.knex);
      expect(first?.error).to.match(error);
      expect(first?.delivered).to.equal(false);
      expect(second?.delivered).to.equal(true);
      expect(bench.received('/elsewhere')).to.deep.equal([]);
    });
  });

  for (const [what, url, error] of [
    [
      'cannot be reached at all',
      'http://127.0.0.1:1/closed',
      /^connect: The service could not connect to 127\.0\.0\.1\.$/,
    ],
    ['stands where calls may not go', 'http://10.0.0.1/private', /^refused: 10\.0\.0\.1 /],
  ] as const) {
    it(`and ${what} fails, and the event waits`, async () => {
      const engine = await bench.start({ options: { ...OPTIONS, schedules: quickSchedules(5, 60_000) } });
      engine.urls.set(1, url);
      await engine.events.accept([newEvent(1)]);
      await until(async () => (await deliveries(bench.knex)).some(({ state }) => state === 'waiting'));
      expect((await deliveries(bench.knex))[0]?.last_error).to.match(error);
      expect((await attemptsOf(bench.knex))[0]?.error).to.match(error);
    });
  }

  it('and answers without end has delivered, and 4 kB are kept', async () => {
    bench.receiver.answer('/endless', endless(1024 ** 3, { 'content-type': 'text/plain' }));
    const engine = await bench.startFor('/endless', { options: OPTIONS });
    await engine.events.accept([newEvent(1)]);
    await until(async () => (await attemptsOf(bench.knex)).length === 1);
    const [attempt] = await attemptsOf(bench.knex);
    expect(attempt?.delivered).to.equal(true);
    expect(attempt?.answer).to.have.length(4096);
  });

  it('and closes kept connections loses nothing', async () => {
    bench.receiver.answer('/closing', closeKeptAlive);
    const engine = await bench.startFor('/closing', { options: { ...OPTIONS, schedules: quickSchedules(5) } });
    for (let event = 0; event < 20; event++) await engine.events.accept([newEvent(1)]);
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect((await attemptsOf(bench.knex)).filter(({ delivered }) => delivered)).to.have.length(20);
  });

  it('and answers quickly gets more at a time, over connections that are kept', async () => {
    bench.receiver.answer('/quick', status(204));
    const engine = await bench.startFor('/quick');
    const before = bench.receiver.connections();
    for (let batch = 0; batch < 10; batch++) await engine.events.accept(Array.from({ length: 300 }, () => newEvent(1)));
    await until(async () => (await deliveries(bench.knex)).length === 0);
    // undici lets a connection rest for one turn of the event loop, and takes another meanwhile.
    expect(bench.receiver.connections() - before).to.be.within(9, 2 * 64);
  });

  const [PLANNED_MS = 0, NEXT_MS = 0] = SCHEDULES[5].offsetsMs;
  for (const [what, asked, schedules, leastMs, mostMs] of [
    ['for time with Retry-After gets it', '1', quickSchedules(1, 2_000), 1_990, 2_300],
    ['in words for a time that is none is tried when the schedule says', 'x 2030', SCHEDULES, PLANNED_MS - 10, NEXT_MS],
  ] as const) {
    it(`and asks ${what}`, async () => {
      bench.receiver.answer('/later', retryAfter(asked), status(204));
      const engine = await bench.startFor('/later', { options: { ...OPTIONS, schedules } });
      await engine.events.accept([newEvent(1)]);
      await until(async () => (await deliveries(bench.knex)).some(({ state }) => state === 'waiting'));
      const [delivery] = await deliveries(bench.knex);
      const [attempt] = await attemptsOf(bench.knex);
      expect(Number(delivery?.due) - Number(attempt?.attempted_at)).to.be.within(leastMs, mostMs);
    });
  }

  it('and hangs does not delay another', async () => {
    bench.receiver.answer('/hanging', hang);
    bench.receiver.answer('/healthy', delayed(1));
    const engine = await bench.startFor('/hanging', { options: { ...OPTIONS, attemptTimeoutMs: 10_000 } });
    engine.urls.set(2, `${bench.receiver.url}/healthy`);
    const events = Array.from({ length: 200 }, (_, index) => newEvent(index % 2 === 0 ? 1 : 2));
    const startedMs = performance.now();
    await engine.events.accept(events);
    await until(() => bench.received('/healthy').length === 100);
    expect(performance.now() - startedMs).to.be.below(5_000);
    expect(bench.received('/hanging')).to.have.length(8);
  });

  it('has its first attempts parked unattempted, and gets them all when a retry succeeds', async () => {
    let isUp = false;
    bench.receiver.answer('/parked', (response) => {
      response.statusCode = isUp ? 204 : 500;
      response.end();
    });
    const options = { ...OPTIONS, laneConcurrency: 1, schedules: quickSchedules(5, 1_000) };
    const engine = await bench.startFor('/parked', { options });
    await engine.events.accept(Array.from({ length: 30 }, () => newEvent(1)));
    await until(async () => (await deliveries(bench.knex)).every(({ state }) => state === 'waiting'));
    expect(bench.received('/parked')).to.have.length(5);
    const parked = (await deliveries(bench.knex)).filter(({ attempts }) => attempts === 0);
    expect(parked).to.have.length(25);
    for (const { due } of parked) expect(Number(due) - Date.now()).to.be.within(0, 60_000);
    expect(await engine.measure('causeway_delivery_lanes_blocked')).to.equal(1);

    await engine.events.accept([newEvent(1)]);
    expect(await engine.measure('causeway_events_accepted_total', { state: 'waiting' })).to.equal(1);
    isUp = true;
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect((await attemptsOf(bench.knex)).filter(({ delivered }) => delivered)).to.have.length(31);
    expect((await theRow(bench.knex('subscription'))).state).to.equal('active');
  });
});
