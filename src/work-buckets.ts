/** Number of buckets. More processes than this cannot share the due work. */
export const BUCKETS = 32;

/**
 * The buckets in which this process looks for due work of all kinds: deliveries, polls, executions and schedules of formulas, bulk jobs and
 * checks of schemas. Each row falls into one by an id, so that a large account is worked by several processes. A bucket only says who looks
 * for a row; the lease of the row says who works on it. So two processes that both look in one bucket do no harm.
 */
export interface Buckets {
  /** Numbers of the buckets. */
  readonly held: () => readonly number[];
  /** Returns whether this process looks for rows with this id. */
  readonly has: (id: number) => boolean;
  /** Calls each time when this process gets more buckets, in which work may be due already. */
  readonly onGained: (listener: () => void) => void;
}

/** Returns the bucket of an id. */
export function bucketOf(id: number): number {
  return id % BUCKETS;
}

/** Returns the condition that the id of a row falls into one of the bound buckets, which are an array. */
export function inBuckets(id: string): string {
  return `mod(${id}, ${BUCKETS}) = any(?::bigint[])`;
}

export type WorkBuckets = ReturnType<typeof createWorkBuckets>;

/** Creates the buckets of a process, which has none before they are set. */
export function createWorkBuckets() {
  const held = new Set<number>();
  const listeners: (() => void)[] = [];
  return {
    held: (): readonly number[] => [...held],
    has: (id: number) => held.has(bucketOf(id)),
    onGained: (listener: () => void) => void listeners.push(listener),
    /** Sets the buckets of this process. */
    set: (buckets: ReadonlySet<number>): void => {
      const gains = buckets.difference(held).size > 0;
      held.clear();
      for (const bucket of buckets) held.add(bucket);
      if (gains) for (const listener of listeners) listener();
    },
  } satisfies Buckets & Record<string, unknown>;
}
