import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { assertNone, catalogueOf, createTally, type RunEffort, runMapping } from './catalogue-runs.ts';
import { startSimulated } from './simulated.ts';

const IS_FULL = process.env.CONFORMANCE === 'full';
/** Each field of each mapping is tried. Otherwise every second operator of it, so that two fields have all of them. */
const EFFORT: RunEffort = IS_FULL
  ? { literals: 2, local: 1, sorted: 2, got: 3, paged: 40 }
  : { literals: 1, operatorsEach: 2, local: 1, sorted: 1, got: 2, paged: 20 };

/** Objects that the demo accounts lack. */
const ABSENT = ['salesforce leads'];
/** Without mappings in the catalogue, or with the objects and the mappings of another connector, as catalogue.slow.test.ts shows. */
const LEFT_OUT = ['odata', 'fortnoxoauth', 'servicenowoauth'];

describe('the catalogue on the simulators', function runs() {
  this.timeout(600_000);
  const tally = createTally();
  let mappings = 0;

  for (const key of readdirSync(OWN_CONNECTORS).filter((each) => !LEFT_OUT.includes(each))) {
    it(`maps rows, filters, orders, pages and records of ${key} as it says`, async () => {
      const simulated = await startSimulated(key);
      const faults: string[] = [];
      try {
        for (const mapping of await catalogueOf(key)) {
          if (ABSENT.includes(`${key} ${mapping.objectName}`)) continue;
          faults.push(...(await runMapping(simulated, mapping, { effort: EFFORT, tally })));
          mappings++;
        }
      } finally {
        await simulated.stop();
      }
      assertNone(faults);
    });
  }

  // Filters that match all rows or none say little.
  it('was tried with filters that distinguish rows', () => {
    expect(mappings).to.equal(124);
    expect(tally.rows).to.be.greaterThan(4000);
    expect(tally.decisive).to.be.greaterThan(IS_FULL ? 10_000 : 2_500);
  });
});
