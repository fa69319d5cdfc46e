/** Bounds of an LRU cache that takes memory as it fills. With `max`, lru-cache allocates all of it when it is made. */
export function atMost(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
