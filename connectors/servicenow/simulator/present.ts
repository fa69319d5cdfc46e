import type { Call, TableRow } from '#connector/simulator';
import { type Field, resolve } from './fields.ts';
import { type Column, columnsOf } from './schema.ts';
import type { Store } from './store.ts';

/** The rows of a table as the call wants them: every value is a text, and nothing is an empty one. */
export function presenter(
  store: Store,
  table: string,
  call: Call,
): (row: TableRow) => Readonly<Record<string, unknown>> {
  const wanted = call.query.get('sysparm_fields') || Object.keys(columnsOf(table)).join();
  const fields = wanted.split(',').flatMap((path) => {
    const field = resolve(path.trim(), { store, table });
    return field === undefined ? [] : [{ ...field, path: path.trim() }];
  });
  return (row) => Object.fromEntries(fields.map((field) => [field.path, shape(field, row, call)]));
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

function shape({ column, read, display }: Field, row: TableRow, call: Call): unknown {
  const value = textOf(read(row));
  const mode = call.query.get('sysparm_display_value');
  const isLinked =
    column.reference !== undefined && value !== '' && call.query.get('sysparm_exclude_reference_link') !== 'true';
  const link = isLinked && { link: linkOf(column, value, call) };
  if (mode !== 'all' && mode !== 'true') return isLinked ? { ...link, value } : value;
  const display_value = textOf(display(row));
  if (mode === 'all') return { display_value, value, ...link };
  return isLinked ? { display_value, ...link } : display_value;
}

/** What is named by something else than its id is asked for by it. */
function linkOf({ reference, key }: Column, value: string, { origin, path }: Call): string {
  const [root = ''] = /^\/api\/now\/(?:v\d\/)?/.exec(path) ?? [];
  const id = key === undefined ? `/${value}` : `?${key}=${value}`;
  return `${origin}${root}table/${reference}${id}`;
}
