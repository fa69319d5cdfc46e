import type { TableRow } from '#connector/simulator';
import { type Column, columnsOf, schemaOf, TABLES } from './schema.ts';
import type { Store } from './store.ts';

/** A column as it is reached from a row. */
export interface Field {
  readonly column: Column;
  readonly read: (row: TableRow) => unknown;
  readonly display: (row: TableRow) => unknown;
}

/** Follows references: `caller_id.company.name`. Undefined where there is no such field. */
export function resolve(
  path: string,
  { store, table }: { readonly store: Store; readonly table: string },
): Field | undefined {
  const [name = '', ...rest] = path.split('.');
  const columns = columnsOf(table);
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (column === undefined) return undefined;
  const read = (row: TableRow) => row[name] ?? null;
  if (rest.length === 0) return { column, read, display: (row) => displayOf(store, column, read(row)) };
  const { reference, key } = column;
  if (reference === undefined || store.table(reference) === undefined) return undefined;
  const field = resolve(rest.join('.'), { store, table: reference });
  const target = (row: TableRow) => store.find(reference, read(row), key) ?? {};
  return field && { ...field, read: (row) => field.read(target(row)), display: (row) => field.display(target(row)) };
}

/** What people see: the record's name for a reference, the label for a choice. */
export function displayOf(store: Store, { reference, key, choices = {} }: Column, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value);
  if (reference === undefined) return Object.hasOwn(choices, text) ? (choices[text] ?? text) : text;
  const target = store.find(reference, text, key);
  const display = target && Object.hasOwn(TABLES, reference) ? target[schemaOf(reference).display ?? 'sys_id'] : text;
  return display === null ? null : String(display);
}
