import { randomUUID } from 'node:crypto';
import type { TableRow } from '#connector/simulator';
import { problem } from './problem.ts';
import { CATEGORIES, type EntitySchema, type PropertySchema } from './schema.ts';

/** JSON values that each type takes. Decimals and 64-bit numbers come as text under IEEE754Compatible, otherwise as numbers. */
const ACCEPTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  'Edm.String': (value) => typeof value === 'string',
  'Edm.Boolean': (value) => typeof value === 'boolean',
  'Edm.Byte': (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 256,
  'Edm.Int16': isIntegerBelow(2 ** 15),
  'Edm.Int32': isIntegerBelow(2 ** 31),
  'Edm.Double': (value) => typeof value === 'number',
  'Edm.Date': isText(/^\d{4}-\d{2}-\d{2}$/),
  'Edm.TimeOfDay': isText(/^\d{2}:\d{2}:\d{2}(\.\d+)?$/),
  'Edm.DateTimeOffset': isText(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/),
  'Edm.Guid': isText(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i),
  'Demo.Category': (value) => CATEGORIES.some((name) => name === value),
};

function isIntegerBelow(limit: number): (value: unknown) => boolean {
  return (value) => Number.isInteger(value) && Math.abs(Number(value)) < limit;
}

function isText(pattern: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && pattern.test(value);
}

const NUMBERS_AS_TEXT = new Set(['Edm.Decimal', 'Edm.Int64']);

/** @throws Fault 400 that names the property. */
export function readBody(entity: EntitySchema, body: unknown, isIeee754Compatible: boolean): TableRow {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw problem(400, 'The body is no entity.');
  const given = Object.entries(body).filter(([name]) => !name.includes('@'));
  return Object.fromEntries(
    given.flatMap(([name, value]) => {
      const property = Object.hasOwn(entity.properties, name) ? entity.properties[name] : undefined;
      if (property === undefined) throw problem(400, `The property '${name}' does not exist.`);
      // What the service computes is ignored in a request. Source: OData Protocol 4.01, section 11.4.2.
      return property.computed === true ? [] : [[name, readValue(name, property, value, isIeee754Compatible)]];
    }),
  );
}

function readValue(name: string, { type, required }: PropertySchema, value: unknown, isIeee754Compatible: boolean) {
  if (value === null) {
    if (required === true) throw problem(400, `The property '${name}' must have a value.`);
    return null;
  }
  if (NUMBERS_AS_TEXT.has(type)) {
    if (typeof value === (isIeee754Compatible ? 'string' : 'number')) return String(value);
  } else if (ACCEPTS[type]?.(value) ?? typeof value === 'object') {
    return value;
  }
  throw problem(400, `The value of '${name}' is no ${type}.`);
}

/** A complete row: given values, the key if it was left out, null for the rest. */
export function completeRow(entity: EntitySchema, given: TableRow, rows: readonly TableRow[]): TableRow {
  const missing = Object.entries(entity.properties).map(([name, property]) => [
    name,
    initialValue(name, property, rows),
  ]);
  const row: TableRow = { ...Object.fromEntries(missing), ...given };
  const empty = Object.keys(entity.properties).find((name) => entity.properties[name]?.required && row[name] === null);
  if (empty !== undefined) throw problem(400, `The property '${empty}' must have a value.`);
  return row;
}

function initialValue(name: string, { type, computed }: PropertySchema, rows: readonly TableRow[]): unknown {
  if (computed === true) return String(9007199254740993n + BigInt(rows.length));
  if (type.startsWith('Collection')) return [];
  if (name !== 'Id') return null;
  return type === 'Edm.Guid' ? randomUUID() : Math.max(0, ...rows.map((row) => Number(row.Id))) + 1;
}
