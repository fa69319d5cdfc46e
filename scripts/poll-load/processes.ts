import { setTimeout as sleep } from 'node:timers/promises';
import { start } from '../event-load/processes.ts';
import type { NewestThing, Pace, ProviderCommand, ProviderReport, WorkerSetup } from './messages.ts';

export type Provider = Awaited<ReturnType<typeof startProvider>>;

/** The provider of the measurement and the receiver of its events, which ends with this process. */
export async function startProvider() {
  const child = await start<ProviderCommand>('../poll-load/provider.ts', {});
  return {
    url: child.url,
    /** `records` of each tenant. @returns of each tenant the newest */
    fill: (tenants: number, records: number) => child.ask<readonly NewestThing[]>({ kind: 'fill', tenants, records }),
    /** Records change from now on. */
    begin: (pace: Pace) => child.ask<void>({ kind: 'begin', pace }),
    end: () => child.ask<void>({ kind: 'end' }),
    report: () => child.ask<ProviderReport>({ kind: 'report' }),
    stop: child.kill,
  };
}

export type Worker = Awaited<ReturnType<typeof startWorker>>;

/** A worker of the service in a process of its own, which ends with this one. */
export async function startWorker(setup: WorkerSetup) {
  const child = await start<'stop'>('../poll-load/worker.ts', setup);
  return {
    /** In order. */
    stop: async () => {
      await child.ask<void>('stop');
      await child.kill();
    },
    kill: child.kill,
    /** It stands still for so long, as a machine does that is short of memory, and then goes on as if nothing had been. */
    freeze: async (ms: number) => {
      child.process.kill('SIGSTOP');
      await sleep(ms);
      child.process.kill('SIGCONT');
    },
  };
}
