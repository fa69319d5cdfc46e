import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { goOnInTurn } from '../pace.ts';

/** Returns the result of an expensive look-up. The look-up runs once for all callers within a time. */
interface Keep<Found> {
  (key: string, lookup: KeeperLookup<Found>): Promise<Found>;
  /** Drops the cached results of an owner whose keys begin with the text. */
  readonly forget: (owner: number, prefix: string) => void;
}

/** A look-up and its owner. */
interface KeeperLookup<Found> {
  /** The account whose share of the memory the result uses. It must be the same for every look-up of a key. */
  readonly owner: number;
  /** The caller's signal. The first caller's look-up runs with it. */
  readonly signal: AbortSignal;
  readonly find: () => Promise<Weighed<Found>>;
  /** Whether a cached result is not used. The new one takes its place, but a failure does not replace a good result. */
  readonly isFresh?: boolean | undefined;
}

/** A result with its approximate memory in bytes: a whole number above 0. */
export interface Weighed<Found> {
  readonly found: Found;
  readonly weight: number;
}

/** Limits of the cached results. */
export interface KeptLimits {
  readonly keepMs: number;
  /** Number of milliseconds for which a failure is cached that another attempt would only repeat. */
  readonly keepFailureMs: number;
  readonly isLasting: (error: unknown) => boolean;
  /** Maximum memory of all cached results in bytes. The least recently read is dropped first. */
  readonly maxWeight: number;
  readonly maxWeightOfOwner: number;
}

type LoadOutcome<Found> = { readonly found: Found } | { readonly failure: unknown };

interface Item<Found> {
  readonly outcome: LoadOutcome<Found>;
  readonly owner: number;
  readonly weight: number;
  readonly untilMs: number;
}

/** The results of one owner, in the order in which they were last read. */
interface Shelf {
  readonly keys: Set<string>;
  weight: number;
}

interface Running<Found> {
  readonly found: Promise<Found>;
  /** The signal of the caller who started it. */
  readonly signal: AbortSignal;
}

/** The memory of an error with its message and cause. */
const FAILURE_WEIGHT = 2000;

/** Creates a cache of look-ups. */
export function createKeeper<Found>(clock: Pick<Clock, 'steady'>, limits: KeptLimits): Keep<Found> {
  const { keepMs, keepFailureMs, isLasting, maxWeight, maxWeightOfOwner } = limits;
  const items = new LRUCache<string, Item<Found>>({
    maxSize: maxWeight,
    sizeCalculation: ({ weight }) => weight,
    disposeAfter: takeOffShelf,
  });
  // Plain sets: a cache per owner would need 2 kB, as much as a cached failure, and there may be many owners.
  const shelves = new Map<number, Shelf>();
  // Not lru-cache's own loads: those end for all callers with the signal of one, and belong to no owner while they run.
  const runningByKey = new Map<string, Running<Found>>();

  async function get(key: string, lookup: KeeperLookup<Found>): Promise<Found> {
    const item = lookup.isFresh === true ? undefined : items.get(key);
    if (item !== undefined && clock.steady() < item.untilMs) {
      const { outcome, owner } = item;
      const keys = shelves.get(owner)?.keys;
      keys?.delete(key);
      keys?.add(key);
      if ('failure' in outcome) throw outcome.failure;
      return outcome.found;
    }
    if (item !== undefined) items.delete(key);
    const running = runningByKey.get(key);
    return running === undefined ? start(key, lookup) : share(running, key, lookup);
  }

  function start(key: string, { owner, signal, find }: KeeperLookup<Found>): Promise<Found> {
    const startedAtMs = clock.steady();
    const isCurrent = () => runningByKey.get(key) === running;
    const found = find()
      .then(
        ({ found, weight }) => {
          if (isCurrent()) store(key, { outcome: { found }, owner, weight, untilMs: startedAtMs + keepMs });
          return found;
        },
        (failure: unknown) => {
          // After a fresh look-up that failed, others still use the good result from before.
          if (isCurrent() && isLasting(failure) && !hasFound(key))
            store(key, { outcome: { failure }, owner, weight: FAILURE_WEIGHT, untilMs: startedAtMs + keepFailureMs });
          throw failure;
        },
      )
      .finally(() => {
        if (isCurrent()) runningByKey.delete(key);
      });
    const running: Running<Found> = { found, signal };
    runningByKey.set(key, running);
    return found;
  }

  function hasFound(key: string): boolean {
    const item = items.peek(key);
    return item !== undefined && 'found' in item.outcome && clock.steady() < item.untilMs;
  }

  /** When the caller who started the look-up leaves, the others continue with a look-up of their own. */
  async function share(running: Running<Found>, key: string, lookup: KeeperLookup<Found>): Promise<Found> {
    try {
      return await running.found;
    } catch (error) {
      if (running.signal.aborted && !lookup.signal.aborted) return get(key, lookup);
      throw error;
    } finally {
      await goOnInTurn();
    }
  }

  function store(key: string, item: Item<Found>): void {
    items.delete(key);
    if (item.weight > Math.min(maxWeight, maxWeightOfOwner)) return;
    putOnShelf(key, item);
    items.set(key, item);
  }

  function putOnShelf(key: string, { owner, weight }: Item<Found>): void {
    const shelf = shelves.get(owner) ?? { keys: new Set(), weight: 0 };
    shelves.set(owner, shelf);
    shelf.keys.add(key);
    shelf.weight += weight;
    for (const oldest of shelf.keys) {
      if (shelf.weight <= maxWeightOfOwner) return;
      items.delete(oldest);
    }
  }

  function takeOffShelf({ owner, weight }: Item<Found>, key: string): void {
    const shelf = shelves.get(owner);
    if (shelf === undefined) return;
    shelf.keys.delete(key);
    shelf.weight -= weight;
    if (shelf.keys.size === 0) shelves.delete(owner);
  }

  function forget(owner: number, prefix: string): void {
    for (const key of [...(shelves.get(owner)?.keys ?? [])]) if (key.startsWith(prefix)) items.delete(key);
    // What is being looked up may be from before, so only those who wait for it already receive it.
    for (const key of runningByKey.keys()) if (key.startsWith(prefix)) runningByKey.delete(key);
  }

  return Object.assign(get, { forget });
}
