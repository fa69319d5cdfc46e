import { expect } from 'chai';
import { assertNone, createTally } from './catalogue-runs.ts';
import { tryRandomMappings } from './random-mappings.ts';
import { startSimulated } from './simulated.ts';

const EFFORT = { objects: 8, mappings: 15, filters: 12, seed: 11 };
const KEYS = ['keap', 'salesforce', 'odata', 'servicenow'];

describe('a random mapping', function runs() {
  this.timeout(600_000);

  for (const key of KEYS) {
    it(`of ${key} gives the transformed rows, and filters find those that match`, async () => {
      const simulated = await startSimulated(key);
      const tally = createTally();
      try {
        assertNone(await tryRandomMappings(simulated, { effort: EFFORT, tally }));
      } finally {
        console.log(JSON.stringify(tally));
        await simulated.stop();
      }
      expect(tally.decisive).to.be.greaterThan(200);
    });
  }
});
