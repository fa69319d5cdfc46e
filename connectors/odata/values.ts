import { codec, ExactNumber, type Json, json, toDecimalText, toJsonNumber } from '#connector';
import { DOUBLE_DIGITS } from './bounds.ts';
import type { PropertyType } from './metadata.ts';

/**
 * This file converts values between OData JSON and our JSON. Source: OData JSON Format 4.01, sections 3.2 (IEEE754Compatible) and 7
 * (values).
 */

type Convert = (native: unknown) => unknown;

/** OData types whose digits a double may lose. With `IEEE754Compatible=true` services send them as strings. */
const EXACT_NUMBERS: ReadonlySet<string> = new Set(['Edm.Int64', 'Edm.Decimal']);

/** Returns whether values of the type may have more digits than a double can store. All values of such a type are returned as text. */
export function isWide(type: PropertyType): boolean {
  if (type.kind !== 'primitive') return false;
  if (type.name === 'Edm.Decimal') return type.precision === undefined || type.precision > DOUBLE_DIGITS;
  return type.name === 'Edm.Int64';
}

const INSTANT = codec.instant();

/** Types whose values are not objects in JSON. */
const SCALARS: ReadonlySet<string> = new Set(
  'Binary Boolean Byte Date DateTimeOffset Decimal Double Duration Guid Int16 Int32 Int64 SByte Single String TimeOfDay'
    .split(' ')
    .map((name) => `Edm.${name}`),
);

/** Returns the conversion of a native value to a normalized one; undefined when nothing has to change. */
export function readerOf(type: PropertyType): Convert | undefined {
  switch (type.kind) {
    case 'primitive':
      if (isExactNumber(type)) return isWide(type) ? toDecimalText : toJsonNumber;
      if (type.name === 'Edm.DateTimeOffset') return INSTANT.read;
      return SCALARS.has(type.name) ? undefined : withoutControlInformation;
    case 'enum':
      return undefined;
    case 'collection':
      return readCollection(readerOf(type.of));
    case 'complex':
      return readMembers(type);
  }
}

function readCollection(readMember: Convert | undefined): Convert | undefined {
  return readMember && ((native) => (Array.isArray(native) ? native.map((member) => readMember(member)) : native));
}

function readMembers(type: Extract<PropertyType, { kind: 'complex' }>): Convert {
  let readers: ReadonlyMap<string, Convert | undefined> | undefined;
  return (native) => {
    if (!json.isObject(native)) return native;
    // The readers are created with the first record, because a complex type may contain itself.
    readers ??= new Map(type.properties().map((property) => [property.name, readerOf(property.type)]));
    const members = Object.entries(native).flatMap(([name, value]) =>
      isControlInformation(name) ? [] : [[name, (readers?.get(name) ?? withoutControlInformation)(value) ?? value]],
    );
    return Object.fromEntries(members);
  };
}

/** Returns whether a name is control information, such as `@odata.etag` or `price@odata.type`. No property name contains an `@`. */
function isControlInformation(name: string): boolean {
  return name.includes('@');
}

/** Removes the control information of the record itself, but not inside its members. */
export function withoutOwnControlInformation(record: Json): Json {
  for (const name in record) {
    if (isControlInformation(name))
      return Object.fromEntries(Object.entries(record).filter(([each]) => !isControlInformation(each)));
  }
  return record;
}

/**
 * Removes control information at every level. A value without any is returned itself: most values have none, and a copy takes ten times as
 * long as the check.
 */
export function withoutControlInformation(value: unknown): unknown {
  return hasControlInformation(value) ? dropControlInformation(value) : value;
}

function hasControlInformation(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasControlInformation);
  if (!json.isObject(value)) return false;
  for (const name in value) if (isControlInformation(name) || hasControlInformation(value[name])) return true;
  return false;
}

function dropControlInformation(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropControlInformation);
  if (!json.isObject(value)) return value;
  const properties = Object.entries(value).filter(([name]) => !isControlInformation(name));
  return Object.fromEntries(properties.map(([name, member]) => [name, dropControlInformation(member)]));
}

/** The body of a request, and its media type. */
interface Body {
  readonly json: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

type Types = ReadonlyMap<string, PropertyType>;

/**
 * Writes the body of a request. Numbers become JSON numbers, which every service accepts, unless a double cannot store one of them, because
 * many services would read it as a double. In that case all 64-bit integers and decimals of the body become text, and the media type
 * declares it.
 */
export function writeBody(values: Readonly<Record<string, unknown>>, types: Types): Body {
  const nested = nest(values);
  const isLong = (type: PropertyType, value: unknown) =>
    isExactNumber(type) && toJsonNumber(value) instanceof ExactNumber;
  const isAnyLong = anyValue(nested, types, isLong);
  const json = mapValues(nested, types, (type, value) => {
    if (!isExactNumber(type)) return value;
    return isAnyLong ? toDecimalText(value) : toJsonNumber(value);
  });
  return { json, ...(isAnyLong && { headers: { 'content-type': 'application/json;IEEE754Compatible=true' } }) };
}

function isExactNumber(type: PropertyType): boolean {
  return type.kind === 'primitive' && EXACT_NUMBERS.has(type.name);
}

/** Nests values with dotted names: `{ 'address.city': 'Ulm' }` becomes `{ address: { city: 'Ulm' } }`. OData names contain no dots. */
function nest(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const nested: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const [name = '', ...rest] = path.split('.');
    const inner = nested[name];
    nested[name] =
      rest.length === 0 ? value : { ...(json.isObject(inner) ? inner : {}), ...nest({ [rest.join('.')]: value }) };
  }
  return nested;
}

type Visit<Result> = (type: PropertyType, value: unknown) => Result;

function anyValue(values: Readonly<Record<string, unknown>>, types: Types, test: Visit<boolean>): boolean {
  let found = false;
  mapValues(values, types, (type, value) => {
    found ||= test(type, value);
    return value;
  });
  return found;
}

function mapValues(values: Readonly<Record<string, unknown>>, types: Types, visit: Visit<unknown>) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const type = types.get(name);
      return [name, type === undefined ? value : mapValue(type, value, visit)];
    }),
  );
}

function mapValue(type: PropertyType, value: unknown, visit: Visit<unknown>): unknown {
  if (type.kind === 'collection' && Array.isArray(value)) return value.map((each) => mapValue(type.of, each, visit));
  if (type.kind === 'complex' && json.isObject(value)) return mapValues(value, typesOf(type.properties()), visit);
  return visit(type, value);
}

export function typesOf(properties: readonly { readonly name: string; readonly type: PropertyType }[]): Types {
  return new Map(properties.map(({ name, type }) => [name, type]));
}
