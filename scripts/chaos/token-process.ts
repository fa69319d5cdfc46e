/**
 * A process that uses instances without pause until it is told to stop or killed, for `scripts/chaos/tokens.ts`. It
 * announces every step of a refresh to its parent and goes on when the parent says so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAppError } from '../../src/errors.ts';
import type { InstanceKey } from '../../src/instances/instance.ts';
import type { RefreshStep } from '../../src/instances/oauth/tokens/refresh.ts';
import { startTokenUser, type TokenUserOptions } from './token-user.ts';

/** What the parent sends first. */
export interface Assignment extends Omit<TokenUserOptions, 'onStep'> {
  readonly instances: readonly InstanceKey[];
}

export type ParentMessage =
  | ({ readonly kind: 'start' } & Assignment)
  | { readonly kind: 'go'; readonly step: number }
  | { readonly kind: 'stop' };

export type ChildMessage =
  | { readonly kind: 'step'; readonly step: RefreshStep; readonly number: number }
  | { readonly kind: 'failed'; readonly instanceId: number; readonly code: string; readonly message: string }
  | { readonly kind: 'called'; readonly calls: number };

const WORKERS = 10;
const REPORT_CALLS = 50;

if (process.send !== undefined) await listenToParent();

async function listenToParent(): Promise<void> {
  const waiting = new Map<number, () => void>();
  let steps = 0;
  let isStopping = false;
  const tell = (message: ChildMessage) => void process.send?.(message);

  function announce(step: RefreshStep): Promise<void> {
    const number = ++steps;
    return new Promise((resolve) => {
      waiting.set(number, resolve);
      tell({ kind: 'step', step, number });
    });
  }

  async function work({ instances, ...options }: Assignment): Promise<void> {
    const user = await startTokenUser({ ...options, onStep: announce });
    let calls = 0;
    const use = async () => {
      while (!isStopping) {
        const instance = instances[Math.floor(Math.random() * instances.length)];
        if (instance === undefined) return;
        const failure = await user.call(instance).then(() => undefined, describe);
        if (failure !== undefined) {
          tell({ kind: 'failed', instanceId: instance.id, ...failure });
          await sleep(20);
        }
        if (++calls % REPORT_CALLS === 0) tell({ kind: 'called', calls: REPORT_CALLS });
        await sleep(5);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, use));
    await user.close();
    process.disconnect();
  }

  process.on('message', (message: ParentMessage) => {
    if (message.kind === 'stop') isStopping = true;
    else if (message.kind === 'go') {
      waiting.get(message.step)?.();
      waiting.delete(message.step);
    } else work(message).catch((error) => tell({ kind: 'failed', instanceId: 0, ...describe(error) }));
  });
  process.on('disconnect', () => process.exit(0));
}

function describe(error: unknown): { readonly code: string; readonly message: string } {
  if (isAppError(error)) return { code: error.code, message: error.message };
  return { code: 'UNEXPECTED', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
