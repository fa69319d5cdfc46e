import { parentPort, workerData } from 'node:worker_threads';
import type { SentWebhook } from '../contract.ts';
import type { Listening, SimulatorsOptions } from './index.ts';
import { listen } from './server.ts';

const options: SimulatorsOptions = workerData;
const send = (webhook: SentWebhook) => parentPort?.postMessage(webhook);
const { port, accounts } = await listen({ ...options, send });
const listening: Listening = { port, accounts };
parentPort?.postMessage(listening);
