import { expect } from 'chai';
import fc from 'fast-check';
import { runs, seedOr } from '../../../suite/effort.ts';
import { createCluster, createProvider, INSTANCE } from './processes.ts';

const STEP_MS = 20;

describe('processes that share a rate limit', () => {
  /** Advances the clock, and lets callers send so many calls per second, each by the next process. */
  async function run(
    { clock }: Pick<ReturnType<typeof createCluster>, 'clock'>,
    ms: number,
    { perSecond = 0, call }: { readonly perSecond?: number; readonly call?: () => void } = {},
  ): Promise<void> {
    let due = 0;
    for (let at = 0; at < ms; at += STEP_MS) {
      for (due += (perSecond * STEP_MS) / 1000; due >= 1; due--) call?.();
      await clock.advance(STEP_MS);
    }
  }

  it('leave a quarter of it to callers, however much background work there is', async () => {
    const arbitrary = fc.record({
      limit: fc.integer({ min: 100, max: 400 }),
      windowMs: fc.constantFrom(5_000, 10_000),
      count: fc.integer({ min: 2, max: 5 }),
      workers: fc.integer({ min: 1, max: 4 }),
      /** Callers send all of their calls to one process, or to all in turn. */
      isSpread: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ limit, windowMs, count, workers, isSpread }) => {
        const cluster = createCluster();
        const provider = createProvider(cluster.clock, { limit, windowMs });
        const all = Array.from({ length: count }, () => cluster.start());
        for (const one of all) for (let worker = 0; worker < workers; worker++) cluster.work(one, provider);
        await run(cluster, windowMs);
        let sent = 0;
        let succeeded = 0;
        const call = () => {
          const one = all[isSpread ? sent % count : 0];
          sent++;
          one?.call(provider, 'caller', 'caller', (ok) => {
            if (ok) succeeded++;
          });
        };
        // A little less than a quarter, because calls are counted twice while they are under way.
        await run(cluster, 2 * windowMs, { perSecond: (0.2 * limit * 1000) / windowMs, call });
        await run(cluster, 2_000);
        expect(succeeded, 'calls of callers that succeeded').to.equal(sent);
        const [, ...later] = provider.windows();
        expect(later.map(({ refused }) => refused)).to.deep.equal(later.map(() => 0));
      }),
      { seed: seedOr(2), numRuns: runs(40) },
    );
  });

  /** Creates two processes, and a function that makes a call in each of them. */
  function createTwo(limit: number) {
    const cluster = createCluster();
    const provider = createProvider(cluster.clock, { limit, windowMs: 3_600_000 });
    const [one, other] = [cluster.start(), cluster.start()];
    const call = () => {
      one.call(provider, 'caller', 'one');
      other.call(provider, 'caller', 'other');
    };
    return { cluster, provider, one, other, call };
  }

  it('use the share of one that died after its lease', async () => {
    const { cluster, provider, one, other, call } = createTwo(1_000);
    await run(cluster, 3_000, { perSecond: 20, call });
    one.kill();
    await run(cluster, 40_000, { perSecond: 20, call });
    await run(cluster, 1_000);
    // Half of the limit was the share of the one that died.
    expect(provider.current().sentBy.get('other')).to.equal(860);
    expect(other.counts).to.deep.include({ overdrawn: { caller: 0, background: 0, formula: 0 } });
    expect(provider.current().refused).to.equal(0);
  });

  it('give one that was frozen beyond its lease no more than one that has just begun', async () => {
    const { cluster, provider, one, other, call } = createTwo(1_000);
    await run(cluster, 3_000, { perSecond: 20, call });
    one.freeze();
    await run(cluster, 10_000, { perSecond: 20, call: () => other.call(provider, 'caller', 'other') });
    one.thaw();
    expect(one.budgets.countHeld()).to.deep.equal({ shared: 0, alone: 0 });
    const before = one.counts.waited;
    for (let sent = 0; sent < 100; sent++) one.call(provider, 'caller', 'one');
    // A thirty-second of what it knew, at most.
    expect(one.counts.waited - before).to.be.at.least(100 - Math.floor(1_000 / 32));
    await run(cluster, 1_000);
    expect(one.budgets.countHeld()).to.deep.equal({ shared: 1, alone: 0 });
    expect(provider.current().sentBy.get('one')).to.equal(160);
  });

  it('use the share of one that has no more calls within three seconds', async () => {
    const { cluster, provider, one, other, call } = createTwo(400);
    await run(cluster, 1_000, { perSecond: 50, call });
    expect(one.budgets.countHeld()).to.deep.equal({ shared: 1, alone: 0 });
    await run(cluster, 3_000);
    expect(one.budgets.countHeld()).to.deep.equal({ shared: 0, alone: 0 });
    await run(cluster, 2_800, { perSecond: 100, call: () => other.call(provider, 'caller', 'other') });
    expect(other.counts.overdrawn.caller).to.equal(0);
    expect(provider.current().calls).to.be.within(370, 400);
  });

  it('tell each other of a refusal, so that background work of all of them waits', async () => {
    const cluster = createCluster();
    const [one, other] = [cluster.start(), cluster.start()];
    expect(one.gate.take(new AbortController().signal)).to.equal(undefined);
    one.gate.refused(one.gate.sent(), 30_000);
    await run(cluster, 100);
    expect(other.budgets.find(INSTANCE)).to.deep.equal({ limit: 1, remaining: 0, resetSeconds: 30 });
    await run(cluster, 30_000);
    expect(other.budgets.find(INSTANCE)).to.equal(undefined);
  });

  it('go on while the database fails, and share again when it is back', async () => {
    const cluster = createCluster();
    const provider = createProvider(cluster.clock, { limit: 600, windowMs: 60_000 });
    const all = [cluster.start(), cluster.start()];
    let succeeded = 0;
    let turn = 0;
    const call = () =>
      all[turn++ % 2]?.call(provider, 'caller', 'caller', (ok) => {
        if (ok) succeeded++;
      });
    await run(cluster, 3_000, { perSecond: 10, call });
    cluster.fail(true);
    await run(cluster, 20_000, { perSecond: 10, call });
    expect(all.map(({ budgets }) => budgets.countHeld().shared)).to.deep.equal([0, 0]);
    expect(succeeded).to.be.within(225, 230);
    cluster.fail(false);
    await run(cluster, 3_000, { perSecond: 10, call });
    expect(all.map(({ budgets }) => budgets.countHeld().shared)).to.deep.equal([1, 1]);
    expect(provider.current().refused).to.equal(0);
  });

  it('return their shares when they stop', async () => {
    const cluster = createCluster();
    const provider = createProvider(cluster.clock, { limit: 100, windowMs: 60_000 });
    const one = cluster.start();
    await run(cluster, 2_000, { perSecond: 10, call: () => one.call(provider, 'caller') });
    expect(Object.keys(cluster.rows.get('1:2')?.state.holders ?? {})).to.have.length(1);
    const stopped = one.budgets.stop();
    await run(cluster, 100);
    await stopped;
    expect(cluster.rows.get('1:2')?.state.holders).to.deep.equal({});
  });

  describe('of which there is only one', () => {
    it('never hold a caller, and need four statements for each lease at most', async () => {
      const cluster = createCluster();
      const provider = createProvider(cluster.clock, { limit: 100, windowMs: 60_000 });
      const one = cluster.start();
      await run(cluster, 10_000, { perSecond: 50, call: () => one.call(provider, 'caller') });
      // Ten may be under way, and the response to one of them comes within the latency.
      expect(one.counts.waited).to.equal(0);
      expect(provider.current().calls).to.be.greaterThan(490);
      expect(cluster.statements()).to.be.lessThan(20);
    });
  });
});
