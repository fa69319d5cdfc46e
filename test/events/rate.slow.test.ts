import { expect } from 'chai';
import fc from 'fast-check';
import { createRate, reservedCount } from '../../src/events/dispatch/rate.ts';
import { createRateStore, type ReservedTimes } from '../../src/events/dispatch/rate-store.ts';
import type { ChooseEndpoints } from '../../src/events/endpoints/choose.ts';
import { deliveries } from '../support/event-rows.ts';
import { ACCOUNT_ID, newEvent, useEngines } from '../support/events.ts';
import { until } from '../support/until.ts';

/** Milliseconds that the documentation grants beside the rate. */
const USABLE_MS = 100;
/** Milliseconds by which an arrival in this process may differ from its start: timers, and two event loops in one. */
const NOISE_MS = 60;

/** Returns the most arrivals in any period beyond those that the rate allows in it. */
function excessOf(arrivals: readonly number[], maxPerSecond: number): number {
  const sorted = arrivals.toSorted((a, b) => a - b);
  let worst = 0;
  for (const [first, from] of sorted.entries()) {
    for (const [last, to] of sorted.entries()) {
      if (last < first) continue;
      const allowed = ((to - from + USABLE_MS + NOISE_MS) / 1000) * maxPerSecond + 1;
      worst = Math.max(worst, last - first + 1 - allowed);
    }
  }
  return worst;
}

describe('the rate of an endpoint', () => {
  const bench = useEngines();

  /** Adds an endpoint that wants everything, and notes when requests arrive at it. */
  async function addEndpoint(path: string, maxPerSecond: number, ordered = false) {
    const arrivals: number[] = [];
    bench.receiver.answer(path, (response) => {
      arrivals.push(performance.now());
      response.writeHead(204).end();
    });
    const url = bench.receiver.url + path;
    const row = { account_id: ACCOUNT_ID, url, secrets: 'sealed', is_endpoint: true, max_per_second: maxPerSecond };
    const [{ id = 0 } = {}] = await bench.knex('subscription').insert(row).returning('id');
    await bench.knex('endpoint_rate').insert({ account_id: ACCOUNT_ID, subscription_id: id });
    const receiver = { subscriptionId: id, host: new URL(url).host, ordered, maxPerSecond };
    const choose: ChooseEndpoints = async () => [receiver];
    return { id, arrivals, start: () => bench.start({ findEndpoints: async () => choose }) };
  }

  const events = (count: number) => Array.from({ length: count }, () => newEvent(1));
  const allDelivered = () => until(async () => (await deliveries(bench.knex)).length === 0);

  it('is kept by two processes together, and used completely', async () => {
    const { arrivals, start } = await addEndpoint('/two', 20);
    const [first, second] = [await start(), await start()];
    const startedMs = performance.now();
    await Promise.all([first.events.accept(events(30)), second.events.accept(events(30))]);
    await allDelivered();
    expect(arrivals).to.have.length(60);
    expect(excessOf(arrivals, 20)).to.equal(0);
    const elapsedMs = Math.max(...arrivals) - startedMs;
    expect(elapsedMs, 'sixty at twenty a second').to.be.within(2_800, 4_500);
  });

  it('belongs to one process alone, if only that one has deliveries', async () => {
    const { arrivals, start } = await addEndpoint('/one', 20);
    const [first] = [await start(), await start(), await start()];
    const startedMs = performance.now();
    await first.events.accept(events(40));
    await allDelivered();
    expect(excessOf(arrivals, 20)).to.equal(0);
    expect(Math.max(...arrivals) - startedMs, 'forty at twenty a second').to.be.within(1_800, 3_000);
  });

  it('is kept while processes come and go', async () => {
    const { arrivals, start } = await addEndpoint('/joined', 20);
    const first = await start();
    await first.events.accept(events(25));
    await until(async () => arrivals.length >= 5);
    const second = await start();
    await second.events.accept(events(25));
    await until(async () => arrivals.length >= 20);
    await first.events.stop(1_000);
    const third = await start();
    await third.events.accept(events(10));
    await allDelivered();
    expect(arrivals).to.have.length(60);
    expect(excessOf(arrivals, 20)).to.equal(0);
  });

  it('is kept in order, too', async () => {
    const { arrivals, start } = await addEndpoint('/ordered', 20, true);
    const [first, second] = [await start(), await start()];
    await first.events.accept(events(10));
    await second.events.accept(events(10));
    await allDelivered();
    expect(arrivals).to.have.length(20);
    expect(excessOf(arrivals, 20)).to.equal(0);
  });

  it('ends when it is removed while deliveries wait for it', async () => {
    const { id, arrivals, start } = await addEndpoint('/ended', 0.05);
    const engine = await start();
    await engine.events.accept(events(1));
    await until(async () => arrivals.length === 1);
    await bench.knex('endpoint_rate').delete();
    await bench.knex('subscription').where({ id }).update({ max_per_second: null });
    await engine.events.accept(events(5));
    await allDelivered();
    expect(arrivals).to.have.length(6);
  });

  it('holds nothing back when the endpoint is deactivated', async () => {
    const { id, arrivals, start } = await addEndpoint('/deactivated', 4);
    const engine = await start();
    await engine.events.accept(events(40));
    await until(async () => arrivals.length === 1);
    await bench.knex('subscription').where({ id }).update({ state: 'deactivated' });
    const states = async () => (await deliveries(bench.knex)).map(({ state }) => state);
    const startedMs = performance.now();
    await until(async () => (await states()).every((state) => state === 'queued'));
    expect(performance.now() - startedMs, 'forty at four a second take ten seconds').to.be.below(4_000);
    expect(arrivals.length).to.be.below(8);
    expect(arrivals.length + (await states()).length).to.equal(40);
  });

  it('gives each time to one process only, however many reserve at once', async () => {
    const { id } = await addEndpoint('/reserved', 200);
    const { id: other } = await addEndpoint('/other', 0.5);
    const store = createRateStore(bench.knex);
    const beganMs = performance.now();
    const reserve = async (count: number) => {
      const requests = [id, other].map((subscriptionId) => ({ accountId: ACCOUNT_ID, subscriptionId, count }));
      const reserved = await store.reserve(requests);
      expect(reserved.map(({ subscriptionId }) => subscriptionId)).to.have.members([id, other]);
      return reserved;
    };
    const all = (await Promise.all(Array.from({ length: 40 }, (_, index) => reserve(1 + (index % 7))))).flat();
    const tookMs = performance.now() - beganMs;
    const lengthOf = (of: number) =>
      all.filter(({ subscriptionId }) => subscriptionId === of).reduce((sum, { count }) => sum + count, 0);
    const endOf = (of: number) =>
      Math.max(
        ...all
          .filter(({ subscriptionId }) => subscriptionId === of)
          .map(({ count, ...times }) => endOfTimes(count, times)),
      );
    expect(all.every(({ spacingMs, subscriptionId }) => spacingMs === (subscriptionId === id ? 5 : 2_000))).to.equal(
      true,
    );
    // None begins before the one before it ends: the last of them ends after all of them in a row.
    expect(endOf(id)).to.be.within(lengthOf(id) * 5 - tookMs, lengthOf(id) * 5 + tookMs);
    expect(endOf(other)).to.be.within(lengthOf(other) * 2_000 - tookMs, lengthOf(other) * 2_000 + tookMs);
  });

  it('is unknown to the store for a subscription without one, and for another account', async () => {
    const { id } = await addEndpoint('/unlimited', 5);
    const store = createRateStore(bench.knex);
    expect(await store.reserve([{ accountId: ACCOUNT_ID + 1, subscriptionId: id, count: 1 }])).to.deep.equal([]);
    await bench.knex('subscription').where({ id }).update({ max_per_second: null });
    expect(await store.reserve([{ accountId: ACCOUNT_ID, subscriptionId: id, count: 1 }])).to.deep.equal([]);
    await bench.knex('subscription').where({ id }).update({ state: 'deactivated' });
    const [none] = await store.reserve([{ accountId: ACCOUNT_ID, subscriptionId: id, count: 1 }]);
    expect(none).to.deep.include({ subscriptionId: id, count: 0 });
  });
});

function endOfTimes(count: number, { delayMs, spacingMs }: Pick<ReservedTimes, 'delayMs' | 'spacingMs'>): number {
  return delayMs + count * spacingMs;
}

describe('the reserved times of a lane', () => {
  it('are used once each, none before its time and none later than 100 ms', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 });
    const times = fc.record({
      count: fc.integer({ min: 1, max: 20 }),
      delayMs: fc.integer({ min: 0, max: 300 }),
      spacingMs: fc.constantFrom(5, 40, 250),
    });
    fc.assert(
      fc.property(times, steps, (reserved, waits) => {
        const rate = createRate();
        rate.set(reserved, 1_000);
        const free = Array.from(
          { length: reserved.count },
          (_, k) => 1_000 + reserved.delayMs + k * reserved.spacingMs,
        );
        let nowMs = 1_000;
        for (const wait of waits) {
          nowMs += wait;
          while (free[0] !== undefined && free[0] + USABLE_MS < nowMs) free.shift();
          const nextAtMs = rate.nextAtMs(nowMs);
          expect(nextAtMs).to.equal(free[0]);
          if (nextAtMs === undefined || nextAtMs > nowMs) continue;
          rate.spend();
          free.shift();
        }
      }),
    );
  });

  it('are reserved for half a second at most, and for no more deliveries than wait', () => {
    expect(reservedCount(1, 1_000)).to.equal(1);
    expect(reservedCount(10_000, 1_000)).to.equal(500);
    expect(reservedCount(10_000, 0.01)).to.equal(1);
  });
});
