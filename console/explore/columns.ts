import { parseFieldList } from '../../src/where/parse.ts';
import { type Row, reader } from '../../src/where/row-values.ts';
import type { ObjectField, ObjectFields } from './metadata.ts';

/** A column of the results. */
export interface RecordColumn {
  readonly name: string;
  /** The field in the metadata. Undefined if the metadata does not have it. */
  readonly field: ObjectField | undefined;
  readonly read: (row: Row) => unknown;
}

/** Maximum number of columns that are shown by default. The user can choose others by name. */
export const MOST_COLUMNS = 30;

/** Returns the requested fields, or all fields of the rows, in the order of the metadata. */
export function columnsOf(rows: readonly Row[], fields: string, metadata: ObjectFields): readonly RecordColumn[] {
  const byName = new Map(metadata.fields.map((field) => [field.name, field]));
  const asked = readFieldNames(fields);
  const names = asked.length > 0 ? asked : namesIn(rows, [...byName.keys()]);
  return names.map((name) => ({ name, field: byName.get(name), read: reader(name) }));
}

function namesIn(rows: readonly Row[], ordered: readonly string[]): readonly string[] {
  const found = new Set(rows.flatMap((row) => Object.keys(row)));
  const known = ordered.filter((name) => found.delete(name));
  return [...known, ...found];
}

/** Returns the names in a field list. Empty for an invalid list, whose fault the service reports. */
export function readFieldNames(fields: string): readonly string[] {
  if (fields === '') return [];
  try {
    return parseFieldList(fields).map(({ name }) => name);
  } catch {
    return [];
  }
}
