import type { Logger } from './log.ts';

/** The steps that undo a start. */
export interface Cleanup {
  readonly add: (what: string, stop: () => Promise<void>) => void;
  /** Runs the steps in reverse order. If one fails, the others still run. */
  readonly run: () => Promise<void>;
}

export function createCleanup(log: Logger): Cleanup {
  const steps: { readonly what: string; readonly stop: () => Promise<void> }[] = [];
  return {
    add: (what, stop) => void steps.push({ what, stop }),
    run: async () => {
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step.stop();
        } catch (error) {
          log.error({ err: error }, `stopping failed: ${step.what}`);
        }
      }
    },
  };
}
