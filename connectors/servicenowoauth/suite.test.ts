import { type CreateSimulator, describeConnector, loggedIn } from '#connector/suite';
import { WRITES } from '../servicenow/samples.ts';
import servicenow from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

// ServiceNow's documents contradict each other about texts. This suite uses the reading that the suite of `servicenow` does not use.
const createOther: CreateSimulator = (options) =>
  createSimulator({ ...options, text: 'as written', wildcards: 'active' });

describeConnector(servicenow, createOther, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: WRITES,
  ownTextOrder: true,
});
