import { expect } from 'chai';
import fc from 'fast-check';
import {
  createDispatcher,
  type Dispatcher,
  type DispatchFigures,
  type SweepRoom,
} from '../../src/events/dispatch/dispatcher.ts';
import type { DeliveryLease } from '../../src/events/lease.ts';
import { DEFAULT_OPTIONS, type EngineOptions } from '../../src/events/options.ts';
import type { DeliveryOutcome } from '../../src/events/outcomes/outcome-queue.ts';
import { createAgenda } from '../../src/events/sweep/agenda.ts';
import { runs } from '../../suite/effort.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { ended, newLease, type Result } from '../support/outcomes.ts';

const [A, B] = [1, 2];
const NOW_MS = 1_000_000;
const HANGS = ended({ kind: 'failed', isHard: true });
const FAILS = ended({ kind: 'failed', isHard: false });
const DELIVERED = ended({ kind: 'delivered', durationMs: 1 });

interface Bench {
  readonly dispatcher: Dispatcher;
  /** In the order of their start; they end by `end` only. */
  readonly started: DeliveryLease[];
  readonly released: { readonly lease: DeliveryLease; readonly dueAtMs: number }[];
  /** Subscriptions whose parked deliveries were called back. */
  readonly calledBack: number[];
  nowMs: number;
  canStart: boolean;
  readonly enqueue: (accountId: number, subscriptionId: number, more?: Partial<DeliveryLease>) => DeliveryLease;
  /** Starts what may be started. */
  readonly pump: () => void;
  readonly end: (lease: DeliveryLease, result: Result) => void;
  readonly sweepRoom: (accountId: number, subscriptionId: number, host: string) => SweepRoom;
  readonly figures: () => DispatchFigures;
}

const RETRY: Partial<DeliveryLease> = { firstFailedAtMs: 1, retries: 0 };

/** A dispatcher whose clock stands still unless it is moved. */
function useDispatcher(options: Partial<EngineOptions> = {}): Bench {
  const agenda = createAgenda(ALL_BUCKETS);
  const open = new Map<DeliveryLease, number>();
  const bench: Bench = {
    dispatcher: createDispatcher(
      agenda,
      {
        add: (outcome: DeliveryOutcome) => {
          if (outcome.kind !== 'released') throw new Error(`A dispatcher cannot know of ${outcome.kind}`);
          bench.released.push({ lease: outcome.lease, dueAtMs: outcome.dueAt.getTime() });
        },
        hasRoom: () => bench.canStart,
      },
      { ...DEFAULT_OPTIONS, ...options },
    ),
    started: [],
    released: [],
    calledBack: [],
    nowMs: NOW_MS,
    canStart: true,
    pump: () => {
      const next = () => bench.dispatcher.next(bench.nowMs);
      for (let lease = next(); lease !== undefined; lease = next()) {
        open.set(lease, bench.nowMs);
        bench.started.push(lease);
      }
    },
    enqueue: (accountId, subscriptionId, more) => {
      const lease = newLease({ accountId, subscriptionId, host: `host-${subscriptionId}.example.com`, ...more });
      bench.dispatcher.takeIn(lease, bench.nowMs);
      bench.pump();
      return lease;
    },
    end: (lease, result) => {
      const startedMs = open.get(lease);
      if (startedMs === undefined || !open.delete(lease)) return;
      bench.dispatcher.end({ ...result, lease }, startedMs, bench.nowMs);
      bench.calledBack.push(...agenda.takeParked().map(({ subscriptionId }) => subscriptionId));
      bench.pump();
    },
    sweepRoom: (accountId, subscriptionId, host) =>
      bench.dispatcher.sweepRoom({ accountId, subscriptionId, host }, bench.nowMs),
    figures: () => bench.dispatcher.figures(bench.nowMs),
  };
  return bench;
}

describe('the places of a tenant', () => {
  it('are free for its first attempts and its retries, however many pushes of another hang', () => {
    const load = fc.record({
      lanes: fc.integer({ min: 1, max: 1_500 }),
      eventsOfEach: fc.integer({ min: 1, max: 12 }),
      retries: fc.boolean(),
      isRetry: fc.boolean(),
    });
    fc.assert(
      fc.property(load, ({ lanes, eventsOfEach, retries, isRetry }) => {
        const { enqueue, started } = useDispatcher();
        for (let event = 0; event < eventsOfEach; event++) {
          for (let lane = 1; lane <= lanes; lane++) enqueue(A, lane, retries && lane % 2 === 0 ? RETRY : {});
        }
        expect(started.length).to.be.at.most(512);
        const before = started.length;
        const mine = Array.from({ length: 8 }, () => enqueue(B, 10_000, isRetry ? RETRY : {}));
        expect(started.slice(before)).to.deep.equal(mine);
      }),
      { numRuns: runs(30) },
    );
  });

  it('are free for 8 pushes of each, when 30 others hang', () => {
    const { enqueue, started } = useDispatcher();
    for (let account = 1; account <= 30; account++) {
      for (let event = 0; event < 1_200; event++) enqueue(account, account * 1_000 + (event % 150));
    }
    const before = started.length;
    for (let event = 0; event < 8; event++) enqueue(99, 99_000);
    expect(started.slice(before).map(({ accountId }) => accountId)).to.deep.equal(Array(8).fill(99));
  });

  it('beyond 8 for a quick receiver are there too, when those of another have grown and hang', () => {
    const { enqueue, started, end } = useDispatcher();
    const running = (accountId: number) =>
      started.filter((lease) => lease.accountId === accountId && !ended.has(lease));
    const ended = new Set<DeliveryLease>();
    const grow = (accountId: number, lanes: readonly number[]) => {
      for (const lane of lanes) for (let event = 0; event < 2_500; event++) enqueue(accountId, lane);
      for (let round = 0; round < 60; round++) {
        for (const lease of running(accountId)) {
          ended.add(lease);
          end(lease, DELIVERED);
        }
      }
    };
    grow(A, [1, 2, 3, 4, 5, 6]);
    expect(running(A).length).to.be.greaterThan(100);
    grow(B, [10]);
    expect(running(B).length).to.be.greaterThan(8);
  });

  it('come in turns by tenant, not by subscription', () => {
    const bench = useDispatcher({ concurrency: 16 });
    bench.canStart = false;
    for (let lane = 1; lane <= 1_000; lane++) bench.enqueue(A, lane);
    for (let event = 0; event < 4; event++) bench.enqueue(B, 5_000);
    bench.canStart = true;
    bench.pump();
    expect(bench.started.slice(0, 8).map(({ accountId }) => accountId)).to.deep.equal([A, B, A, B, A, B, A, B]);
    expect(bench.started.slice(0, 8).map(({ subscriptionId }) => subscriptionId)).to.deep.equal([
      1, 5_000, 2, 5_000, 3, 5_000, 4, 5_000,
    ]);
  });

  it('come back to it with each of its pushes that ends, retries too', () => {
    for (const more of [{}, RETRY]) {
      const { enqueue, started, end } = useDispatcher({ concurrency: 64 });
      for (let lane = 1; lane <= 200; lane++) enqueue(A, lane, more);
      const most = started.length;
      expect(most).to.be.below(64);
      for (let ended = 0; ended < 200; ended++) {
        const lease = started[ended];
        if (lease === undefined) throw new Error(`Only ${started.length} were started`);
        end(lease, DELIVERED);
      }
      expect(new Set(started).size).to.equal(200);
    }
  });
});

describe('the memory of a tenant', () => {
  const key = (accountId: number, subscriptionId: number) => ({ accountId, subscriptionId, host: 'example.com' });

  it('is there for its events, when another has taken all it could', () => {
    const { dispatcher } = useDispatcher();
    const megabyte = 1024 * 1024;
    let taken = 0;
    while (dispatcher.reserve(key(A, 1 + (taken % 40)), megabyte, NOW_MS)) taken++;
    expect(taken).to.equal(32);
    expect(dispatcher.reserve(key(B, 1_000), megabyte, NOW_MS)).to.equal(true);
    expect(dispatcher.hasBytes(B)).to.equal(true);
  });

  it('is there for the sweep, when another holds what it may', () => {
    const { dispatcher, enqueue, figures, sweepRoom } = useDispatcher({ concurrency: 16 });
    let lane = 0;
    while (dispatcher.accountRoom(A) > 0) enqueue(A, ++lane);
    expect(figures().held).to.equal(5_000);
    expect(dispatcher.accountRoom(B)).to.be.at.least(500);
    expect(sweepRoom(B, 9_999, 'example.com')).to.deep.equal({ firsts: 1_000, retries: 1_000 });
  });

  it('is not less for the sweep because another has many events of its own there', () => {
    const { dispatcher } = useDispatcher();
    for (let event = 0; event < 20_000; event++) dispatcher.reserve(key(A, 1 + (event % 40)), 100, NOW_MS);
    expect(dispatcher.accountRoom(B)).to.be.at.least(2_000);
    expect(dispatcher.accountRoom(A)).to.be.at.least(2_000);
  });

  it('keeps 1,000 subscriptions that failed and no more', () => {
    const { enqueue, end, figures } = useDispatcher();
    for (let lane = 1; lane <= 3_000; lane++) end(enqueue(A, lane), FAILS);
    end(enqueue(B, 5_000), FAILS);
    expect(figures().lanes).to.equal(1_001);
  });

  it('forgets a subscription that was only asked for', () => {
    const { dispatcher, figures } = useDispatcher({ maxLaneDeliveries: 0 });
    for (let lane = 1; lane <= 50; lane++) expect(dispatcher.reserve(key(A, lane), 10, NOW_MS)).to.equal(false);
    expect(figures().lanes).to.equal(0);
  });
});

describe('the breaker of a host', () => {
  const host = { host: 'hanging.example.com' };
  const longestParkMs = DEFAULT_OPTIONS.breaker.longestParkMs;

  /** As many subscriptions of A as it takes. */
  function open(bench: Bench): void {
    const leases = [1, 2, 3].map((lane) => bench.enqueue(A, lane, host));
    bench.nowMs += 15_000;
    for (const lease of leases) bench.end(lease, HANGS);
  }

  it('opens when three subscriptions hang, and parks what all of them have, unattempted', () => {
    const bench = useDispatcher({ laneConcurrency: 1 });
    for (const lane of [1, 2, 3]) for (let event = 0; event < 5; event++) bench.enqueue(A, lane, host);
    bench.nowMs += 15_000;
    for (const lease of [...bench.started]) bench.end(lease, HANGS);
    expect(bench.started.length).to.be.below(7);
    const parked = bench.released.map(({ dueAtMs }) => dueAtMs - bench.nowMs);
    expect(parked.length).to.be.at.least(9);
    for (const pauseMs of parked) expect(pauseMs).to.be.within(1, longestParkMs);
    expect(bench.sweepRoom(A, 1, host.host).firsts).to.equal(0);
  });

  it('is its own for each tenant', () => {
    const bench = useDispatcher();
    open(bench);
    const before = bench.started.length;
    for (let event = 0; event < 8; event++) bench.enqueue(B, 100, host);
    expect(bench.started.length - before).to.equal(8);
    expect(bench.dispatcher.reserve({ accountId: B, subscriptionId: 101, ...host }, 10, bench.nowMs)).to.equal(true);
    expect(bench.dispatcher.reserve({ accountId: A, subscriptionId: 1, ...host }, 10, bench.nowMs)).to.equal(false);
  });

  it('lets retries pass, as probes', () => {
    const bench = useDispatcher();
    open(bench);
    const retry = bench.enqueue(A, 2, { ...host, ...RETRY });
    expect(bench.started.at(-1)).to.equal(retry);
    bench.end(retry, DELIVERED);
    expect(bench.calledBack.toSorted()).to.deep.equal([1, 2, 3]);
    expect(bench.sweepRoom(A, 1, host.host).firsts).to.equal(1_000);
  });

  it('does not open for one path that hangs, nor while another path answers', () => {
    const bench = useDispatcher();
    const hanging = [1, 2, 3].map((lane) => bench.enqueue(A, lane, host));
    bench.nowMs += 10_000;
    bench.end(bench.enqueue(A, 4, host), FAILS);
    bench.nowMs += 5_000;
    for (const lease of hanging) bench.end(lease, HANGS);
    const onePath = Array.from({ length: 8 }, () => bench.enqueue(A, 1, host));
    bench.nowMs += 15_000;
    for (const lease of onePath) bench.end(lease, HANGS);
    expect(bench.sweepRoom(A, 1, host.host).firsts).to.equal(0);
    const before = bench.started.length;
    for (let event = 0; event < 8; event++) bench.enqueue(A, 4, host);
    // The path that answered with an error goes on as before.
    expect(bench.started.length - before).to.equal(8);
  });

  it('does not open for errors that are answered, however many subscriptions have them', () => {
    const bench = useDispatcher();
    for (let lane = 1; lane <= 20; lane++) bench.end(bench.enqueue(A, lane, host), FAILS);
    expect(bench.sweepRoom(A, 50, host.host).firsts).to.equal(1_000);
  });

  it('tries subscriptions that did not fail all the same, 8 at a time, and the first that answers closes it', () => {
    const bench = useDispatcher();
    open(bench);
    const before = bench.started.length;
    for (let lane = 10; lane < 30; lane++) bench.enqueue(A, lane, host);
    const probes = bench.started.slice(before);
    expect(probes.map(({ subscriptionId }) => subscriptionId)).to.deep.equal([10, 11, 12, 13, 14, 15, 16, 17]);
    for (const { dueAtMs } of bench.released) expect(dueAtMs - bench.nowMs).to.be.within(1, longestParkMs);
    const [probe] = probes;
    if (probe === undefined) throw new Error('nothing was tried');
    bench.end(probe, DELIVERED);
    expect(bench.calledBack).to.include.members([1, 2, 3]);
    for (let event = 0; event < 4; event++) bench.enqueue(A, 10, host);
    expect(bench.started.length - before).to.equal(12);
  });

  it('tries 8 of those that failed when its pause is over', () => {
    const bench = useDispatcher();
    const leases = Array.from({ length: 20 }, (_, index) => bench.enqueue(A, index + 1, host));
    bench.nowMs += 15_000;
    for (const lease of leases) bench.end(lease, HANGS);
    bench.nowMs += 5_000;
    const before = bench.started.length;
    for (let lane = 1; lane <= 20; lane++) bench.enqueue(A, lane, host);
    expect(bench.started.length - before).to.equal(8);
    expect(bench.released).to.have.length(12);
  });

  it('tries some of those that failed when its pause is over, and pauses twice as long at most a minute', () => {
    const bench = useDispatcher();
    open(bench);
    for (const pauseMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      bench.enqueue(A, 1, host);
      expect(bench.released.at(-1)?.dueAtMs).to.equal(bench.nowMs + pauseMs);
      bench.nowMs += pauseMs;
      const before = bench.started.length;
      const probe = bench.enqueue(A, 2, host);
      bench.enqueue(A, 2, host);
      expect(bench.started.slice(before)).to.deep.equal([probe]);
      bench.end(probe, HANGS);
    }
  });
});
