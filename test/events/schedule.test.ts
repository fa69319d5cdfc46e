import { expect } from 'chai';
import fc from 'fast-check';
import { retryDueAt, SCHEDULES } from '../../src/events/push/schedule.ts';

const FAILED_AT_MS = Date.UTC(2026, 0, 5, 12);

/** When the retry is due after the original failure, in ms; without jitter unless the test has some. */
function dueAfterMs(input: Partial<Parameters<typeof retryDueAt>[0]>): number {
  const given = { schedule: SCHEDULES[5], retry: 1, firstFailedAtMs: FAILED_AT_MS, nowMs: FAILED_AT_MS };
  return retryDueAt({ ...given, random: () => 0, ...input }) - FAILED_AT_MS;
}

describe('the retry schedule', () => {
  it('takes its times from the original failure, whatever the attempts took', () => {
    expect(dueAfterMs({ retry: 2, nowMs: FAILED_AT_MS + 23_000 })).to.equal(72_000);
  });

  it('delays a retry by at most a thousandth of its interval, and the last not at all', () => {
    const late = { schedule: SCHEDULES[9], random: () => 0.9999 };
    expect(dueAfterMs({ ...late, retry: 3 })).to.be.within(584_001, 584_512);
    expect(dueAfterMs({ ...late, retry: 9 })).to.equal(34_160_000);
  });

  it('keeps 8 s between retries that are all overdue after a standstill', () => {
    expect(dueAfterMs({ retry: 3, nowMs: FAILED_AT_MS + 40_000_000 })).to.equal(40_008_000);
  });

  it('lets Retry-After delay a retry', () => {
    expect(dueAfterMs({ retryAfterMs: 60_000 })).to.equal(60_000);
    expect(dueAfterMs({ retryAfterMs: 1_000 })).to.equal(8_000);
  });

  it('ends with the schedule even if every answer asks for a year', () => {
    let nowMs = FAILED_AT_MS;
    for (let retry = 1; retry <= 5; retry++)
      nowMs = FAILED_AT_MS + dueAfterMs({ retry, nowMs, retryAfterMs: 3e10, random: Math.random });
    expect(nowMs - FAILED_AT_MS).to.equal(34_160_000);
  });

  it('never makes a retry early, nor two within 8 s of each other', () => {
    const inputs = fc.record({
      retry: fc.integer({ min: 1, max: 9 }),
      elapsedMs: fc.integer({ min: 0, max: 50_000_000 }),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 100_000_000 }), { nil: undefined }),
      random: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    });
    fc.assert(
      fc.property(inputs, ({ retry, elapsedMs, retryAfterMs, random }) => {
        const [schedule, nowMs] = [SCHEDULES[9], FAILED_AT_MS + elapsedMs];
        const dueMs = dueAfterMs({ schedule, retry, nowMs, retryAfterMs, random: () => random });
        expect(dueMs).to.be.at.least(elapsedMs + 8_000);
        expect(dueMs).to.be.at.least(schedule.offsetsMs[retry - 1] ?? 0);
        expect(dueMs).to.be.at.most(Math.max(34_160_000, elapsedMs + 8_000));
      }),
    );
  });

  it('refuses a retry that the schedule does not have', () => {
    expect(() => dueAfterMs({ retry: 6 })).to.throw(RangeError, 'The schedule has no retry 6');
  });
});
