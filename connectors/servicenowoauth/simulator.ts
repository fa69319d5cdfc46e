export { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, HOST } from '../servicenow/simulator.ts';

import { INSTANCE } from '../servicenow/simulator.ts';

/** Configuration of an instance on this simulator. The simulated instance is the same for both log-ins. */
export const DEMO_CONFIGURATION = { 'company.name': INSTANCE };
