import { goOnInTurn } from '../pace.ts';
import { createWeighedCache, type WeighedCacheOptions } from './weighed-cache.ts';

/** Keeps what an expensive look-up found, so that it is made once for all who ask within a time. */
export interface Keeper<Found> {
  readonly get: (key: string, lookup: Lookup<Found>) => Promise<Found>;
}

export interface Lookup<Found> {
  /** Whose share of the memory it takes. */
  readonly owner: number;
  /** The caller's: whoever comes first makes the look-up, with it. */
  readonly signal: AbortSignal;
  readonly find: () => Promise<Weighed<Found>>;
}

/** `weight` in bytes, about. */
export interface Weighed<Found> {
  readonly found: Found;
  readonly weight: number;
}

export interface KeeperOptions extends WeighedCacheOptions {
  readonly keepMs: number;
  /** A failure that another try would only repeat is kept too, for a shorter time. */
  readonly keepFailureMs: number;
  readonly isLasting: (error: unknown) => boolean;
}

type Outcome<Found> = { readonly found: Found } | { readonly failure: unknown };

interface Running<Found> {
  readonly found: Promise<Found>;
  /** Of the caller who began it. */
  readonly signal: AbortSignal;
}

/** An error with its message and cause. */
const FAILURE_WEIGHT = 2000;

export function createKeeper<Found>(options: KeeperOptions): Keeper<Found> {
  const { now, keepMs, keepFailureMs, isLasting } = options;
  const kept = createWeighedCache<Outcome<Found>>(options);
  // Not lru-cache's own loads: those end for all with the signal of one, and belong to no owner while they last.
  const runningByKey = new Map<string, Running<Found>>();

  async function get(key: string, lookup: Lookup<Found>): Promise<Found> {
    const outcome = kept.get(key);
    if (outcome !== undefined) return settle(outcome);
    const running = runningByKey.get(key);
    return running === undefined ? start(key, lookup) : share(running, key, lookup);
  }

  function start(key: string, { owner, signal, find }: Lookup<Found>): Promise<Found> {
    const startedAtMs = now();
    const keep = (value: Outcome<Found>, weight: number, ms: number) =>
      kept.set(key, { value, owner, weight, untilMs: startedAtMs + ms });
    const found = find()
      .then(
        ({ found, weight }) => {
          keep({ found }, weight, keepMs);
          return found;
        },
        (failure: unknown) => {
          if (isLasting(failure)) keep({ failure }, FAILURE_WEIGHT, keepFailureMs);
          throw failure;
        },
      )
      .finally(() => runningByKey.delete(key));
    runningByKey.set(key, { found, signal });
    return found;
  }

  /** When the caller who began it hangs up, the others go on with a look-up of their own. */
  async function share(running: Running<Found>, key: string, lookup: Lookup<Found>): Promise<Found> {
    try {
      return await running.found;
    } catch (error) {
      if (running.signal.aborted && !lookup.signal.aborted) return get(key, lookup);
      throw error;
    } finally {
      await goOnInTurn();
    }
  }

  return { get };
}

function settle<Found>(outcome: Outcome<Found>): Found {
  if ('failure' in outcome) throw outcome.failure;
  return outcome.found;
}
