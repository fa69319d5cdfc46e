import { expect } from 'chai';
import { AppError } from '../../src/errors.ts';
import { CHECKER_OPTIONS, type CheckerPorts, createChecker } from '../../src/schemas/checker.ts';
import { NO_USES } from '../../src/schemas/uses.ts';
import type { CheckResult, ClaimedCheck } from '../../src/schemas/watch-store.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { silentLog } from '../support/database.ts';
import { keepRuns } from '../support/runs.ts';
import { until } from '../support/until.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const CLAIMED: ClaimedCheck = {
  ...{ accountId: 1, instanceId: 2, isPartial: false, waits: 1, failures: 0 },
  ...{ lastSuccessAt: new Date(0), due: new Date(0), lease: 'mine' },
};

describe('a check of watched objects', () => {
  it('waits, and counts no failure, where the rest of the rate limit is for callers', async () => {
    const clock = createVirtualClock();
    const results: CheckResult[] = [];
    const outcomes: string[] = [];
    const unclaimed = [CLAIMED];
    const ports = {
      store: {
        nextDue: async () => undefined,
        list: async () => [],
        claim: async () => ({ claimed: unclaimed.splice(0), putOff: 0 }),
        finish: async (result: CheckResult) => void results.push(result),
      },
      resources: {
        rateLimitOf: () => undefined,
        inspect: async () => {
          throw new AppError('OVERLOADED', 'The rest is for callers.', { retryAfterSeconds: 30 });
        },
      },
      findUses: async () => new Map([['things', NO_USES]]),
      getInstances: async () => [{ accountId: 1, id: 2, name: 'x', connector: { key: 'odata', name: 'OData' } }],
      openRun: keepRuns(),
      noteChanged: async () => undefined,
      measures: { ended: (outcome: string) => void outcomes.push(outcome) },
      options: { ...CHECKER_OPTIONS, intervalMs: 86_400_000 },
    } as unknown as CheckerPorts;
    const checker = createChecker(
      { clock, log: silentLog, random: { fraction: () => 0.5 } as never, buckets: ALL_BUCKETS },
      ports,
    );
    checker.start();
    await clock.advance(CHECKER_OPTIONS.lookMs);
    await until(async () => results.length > 0);
    const [result] = results;
    expect(outcomes).to.deep.equal(['waited']);
    expect(result).to.include({ isGivenBack: true, hasWaited: true, error: undefined });
    expect(result?.nextDue.getTime()).to.be.within(clock.now(), clock.now() + 30_000);
    await checker.stop();
  });
});
