/** Id of a JSON-RPC request. */
export type CallId = string | number;

/** The calls of tools that run in this process, so that a notification in another request can cancel one. */
export function createRunningCalls() {
  const running = new Map<string, Set<AbortController>>();

  return {
    /** Registers a call of an access key. @returns a function that ends the registration */
    add: (keyId: number, id: CallId, controller: AbortController): (() => void) => {
      const name = nameOf(keyId, id);
      const calls = running.get(name) ?? new Set();
      running.set(name, calls.add(controller));
      return () => {
        calls.delete(controller);
        if (calls.size === 0) running.delete(name);
      };
    },

    /**
     * Cancels a call. Two programs with one key number their calls alike, so nothing is cancelled where several calls have the id: they
     * cancel by closing their connections.
     */
    cancel: (keyId: number, id: CallId): void => {
      const [call, ...others] = running.get(nameOf(keyId, id)) ?? [];
      if (others.length === 0) call?.abort();
    },
  };
}

function nameOf(keyId: number, id: CallId): string {
  return `${keyId} ${typeof id} ${id}`;
}
