import { Worker } from 'node:worker_threads';
import type { HealthyCommand, HealthyMessage, HealthySamples, HealthySetup, Phase } from './messages.ts';

/** The healthy tenant beside the hostile one. */
export interface Neighbour {
  readonly enter: (phase: Phase) => void;
  /** Returns the measurements of a phase, once everything that began in it has ended. */
  readonly take: (phase: Phase) => Promise<HealthySamples>;
  readonly stop: () => Promise<void>;
}

export async function startNeighbour(setup: HealthySetup): Promise<Neighbour> {
  const worker = new Worker(new URL('healthy.ts', import.meta.url), { workerData: setup });
  const tell = (command: HealthyCommand) => worker.postMessage(command);
  const next = (kind: HealthyMessage['kind']) =>
    new Promise<HealthyMessage>((resolve, reject) => {
      const listen = (message: HealthyMessage) => {
        if (message.kind !== kind) return;
        worker.off('message', listen).off('error', reject);
        resolve(message);
      };
      worker.on('message', listen).once('error', reject);
    });
  await next('ready');
  return {
    enter: (phase) => tell({ kind: 'phase', phase }),
    take: async (phase) => {
      const taken = next('taken');
      tell({ kind: 'take', phase });
      const message = await taken;
      if (message.kind !== 'taken') throw new Error('The healthy tenant answered something else');
      return message.samples;
    },
    stop: async () => void (await worker.terminate()),
  };
}
