import { parentPort, workerData } from 'node:worker_threads';
import type { SentWebhook } from '../contract.ts';
import type { SimulatorsMessage, SimulatorsOptions } from './index.ts';
import { accountOf, findSimulators, listen } from './server.ts';

const { port, ...options }: SimulatorsOptions = workerData;
const report = (message: SimulatorsMessage) => parentPort?.postMessage(message);
const simulators = await findSimulators(options.sources);

parentPort?.on('message', async (key: string) => {
  try {
    const module = await simulators.find(key);
    report({ kind: 'account', key, account: module && accountOf(module) });
  } catch (error) {
    report({ kind: 'fault', key, message: error instanceof Error ? error.message : String(error) });
  }
});

if (port !== undefined) {
  const send = (webhook: SentWebhook) => report({ kind: 'webhook', webhook });
  const { url } = await listen({ ...options, port, send }, simulators);
  report({ kind: 'listening', url });
}
