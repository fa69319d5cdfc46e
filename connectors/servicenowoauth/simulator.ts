export { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, HOST } from '../servicenow/simulator.ts';

import { INSTANCE } from '../servicenow/simulator.ts';

/** One instance, whoever logs in. */
export const DEMO_CONFIGURATION = { 'company.name': INSTANCE };
