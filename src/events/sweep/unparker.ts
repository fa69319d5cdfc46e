import type { Logger } from '../../log.ts';
import type { ClaimStore } from './claim-store.ts';

export interface UnparkerPorts {
  readonly unpark: ClaimStore['unpark'];
  /** They can be claimed now. */
  readonly onUnparked: () => void;
  readonly now: () => number;
  readonly log: Logger;
}

type ParkedLane = Parameters<ClaimStore['unpark']>[0][number];

/** Calls parked first attempts back: one statement at a time, however many receivers answer again at once. */
export function createUnparker({ unpark, onUnparked, now, log }: UnparkerPorts) {
  const waiting = new Map<number, ParkedLane>();
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.size > 0) {
      const lanes = [...waiting.values()];
      waiting.clear();
      try {
        await unpark(lanes, new Date(now()));
        onUnparked();
      } catch (error) {
        // They come by themselves when their pause is over.
        log.warn({ err: error }, 'could not call parked deliveries back');
      }
    }
    running = false;
  }

  return {
    add: (lanes: readonly ParkedLane[]): void => {
      for (const { accountId, subscriptionId } of lanes) waiting.set(subscriptionId, { accountId, subscriptionId });
      if (!running) void run();
    },
  };
}
