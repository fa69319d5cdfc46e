import type { Call, TableRow } from '#connector/simulator';
import type { InstanceTables } from './instance.ts';
import { type Column, kindOf } from './schema.ts';

/** A column, and a function that reads it from a row. */
export interface Field {
  readonly column: Column;
  readonly read: (row: TableRow) => unknown;
}

export interface FieldContext {
  readonly instance: InstanceTables;
  readonly table: string;
}

/** Resolves a path. It follows references, such as `caller_id.company.name`. Undefined if there is no such field. */
export function resolve(path: string, { instance, table }: FieldContext): Field | undefined {
  const [name = '', ...rest] = path.split('.');
  const { columns = {} } = instance[table] ?? {};
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (column === undefined) return undefined;
  // Another table stores journals, and their columns stay empty.
  const read = (row: TableRow) => (kindOf(column) === 'object' ? null : (row[name] ?? null));
  if (rest.length === 0) return { column, read };
  const field = resolve(rest.join('.'), { instance, table: column.reference ?? '' });
  return field && { ...field, read: (row) => field.read(targetOf(instance, column, read(row)) ?? {}) };
}

/** Finds the record of a reference, by its id or by its name. */
function targetOf(instance: InstanceTables, { reference = '', key }: Column, value: unknown): TableRow | undefined {
  const { table } = instance[reference] ?? {};
  return key === undefined ? table?.find(String(value)) : table?.rows().find((row) => row[key] === value);
}

/** Returns a reader of the displayed value of a reference: the name of its record. */
export function displayed({ column, read }: Field, instance: InstanceTables): Field['read'] {
  const { display = 'sys_id' } = instance[column.reference ?? ''] ?? {};
  return (row) => {
    const value = read(row);
    const target = targetOf(instance, column, value);
    return target === undefined ? value : target[display];
  };
}

/** Returns a function that prints rows of a table in the requested format. Every value is a text, and null is an empty one. */
export function presenter(instance: InstanceTables, table: string, { query, origin }: Call) {
  const names = query.get('sysparm_fields') || Object.keys(instance[table]?.columns ?? {}).join();
  const fields = names.split(',').flatMap((name) => {
    const field = resolve(name.trim(), { instance, table });
    return field === undefined ? [] : [{ ...field, name: name.trim() }];
  });
  const isLinked = query.get('sysparm_exclude_reference_link') !== 'true';
  const show = ({ column: { reference, key }, read }: Field, row: TableRow) => {
    const value = String(read(row) ?? '');
    if (!isLinked || reference === undefined || value === '') return value;
    // The link of a reference that does not contain the id has a query.
    const address = key === undefined ? `${reference}/${value}` : `${reference}?${key}=${value}`;
    return { link: `${origin}/api/now/table/${address}`, value };
  };
  return (row: TableRow) => Object.fromEntries(fields.map((field) => [field.name, show(field, row)]));
}
