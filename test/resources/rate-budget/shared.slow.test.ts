import { expect } from 'chai';
import fc from 'fast-check';
import { runs, seedOr } from '../../../suite/effort.ts';
import { createCluster, createProvider } from './processes.ts';

const STEP_MS = 20;

type Event = { readonly atMs: number } & (
  | { readonly kind: 'kill'; readonly who: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'outage'; readonly forMs: number }
);

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('kill' as const), atMs: fc.nat(12_000), who: fc.nat(9) }),
  fc.record({ kind: fc.constant('start' as const), atMs: fc.nat(12_000) }),
  fc.record({ kind: fc.constant('outage' as const), atMs: fc.nat(12_000), forMs: fc.nat(12_000) }),
);

const scenario = fc.record({
  limit: fc.integer({ min: 5, max: 300 }),
  windowMs: fc.constantFrom(1_000, 2_000, 5_000, 10_000, 30_000, 3_600_000),
  latencyMs: fc.integer({ min: 5, max: 400 }),
  processes: fc.integer({ min: 2, max: 5 }),
  workers: fc.integer({ min: 0, max: 6 }),
  callsPerSecond: fc.integer({ min: 0, max: 40 }),
  events: fc.array(event, { maxLength: 4 }),
});

describe('a rate limit that processes share', () => {
  it('is never exceeded by more than the calls that processes send before they have a share, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ limit, processes: count, workers, callsPerSecond, events, ...timing }) => {
        const cluster = createCluster();
        const { clock, extras } = cluster;
        const provider = createProvider(clock, { limit, ...timing });
        const all: ReturnType<typeof cluster.start>[] = [];
        const alone = new Set<number>();
        const start = () => {
          const one = cluster.start();
          all.push(one);
          for (let worker = 0; worker < workers; worker++) cluster.work(one, provider);
        };
        for (let one = 0; one < count; one++) start();
        const left = events.toSorted((a, b) => a.atMs - b.atMs);
        let due = 0;
        for (let ms = 0; ms < 15_000; ms += STEP_MS) {
          for (; (left[0]?.atMs ?? Number.POSITIVE_INFINITY) <= ms; left.shift()) {
            const [next] = left;
            if (next?.kind === 'kill') all[next.who % all.length]?.kill();
            if (next?.kind === 'start') start();
            if (next?.kind === 'outage') {
              cluster.fail(true);
              clock.after(next.forMs, () => cluster.fail(false));
            }
          }
          for (due += (callsPerSecond * STEP_MS) / 1000; due >= 1; due--) {
            all[Math.floor(ms / STEP_MS) % all.length]?.call(provider, 'caller');
          }
          await clock.advance(STEP_MS);
          const isAlone = all.some((one) => !one.isEnded() && one.budgets.countHeld().alone > 0);
          if (isAlone) alone.add(provider.current().startMs);
        }
        for (const { startMs, endMs, calls } of provider.windows()) {
          // A process that is alone sends all that its callers want.
          if (alone.has(startMs)) continue;
          // A call may have been sent in the window before.
          const sentFrom = startMs - timing.latencyMs;
          const without = extras.filter(({ atMs }) => atMs >= sentFrom && atMs < endMs).length;
          expect(calls, 'calls of a window').to.be.at.most(limit + without);
        }
      }),
      { seed: seedOr(1), numRuns: runs(500) },
    );
  });
});
