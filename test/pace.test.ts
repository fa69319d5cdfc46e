import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { goOnInTurn } from '../src/pace.ts';

describe('goOnInTurn', () => {
  it('lets a few of those who waited for the same go on at once, and then one a turn', async () => {
    await nextTurn();
    const shared = Promise.withResolvers<void>();
    let wentOn = 0;
    const all = Array.from({ length: 40 }, async () => {
      await shared.promise;
      await goOnInTurn();
      wentOn++;
    });
    shared.resolve();
    const perTurn: number[] = [];
    while (wentOn < all.length) {
      const before = wentOn;
      await nextTurn();
      perTurn.push(wentOn - before);
    }
    expect(perTurn[0]).to.be.at.most(9);
    expect(Math.max(...perTurn.slice(1))).to.equal(1);
    await Promise.all(all);
  });
});
