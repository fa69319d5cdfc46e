import { CHECKS, describeSubject } from '#connector/suite';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED, WRITES } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator } from '../../connectors/salesforce/simulator.ts';
import { readEffort } from '../../suite/effort.ts';

/** The checks that depend on how texts compare. The others run in the suite of the connector. */
const OF_TEXTS = CHECKS.filter(({ name }) => /^(?:has enough rows|measures|returns|sorts)/.test(name));

describeSubject(
  'salesforce on an account where neither accents nor blanks count',
  async () => ({
    connector: salesforce,
    createSimulator: (options) => createSimulator({ ...options, text: 'ignoring accents and blanks' }),
    samples: { configuration: CONNECTED, writes: WRITES, ownTextOrder: true },
    effort: { ...readEffort(process.env, salesforce.key), pagedListings: 2 },
  }),
  OF_TEXTS,
);
