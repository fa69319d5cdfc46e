import { createHash } from 'node:crypto';
import { createTable, type MovableClock, type Table, type TableChange, type TableRow } from '#connector/simulator';
import { USERNAME } from './login.ts';
import { classesOf, columnsOf, schemaOf, TABLES } from './schema.ts';
import { printMoment } from './time.ts';

/** True for a row that the user may not see: it is counted, and then left out of the page it was on. */
export const HIDDEN = '(hidden)';

/** All tables of the instance. */
export interface Store {
  /** With the rows of what extends it; undefined where there is no such table. */
  readonly table: (name: string) => Table | undefined;
  /** By its id or, where references name it so, by its name. */
  readonly find: (name: string, id: unknown, key?: string) => TableRow | undefined;
}

export type Values = Readonly<Record<string, string | null>>;

export function idOf(table: string, index: number): string {
  return createHash('md5').update(`${table}:${index}`).digest('hex');
}

export function isVisible(row: TableRow): boolean {
  return row[HIDDEN] !== true;
}

/** @param tell of each change of a record that users see, as business rules are */
export function createStore(
  clock: MovableClock,
  rowsOf: (table: string) => readonly TableRow[],
  tell: (table: string, change: TableChange) => void,
): Store {
  const own = new Map<string, Table>();
  const audit = (table: string, row: TableRow) => {
    own.get('sys_audit_delete')?.insert({
      tablename: table,
      documentkey: row.sys_id,
      display_value: row[schemaOf(table).display ?? ''] ?? null,
    });
  };
  for (const name of Object.keys(TABLES)) own.set(name, createClass(name, { clock, rows: rowsOf(name), audit, tell }));
  const views = new Map(Object.keys(TABLES).map((name) => [name, viewOf(name, own)]));
  return {
    table: (name) => views.get(name),
    find: (name, id, key = 'sys_id') => {
      const table = views.get(name);
      if (key === 'sys_id') return table?.find(String(id));
      return table?.rows().find((row) => row[key] === id);
    },
  };
}

interface ClassOptions {
  readonly clock: MovableClock;
  readonly rows: readonly TableRow[];
  readonly audit: (table: string, row: TableRow) => void;
  readonly tell: (table: string, change: TableChange) => void;
}

/** What the instance itself fills in: ids, numbers, times, who did it, how often. */
function createClass(name: string, { clock, rows, audit, tell }: ClassOptions): Table {
  const columns = columnsOf(name);
  let made = rows.length;
  const table = createTable({
    rows,
    keyOf: ({ sys_id }) => String(sys_id),
    initial: () => ({
      ...initialsOf(name),
      sys_id: idOf(name, made++),
      sys_created_by: USERNAME,
      sys_updated_by: USERNAME,
    }),
    stamps: {
      clock,
      write: printMoment,
      created: ['sys_created_on'],
      changed: 'sys_updated_on' in columns ? ['sys_updated_on'] : [],
    },
    onChange: (change) => {
      const { before, after } = change;
      if (before !== undefined && after === undefined) audit(name, before);
      if (isVisible(after ?? before ?? {})) tell(name, change);
    },
  });
  return {
    ...table,
    update: (key, values) => {
      const count = Number(table.find(key)?.sys_mod_count ?? 0) + 1;
      return table.update(key, { ...values, sys_updated_by: USERNAME, sys_mod_count: String(count) });
    },
  };
}

/** Of every column of a new row. */
export function initialsOf(name: string): Values {
  const columns = columnsOf(name);
  const initial = Object.entries(columns).map(([column, { initial = null }]): [string, string | null] => [
    column,
    initial,
  ]);
  return { ...Object.fromEntries(initial), ...('sys_class_name' in columns && { sys_class_name: name }) };
}

/** A table as it is asked for: rows are found in all classes, and made in its own. */
function viewOf(name: string, own: ReadonlyMap<string, Table>): Table {
  const classes = classesOf(name).flatMap((each) => own.get(each) ?? []);
  const [first] = classes;
  if (first === undefined) throw new Error(`There is no table ${name}.`);
  const classWith = (key: string) => classes.find((table) => table.find(key) !== undefined) ?? first;
  return {
    rows: () => classes.flatMap((table) => table.rows()),
    find: (key) => classWith(key).find(key),
    keyOf: first.keyOf,
    insert: first.insert,
    update: (key, values) => classWith(key).update(key, values),
    remove: (key) => classWith(key).remove(key),
    version: () => classes.reduce((sum, table) => sum + table.version(), 0),
  };
}
