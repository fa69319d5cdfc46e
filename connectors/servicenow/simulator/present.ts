import type { Call, TableRow } from '#connector/simulator';
import { type Field, resolve } from './fields.ts';
import { type Column, columnsOf } from './schema.ts';
import type { Store } from './store.ts';

/** The rows of a table as the call wants them: every value is a text, and nothing is an empty one. */
export function presenter(
  store: Store,
  table: string,
  { query, origin, path }: Call,
): (row: TableRow) => Readonly<Record<string, unknown>> {
  const names = (query.get('sysparm_fields') || Object.keys(columnsOf(table)).join()).split(',');
  const fields = names.flatMap((name) => {
    const field = resolve(name.trim(), { store, table });
    return field === undefined ? [] : [{ ...field, name: name.trim() }];
  });
  const mode = query.get('sysparm_display_value');
  const [root = ''] = /^\/api\/now\/(?:v\d\/)?/.exec(path) ?? [];
  const tables = query.get('sysparm_exclude_reference_link') === 'true' ? undefined : `${origin}${root}table/`;
  return (row) => Object.fromEntries(fields.map((field) => [field.name, shape(field, row, { mode, tables })]));
}

interface Shape {
  /** `true` for what people see, `all` for both; anything else for the values. */
  readonly mode: string | null;
  /** Where links begin; undefined without links. */
  readonly tables: string | undefined;
}

function shape({ column, read, display }: Field, row: TableRow, { mode, tables }: Shape): unknown {
  const value = textOf(read(row));
  const isLinked = tables !== undefined && column.reference !== undefined && value !== '';
  const link = isLinked && { link: tables + addressOf(column, value) };
  if (mode !== 'all' && mode !== 'true') return isLinked ? { ...link, value } : value;
  const shown = textOf(display(row));
  if (mode === 'all') return { display_value: shown, value, ...link };
  return isLinked ? { display_value: shown, ...link } : shown;
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

/** What is named by something else than its id is asked for by it. */
function addressOf({ reference, key }: Column, value: string): string {
  return key === undefined ? `${reference}/${value}` : `${reference}?${key}=${value}`;
}
