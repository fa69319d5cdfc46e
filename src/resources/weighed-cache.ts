/** Values that together weigh no more than a process can hold, and those of one owner no more than its share. */
export interface WeighedCache<Value> {
  readonly add: (item: Item<Value>) => Kept<Value>;
  /** Undefined when its time is over, or when it went to make room: the least recently read goes first. */
  readonly read: (kept: Kept<Value>) => Value | undefined;
}

export interface Item<Value> {
  readonly value: Value;
  readonly owner: number;
  /** In bytes, about. */
  readonly weight: number;
  /** On the clock of `now`. */
  readonly untilMs: number;
}

/** The cache's hold on a value: whoever has it can read the value, and does not keep it alive. */
export interface Kept<Value> {
  item: Item<Value> | undefined;
}

export interface WeighedCacheOptions {
  readonly now: () => number;
  readonly maxWeight: number;
  readonly maxWeightOfOwner: number;
}

/** Values in the order in which they were last read. */
interface Shelf<Value> {
  readonly kept: Set<Kept<Value>>;
  weight: number;
}

export function createWeighedCache<Value>(options: WeighedCacheOptions): WeighedCache<Value> {
  const all: Shelf<Value> = { kept: new Set(), weight: 0 };
  const byOwner = new Map<number, Shelf<Value>>();

  function shelvesOf(owner: number): readonly Shelf<Value>[] {
    const own = byOwner.get(owner) ?? { kept: new Set(), weight: 0 };
    byOwner.set(owner, own);
    return [own, all];
  }

  function drop(kept: Kept<Value>): void {
    const { item } = kept;
    if (item === undefined) return;
    kept.item = undefined;
    for (const shelf of shelvesOf(item.owner)) {
      shelf.kept.delete(kept);
      shelf.weight -= item.weight;
    }
    if (byOwner.get(item.owner)?.kept.size === 0) byOwner.delete(item.owner);
  }

  function shrink(shelf: Shelf<Value>, maxWeight: number): void {
    for (const oldest of shelf.kept) {
      if (shelf.weight <= maxWeight) return;
      drop(oldest);
    }
  }

  return {
    add: (item) => {
      const kept: Kept<Value> = { item };
      const [own = all] = shelvesOf(item.owner);
      for (const shelf of [own, all]) {
        shelf.kept.add(kept);
        shelf.weight += item.weight;
      }
      shrink(own, options.maxWeightOfOwner);
      shrink(all, options.maxWeight);
      return kept;
    },

    read: (kept) => {
      const { item } = kept;
      if (item === undefined) return undefined;
      if (options.now() >= item.untilMs) {
        drop(kept);
        return undefined;
      }
      for (const shelf of shelvesOf(item.owner)) {
        shelf.kept.delete(kept);
        shelf.kept.add(kept);
      }
      return item.value;
    },
  };
}
