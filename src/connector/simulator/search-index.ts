import type { Clock } from '../../clock.ts';
import type { Table, TableChange, TableRow } from './table.ts';

/** The index of a provider's search, which learns of changes later than its records. */
export interface SearchIndex {
  /** Notes a change of a table. Call it in `onChange` of collections. */
  readonly note: (name: string, change: TableChange) => void;
  /** Returns the rows as the index knows them, in the order of their creation. */
  readonly rows: (collection: { readonly name: string; readonly table: Table }) => readonly TableRow[];
}

interface Waiting {
  readonly name: string;
  readonly change: TableChange;
  readonly untilMs: number;
}

/** Creates an index that knows a change `lagMs` milliseconds later. */
export function createSearchIndex({ clock, lagMs }: { readonly clock: Clock; readonly lagMs: number }): SearchIndex {
  let waiting: readonly Waiting[] = [];

  /** Returns the first unknown change of each row. What was before it is what the index knows. */
  function unknownOf(name: string): ReadonlyMap<string, TableChange> {
    waiting = waiting.filter(({ untilMs }) => untilMs > clock.now());
    const ofTable = waiting.filter((each) => each.name === name);
    return new Map(ofTable.toReversed().map(({ change }) => [change.key, change]));
  }

  return {
    note: (name, change) => {
      if (lagMs > 0) waiting = [...waiting, { name, change, untilMs: clock.now() + lagMs }];
    },
    rows: ({ name, table }) => {
      const unknown = unknownOf(name);
      if (unknown.size === 0) return table.rows();
      const shown = new Set(table.rows());
      const known = table.rows(true).flatMap((row): readonly TableRow[] => {
        const change = unknown.get(table.keyOf(row));
        if (change === undefined) return shown.has(row) ? [row] : [];
        return change.before === undefined ? [] : [change.before];
      });
      const gone = [...unknown.values()].flatMap(({ key, before }): readonly TableRow[] =>
        before !== undefined && table.find(key) === undefined ? [before] : [],
      );
      return [...known, ...gone];
    },
  };
}
