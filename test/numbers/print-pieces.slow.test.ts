import { expect } from 'chai';
import fc from 'fast-check';
import { isLarge, printPieces } from '../../src/numbers/print-pieces.ts';

describe('an answer that is printed in pieces', () => {
  it('is what JSON.stringify prints', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'large' }), fc.integer({ min: 1, max: 60 }), (value, size) => {
        expect([...printPieces(value, size)].join('')).to.equal(JSON.stringify(value));
      }),
      { numRuns: 300 },
    );
  });

  it('leaves out what JSON has no word for, and lets dates print themselves', () => {
    const value = { a: undefined, b: [undefined, () => 1, 'x'.repeat(20)], c: new Date(0), d: {}, e: { f: undefined } };
    expect([...printPieces(value, 1)].join('')).to.equal(JSON.stringify(value));
  });

  it('has pieces of about the size that was asked for', () => {
    const rows = Array.from({ length: 5000 }, (_, id) => ({ id, name: `Name ${id}`, address: { city: 'Ulm' } }));
    const pieces = [...printPieces(rows, 1000)];
    expect(Math.max(...pieces.map(({ length }) => length))).to.be.below(2200);
  });

  it('is looked through once, however deep a wide object lies', () => {
    let looks = 0;
    const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`m${n}`, n]));
    const watched: object = new Proxy(wide, {
      ownKeys: (target) => {
        looks++;
        return Reflect.ownKeys(target);
      },
    });
    let value = watched;
    for (let level = 0; level < 150; level++) value = { a: value };
    expect([...printPieces(value, 1000)].join('')).to.equal(JSON.stringify(value));
    // By the measuring, by the printing, and by JSON.stringify above.
    expect(looks).to.equal(3);
  });

  it('is large from the size of a piece on', () => {
    expect([isLarge(['x'.repeat(900)], 1000), isLarge(['x'.repeat(500), 'x'.repeat(500)], 1000)]).to.deep.equal([
      false,
      true,
    ]);
  });
});
