import type { Delivery } from './calls.ts';

/** The rows of a list that updates by itself. */
export interface LiveRows {
  readonly shown: readonly Delivery[];
  /** Number of newer rows that are held back while the user reads. */
  readonly keptBack: number;
  /** Ids of the rows that arrived last. */
  readonly fresh: ReadonlySet<number>;
}

export const NO_ROWS: LiveRows = { shown: [], keptBack: 0, fresh: new Set() };

/**
 * Takes newly requested rows into the list. @param newest the rows, newest first @param isHeld whether shown rows keep their places; only
 * their states are updated
 */
export function takeIn(last: LiveRows, newest: readonly Delivery[], isHeld: boolean): LiveRows {
  const oldest = last.shown.at(-1);
  const known = new Set(last.shown.map(({ id }) => id));
  // When newer rows were removed, older ones come into view. They are not new.
  const arrived = oldest === undefined ? [] : newest.filter(({ id }) => id > oldest.id && !known.has(id));
  if (isHeld && oldest !== undefined) {
    const byId = new Map(newest.map((row) => [row.id, row]));
    return { shown: last.shown.map((row) => byId.get(row.id) ?? row), keptBack: arrived.length, fresh: last.fresh };
  }
  const fresh = arrived.length === 0 ? last.fresh : new Set(arrived.map(({ id }) => id));
  return { shown: newest, keptBack: 0, fresh };
}
