import { expect } from 'chai';
import { assertNone, catalogueOf, createTally, type RunEffort, runMapping } from './catalogue-runs.ts';
import { startSimulated } from './simulated.ts';

const EFFORT: RunEffort = { literals: 1, local: 1, sorted: 1, got: 1, paged: 10 };

/** Lists of items with defaults. All mappings are tried in catalogue-runs.slow.test.ts. */
const TRIED = { quickbooks: ['bills'] };

describe('a mapping of the catalogue', function runs() {
  this.timeout(60_000);

  for (const [key, names] of Object.entries(TRIED)) {
    it(`maps rows, filters, orders, pages and records of ${key} as it says`, async () => {
      const simulated = await startSimulated(key);
      const tally = createTally();
      try {
        const mappings = (await catalogueOf(key)).filter(({ objectName }) => names.includes(objectName));
        expect(mappings).to.have.length(names.length);
        for (const mapping of mappings) assertNone(await runMapping(simulated, mapping, { effort: EFFORT, tally }));
      } finally {
        await simulated.stop();
      }
      expect(tally.rows).to.be.greaterThan(20);
      expect(tally.decisive).to.be.greaterThan(20);
    });
  }
});
