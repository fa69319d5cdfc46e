import { expect } from 'chai';
import { createOutcomeQueue, type DeliveryOutcome } from '../../src/events/outcomes/outcome-queue.ts';
import { newLease } from '../support/outcomes.ts';

const LIMITS = {
  outcomeBatchRows: 3,
  outcomeDelayMs: 5,
  outcomesInFlight: 2,
  maxPendingOutcomes: 100,
  storeRetryMs: { shortest: 50, longest: 150 },
};

type Queue = ReturnType<typeof createOutcomeQueue>;

function queueOf(accountIds: readonly number[], { perAccount = true } = {}): Queue {
  const queue = createOutcomeQueue(LIMITS);
  if (perAccount) queue.storePerAccount();
  addTo(queue, accountIds);
  return queue;
}

function addTo(queue: Queue, accountIds: readonly number[]): void {
  for (const accountId of accountIds)
    queue.add({ kind: 'released', lease: newLease({ accountId }), dueAt: new Date(0) });
}

/** Takes all batches that may be stored at this time, as the engine does. */
function takeAt(queue: Queue, steadyMs: number): (readonly DeliveryOutcome[])[] {
  queue.nextAtMs(steadyMs);
  queue.ripen(steadyMs);
  const batches: (readonly DeliveryOutcome[])[] = [];
  for (let batch = queue.take(); batch !== undefined; batch = queue.take()) batches.push(batch);
  return batches;
}

const accountsOf = (batches: readonly (readonly DeliveryOutcome[])[]) =>
  batches.map((batch) => batch.map(({ lease }) => lease.accountId));

/** Stores all outcomes except those of the accounts that are down, and returns the accounts of each batch with its time. */
function storeUntil(queue: Queue, { untilMs, down }: { untilMs: number; down: ReadonlySet<number> }) {
  const tries: [number, readonly number[]][] = [];
  for (let nowMs = 0; nowMs <= untilMs; nowMs++) {
    for (const batch of takeAt(queue, nowMs)) {
      tries.push([nowMs, batch.map(({ lease }) => lease.accountId)]);
      const isDown = batch.some(({ lease }) => down.has(lease.accountId));
      queue.settle(batch, isDown ? batch : [], nowMs);
    }
  }
  return tries;
}

describe('the queue of outcomes', () => {
  it('stores those of all accounts together, after a short time or when a batch is full', () => {
    const queue = queueOf([1, 2], { perAccount: false });
    expect(takeAt(queue, 0)).to.deep.equal([]);
    expect(queue.nextAtMs(1)).to.equal(5);
    expect(accountsOf(takeAt(queue, 5))).to.deep.equal([[1, 2]]);
    addTo(queue, [1, 2, 1]);
    expect(accountsOf(takeAt(queue, 6))).to.deep.equal([[1, 2, 1]]);
  });

  it('stores those of each account apart where it must, with accounts in turns and a limited number of writes', () => {
    const queue = queueOf([2, 1, 1, 3, 1, 1]);
    expect(takeAt(queue, 0)).to.deep.equal([]);
    const [first = [], second = []] = takeAt(queue, 5);
    expect(accountsOf([first, second])).to.deep.equal([[2], [1, 1, 1]]);
    queue.settle(first, [], 6);
    addTo(queue, [2, 3]);
    const [third = []] = takeAt(queue, 6);
    expect(accountsOf([third])).to.deep.equal([[3, 3]]);
    queue.settle(second, [], 7);
    expect(accountsOf(takeAt(queue, 7))).to.deep.equal([[1]]);
    queue.settle(third, [], 8);
    expect(accountsOf(takeAt(queue, 8))).to.deep.equal([[2]]);
  });

  it('stores those of one account at once while those of another cannot be stored, which are tried ever less often', () => {
    const queue = queueOf([1, 2, 1]);
    const down = new Set([1]);
    expect(storeUntil(queue, { untilMs: 20, down })).to.deep.equal([
      [5, [1, 1]],
      [5, [2]],
    ]);
    addTo(queue, [2, 1]);
    const tries = storeUntil(queue, { untilMs: 600, down });
    expect(tries.filter(([, accounts]) => accounts.includes(2))).to.deep.equal([[5, [2]]]);
    expect(tries.filter(([, accounts]) => accounts.includes(1))).to.deep.equal([
      [55, [1, 1, 1]],
      [155, [1, 1, 1]],
      [305, [1, 1, 1]],
      [455, [1, 1, 1]],
    ]);
    expect(queue.isEmpty()).to.equal(false);
  });

  it('tries one of the accounts that cannot be stored at a time, and all of them when one could be stored again', () => {
    const queue = queueOf([1, 2, 3]);
    expect(storeUntil(queue, { untilMs: 160, down: new Set([1, 2, 3]) })).to.deep.equal([
      [5, [1]],
      [5, [2]],
      [6, [3]],
      [55, [1]],
      [155, [2]],
    ]);
    const [batch = [], ...others] = takeAt(queue, 305);
    expect([accountsOf([batch]), others]).to.deep.equal([[[3]], []]);
    queue.settle(batch, [], 306);
    expect(accountsOf(takeAt(queue, 306))).to.deep.equal([[1], [2]]);
  });

  it('stores everything without waiting when the process stops', () => {
    const queue = queueOf([1, 2]);
    takeAt(queue, 0);
    queue.hurry();
    expect(accountsOf([queue.take() ?? [], queue.take() ?? []])).to.deep.equal([[1], [2]]);
  });
});
