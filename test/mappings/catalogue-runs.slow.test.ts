import { readdirSync } from 'node:fs';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { assertNone, catalogueOf, createTally, type RunEffort, runMapping } from './catalogue-runs.ts';
import { startSimulated } from './simulated.ts';

const EFFORT: RunEffort = { literals: 3, local: 4, sorted: 4, got: 5, paged: 40 };

/** Objects that the demo accounts lack. */
const ABSENT = ['salesforce leads'];

describe('the catalogue on the simulators', () => {
  for (const key of process.env.ONLY?.split(',') ?? readdirSync(OWN_CONNECTORS)) {
    describe(key, function runs() {
      this.timeout(600_000);

      it('maps rows, filters, orders, pages and records as it says', async () => {
        const simulated = await startSimulated(key);
        const tally = createTally();
        const faults: string[] = [];
        try {
          for (const mapping of await catalogueOf(key)) {
            if (ABSENT.includes(`${key} ${mapping.objectName}`)) continue;
            faults.push(...(await runMapping(simulated, mapping, { effort: EFFORT, tally })));
          }
        } finally {
          await simulated.stop();
        }
        console.log(key, JSON.stringify(tally));
        assertNone(faults);
      });
    });
  }
});
