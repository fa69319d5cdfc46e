import { expect } from 'chai';
import { chooseBy } from '../../../suite/soundness.ts';

describe('the literals of a claim that a seed chooses', () => {
  const items = Array.from({ length: 20 }, (_, index) => index);

  it('are the first one, and others in their order', () => {
    for (let seed = 0; seed < 50; seed++) {
      const chosen = chooseBy(seed, items, 3);
      expect(chosen).to.have.length(3);
      expect(chosen[0]).to.equal(0);
      expect([...new Set(chosen)].toSorted((a, b) => a - b)).to.deep.equal(chosen);
    }
  });

  it('are the same with the same seed, and all of them over many seeds', () => {
    expect(chooseBy(7, items, 2)).to.deep.equal(chooseBy(7, items, 2));
    const seen = new Set(Array.from({ length: 300 }, (_, seed) => chooseBy(seed, items, 2)).flat());
    expect(seen.size).to.equal(items.length);
  });

  it('are all of them if there are no more than asked for', () => {
    expect(chooseBy(7, items.slice(0, 2), 2)).to.deep.equal([0, 1]);
    expect(chooseBy(7, [], 2)).to.deep.equal([]);
  });
});
