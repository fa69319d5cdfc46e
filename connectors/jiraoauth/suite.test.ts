import { describeConnector, loggedIn } from '#connector/suite';
import { WRITES } from '../jira/samples.ts';
import jira from './index.ts';
import { CLIENTS, CLOUD_ID, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(jira, createSimulator, {
  folder: import.meta.dirname,
  // The instance reads the id of the site by itself, and the suite does not.
  configuration: { ...DEMO_CONFIGURATION, 'jira.cloud.id': CLOUD_ID, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: WRITES,
});
