import type { Clock } from '../../clock.ts';
import type { Notifier } from '../../db/notifier.ts';
import type { ExecutionKey } from './model.ts';
import type { ResponseState, ResponseStore } from './response-store.ts';

interface ResponsePorts {
  readonly store: ResponseStore;
  readonly notifier: Notifier;
  readonly clock: Clock;
}

/** An execution for which a request waits. */
export interface AwaitedExecution extends ExecutionKey {
  readonly createdAt: Date;
}

/** Topic of the message that an awaited execution ended. Its payload is the id of the execution. */
const TOPIC = 'formula-answer';
/** Milliseconds between two looks at the database, for a message that was lost and an execution that was cancelled. */
const LOOK_MS = 2_000;

export type ResourceResponses = ReturnType<typeof createResourceResponses>;

/** Lets requests wait for the ends of executions, whichever process runs them. */
export function createResourceResponses({ store, notifier, clock }: ResponsePorts) {
  const waiting = new Map<number, Set<() => void>>();
  const wake = (id: number) => {
    for (const look of waiting.get(id) ?? []) look();
  };
  const endSubscription = notifier.subscribe(TOPIC, (payload) => wake(Number(payload)));

  /** Calls `look` whenever the execution may have ended. @returns a function that ends the calls */
  function listen(id: number, look: () => void): () => void {
    const listeners = waiting.get(id) ?? new Set();
    waiting.set(id, listeners.add(look));
    return () => {
      listeners.delete(look);
      if (listeners.size === 0) waiting.delete(id);
    };
  }

  return {
    /** Reports that an execution ended for which a request waits. */
    noteEnded: async (id: number): Promise<void> => {
      if (waiting.has(id)) wake(id);
      else await notifier.publish(TOPIC, String(id));
    },

    /**
     * Waits for the end of an execution.
     * @returns undefined if it has not ended in time
     * @throws the reason of the signal
     */
    wait: async (
      execution: AwaitedExecution,
      { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
    ): Promise<ResponseState | undefined> => {
      const endMs = clock.steady() + timeoutMs;
      let next = Promise.withResolvers<void>();
      const look = () => next.resolve();
      const endListening = listen(execution.id, look);
      signal.addEventListener('abort', look, { once: true });
      try {
        for (;;) {
          signal.throwIfAborted();
          // From here on, an end is not missed.
          next = Promise.withResolvers<void>();
          const state = await store.find(execution);
          if (state === undefined || state.hasResponse || isOver(state)) return state;
          const leftMs = endMs - clock.steady();
          if (leftMs <= 0) return undefined;
          const endWait = clock.after(Math.min(LOOK_MS, leftMs), look);
          await next.promise;
          endWait();
        }
      } finally {
        endListening();
        signal.removeEventListener('abort', look);
      }
    },

    stop: () => endSubscription(),
  };
}

/** Returns whether an execution was cancelled while it waited. It leaves no response. */
function isOver({ status }: ResponseState): boolean {
  return status === 'cancelled';
}
