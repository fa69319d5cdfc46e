import type { Call, TableRow } from '#connector/simulator';
import { resolve } from './fields.ts';
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
  return (row) =>
    Object.fromEntries(
      fields.map(({ path, column, read, display }) => {
        const shown = { value: textOf(read(row)), display: textOf(display(row)) };
        return [path, shape(column, shown, call)];
      }),
    );
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

interface Shown {
  readonly value: string;
  readonly display: string;
}

function shape(column: Column, { value, display }: Shown, call: Call): unknown {
  const mode = call.query.get('sysparm_display_value');
  const isLinked =
    column.reference !== undefined && value !== '' && call.query.get('sysparm_exclude_reference_link') !== 'true';
  const link = isLinked && { link: linkOf(column, value, call) };
  if (mode === 'all') return { display_value: display, value, ...link };
  if (mode === 'true') return isLinked ? { display_value: display, ...link } : display;
  return isLinked ? { ...link, value } : value;
}

/** What is named by something else than its id is asked for by it. */
function linkOf({ reference, key }: Column, value: string, { origin, path }: Call): string {
  const [root = ''] = /^\/api\/now\/(?:v\d\/)?/.exec(path) ?? [];
  const id = key === undefined ? `/${value}` : `?${key}=${value}`;
  return `${origin}${root}table/${reference}${id}`;
}
