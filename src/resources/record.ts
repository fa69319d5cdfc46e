import { isDeepStrictEqual } from 'node:util';
import { MAX_DEPTH, MOST_OBJECT_MEMBERS, tooDeep, tooMany } from '../connector/client/response-limits.ts';
import type { ObjectSpec } from '../connector/contract.ts';
import { AppError, type ErrorDetail, invalidRequest, MOST_FAULTS, pointer, unknownName } from '../errors.ts';
import { canonicalDecimal, compareDecimals } from '../numbers/decimal.ts';
import { ExactNumber, isJsonObject, isMembers } from '../numbers/exact-json.ts';
import { DECIMAL_TEXT, readDecimal, toDecimalText, toJsonNumber } from '../numbers/number-value.ts';
import {
  type FieldSpec,
  type FieldType,
  isPlainName,
  type PushedField,
  pushedField,
  type Row,
  reader,
} from '../where/index.ts';

/** Turns a native record into one of the API. A field's `native` path leads into nested JSON. */
export type RecordMapper = (native: unknown) => Record<string, unknown>;

/** Returns a mapper for the given fields. It is compiled once per query, because it runs once per row. */
export function createRecordMapper(fields: readonly PushedField[]): RecordMapper {
  return mapper(fields.map((field) => toColumn(field.name, field.native, converter(field))));
}

/** Returns a mapper that keeps only the given fields of a record of the API. */
export function createProjection(fields: readonly PushedField[]): RecordMapper {
  return mapper(fields.map(({ name }) => toColumn(name, name, keep)));
}

/** One loop for all fields, because a closure for each field would be a call per field and row. */
function mapper(columns: readonly Column[]): RecordMapper {
  return (native) => {
    if (!isJsonObject(native))
      throw new AppError('PROVIDER_PROTOCOL', 'The provider returned a record that is not an object.');
    const record: Record<string, unknown> = {};
    for (const { name, path, native: key, read, convert } of columns) {
      const found = read === undefined ? native[key] : read(native);
      const value = convert === keep || (convert === toText && typeof found === 'string') ? found : convert(found);
      if (path === undefined) record[name] = value ?? null;
      else setPath(record, path, value ?? null);
    }
    return record;
  };
}

/** The source of one member of a record. */
interface Column {
  readonly name: string;
  /** Set where the name is a path. */
  readonly path: readonly string[] | undefined;
  readonly native: string;
  /** Set where the native name is a path. */
  readonly read: ((row: Row) => unknown) | undefined;
  readonly convert: Convert;
}

function toColumn(name: string, native: string, convert: Convert): Column {
  const path = isPlainName(name) ? undefined : name.split('.');
  return { name, path, native, read: isPlainName(native) ? undefined : reader(native), convert };
}

type Convert = (value: unknown) => unknown;

function keep(value: unknown): unknown {
  return value;
}

function converter({ read, ...field }: PushedField): Convert {
  const readNumber = numberReader(field);
  if (read === undefined || readNumber === undefined) return readNumber ?? read ?? keep;
  return (native) => readNumber(read(native));
}

/**
 * Sets a value at a path: `address.city` becomes `{ address: { city } }`. It defines members instead of assigning them, so that a field
 * called `__proto__` stays a field.
 */
export function setPath(record: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
    return;
  }
  const inner = Object.hasOwn(record, key) ? record[key] : undefined;
  const holder = isJsonObject(inner) ? inner : {};
  setPath(holder, rest, value);
  Object.defineProperty(record, key, { value: holder, enumerable: true, configurable: true, writable: true });
}

const SETTABLE = { create: 'createable', update: 'updateable' } as const;

const STRUCTURED: ReadonlySet<FieldType> = new Set(['object', 'array']);

/**
 * Returns whether the body has fields that an update cannot set, and no unknown ones. Then the stored record decides whether they changed.
 */
export function holdsReadOnly(body: Row, object: ObjectSpec): boolean {
  const specs = fieldsIn(body, object).map(([name]) => specOf(object, name));
  return specs.every((spec) => spec !== undefined) && specs.some((spec) => spec?.updateable !== true);
}

/**
 * Returns the values by field name, which has dots where records are nested. So a record may be sent back as it was read (decisions D16).
 */
function fieldsIn(body: Row, object: ObjectSpec, prefix = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(body).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    const isNest = isJsonObject(value) && specOf(object, name) === undefined && hasFieldsBelow(object, name);
    return isNest ? fieldsIn(value, object, `${name}.`) : [[name, value] as const];
  });
}

function hasFieldsBelow({ fields }: ObjectSpec, name: string): boolean {
  return Object.keys(fields).some((field) => field.startsWith(`${name}.`));
}

function specOf({ fields }: ObjectSpec, name: string) {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/**
 * Turns the body of a POST, PUT or PATCH into native names and values. With the `stored` record, fields of an update that cannot be set are
 * dropped if their value is the stored one.
 * @throws AppError REQUEST_INVALID that names the faulty fields (at most 50): unknown ones, those that cannot be set, a list or an object
 * instead of a single value, a number outside the field's range, and required fields that are missing
 */
export function writeRecord(body: Row, object: ObjectSpec, action: 'create' | 'update', stored?: Row): Row {
  const faults: ErrorDetail[] = [];
  const values: Record<string, unknown> = {};
  const given = fieldsIn(body, object);
  for (const [name, value] of given) {
    const spec = specOf(object, name);
    if (spec === undefined) {
      faults.push(unknownField(name, Object.keys(object.fields)));
    } else if (spec[SETTABLE[action]] !== true) {
      const isAsStored = stored !== undefined && isDeepStrictEqual(value, reader(name)(stored));
      const other = stored === undefined ? '' : ', and is not what the record has';
      if (!isAsStored)
        faults.push({ path: pointer('body', name), message: `'${name}' cannot be set on ${action}${other}.` });
    } else if (value === null && spec.clearable === false) {
      const isAsStored = action === 'create' || (stored !== undefined && reader(name)(stored) === null);
      if (!isAsStored)
        faults.push({
          path: pointer('body', name),
          message: `'${name}' cannot be set to null: the provider cannot clear it.`,
        });
    } else {
      const fault = faultOf(name, spec, value);
      if (fault !== undefined) faults.push(fault);
      const { native, write = keep } = pushedField(name, spec);
      if (faults.length === 0) setPath(values, native.split('.'), write(isNumeric(spec) ? toJsonNumber(value) : value));
    }
    if (faults.length > MOST_FAULTS) break;
  }
  if (action === 'create') faults.push(...missingFields(new Map(given), object));
  if (faults.length === 0) return values;
  throw invalidRequest(faults);
}

function faultOf(name: string, spec: FieldSpec, value: unknown): ErrorDetail | undefined {
  if (isMembers(value) && !STRUCTURED.has(spec.type))
    return { path: pointer('body', name), message: `'${name}' is of type ${spec.type}: expected a single value.` };
  const fault = faultOfNumber(spec, value);
  return fault === undefined ? undefined : { path: pointer('body', name), message: `'${name}' ${fault}` };
}

function isNumeric({ type }: FieldSpec): boolean {
  return type === 'integer' || type === 'number';
}

function unknownField(name: string, names: readonly string[]): ErrorDetail {
  return { path: pointer('body', name), ...unknownName('field', name, names) };
}

function missingFields(given: ReadonlyMap<string, unknown>, object: ObjectSpec): readonly ErrorDetail[] {
  return Object.entries(object.fields)
    .filter(([name, spec]) => spec.required === true && given.get(name) == null)
    .map(([name]) => ({ path: pointer('body', name), message: `'${name}' is required.` }));
}

type NumberField = Pick<FieldSpec, 'type' | 'format' | 'range'>;

/**
 * Returns a function that converts a value to the JSON type that its field declares. A provider may write a number as text in one row and
 * as a number in the next.
 * @returns undefined for fields that hold neither text nor numbers
 */
export function numberReader({ type, format }: NumberField): ((value: unknown) => unknown) | undefined {
  if (type === 'string') return toText;
  if (type !== 'integer' && type !== 'number') return undefined;
  return format === DECIMAL_TEXT ? toDecimalText : toJsonNumber;
}

function toText(value: unknown): unknown {
  return typeof value === 'number' || value instanceof ExactNumber ? String(value) : value;
}

/**
 * Returns the fault of a number, as the end of a sentence that begins with the field's name. Undefined for a valid number, and for a value
 * that is no number.
 */
export function faultOfNumber(field: NumberField, value: unknown): string | undefined {
  if (field.type !== 'integer' && field.type !== 'number') return undefined;
  const text = readDecimal(value);
  if (text === undefined) return value instanceof ExactNumber ? 'is a number of more than 400 digits.' : undefined;
  if (field.type === 'integer' && text.includes('.')) return 'is of type integer: expected a whole number.';
  const { range = field.format === DECIMAL_TEXT ? undefined : DOUBLES } = field;
  if (range !== undefined && (compareDecimals(text, range[0]) < 0 || compareDecimals(text, range[1]) > 0))
    return `must be from ${showBound(range[0])} to ${showBound(range[1])}.`;
  if (field.format !== DECIMAL_TEXT && Number(text) === 0 && text !== '0')
    return `must be 0, or at least ${Number.MIN_VALUE} away from it.`;
  return undefined;
}

const GREATEST_DOUBLE = canonicalDecimal(String(Number.MAX_VALUE)) ?? '';
/** The range of numbers that nearly all readers of JSON support. */
const DOUBLES: readonly [string, string] = [`-${GREATEST_DOUBLE}`, GREATEST_DOUBLE];

/** Numbers with many digits are shown with an exponent. */
function showBound(decimal: string): string {
  return decimal.length > 30 ? String(Number(decimal)) : decimal;
}

/**
 * Rejects a native record with more than 100,000 members, at all depths, before anything walks over it. A record that is sent to this
 * service may have as many. It stops at the first member beyond the maximum.
 * @throws AppError PROVIDER_PROTOCOL
 */
export function assertMembers(record: unknown): void {
  if (membersLeft(record, MOST_OBJECT_MEMBERS, 0) < 0) throw tooMany('a record', MOST_OBJECT_MEMBERS);
}

/** Returns how much of `room` is left after the members of a value. Negative when they don't fit. */
function membersLeft(value: unknown, room: number, depth: number): number {
  if (!isMembers(value)) return room;
  if (depth === MAX_DEPTH) throw tooDeep();
  let left = room;
  if (Array.isArray(value)) {
    left -= value.length;
    for (let index = 0; index < value.length && left >= 0; index++) left = membersLeft(value[index], left, depth + 1);
    return left;
  }
  for (const name in value) {
    left = membersLeft(value[name], left - 1, depth + 1);
    if (left < 0) break;
  }
  return left;
}

const CONTAINER_BYTES = 48;
const MEMBER_BYTES = 16;

/**
 * Estimates the memory of a value of JSON in bytes.
 * @throws AppError PROVIDER_PROTOCOL for nesting beyond 200 levels
 */
export function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return MEMBER_BYTES + value.length;
  if (value instanceof ExactNumber) return CONTAINER_BYTES + 2 * MEMBER_BYTES + value.text.length;
  if (!isMembers(value)) return MEMBER_BYTES;
  if (depth === MAX_DEPTH) throw tooDeep();
  let size = CONTAINER_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) size += sizeOf(item, depth + 1);
    return size;
  }
  for (const name in value) {
    const member = value[name];
    // Most members are texts, so this saves a call for each of them.
    size += MEMBER_BYTES + (typeof member === 'string' ? MEMBER_BYTES + member.length : sizeOf(member, depth + 1));
  }
  return size;
}
