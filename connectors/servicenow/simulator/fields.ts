import type { Call, TableRow } from '#connector/simulator';
import type { InstanceTables } from './instance.ts';
import { type Column, kindOf } from './schema.ts';

/** A column as it is reached from a row. */
export interface Field {
  readonly column: Column;
  readonly read: (row: TableRow) => unknown;
}

export interface FieldContext {
  readonly instance: InstanceTables;
  readonly table: string;
}

/** Follows references: `caller_id.company.name`. Undefined where there is no such field. */
export function resolve(path: string, { instance, table }: FieldContext): Field | undefined {
  const [name = '', ...rest] = path.split('.');
  const { columns = {} } = instance[table] ?? {};
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (column === undefined) return undefined;
  // Journals are kept elsewhere, and their columns stay empty.
  const read = (row: TableRow) => (kindOf(column) === 'object' ? null : (row[name] ?? null));
  if (rest.length === 0) return { column, read };
  const field = resolve(rest.join('.'), { instance, table: column.reference ?? '' });
  return field && { ...field, read: (row) => field.read(targetOf(instance, column, read(row)) ?? {}) };
}

/** The record that a reference names, by its id or by its name. */
function targetOf(instance: InstanceTables, { reference = '', key }: Column, value: unknown): TableRow | undefined {
  const { table } = instance[reference] ?? {};
  return key === undefined ? table?.find(String(value)) : table?.rows().find((row) => row[key] === value);
}

/** What people see of a reference: the name of its record. */
export function displayed({ column, read }: Field, instance: InstanceTables): Field['read'] {
  const { display = 'sys_id' } = instance[column.reference ?? ''] ?? {};
  return (row) => {
    const value = read(row);
    const target = targetOf(instance, column, value);
    return target === undefined ? value : target[display];
  };
}

/** The rows of a table as the call wants them: every value is a text, and nothing is an empty one. */
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
    // What is named by something else than its id is asked for by it.
    const address = key === undefined ? `${reference}/${value}` : `${reference}?${key}=${value}`;
    return { link: `${origin}/api/now/table/${address}`, value };
  };
  return (row: TableRow) => Object.fromEntries(fields.map((field) => [field.name, show(field, row)]));
}
