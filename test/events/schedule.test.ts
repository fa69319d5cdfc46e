import { expect } from 'chai';
import fc from 'fast-check';
import { retryDueAt, SCHEDULES } from '../../src/events/push/schedule.ts';

const seconds = (ms: readonly number[]) => ms.map((one) => one / 1000);
const noJitter = () => 0;
const FAILED_AT_MS = Date.UTC(2026, 0, 5, 12);

describe('the retry schedule', () => {
  it('makes 5 retries at 8, 72, 584, 4680 and 34160 s after the original failure', () => {
    expect(seconds(SCHEDULES[5].offsetsMs)).to.deep.equal([8, 72, 584, 4_680, 34_160]);
  });

  it('makes 9 retries whose last is at 34160 s too', () => {
    expect(seconds(SCHEDULES[9].offsetsMs)).to.deep.equal([8, 72, 584, 4_680, 10_576, 16_472, 22_368, 28_264, 34_160]);
  });

  it('takes its times from the original failure, whatever the attempts took', () => {
    const nowMs = FAILED_AT_MS + 23_000;
    const dueMs = retryDueAt({
      schedule: SCHEDULES[5],
      retry: 2,
      firstFailedAtMs: FAILED_AT_MS,
      nowMs,
      random: noJitter,
    });
    expect(dueMs - FAILED_AT_MS).to.equal(72_000);
  });

  it('delays a retry by at most a thousandth of its interval, and the last not at all', () => {
    const due = (retry: number) =>
      retryDueAt({
        schedule: SCHEDULES[9],
        retry,
        firstFailedAtMs: FAILED_AT_MS,
        nowMs: FAILED_AT_MS,
        random: () => 0.9999,
      }) - FAILED_AT_MS;
    expect(due(3)).to.be.within(584_001, 584_512);
    expect(due(9)).to.equal(34_160_000);
  });

  it('keeps 8 s between retries that are all overdue after a standstill', () => {
    const nowMs = FAILED_AT_MS + 40_000_000;
    const dueMs = retryDueAt({
      schedule: SCHEDULES[5],
      retry: 3,
      firstFailedAtMs: FAILED_AT_MS,
      nowMs,
      random: noJitter,
    });
    expect(dueMs).to.equal(nowMs + 8_000);
  });

  it('lets Retry-After delay a retry', () => {
    const input = { schedule: SCHEDULES[5], retry: 1, firstFailedAtMs: FAILED_AT_MS, nowMs: FAILED_AT_MS };
    expect(retryDueAt({ ...input, retryAfterMs: 60_000, random: noJitter })).to.equal(FAILED_AT_MS + 60_000);
    expect(retryDueAt({ ...input, retryAfterMs: 1_000, random: noJitter })).to.equal(FAILED_AT_MS + 8_000);
  });

  it('ends with the schedule even if every answer asks for a year', () => {
    const schedule = SCHEDULES[5];
    let nowMs = FAILED_AT_MS;
    for (let retry = 1; retry <= 5; retry++) {
      nowMs = retryDueAt({
        schedule,
        retry,
        firstFailedAtMs: FAILED_AT_MS,
        nowMs,
        retryAfterMs: 3e10,
        random: Math.random,
      });
    }
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
        const schedule = SCHEDULES[9];
        const nowMs = FAILED_AT_MS + elapsedMs;
        const dueMs = retryDueAt({
          schedule,
          retry,
          firstFailedAtMs: FAILED_AT_MS,
          nowMs,
          retryAfterMs,
          random: () => random,
        });
        expect(dueMs).to.be.at.least(nowMs + 8_000);
        expect(dueMs).to.be.at.least(Math.min(FAILED_AT_MS + (schedule.offsetsMs[retry - 1] ?? 0), dueMs));
        expect(dueMs).to.be.at.most(Math.max(FAILED_AT_MS + 34_160_000, nowMs + 8_000));
      }),
    );
  });

  it('refuses a retry that the schedule does not have', () => {
    const input = { schedule: SCHEDULES[5], firstFailedAtMs: 0, nowMs: 0, random: noJitter };
    expect(() => retryDueAt({ ...input, retry: 6 })).to.throw(RangeError, 'The schedule has no retry 6');
  });
});
