import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { goOnInTurn } from '../src/pace.ts';

describe('goOnInTurn', () => {
  it('lets a few of those who waited for the same go on in each turn, in their order', async () => {
    await nextTurn();
    const shared = Promise.withResolvers<void>();
    let wentOn = 0;
    const order: number[] = [];
    const all = Array.from({ length: 40 }, async (_, n) => {
      await shared.promise;
      await goOnInTurn();
      wentOn++;
      order.push(n);
    });
    shared.resolve();
    const perTurn: number[] = [];
    while (wentOn < all.length) {
      const before = wentOn;
      await nextTurn();
      perTurn.push(wentOn - before);
    }
    expect(Math.max(...perTurn)).to.be.at.most(8);
    await Promise.all(all);
    expect(order).to.deep.equal(Array.from({ length: 40 }, (_, n) => n));
  });
});
