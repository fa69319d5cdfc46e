import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { goOnInTurn } from '../pace.ts';

/** What an expensive look-up found, so that it is made once for all who ask within a time. */
export type Keep<Found> = (key: string, lookup: KeeperLookup<Found>) => Promise<Found>;

export interface KeeperLookup<Found> {
  /** Whose share of the memory it takes. The same for every look-up of a key. */
  readonly owner: number;
  /** The caller's: whoever comes first makes the look-up, with it. */
  readonly signal: AbortSignal;
  readonly find: () => Promise<Weighed<Found>>;
}

/** `weight` in bytes, about: a whole number above 0. */
export interface Weighed<Found> {
  readonly found: Found;
  readonly weight: number;
}

export interface KeptLimits {
  readonly keepMs: number;
  /** A failure that another try would only repeat is kept too, for a shorter time. */
  readonly keepFailureMs: number;
  readonly isLasting: (error: unknown) => boolean;
  /** Of all that is kept; the least recently read goes first to make room. */
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

/** What one owner has, in the order in which it was last read. */
interface Shelf {
  readonly keys: Set<string>;
  weight: number;
}

interface Running<Found> {
  readonly found: Promise<Found>;
  /** Of the caller who began it. */
  readonly signal: AbortSignal;
}

/** An error with its message and cause. */
const FAILURE_WEIGHT = 2000;

export function createKeeper<Found>(clock: Pick<Clock, 'steady'>, limits: KeptLimits): Keep<Found> {
  const { keepMs, keepFailureMs, isLasting, maxWeight, maxWeightOfOwner } = limits;
  const items = new LRUCache<string, Item<Found>>({
    maxSize: maxWeight,
    sizeCalculation: ({ weight }) => weight,
    disposeAfter: takeOffShelf,
  });
  // Plain sets: a cache of its own weighs 2 kB, as much as a failure that is kept, and there may be an owner for each.
  const shelves = new Map<number, Shelf>();
  // Not lru-cache's own loads: those end for all with the signal of one, and belong to no owner while they last.
  const runningByKey = new Map<string, Running<Found>>();

  async function get(key: string, lookup: KeeperLookup<Found>): Promise<Found> {
    const outcome = read(key);
    if (outcome !== undefined) return settle(outcome);
    const running = runningByKey.get(key);
    return running === undefined ? start(key, lookup) : share(running, key, lookup);
  }

  function start(key: string, { owner, signal, find }: KeeperLookup<Found>): Promise<Found> {
    const startedAtMs = clock.steady();
    const found = find()
      .then(
        ({ found, weight }) => {
          store(key, { outcome: { found }, owner, weight, untilMs: startedAtMs + keepMs });
          return found;
        },
        (failure: unknown) => {
          if (isLasting(failure))
            store(key, { outcome: { failure }, owner, weight: FAILURE_WEIGHT, untilMs: startedAtMs + keepFailureMs });
          throw failure;
        },
      )
      .finally(() => runningByKey.delete(key));
    runningByKey.set(key, { found, signal });
    return found;
  }

  /** When the caller who began it hangs up, the others go on with a look-up of their own. */
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

  /** @returns undefined when its time is over, or when it went to make room */
  function read(key: string): LoadOutcome<Found> | undefined {
    const item = items.get(key);
    if (item === undefined) return undefined;
    if (clock.steady() >= item.untilMs) {
      items.delete(key);
      return undefined;
    }
    const keys = shelves.get(item.owner)?.keys;
    keys?.delete(key);
    keys?.add(key);
    return item.outcome;
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

  return get;
}

function settle<Found>(outcome: LoadOutcome<Found>): Found {
  if ('failure' in outcome) throw outcome.failure;
  return outcome.found;
}
