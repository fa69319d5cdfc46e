import { expect } from 'chai';
import { runs, seedOr } from '../../suite/effort.ts';
import { tryRewriting } from './rewriting.ts';

const CASES = 200_000;
const PARTS = 8;

describe('a filter on a mapped object', function rewriting() {
  this.timeout(300_000);

  for (let part = 1; part <= PARTS; part++) {
    it(`finds the rows that a filter over all mapped rows finds, in many cases (${part} of ${PARTS})`, () => {
      const seen = tryRewriting(runs(CASES / PARTS), seedOr(100) + part);
      for (const [pushdown, times] of Object.entries(seen)) expect(times, pushdown).to.be.greaterThan(runs(1000));
    });
  }
});
