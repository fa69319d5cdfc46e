import { describeConnector, loggedIn } from '#connector/suite';
import { WRITES } from '../jira/samples.ts';
import jira from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(jira, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: WRITES,
});
