import { Worker } from 'node:worker_threads';
import type { ConnectorSources } from '../connector-folders.ts';
import type { Config, SentWebhook } from '../contract.ts';

/** Running simulators: one port, with each provider below `/<key>`. */
export interface Simulators {
  /** The address of the simulators, without a slash at the end. */
  readonly url: string;
  readonly findAccount: FindDemoAccount;
  /** Sets the receiver of webhooks of simulated providers. Webhooks from before are lost. */
  readonly onWebhook: (send: (webhook: SentWebhook) => void) => void;
  readonly stop: () => Promise<void>;
}

/** The settings of the server of simulators. */
export interface SimulatorsOptions {
  /** The port to listen on. If undefined, the simulators are not served, and can only be queried for their accounts. */
  readonly port: number | undefined;
  /** The address under which clients reach them, if it is not this machine's own. Links in their responses contain it. */
  readonly url?: string | undefined;
  /** The connectors. Those with a `simulator.ts` are served. */
  readonly sources: ConnectorSources;
  /** The folder of the data that simulators keep over a restart, created when it is first needed. Without it they forget everything. */
  readonly memoryFolder?: string;
}

/** The address that simulators listen on: only this machine reaches them. */
export const SIMULATORS_HOST = '127.0.0.1';

/** The configuration of an instance on a simulator. It contains no secrets of anybody. */
export interface DemoAccount {
  readonly configuration: Config;
  /** The application that requests access, with OAuth. */
  readonly client?: { readonly id: string; readonly secret: string | undefined };
}

/** Finds the account of a simulator by the key of its element; undefined where there is no simulator. */
export type FindDemoAccount = (key: string) => Promise<DemoAccount | undefined>;

/** A message of the thread: first its address, then accounts and webhooks. */
export type SimulatorsMessage =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'account'; readonly key: string; readonly account: DemoAccount | undefined }
  | { readonly kind: 'fault'; readonly key: string; readonly message: string }
  | { readonly kind: 'webhook'; readonly webhook: SentWebhook };

/** Serves the simulators from a thread of their own, so that a busy provider does not slow down the service. */
export async function startSimulators(options: SimulatorsOptions): Promise<Simulators> {
  const worker = startThread(options);
  const { url } = await receive(worker, (message) => message.kind === 'listening' && message);
  return {
    url,
    findAccount: (key) => askForAccount(worker, key),
    onWebhook: (send) =>
      void worker.on('message', (message: SimulatorsMessage) => message.kind === 'webhook' && send(message.webhook)),
    stop: async () => {
      await worker.terminate();
    },
  };
}

/** Finds accounts of simulators that another process serves. That process must have the same files. */
export function demoAccountsOf(sources: ConnectorSources): FindDemoAccount {
  return async (key) => {
    const worker = startThread({ port: undefined, sources });
    try {
      return await askForAccount(worker, key);
    } finally {
      await worker.terminate();
    }
  };
}

/** Most simulators are small and seldom busy. Without this limit, each thread holds 30 MB of young objects. */
const MOST_YOUNG_MB = 16;

function startThread(workerData: SimulatorsOptions): Worker {
  return new Worker(new URL('./thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: MOST_YOUNG_MB },
  });
}

async function askForAccount(worker: Worker, key: string): Promise<DemoAccount | undefined> {
  const response = receive(
    worker,
    (message) => (message.kind === 'account' || message.kind === 'fault') && message.key === key && message,
  );
  worker.postMessage(key);
  const message = await response;
  if (message.kind === 'fault') throw new Error(message.message);
  return message.account;
}

/**
 * Returns the first message that matches.
 * @throws the error that ends the thread before it
 */
async function receive<Wanted>(worker: Worker, find: (message: SimulatorsMessage) => Wanted | false): Promise<Wanted> {
  const { promise, resolve, reject } = Promise.withResolvers<Wanted>();
  const look = (message: SimulatorsMessage) => {
    const found = find(message);
    if (found !== false) resolve(found);
  };
  const ended = () => reject(new Error('The thread of the simulators has ended.'));
  worker.on('message', look).once('error', reject).once('exit', ended);
  return promise.finally(() => worker.off('message', look).off('error', reject).off('exit', ended));
}
