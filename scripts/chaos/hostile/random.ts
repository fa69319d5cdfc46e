/** Random numbers that are the same for the same seed (mulberry32). */
export interface Random {
  /** Returns a number from 0, inclusive, to 1, exclusive. */
  readonly next: () => number;
  /** Returns a whole number between both ends, inclusive. */
  readonly between: (least: number, most: number) => number;
  readonly pick: <Item>(items: readonly [Item, ...Item[]]) => Item;
  readonly word: (length: number) => string;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    word: (length) => Array.from({ length }, () => String.fromCharCode(97 + between(0, 25))).join(''),
  };
}
