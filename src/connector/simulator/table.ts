import type { Clock } from '../../clock.ts';

export type Row = Readonly<Record<string, unknown>>;

/** What the table keeps by itself. */
export interface TableOptions {
  readonly rows: readonly Row[];
  /** What a row is found by; several columns make one key. */
  readonly keyOf: (row: Row) => string;
  /** What a new row has that its maker did not say: an id, and what stays null. */
  readonly initial?: (given: Row, rows: readonly Row[]) => Row;
  readonly stamps?: {
    readonly clock: Clock;
    readonly write: (ms: number) => unknown;
    readonly created: readonly string[];
    readonly changed: readonly string[];
  };
  /** The column that is true for a row in the recycle bin. Without it, a row that is removed is gone. */
  readonly deleted?: string;
}

export interface Table {
  /** In the order they were made; those in the recycle bin only if they are asked for. */
  readonly rows: (withDeleted?: boolean) => readonly Row[];
  /** Also in the recycle bin. */
  readonly find: (key: string) => Row | undefined;
  readonly insert: (values: Row) => Row;
  /** @returns the changed row; undefined where there is none */
  readonly update: (key: string, values: Row) => Row | undefined;
  /** @returns what was removed; undefined where there was nothing */
  readonly remove: (key: string) => Row | undefined;
  /** Grows with every change: what was made of the rows before it is out of date. */
  readonly version: () => number;
}

export function createTable(options: TableOptions): Table {
  const { keyOf, initial = () => ({}), stamps, deleted } = options;
  const byKey = new Map(options.rows.map((row) => [keyOf(row), row]));
  let version = 0;

  function put(row: Row): Row {
    byKey.set(keyOf(row), row);
    version++;
    return row;
  }

  function stamp(columns: readonly string[] = []): Row {
    const at = stamps?.write(stamps.clock.now());
    return Object.fromEntries(columns.map((column) => [column, at]));
  }

  const update: Table['update'] = (key, values) => {
    const row = byKey.get(key);
    return row && put({ ...row, ...values, ...stamp(stamps?.changed) });
  };

  return {
    rows: (withDeleted = false) => {
      const rows = [...byKey.values()];
      return withDeleted || deleted === undefined ? rows : rows.filter((row) => row[deleted] !== true);
    },
    find: (key) => byKey.get(key),
    insert: (values) => {
      const given = { ...initial(values, [...byKey.values()]), ...values };
      return put({
        ...given,
        ...(deleted && { [deleted]: false }),
        ...stamp(stamps?.created),
        ...stamp(stamps?.changed),
      });
    },
    update,
    remove: (key) => {
      const row = byKey.get(key);
      if (row === undefined || deleted !== undefined) return row && update(key, { [deleted ?? '']: true });
      byKey.delete(key);
      version++;
      return row;
    },
    version: () => version,
  };
}
