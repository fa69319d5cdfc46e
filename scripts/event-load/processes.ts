import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
const ENDS_WITH_STARTER = join(import.meta.dirname, '../ends-with-starter.cjs');

export interface Child<Command> {
  readonly process: ChildProcess;
  readonly url: string;
  readonly ask: <Result>(command: Command) => Promise<Result>;
  readonly kill: () => Promise<void>;
  /** Stops the process for a time, as a machine does that is overloaded. */
  readonly freeze: (ms: number) => Promise<void>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a program of this folder in a process that ends with this one. */
export async function start<Command>(
  program: string,
  setup: object,
  onCommitted: (numbers: readonly number[]) => void = () => {},
  execArgv: readonly string[] = [],
): Promise<Child<Command>> {
  const environment = { ...process.env, NODE_ENV: 'production', [SETUP_VARIABLE]: JSON.stringify(setup) };
  const child = fork(join(import.meta.dirname, program), {
    env: environment,
    execArgv: ['--require', ENDS_WITH_STARTER, ...execArgv],
  });
  running.add(child);
  const ready = Promise.withResolvers<string>();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  child.on('message', (message: ChildMessage) => {
    if (message.kind === 'ready') ready.resolve(message.url ?? '');
    else if (message.kind === 'committed') onCommitted(message.numbers);
    else settle(message);
  });
  child.once('exit', (code, signal) => {
    running.delete(child);
    const error = new Error(`${program} ended (${signal ?? code})`);
    ready.reject(error);
    for (const { reject } of waiting.values()) reject(error);
  });

  function settle(message: Extract<ChildMessage, { kind: 'answer' | 'failure' }>): void {
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === 'answer') asked?.resolve(message.value);
    else asked?.reject(new Error(message.message));
  }

  const timer = setTimeout(() => ready.reject(new Error(`${program} did not start in time`)), READY_MS);
  const url = await ready.promise.finally(() => clearTimeout(timer));
  return {
    process: child,
    url,
    ask: async <Result>(command: Command) => {
      const id = ++lastId;
      const asked = Promise.withResolvers<unknown>();
      waiting.set(id, asked);
      child.send({ id, command: command as object });
      return (await asked.promise) as Result;
    },
    kill: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
    freeze: async (ms) => {
      child.kill('SIGSTOP');
      await sleep(ms);
      child.kill('SIGCONT');
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function startReceiver() {
  const child = await start<ReceiverCommand>('receiver.ts', {});
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

export async function startSender(
  setup: SenderSetup,
  {
    onCommitted,
    execArgv,
  }: { readonly onCommitted?: (numbers: readonly number[]) => void; readonly execArgv?: readonly string[] } = {},
) {
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
