import { parentPort, workerData } from 'node:worker_threads';
import type { Listening, SimulatorsOptions } from './index.ts';
import { listen } from './server.ts';

const options: SimulatorsOptions = workerData;
const listening: Listening = { port: (await listen(options)).port };
parentPort?.postMessage(listening);
