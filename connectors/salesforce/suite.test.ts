import { describeConnector } from '#connector/suite';
import salesforce from './index.ts';
import { CONNECTED, WRITES } from './simulator/samples.ts';
import { createSimulator } from './simulator.ts';

describeConnector(salesforce, createSimulator, {
  folder: import.meta.dirname,
  // Salesforce alone evaluates filters on text.
  configuration: { ...CONNECTED, 'text.exact': true },
  writes: WRITES,
  ownTextOrder: true,
});
