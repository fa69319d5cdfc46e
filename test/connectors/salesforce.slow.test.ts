import { describeSubject } from '#connector/suite';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED, WRITES } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator } from '../../connectors/salesforce/simulator.ts';

describeSubject('salesforce on an account where neither accents nor blanks count', async () => ({
  connector: salesforce,
  createSimulator: (options) => createSimulator({ ...options, text: 'ignoring accents and blanks' }),
  samples: { configuration: CONNECTED, writes: WRITES, ownTextOrder: true },
}));
