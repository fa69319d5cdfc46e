import type { Clock } from '../../clock.ts';
import type { SimulatorMemory } from '../contract.ts';

/** A row of a table: a record in the provider's form. */
export type TableRow = Readonly<Record<string, unknown>>;

/** The rows of a table, and the values that it sets by itself. */
export interface TableOptions {
  readonly rows: readonly TableRow[];
  /** Returns the key of a row. Several columns can make one key. */
  readonly keyOf: (row: TableRow) => string;
  /** Returns the values of a new row that its creator left out, such as its id. Reading the rows before it copies all of them. */
  readonly initial?: (given: TableRow, rows: () => readonly TableRow[]) => TableRow;
  readonly stamps?: {
    readonly clock: Clock;
    readonly write: (ms: number) => unknown;
    readonly created: readonly string[];
    readonly changed: readonly string[];
  };
  /** Called after each change. */
  readonly onChange?: (change: TableChange) => void;
  /** The column that is true for a row in the recycle bin. Without it, a removed row is gone. */
  readonly deleted?: string;
  /** The values that a removal sets where rows stay but become inactive. */
  readonly retired?: TableRow;
  /** Returns the values that each change sets in addition, such as the next version of the row. */
  readonly touch?: (row: TableRow) => TableRow;
  /** Brings each row into the provider's form before it is stored. It must keep the key. */
  readonly shape?: (row: TableRow) => TableRow;
}

/** A change of a row. Without `before` the row was created, without `after` it was removed. */
export interface TableChange {
  readonly key: string;
  readonly before?: TableRow;
  readonly after?: TableRow;
}

/** A table of a simulated provider. */
export interface Table {
  /** Returns the rows in the order of their creation. Those in the recycle bin are included only on request. */
  readonly rows: (withDeleted?: boolean) => readonly TableRow[];
  /** Finds a row by its key, also in the recycle bin. */
  readonly find: (key: string) => TableRow | undefined;
  readonly keyOf: (row: TableRow) => string;
  readonly insert: (values: TableRow) => TableRow;
  /**
   * Changes a row.
   * @returns the changed row; undefined where there is none
   */
  readonly update: (key: string, values: TableRow) => TableRow | undefined;
  /**
   * Removes a row.
   * @returns the removed row; undefined where there is none
   */
  readonly remove: (key: string) => TableRow | undefined;
  /** A number that grows with every change. Data derived from an earlier version is stale. */
  readonly version: () => number;
}

/** Creates a table. */
export function createTable(options: TableOptions): Table {
  const { keyOf, initial = () => ({}), stamps, deleted, retired, touch = () => ({}), onChange } = options;
  const { shape = (row: TableRow) => row } = options;
  const byKey = new Map(options.rows.map((row) => [keyOf(row), shape(row)]));
  let version = 0;

  function put(given: TableRow): TableRow {
    const row = shape(given);
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

/** A table whose rows have ids of the provider. */
export interface KeptTableOptions extends Partial<Omit<TableOptions, 'keyOf'>> {
  /** Keeps the rows over a restart. */
  readonly memory?: SimulatorMemory | undefined;
  /** The column that is the id. Default `id`. */
  readonly key?: string;
  /** Returns the id of the row at an index. Without it, creators of rows name the id. */
  readonly makeId?: (index: number) => unknown;
}

/** Creates a table that can outlive a restart, such as that of registered webhooks. No id is given twice. */
export function createKeptTable({ memory, key = 'id', makeId, ...options }: KeptTableOptions): Table {
  const { rows = [], initial = () => ({}), onChange } = options;
  const saved: { readonly rows?: unknown; readonly next?: unknown } = Object(memory?.load());
  let next = typeof saved.next === 'number' ? saved.next : rows.length;
  const table: Table = createTable({
    ...options,
    rows: Array.isArray(saved.rows) ? saved.rows.map(Object) : rows,
    keyOf: (row) => String(row[key]),
    initial: (given, all) => ({ ...initial(given, all), ...(makeId && { [key]: makeId(next++) }) }),
    onChange: (change) => {
      memory?.save({ next, rows: table.rows(true) });
      onChange?.(change);
    },
  });
  return table;
}
