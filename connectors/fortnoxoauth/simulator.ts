export { ACCESS_TOKEN as DEMO_ACCESS_TOKEN, CLIENTS, createSimulator } from '../fortnox/simulator.ts';

/** Configuration of an instance on this simulator. The simulated company is the same for both log-ins. */
export const DEMO_CONFIGURATION = {};
