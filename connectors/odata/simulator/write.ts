import { randomUUID } from 'node:crypto';
import { type Call, Fault, fault, type TableRow } from '#connector/simulator';
import type { Shelf } from './rows.ts';
import { type EntitySet, GUID, hasBigAsText, isBig } from './schema.ts';

/** The JSON types of the property types that are not texts in JSON. */
const JSON_TYPES: Readonly<Record<string, string>> = {
  ...{ 'Edm.Byte': 'number', 'Edm.Int16': 'number', 'Edm.Int32': 'number', 'Edm.Double': 'number' },
  ...{ 'Edm.Boolean': 'boolean', 'Self.Package': 'object', 'Collection(Edm.String)': 'object' },
};

/**
 * Reads the values of a request body.
 * @throws Fault 400 that names the property; 415 for anything but JSON
 */
export function readBody({ properties }: EntitySet, { body, headers }: Call): TableRow {
  if (body.type !== 'application/json') throw new Fault(415, '415', `'${body.type}' is not supported.`);
  const isAsText = hasBigAsText(headers['content-type']);
  const given = Object.entries(body.object()).filter(([name]) => !name.includes('@'));
  const read = given.flatMap(([name, value]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) throw fault(400, `The property '${name}' does not exist.`);
    const { type, isRequired, isComputed } = property;
    // A request may contain computed properties, which the service ignores. Source: OData Protocol 4.01, section 11.4.2.
    if (isComputed) return [];
    if (value === null && !isRequired) return [[name, null]];
    const { [type]: expected = isBig(type) && !isAsText ? 'number' : 'string' } = JSON_TYPES;
    const isGuid = type !== 'Edm.Guid' || GUID.test(String(value));
    if (value === null || typeof value !== expected || !isGuid) {
      throw fault(400, `The value of '${name}' is no ${type}.`);
    }
    return [[name, isBig(type) ? String(value) : value]];
  });
  return Object.fromEntries(read);
}

/**
 * Returns a complete row: the given values, a generated key if it is missing, and null for the others.
 * @throws Fault 400 for a missing required value
 */
export function completeRow({ properties, table }: Shelf, given: TableRow): TableRow {
  const rows = table.rows();
  const initial = Object.entries(properties).map(([name, { type, isComputed }]) => {
    if (isComputed) return [name, String(9007199254740993n + BigInt(rows.length))];
    if (type.startsWith('Collection')) return [name, []];
    if (name !== 'Id') return [name, null];
    return [name, type === 'Edm.Guid' ? randomUUID() : Math.max(0, ...rows.map(({ Id }) => Number(Id))) + 1];
  });
  const row: TableRow = { ...Object.fromEntries(initial), ...given };
  const empty = Object.keys(properties).find((name) => properties[name]?.isRequired && row[name] === null);
  if (empty !== undefined) throw fault(400, `The property '${empty}' must have a value.`);
  return row;
}
