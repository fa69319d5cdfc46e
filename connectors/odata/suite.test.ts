import { describeConnector } from '#connector/suite';
import odata from './index.ts';
import { WRITES } from './simulator/samples.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(odata, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: WRITES,
});
