import { expect } from 'chai';
import fc from 'fast-check';
import { createTopRows } from '../../src/resources/top-rows.ts';

describe('the first rows of an order', () => {
  it('are those of the sorted whole, equal ones as they came', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9)), fc.integer({ min: 1, max: 30 }), (keys, most) => {
        const rows = keys.map((key, index) => ({ key, index }));
        const top = createTopRows((a, b) => Number(a.key) - Number(b.key), most);
        for (const row of rows) top.add(row, 10);
        const expected = [...rows].sort((a, b) => a.key - b.key).slice(0, most);
        expect([top.count(), top.bytes()]).to.deep.equal([rows.length, expected.length * 10]);
        const taken = expected.map(() => top.takeLast());
        expect(taken.reverse()).to.deep.equal(expected);
        expect([top.takeLast(), top.bytes()]).to.deep.equal([undefined, 0]);
      }),
    );
  });
});
