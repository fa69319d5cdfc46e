/** Returns the bounds of an LRU cache that allocates memory as it fills. With `max`, lru-cache allocates all of it at once. */
export function atMost(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
