import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HealthyCommand, HealthySamples, HealthySetup, Phase } from './messages.ts';

/** The healthy tenant beside the hostile one. */
export interface Neighbour {
  readonly enter: (phase: Phase) => void;
  /** Returns the measurements of a phase, once everything that began in it has ended. */
  readonly take: (phase: Phase) => Promise<HealthySamples>;
  readonly stop: () => Promise<void>;
}

export async function startNeighbour(workerData: HealthySetup): Promise<Neighbour> {
  const worker = new Worker(new URL('healthy.ts', import.meta.url), { workerData });
  const tell = (command: HealthyCommand) => worker.postMessage(command);
  // Its first message says that it is ready, and each other one has the samples that were taken.
  await once(worker, 'message');
  return {
    enter: (phase) => tell({ kind: 'phase', phase }),
    take: async (phase) => {
      const taken = once(worker, 'message');
      tell({ kind: 'take', phase });
      const [samples]: HealthySamples[] = await taken;
      if (samples === undefined) throw new Error('The healthy tenant answered nothing');
      return samples;
    },
    stop: async () => void (await worker.terminate()),
  };
}
