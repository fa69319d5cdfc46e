import { memberOf } from './tool.ts';

/** Returns filters with the object's own fields, one of each kind that the object has. */
export function exampleFilters(fields: readonly unknown[]): readonly string[] {
  const named = fields.map((field) => ({
    name: quoted(String(memberOf(field, 'name'))),
    type: memberOf(field, 'type'),
    values: memberOf(field, 'values'),
    isText: memberOf(field, 'type') === 'string' && memberOf(field, 'identifier') !== true,
  }));
  const chosen = named.find(({ values, type }) => Array.isArray(values) && values.length > 0 && type === 'string');
  const date = named.find(({ type }) => type === 'datetime') ?? named.find(({ type }) => type === 'date');
  const text =
    named.find(({ name, isText }) => isText && /name|title|subject/i.test(name)) ?? named.find(({ isText }) => isText);
  const number = named.find(({ type }) => type === 'number') ?? named.find(({ type }) => type === 'integer');
  const parts = [
    ...(chosen === undefined
      ? []
      : [`${chosen.name} = ${literal(Array.isArray(chosen.values) ? chosen.values[0] : '')}`]),
    ...(date === undefined ? [] : [`${date.name} >= '2026-01-31'`]),
    ...(text === undefined ? [] : [`${text.name} LIKE 'A%'`]),
    ...(number === undefined ? [] : [`${number.name} > 100`]),
  ];
  return parts.length < 2 ? parts : [...parts, `${parts[0]} AND NOT (${parts[1]})`];
}

function literal(value: unknown): string {
  return `'${String(value).replaceAll("'", "''")}'`;
}

function quoted(name: string): string {
  return /^[A-Za-z_][\w.]*$/.test(name) ? name : `\`${name}\``;
}
