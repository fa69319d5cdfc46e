import type { Clock } from '../../clock.ts';

export type TableRow = Readonly<Record<string, unknown>>;

/** What the table keeps by itself. */
export interface TableOptions {
  readonly rows: readonly TableRow[];
  /** What a row is found by; several columns make one key. */
  readonly keyOf: (row: TableRow) => string;
  /** What a new row has that its maker did not say: an id, and what stays null. The rows before it cost a copy of them all. */
  readonly initial?: (given: TableRow, rows: () => readonly TableRow[]) => TableRow;
  readonly stamps?: {
    readonly clock: Clock;
    readonly write: (ms: number) => unknown;
    readonly created: readonly string[];
    readonly changed: readonly string[];
  };
  /** Told after each change. */
  readonly onChange?: (change: TableChange) => void;
  /** The column that is true for a row in the recycle bin. Without it, a row that is removed is gone. */
  readonly deleted?: string;
  /** What a removal changes where rows stay: they are made inactive. */
  readonly retired?: TableRow;
  /** What each change sets beside what it says, such as the next version of the row. */
  readonly touch?: (row: TableRow) => TableRow;
}

/** Without `before` the row was made, without `after` it was removed. */
export interface TableChange {
  readonly key: string;
  readonly before?: TableRow;
  readonly after?: TableRow;
}

export interface Table {
  /** In the order they were made; those in the recycle bin only if they are asked for. */
  readonly rows: (withDeleted?: boolean) => readonly TableRow[];
  /** Also in the recycle bin. */
  readonly find: (key: string) => TableRow | undefined;
  readonly keyOf: (row: TableRow) => string;
  readonly insert: (values: TableRow) => TableRow;
  /** @returns the changed row; undefined where there is none */
  readonly update: (key: string, values: TableRow) => TableRow | undefined;
  /** @returns what was removed; undefined where there was nothing */
  readonly remove: (key: string) => TableRow | undefined;
  /** Grows with every change: what was made of the rows before it is out of date. */
  readonly version: () => number;
}

export function createTable(options: TableOptions): Table {
  const { keyOf, initial = () => ({}), stamps, deleted, retired, touch = () => ({}), onChange } = options;
  const byKey = new Map(options.rows.map((row) => [keyOf(row), row]));
  let version = 0;

  function put(row: TableRow): TableRow {
    const key = keyOf(row);
    const before = byKey.get(key);
    byKey.set(key, row);
    version++;
    const isRemoval = deleted !== undefined && row[deleted] === true && before?.[deleted] !== true;
    onChange?.({ key, ...(before && { before }), ...(!isRemoval && { after: row }) });
    return row;
  }

  function stamp(columns: readonly string[] = []): TableRow {
    const at = stamps?.write(stamps.clock.now());
    return Object.fromEntries(columns.map((column) => [column, at]));
  }

  const update: Table['update'] = (key, values) => {
    const row = byKey.get(key);
    return row && put({ ...row, ...values, ...touch(row), ...stamp(stamps?.changed) });
  };

  return {
    rows: (withDeleted = false) => {
      const rows = [...byKey.values()];
      return withDeleted || deleted === undefined ? rows : rows.filter((row) => row[deleted] !== true);
    },
    find: (key) => byKey.get(key),
    keyOf,
    insert: (values) => {
      const given = { ...initial(values, () => [...byKey.values()]), ...values };
      return put({
        ...given,
        ...(deleted && { [deleted]: false }),
        ...stamp(stamps?.created),
        ...stamp(stamps?.changed),
      });
    },
    update,
    remove: (key) => {
      if (retired !== undefined) return update(key, retired);
      const row = byKey.get(key);
      if (row === undefined || deleted !== undefined) return row && update(key, { [deleted ?? '']: true });
      byKey.delete(key);
      version++;
      onChange?.({ key, before: row });
      return row;
    },
    version: () => version,
  };
}
