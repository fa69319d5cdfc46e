import { randomUUID } from 'node:crypto';
import type { TableRow } from '#connector/simulator';
import { badRequest } from './filter.ts';
import type { Resource } from './resources.ts';

/** Members that cannot be set are passed over. @throws Fault 400 for values of another type, and for what is missing */
export function readInput(resource: Resource, body: Readonly<Record<string, unknown>>, isNew: boolean): TableRow {
  const { writable, required = [], longest = {}, noun } = resource;
  const given = Object.entries(body).filter(([name]) => Object.hasOwn(writable, name));
  for (const [name, value] of given) {
    const kind = writable[name] ?? 'text';
    if (value !== null && !TAKES[kind](value)) throw badRequest(`Invalid value for ${name}`);
    if (String(value).length > (longest[name] ?? Number.POSITIVE_INFINITY)) throw badRequest(`${name} is too long`);
    if (name === 'price' && Number(value) < 0) throw badRequest('Price cannot be negative');
    if (value === null && required.includes(name)) throw badRequest(`${name} is required`);
  }
  const missing = isNew ? required.find((name) => body[name] === undefined) : undefined;
  if (missing !== undefined) throw badRequest(`${noun} ${missing} is required`);
  return Object.fromEntries(given.map(([name, value]) => [name, Array.isArray(value) ? asElements(value) : value]));
}

const isText = (value: unknown) => typeof value === 'string';

const TAKES: Readonly<Record<Resource['writable'][string], (value: unknown) => boolean>> = {
  text: isText,
  code: isText,
  time: Number.isSafeInteger,
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  list: Array.isArray,
  object: (value) => typeof value === 'object' && !Array.isArray(value),
};

/** Parts of a record get identifiers of their own. */
function asElements(values: readonly unknown[]) {
  return { elements: values.map((value) => ({ ...Object(value), id: randomUUID().slice(0, 13).toUpperCase() })) };
}
