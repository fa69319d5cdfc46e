export { CLIENTS, CLOUD_ID, createSimulator, DEMO_ACCESS_TOKEN } from '../jira/simulator.ts';

/** The configuration of an instance on this simulator. The simulated site is the same for both log-ins. */
export const DEMO_CONFIGURATION = { 'jira.site': 'demo' };
