import { LRUCache } from 'lru-cache';

/** Values by key that together weigh no more than a process can hold, and those of one owner no more than its share. */
export interface WeighedCache<Value> {
  readonly set: (key: string, item: Item<Value>) => void;
  /** Undefined when its time is over, or when it went to make room: the least recently read goes first. */
  readonly get: (key: string) => Value | undefined;
}

export interface Item<Value> {
  readonly value: Value;
  /** The same for every value of a key. */
  readonly owner: number;
  /** In bytes, about: a whole number above 0. */
  readonly weight: number;
  /** On the clock of `now`. */
  readonly untilMs: number;
}

export interface WeighedCacheOptions {
  readonly now: () => number;
  readonly maxWeight: number;
  readonly maxWeightOfOwner: number;
}

/** What one owner has, in the order in which it was last read. */
interface Shelf {
  readonly keys: Set<string>;
  weight: number;
}

export function createWeighedCache<Value>(options: WeighedCacheOptions): WeighedCache<Value> {
  const { now, maxWeight, maxWeightOfOwner } = options;
  // Plain sets: a cache of its own weighs 2 kB, as much as a failure that is kept, and there may be an owner for each.
  const shelves = new Map<number, Shelf>();
  const items = new LRUCache<string, Item<Value>>({
    maxSize: maxWeight,
    sizeCalculation: ({ weight }) => weight,
    disposeAfter: takeOffShelf,
  });

  function takeOffShelf({ owner, weight }: Item<Value>, key: string): void {
    const shelf = shelves.get(owner);
    if (shelf === undefined) return;
    shelf.keys.delete(key);
    shelf.weight -= weight;
    if (shelf.keys.size === 0) shelves.delete(owner);
  }

  function putOnShelf({ owner, weight }: Item<Value>, key: string): void {
    const shelf = shelves.get(owner) ?? { keys: new Set(), weight: 0 };
    shelves.set(owner, shelf);
    shelf.keys.add(key);
    shelf.weight += weight;
    for (const oldest of shelf.keys) {
      if (shelf.weight <= maxWeightOfOwner) return;
      items.delete(oldest);
    }
  }

  return {
    set: (key, item) => {
      items.delete(key);
      if (item.weight > Math.min(maxWeight, maxWeightOfOwner)) return;
      putOnShelf(item, key);
      items.set(key, item);
    },

    get: (key) => {
      const item = items.get(key);
      if (item === undefined) return undefined;
      if (now() >= item.untilMs) {
        items.delete(key);
        return undefined;
      }
      const keys = shelves.get(item.owner)?.keys;
      keys?.delete(key);
      keys?.add(key);
      return item.value;
    },
  };
}
