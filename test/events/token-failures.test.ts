import { expect } from 'chai';
import { createDispatcher } from '../../src/events/dispatch/dispatcher.ts';
import { DEFAULT_OPTIONS } from '../../src/events/options.ts';
import { createAgenda } from '../../src/events/sweep/agenda.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { ended, newLease, type Result } from '../support/outcomes.ts';

const HANGS = ended({ kind: 'failed', isHard: true });
const FAILS = ended({ kind: 'failed', isHard: false });

/** Returns the number of lanes that are held back, after one more push to a host at which three receivers hung. */
function blockedAfter(last: Result): number {
  const outcomes = { add: () => {}, hasRoom: () => true };
  const dispatcher = createDispatcher(createAgenda(ALL_BUCKETS), outcomes, DEFAULT_OPTIONS);
  const push = (subscriptionId: number, result: Result, nowMs: number) => {
    dispatcher.takeIn(newLease({ subscriptionId, host: 'h.example.com' }), nowMs);
    const lease = dispatcher.next(nowMs);
    if (lease === undefined) throw new Error('Nothing can be pushed.');
    dispatcher.end({ ...result, lease }, nowMs, nowMs + 1);
  };
  for (const [index, subscriptionId] of [1, 2, 3].entries()) push(subscriptionId, HANGS, 1_000 + index * 10);
  push(4, last, 2_000);
  return dispatcher.figures(2_002).blockedLanes;
}

describe('a failure of a token endpoint', () => {
  it('says nothing about the host of the receiver, which stays held back', () => {
    expect(blockedAfter(FAILS), 'a response of the host').to.equal(0);
    expect(blockedAfter({ ...FAILS, isElsewhere: true } as Result), 'a failure elsewhere').to.be.at.least(3);
  });
});
