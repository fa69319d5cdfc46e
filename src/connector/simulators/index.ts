import { Worker } from 'node:worker_threads';
import type { ConnectorSources } from '../connector-folders.ts';
import type { Config, SentWebhook } from '../contract.ts';

/** Running simulators: one port, each provider below `/<key>`. */
export interface Simulators {
  /** Without a slash at the end. */
  readonly url: string;
  readonly findAccount: FindDemoAccount;
  /** Where the webhooks of simulated providers go; those from before are lost. */
  readonly onWebhook: (send: (webhook: SentWebhook) => void) => void;
  readonly stop: () => Promise<void>;
}

export interface SimulatorsOptions {
  /** Undefined: they are not served, and only asked for their accounts. */
  readonly port: number | undefined;
  /** Where they are reached, if not at this machine's own address. Their answers have links to it. */
  readonly url?: string | undefined;
  /** Of these connectors those with a `simulator.ts` are served. */
  readonly sources: ConnectorSources;
  /** Folder of what they remember over a restart, made when the first of them saves something. Without it they forget. */
  readonly memoryFolder?: string;
}

/** They are for this machine alone. */
export const SIMULATORS_HOST = '127.0.0.1';

/** What an instance on a simulator is set up with: it is no secret of anybody. */
export interface DemoAccount {
  readonly configuration: Config;
  /** With OAuth: the application that asks. */
  readonly client?: { readonly id: string; readonly secret: string | undefined };
}

/** By the key of the element; undefined where it has no simulator. */
export type FindDemoAccount = (key: string) => Promise<DemoAccount | undefined>;

/** What the thread reports: once where it listens, then what it is asked for and what its providers send. */
export type SimulatorsMessage =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'account'; readonly key: string; readonly account: DemoAccount | undefined }
  | { readonly kind: 'fault'; readonly key: string; readonly message: string }
  | { readonly kind: 'webhook'; readonly webhook: SentWebhook };

/** Serves the simulators from a thread of their own, so that a busy provider does not take time from the service. */
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

/** Those of simulators that another process serves: that they stand in the same files is enough. */
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

/** Most simulators are small and seldom busy: without a limit, each thread holds 30 MB of young objects. */
const MOST_YOUNG_MB = 16;

function startThread(workerData: SimulatorsOptions): Worker {
  return new Worker(new URL('./thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: MOST_YOUNG_MB },
  });
}

async function askForAccount(worker: Worker, key: string): Promise<DemoAccount | undefined> {
  const answer = receive(
    worker,
    (message) => (message.kind === 'account' || message.kind === 'fault') && message.key === key && message,
  );
  worker.postMessage(key);
  const message = await answer;
  if (message.kind === 'fault') throw new Error(message.message);
  return message.account;
}

/** The first message that is looked for. @throws what ends the thread before it */
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
