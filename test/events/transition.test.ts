import { expect } from 'chai';
import fc from 'fast-check';
import type { DeliverySettings, RetryCount } from '../../src/events/model.ts';
import { nextState, SCHEDULES, type ScheduleProgress, type Transition } from '../../src/events/push/schedule.ts';

const FIRST: ScheduleProgress = { retries: 0, firstFailedAtMs: undefined };
const RETRY_5: DeliverySettings = { failurePolicy: 'retry', retryCount: 5 };

interface Step {
  readonly progress: ScheduleProgress;
  readonly delivered?: boolean;
  readonly settings?: DeliverySettings;
  readonly nowMs: number;
}

function step({ progress, delivered = false, settings = RETRY_5, nowMs }: Step): Transition {
  return nextState({ progress, result: { delivered }, settings, schedules: SCHEDULES, nowMs, random: () => 0 });
}

/** When attempts are made of a delivery whose receiver never answers, from the original failure. */
function attemptTimes(retryCount: RetryCount): { readonly times: readonly number[]; readonly end: Transition } {
  const startMs = 1_000_000;
  const settings: DeliverySettings = { failurePolicy: 'retry', retryCount };
  const times: number[] = [];
  let nowMs = startMs;
  let progress = FIRST;
  for (;;) {
    times.push((nowMs - startMs) / 1000);
    const next = step({ progress, settings, nowMs });
    if (next.kind !== 'waiting') return { times, end: next };
    progress = next;
    nowMs = next.dueAtMs;
  }
}

describe('the state of a delivery', () => {
  const TIMES = {
    5: [0, 8, 72, 584, 4_680, 34_160],
    9: [0, 8, 72, 584, 4_680, 10_576, 16_472, 22_368, 28_264, 34_160],
  };
  for (const retries of [5, 9] as const) {
    it(`passes through the whole schedule of ${retries} retries to the second`, () => {
      const { times, end } = attemptTimes(retries);
      expect(times).to.deep.equal(TIMES[retries]);
      expect(end).to.deep.equal({ kind: 'queued', exhausted: true, retries, firstFailedAtMs: 1_000_000 });
    });
  }

  it('is delivered by any success', () => {
    expect(step({ progress: { retries: 4, firstFailedAtMs: 5 }, delivered: true, nowMs: 10 })).to.deep.equal({
      kind: 'delivered',
    });
  });

  it('is queued again under the policy queue, and the subscription stays active', () => {
    const settings: DeliverySettings = { failurePolicy: 'queue', retryCount: 5 };
    expect(step({ progress: FIRST, settings, nowMs: 10 })).to.include({ kind: 'queued', exhausted: false });
  });

  it('ends at the next failure when the retry count was lowered below what was made', () => {
    const progress = { retries: 6, firstFailedAtMs: 0 };
    expect(step({ progress, nowMs: 20_000_000 })).to.include({ kind: 'queued', exhausted: true, retries: 7 });
  });

  it('agrees with a model that only counts, whatever happens in whatever order', () => {
    const happenings = fc.array(
      fc.record({
        delivered: fc.boolean(),
        policy: fc.constantFrom('retry' as const, 'queue' as const),
        retryCount: fc.constantFrom(5 as const, 9 as const),
        lateMs: fc.integer({ min: 0, max: 100_000_000 }),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(happenings, (sequence) => {
        let progress = FIRST;
        let failures = 0;
        let nowMs = 1_000;
        for (const { delivered, policy, retryCount, lateMs } of sequence) {
          const next = step({ progress, delivered, settings: { failurePolicy: policy, retryCount }, nowMs });
          if (delivered) return void expect(next.kind).to.equal('delivered');
          failures++;
          const exhausted = policy === 'retry' && failures > retryCount;
          if (exhausted || policy === 'queue') return void expect(next).to.include({ kind: 'queued', exhausted });
          if (next.kind !== 'waiting') throw new Error(`waiting expected, not ${next.kind}`);
          expect(next).to.include({ retries: failures - 1, firstFailedAtMs: 1_000 });
          expect(next.dueAtMs).to.be.at.least(nowMs + 8_000);
          progress = next;
          nowMs = next.dueAtMs + lateMs;
        }
      }),
    );
  });
});
