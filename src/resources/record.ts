import type { ObjectSpec } from '../connector/contract.ts';
import { AppError, cutText, type ErrorDetail, nearestName, pointer, suggestName } from '../errors.ts';
import { type FieldType, type PushedField, pushedField, type Row, reader } from '../where/index.ts';

/** Makes records of ours out of a provider's; a field's `native` path leads into nested JSON. */
export type RecordMapper = (native: unknown) => Record<string, unknown>;

/** Compiled once per query, because it runs once per row. */
export function createRecordMapper(fields: readonly PushedField[]): RecordMapper {
  const assignments = fields.map((field) => createAssignment(field));
  return (native) => {
    if (!isRecord(native))
      throw new AppError('PROVIDER_PROTOCOL', 'The provider answered a record that is not an object.');
    const record: Record<string, unknown> = {};
    for (const assign of assignments) assign(native, record);
    return record;
  };
}

type Assignment = (native: Row, record: Record<string, unknown>) => void;

function createAssignment(field: PushedField): Assignment {
  const read = reader(field.native);
  const { name, read: convert = (value: unknown) => value } = field;
  const path = name.split('.');
  if (path.length > 1) return (native, record) => setPath(record, path, convert(read(native)) ?? null);
  return (native, record) => {
    record[name] = convert(read(native)) ?? null;
  };
}

/** `address.city` → `{ address: { city } }`. By definition, not assignment: a field called `__proto__` stays a field. */
function setPath(record: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
    return;
  }
  const inner = Object.hasOwn(record, key) ? record[key] : undefined;
  const holder = isRecord(inner) ? inner : {};
  setPath(holder, rest, value);
  Object.defineProperty(record, key, { value: holder, enumerable: true, configurable: true, writable: true });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SETTABLE = { create: 'createable', update: 'updateable' } as const;
/** Nobody reads more, and looking for the nearest of thousands of unknown names would take seconds. */
const MAX_FAULTS = 50;

const STRUCTURED: ReadonlySet<FieldType> = new Set(['object', 'array']);

/**
 * Turns the body of a POST, PUT or PATCH into native names and values.
 * @throws AppError REQUEST_INVALID that names the fields (at most 50) that are unknown, cannot be set, hold a list or an
 * object in place of a single value, or are missing
 */
export function writeRecord(body: Row, object: ObjectSpec, action: 'create' | 'update'): Row {
  const faults: ErrorDetail[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const spec = Object.hasOwn(object.fields, name) ? object.fields[name] : undefined;
    if (spec === undefined) {
      faults.push(unknownField(name, Object.keys(object.fields)));
    } else if (spec[SETTABLE[action]] !== true) {
      faults.push({ path: pointer('body', name), message: `'${name}' cannot be set on ${action}.` });
    } else if (isObject(value) && !STRUCTURED.has(spec.type)) {
      faults.push({
        path: pointer('body', name),
        message: `'${name}' is of type ${spec.type}: expected a single value.`,
      });
    } else {
      const { native, write = (given: unknown) => given } = pushedField(name, spec);
      setPath(values, native.split('.'), write(value));
    }
    if (faults.length === MAX_FAULTS) break;
  }
  if (action === 'create') faults.push(...missingFields(body, object).slice(0, MAX_FAULTS - faults.length));
  if (faults.length === 0) return values;
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more, see details)` : '';
  throw new AppError('REQUEST_INVALID', `${first?.message}${more}`, { details: faults });
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function unknownField(name: string, names: readonly string[]): ErrorDetail {
  const nearest = nearestName(name, names);
  const message = `There is no field '${cutText(name)}'.${suggestName(name, names)}`;
  return { path: pointer('body', name), message, ...(nearest !== undefined && { nearest }) };
}

function missingFields(body: Row, object: ObjectSpec): readonly ErrorDetail[] {
  return Object.entries(object.fields)
    .filter(([name, spec]) => spec.required === true && body[name] == null)
    .map(([name]) => ({ path: pointer('body', name), message: `'${name}' is required.` }));
}
