import type { Clock } from '../../clock.ts';

/** The last change of a record, with its position in the log. */
export interface LoggedChange<Item> {
  readonly key: string;
  /** The number of the change, which grows with each change of any record. */
  readonly position: number;
  readonly atMs: number;
  readonly item: Item;
}

export type ChangeLog<Item> = ReturnType<typeof createChangeLog<Item>>;

/** Creates a log that has only the last change of each record, for providers that list the changes behind a token. */
export function createChangeLog<Item>(clock: Pick<Clock, 'now'>) {
  const changes = new Map<string, LoggedChange<Item>>();
  let position = 0;
  return {
    note: (key: string, item: Item): void => {
      // Deleted first, so that the map keeps the order of positions.
      changes.delete(key);
      changes.set(key, { key, position: ++position, atMs: clock.now(), item });
    },
    /** Returns the position of the last change. */
    position: (): number => position,
    /** Returns the changes behind a position, the oldest first; undefined for a position that the log never had. */
    behind: (from: number): readonly LoggedChange<Item>[] | undefined => {
      if (!Number.isInteger(from) || from < 0 || from > position) return undefined;
      return [...changes.values()].filter((change) => change.position > from);
    },
  };
}
