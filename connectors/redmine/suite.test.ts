import { describeConnector } from '#connector/suite';
import redmine from './index.ts';
import { WRITES } from './simulator/samples.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(redmine, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: WRITES,
});
