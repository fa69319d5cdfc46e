import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENDS_WITH_STARTER } from '../bench/running-service.ts';
import { createAsk } from './channel.ts';
import {
  type ChildMessage,
  type LoadOptions,
  type LoadReport,
  type ReceivedNumbers,
  type ReceiverCommand,
  type ReceiverReport,
  type SaturationOptions,
  SETUP_VARIABLE,
  type SenderCommand,
  type SenderSetup,
} from './messages.ts';

const READY_MS = 30_000;

/** Starts a program of this folder in a process that ends with this one. */
async function start<Command>(
  program: string,
  setup: object = {},
  onCommitted: (numbers: readonly number[]) => void = () => {},
  execArgv: readonly string[] = [],
) {
  const child = fork(join(import.meta.dirname, program), {
    env: { ...process.env, NODE_ENV: 'production', [SETUP_VARIABLE]: JSON.stringify(setup) },
    execArgv: [...ENDS_WITH_STARTER, ...execArgv],
  });
  const ready = Promise.withResolvers<string>();
  child.on('message', ({ url, committed }: ChildMessage) => {
    if (url !== undefined) ready.resolve(url);
    if (committed !== undefined) onCommitted(committed);
  });
  child.once('exit', (code, signal) => ready.reject(new Error(`${program} ended (${signal ?? code})`)));
  const timer = setTimeout(() => ready.reject(new Error(`${program} did not start in time`)), READY_MS);
  const url = await ready.promise.finally(() => clearTimeout(timer));
  return {
    url,
    ask: createAsk<Command>(child),
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    /** Stops the process for a time, as a machine does that is overloaded. */
    freeze: async (ms: number) => {
      child.kill('SIGSTOP');
      await sleep(ms);
      child.kill('SIGCONT');
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function startReceiver() {
  const child = await start<ReceiverCommand>('receiver.ts');
  return {
    url: child.url,
    behave: (path: string, behaviour: Extract<ReceiverCommand, { kind: 'behave' }>['behaviour']) =>
      child.ask<void>({ kind: 'behave', path, behaviour }),
    listen: (on: boolean) => child.ask<void>({ kind: 'listen', on }),
    report: (paths?: readonly string[]) =>
      child.ask<ReceiverReport>({ kind: 'report', ...(paths !== undefined && { paths }) }),
    numbers: () => child.ask<ReceivedNumbers>({ kind: 'numbers' }),
    stop: child.kill,
  };
}

export type Sender = Awaited<ReturnType<typeof startSender>>;

interface SenderOptions {
  readonly onCommitted?: (numbers: readonly number[]) => void;
  readonly execArgv?: readonly string[];
}

export async function startSender(setup: SenderSetup, { onCommitted, execArgv }: SenderOptions = {}) {
  const child = await start<SenderCommand>('sender.ts', setup, onCommitted, execArgv);
  await child.ask<void>({ kind: 'prepare' });
  return {
    load: (load: LoadOptions) => child.ask<LoadReport>({ kind: 'load', load }),
    saturate: (saturation: SaturationOptions) => child.ask<LoadReport>({ kind: 'saturate', saturation }),
    /** Stops gracefully, after everything is stored. */
    stop: () => child.ask<void>({ kind: 'stop' }),
    kill: child.kill,
    freeze: child.freeze,
  };
}
