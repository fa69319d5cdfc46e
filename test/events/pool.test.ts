import { expect } from 'chai';
import fc from 'fast-check';
import { createPool } from '../../src/events/fairness.ts';

/** As many as there is room for, one after the other. @returns how many */
function takeAll(pool: ReturnType<typeof createPool>, accountId: number): number {
  const before = pool.usedBy(accountId);
  while (pool.room(accountId) > 0) pool.take(accountId);
  return pool.usedBy(accountId) - before;
}

describe('what all accounts share', () => {
  it('is half for one that is alone, and less for each that comes later', () => {
    const pool = createPool(1_024);
    expect([1, 2, 3, 4].map((accountId) => takeAll(pool, accountId))).to.deep.equal([512, 170, 57, 19]);
    expect(pool.free()).to.equal(266);
  });

  it('comes to equal parts when they give back and take again', () => {
    const pool = createPool(1_024);
    for (let round = 0; round < 30; round++) {
      for (const accountId of [1, 2, 3]) {
        pool.give(accountId, pool.usedBy(accountId) >> 1);
        takeAll(pool, accountId);
      }
    }
    for (const accountId of [1, 2, 3]) expect(pool.usedBy(accountId)).to.be.within(170, 260);
  });

  it('is taken at once or singly with the same end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 0, max: 5_000 }), (total, taken) => {
        const [singly, atOnce] = [createPool(total), createPool(total)];
        for (const pool of [singly, atOnce]) pool.take(1, Math.min(taken, total));
        atOnce.take(2, atOnce.room(2));
        takeAll(singly, 2);
        expect(atOnce.usedBy(2)).to.equal(singly.usedBy(2));
      }),
    );
  });

  it('leaves every other account its assured part, whatever 31 do, in whatever order', () => {
    const step = fc.record({
      accountId: fc.integer({ min: 1, max: 31 }),
      isGiven: fc.boolean(),
      amount: fc.integer({ min: 1, max: 600 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const pool = createPool(1_024);
        for (const { accountId, isGiven, amount } of steps) {
          if (isGiven) pool.give(accountId, Math.min(amount, pool.usedBy(accountId)));
          else pool.take(accountId, Math.min(amount, pool.room(accountId)));
        }
        expect(pool.room(99)).to.be.at.least(8);
        expect(pool.free()).to.be.at.least(8);
      }),
    );
  });

  it('has one for whoever comes first, however little there is', () => {
    for (const total of [1, 2, 3, 4, 10]) expect(createPool(total).room(1)).to.be.at.least(1);
    expect(createPool(0).room(1)).to.equal(0);
  });
});
