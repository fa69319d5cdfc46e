export { ACCESS_TOKEN as DEMO_ACCESS_TOKEN, CLIENTS, createSimulator } from '../fortnox/simulator.ts';

/** The simulated company, which is the same for both ways to log in. */
export const DEMO_CONFIGURATION = {};
