import { describeConnector } from '#connector/suite';
import servicenow from './index.ts';
import { WRITES } from './samples.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(servicenow, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: WRITES,
  ownTextOrder: true,
});
