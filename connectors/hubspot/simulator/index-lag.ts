import type { MovableClock, TableChange, TableRow } from '#connector/simulator';
import type { Of } from './records.ts';

/** The index of the search, which learns of changes later than the records. */
export function createIndex(clock: MovableClock, lagMs: number) {
  const waiting: { readonly name: string; readonly change: TableChange; readonly untilMs: number }[] = [];
  return {
    note: (name: string, change: TableChange): void => {
      if (lagMs > 0) waiting.push({ name, change, untilMs: clock.now() + lagMs });
    },
    /** Returns the rows as the index has them, in the order of their creation. Archived ones are never included. */
    rows: ({ name, table, keyOf }: Of): readonly TableRow[] => {
      const rows = new Map(table.rows().map((row) => [keyOf(row), row]));
      // The oldest change that the index does not know yet has the row that it knows.
      for (const { change } of waiting.filter((each) => each.name === name && each.untilMs > clock.now()).reverse()) {
        if (change.before === undefined) rows.delete(change.key);
        else rows.set(change.key, change.before);
      }
      return [...rows.values()];
    },
  };
}
