import { describeConnector } from '#connector/suite';
import jira from './index.ts';
import { WRITES } from './samples.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(jira, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: WRITES,
});
