import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from './token-ledger.ts';
import type { Assignment, ChildMessage, ParentMessage } from './token-process.ts';

export interface FleetOptions {
  readonly size: number;
  /** At every step of every refresh. */
  readonly killChance: number;
  readonly assignment: Omit<Assignment, 'name'>;
  readonly ledger: Ledger;
  readonly onCredentialsFailed: (instanceId: number, reason: string) => void;
}

const PROGRAM = join(import.meta.dirname, 'token-process.ts');
const STOP_MS = 30_000;

/** Processes of which each that is killed is followed by a new one, until `stop`. */
export function startFleet(options: FleetOptions): { readonly stop: () => Promise<void> } {
  const { size, killChance, assignment, ledger } = options;
  const children = new Map<string, ChildProcess>();
  let started = 0;
  let isStopping = false;

  function startOne(): void {
    const name = `child-${++started}`;
    const child = fork(PROGRAM, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const send = (message: ParentMessage) => void (child.connected && child.send(message));
    children.set(name, child);
    ledger.living.add(name);
    child.on('message', (message: ChildMessage) => hear(name, child, message));
    child.once('exit', (code, signal) => {
      children.delete(name);
      ledger.living.delete(name);
      if (signal !== 'SIGKILL' && code !== 0) ledger.unexpected(`${name} ended with ${signal ?? code}`);
      if (!isStopping) startOne();
    });
    send({ kind: 'start', name, ...assignment });
  }

  function hear(name: string, child: ChildProcess, message: ChildMessage): void {
    if (message.kind === 'called') ledger.called(message.calls);
    else if (message.kind === 'failed') hearFailure(message);
    else hearStep(name, child, message);
  }

  function hearStep(name: string, child: ChildProcess, message: Extract<ChildMessage, { kind: 'step' }>): void {
    // What a killed process had said before is no step it took.
    if (!ledger.living.has(name)) return;
    ledger.stepsTaken[message.step]++;
    if (isStopping || Math.random() >= killChance) {
      if (child.connected) child.send({ kind: 'go', step: message.number } satisfies ParentMessage);
      return;
    }
    ledger.kills[message.step]++;
    ledger.living.delete(name);
    child.kill('SIGKILL');
  }

  function hearFailure({ instanceId, code, message }: Extract<ChildMessage, { kind: 'failed' }>): void {
    ledger.failed(code);
    if (code === 'INSTANCE_CREDENTIALS_FAILED') options.onCredentialsFailed(instanceId, message);
    else if (code !== 'PROVIDER_UNAVAILABLE') ledger.unexpected(message);
  }

  for (let count = 0; count < size; count++) startOne();
  return {
    /** Lets all refreshes end; what does not end in time is killed. */
    stop: async () => {
      isStopping = true;
      for (const child of children.values()) if (child.connected) child.send({ kind: 'stop' } satisfies ParentMessage);
      const deadline = performance.now() + STOP_MS;
      while (children.size > 0 && performance.now() < deadline) await sleep(50);
      for (const [name, child] of children) {
        ledger.unexpected(`${name} did not stop`);
        child.kill('SIGKILL');
      }
    },
  };
}
