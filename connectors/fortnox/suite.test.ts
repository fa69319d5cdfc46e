import { describeConnector } from '#connector/suite';
import fortnox from './index.ts';
import { WRITES } from './samples.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(fortnox, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: WRITES,
});
