import { Worker } from 'node:worker_threads';
import type { Config, SentWebhook } from '../contract.ts';
import type { ConnectorSources } from '../places.ts';

/** Running simulators: one port, each provider below `/<key>`. */
export interface Simulators {
  /** Without a slash at the end. */
  readonly url: string;
  readonly accounts: DemoAccounts;
  /** Where the webhooks of simulated providers go; those from before are lost. */
  readonly onWebhook: (send: (webhook: SentWebhook) => void) => void;
  readonly stop: () => Promise<void>;
}

export interface SimulatorsOptions {
  /** Undefined: they are not served, and only `accounts` are read. */
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

/** By the key of the element. */
export type DemoAccounts = Readonly<Record<string, DemoAccount>>;

/** What the thread reports once it listens. */
export interface Listening {
  readonly url: string;
  readonly accounts: DemoAccounts;
}

/** Serves the simulators from a thread of their own, so that a busy provider does not take time from the service. */
export async function startSimulators(options: SimulatorsOptions): Promise<Simulators> {
  const worker = startThread(options);
  const { url, accounts } = await firstMessage<Listening>(worker);
  return {
    url,
    accounts,
    onWebhook: (send) => void worker.on('message', send),
    stop: async () => {
      await worker.terminate();
    },
  };
}

/** The accounts of simulators that another process serves: that they stand in the same files is enough. */
export async function readDemoAccounts(sources: ConnectorSources): Promise<DemoAccounts> {
  const worker = startThread({ port: undefined, sources });
  try {
    return (await firstMessage<Pick<Listening, 'accounts'>>(worker)).accounts;
  } finally {
    await worker.terminate();
  }
}

function startThread(workerData: SimulatorsOptions): Worker {
  return new Worker(new URL('./thread.ts', import.meta.url), { workerData });
}

function firstMessage<Message>(worker: Worker): Promise<Message> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}
