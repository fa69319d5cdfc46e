export { ACCESS_TOKEN as DEMO_ACCESS_TOKEN, CLIENTS, createSimulator } from '../fortnox/simulator.ts';

/** One company, whoever logs in. */
export const DEMO_CONFIGURATION = {};
