import { CLOUD_ID } from '../jira/simulator.ts';

export { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN } from '../jira/simulator.ts';

/** The configuration of an instance on this simulator. The simulated site is the same for both log-ins. */
export const DEMO_CONFIGURATION = { 'jira.site': 'demo', 'jira.cloud.id': CLOUD_ID };
