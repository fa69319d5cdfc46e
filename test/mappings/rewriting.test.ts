import { expect } from 'chai';
import { tryRewriting } from './rewriting.ts';

describe('a filter on a mapped object', function rewriting() {
  this.timeout(60_000);

  it('finds the rows that a filter over all mapped rows finds', () => {
    const seen = tryRewriting(1500, 20);
    // Each way must be taken often, or the test says little.
    for (const [pushdown, times] of Object.entries(seen)) expect(times, pushdown).to.be.greaterThan(25);
  });
});
