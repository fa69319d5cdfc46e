import { parentPort, workerData } from 'node:worker_threads';
import type { SentWebhook } from '../contract.ts';
import type { SimulatorsOptions } from './index.ts';
import { listen, loadAccounts } from './server.ts';

const { port, ...options }: SimulatorsOptions = workerData;
const send = (webhook: SentWebhook) => parentPort?.postMessage(webhook);

if (port === undefined) {
  parentPort?.postMessage({ accounts: await loadAccounts(options.sources) });
} else {
  const { url, accounts } = await listen({ ...options, port, send });
  parentPort?.postMessage({ url, accounts });
}
