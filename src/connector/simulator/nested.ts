/**
 * Returns the value of each name in a query or a form. A name that is sent more than once has a list, and names with brackets are nested.
 * @param described the schemas of names that are used as they are, also with brackets. Commas divide the values of lists, because few
 *   descriptions say how a list is written
 */
export function nestedValues(
  pairs: URLSearchParams,
  described: Readonly<Record<string, { readonly type?: unknown }>> = {},
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = { __proto__: null };
  for (const name of new Set(pairs.keys())) {
    const all = pairs.getAll(name);
    if (Object.hasOwn(described, name))
      values[name] =
        described[name]?.type === 'array' ? all.flatMap((value) => value.split(',')) : all.length > 1 ? all : all[0];
    else putAt(values, keysIn(name), all.length > 1 ? all : all[0]);
  }
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toLists(value)]));
}

/** Returns the keys of a name with brackets, which OpenAPI calls `deepObject`: `items[0][price]`. The last pair may be empty: `ids[]`. */
function keysIn(name: string): readonly string[] {
  const [, outer = name, inner = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  return [outer, ...[...inner.matchAll(/\[([^[\]]*)\]/g)].map(([, key = '']) => key)];
}

function putAt(values: Record<string, unknown>, [key = '', ...inner]: readonly string[], value: unknown): void {
  if (inner.length === 0) values[key] = value;
  else if (inner.length === 1 && inner[0] === '') values[key] = [value].flat();
  else {
    const below: Record<string, unknown> = Object(values[key] ?? {});
    values[key] = below;
    putAt(below, inner, value);
  }
}

/** Returns a value whose objects with the keys 0, 1, 2 … are lists. */
function toLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, toLists(each)] as const);
  const isNumbered = entries.length > 0 && entries.every(([key], index) => key === String(index));
  return isNumbered ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}
