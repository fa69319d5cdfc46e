/** Keeps what an expensive look-up found, so that it is made once for all who ask within a time. */
export interface Keeper<Key extends object, Found> {
  /** `signal` is the caller's: whoever comes first makes the look-up, with it. */
  readonly get: (key: Key, signal: AbortSignal, find: () => Promise<Found>) => Promise<Found>;
}

interface Kept<Found> {
  readonly found: Promise<Found>;
  readonly startedAtMs: number;
  /** Of the caller who began it. */
  readonly signal: AbortSignal;
}

/** `now` in milliseconds. */
export function createKeeper<Key extends object, Found>(now: () => number, keepMs: number): Keeper<Key, Found> {
  const keptByKey = new WeakMap<Key, Kept<Found>>();

  function get(key: Key, signal: AbortSignal, find: () => Promise<Found>): Promise<Found> {
    const kept = keptByKey.get(key);
    if (kept !== undefined && now() - kept.startedAtMs < keepMs) return share(kept, key, signal, find);
    const started = { found: find(), startedAtMs: now(), signal };
    keptByKey.set(key, started);
    // A failure is not kept: the next caller tries again. The failure itself goes to whoever awaits `found`.
    started.found.catch(() => {
      if (keptByKey.get(key) === started) keptByKey.delete(key);
    });
    return started.found;
  }

  /** When the caller who began it hangs up, the others go on with a look-up of their own. */
  async function share(kept: Kept<Found>, key: Key, signal: AbortSignal, find: () => Promise<Found>): Promise<Found> {
    try {
      return await kept.found;
    } catch (error) {
      if (kept.signal.aborted && !signal.aborted) return get(key, signal, find);
      throw error;
    }
  }

  return { get };
}
