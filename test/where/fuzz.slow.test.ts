import { expect } from 'chai';
import fc from 'fast-check';
import { assertParserHolds, fuzzTexts } from './fuzzing.ts';

describe('the parser', () => {
  it('answers any text with a tree or with WHERE_SYNTAX', function fuzz() {
    this.timeout(60_000);
    let taken = 0;
    fc.assert(
      fc.property(fuzzTexts, (text) => {
        taken += assertParserHolds(text);
      }),
      { seed: 6, numRuns: 6000 },
    );
    // Texts that are never taken would not reach far into the grammar.
    expect(taken).to.be.greaterThan(100);
  });
});
