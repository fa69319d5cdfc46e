import { isDeepStrictEqual } from 'node:util';
import type { IngestAction, NativeIngest, ObjectSpec } from '../connector/index.ts';
import { isAppError } from '../errors.ts';
import { ExactNumber } from '../numbers/exact-json.ts';
import { readDecimal } from '../numbers/number-value.ts';
import { isMappedObject, type MappedObject } from '../resources/mapped.ts';
import { writeRecord } from '../resources/record.ts';
import type { IngestCall } from '../resources/walks.ts';
import { type FieldSpec, type PushedField, pushedField, type Row, reader } from '../where/index.ts';
import { idFieldOf, without, withoutNulls } from './write-rows.ts';

/** Conversion of an upload's rows to the rows of a provider's job. */
export interface IngestPlan extends IngestCall {
  /** Returns the value that identifies the record of a row; undefined if it has none. */
  readonly keyOf: (values: Row) => string | undefined;
  /** Converts a row to native values; undefined for a row that a job cannot write, or would write differently than a single call. */
  readonly toNative: (values: Row) => Row | undefined;
}

/** Plans an upload by jobs of the provider; undefined if the provider has none for it. */
export function planIngest(object: ObjectSpec, action: IngestAction, identifier: string): IngestPlan | undefined {
  const ingest = object.bulk?.ingest;
  const keys = ingest?.actions[action];
  if (ingest === undefined || keys === undefined) return undefined;
  if (action === 'create') {
    const toNative = (values: Row) => nativeValues(withoutNulls(values), { object, ingest, writes: ['create'] });
    return { ingest, action, keyOf: () => undefined, toNative };
  }
  const key = keyField(object, identifier)?.native;
  if (key === undefined || !keys.includes(key)) return undefined;
  const read = reader(identifier);
  const keyOf = (values: Row) => String(read(values) ?? '') || undefined;
  const isById = identifier === idFieldOf(object);
  const writes = action === 'upsert' ? (['create', 'update'] as const) : (['update'] as const);

  return {
    ingest,
    action,
    key,
    keyOf,
    toNative: (values) => {
      const found = keyOf(values);
      // Without a key, the row is faulty or is created; a single call decides.
      if (found === undefined || ingest.withoutTexts?.includes(found)) return undefined;
      if (action === 'delete') return { [key]: found };
      const native = nativeValues(isById ? without(values, identifier) : values, { object, ingest, writes });
      return native && { [key]: found, ...native };
    },
  };
}

/** Returns the field of the provider that identifies records. Undefined where a mapping changes its values. */
function keyField(object: ObjectSpec, identifier: string): PushedField | undefined {
  if (isMappedObject(object)) return object.mapping.vendorFieldOf(identifier);
  const spec = specOf(object, identifier);
  return spec && pushedField(identifier, spec);
}

function specOf({ fields }: ObjectSpec, name: string): FieldSpec | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

interface NativeInput {
  readonly object: ObjectSpec;
  readonly ingest: NativeIngest;
  /** The operations that would write the values. */
  readonly writes: readonly ('create' | 'update')[];
}

/** @returns undefined for values that a single call would reject, or that a job cannot handle */
function nativeValues(values: Row, input: NativeInput): Row | undefined {
  const { object, writes } = input;
  if (!isMappedObject(object)) return plainNativeValues(values, input);
  const vendorValues = vendorValuesOf(values, object, writes);
  return vendorValues && plainNativeValues(vendorValues, { ...input, object: object.vendor });
}

/** @returns undefined for values that a single call would reject or write in another way, and where a script decides */
function vendorValuesOf(values: Row, { mapping, body, inForce }: MappedObject, writes: NativeInput['writes']) {
  if (inForce.script !== undefined) return undefined;
  try {
    const [made, ...others] = writes.map((action) => {
      const written = writeRecord(action === 'create' ? withoutNulls(values) : values, body, action);
      if (mapping.needsStored(written)) return undefined;
      const found = mapping.toVendor(written, { action });
      return found.faults.length > 0 ? undefined : found.values;
    });
    // A new record may get defaults that a job could not leave out of one that is there.
    const isOne = others.every((other) => other !== undefined && isDeepStrictEqual(withoutNulls(other), made));
    return isOne ? (others[0] ?? made) : undefined;
  } catch (error) {
    if (isAppError(error, 'REQUEST_INVALID')) return undefined;
    throw error;
  }
}

function plainNativeValues(values: Row, { object, ingest, writes }: NativeInput): Row | undefined {
  const { withoutTypes = [], withoutTexts = [] } = ingest;
  try {
    for (const action of writes) writeRecord(action === 'create' ? withoutNulls(values) : values, object, action);
  } catch (error) {
    if (isAppError(error, 'REQUEST_INVALID')) return undefined;
    throw error;
  }
  const entries: (readonly [string, unknown])[] = [];
  for (const [name, value] of Object.entries(values)) {
    const spec = specOf(object, name);
    if (spec === undefined || withoutTypes.includes(spec.nativeType ?? '')) return undefined;
    const { native, write } = pushedField(name, spec);
    if (value !== null && !isOfType(spec, value)) return undefined;
    const written = value === null || write === undefined ? value : write(value);
    const isScalar = typeof written !== 'object' || written instanceof ExactNumber;
    if (written !== null && (!isScalar || withoutTexts.includes(String(written)))) return undefined;
    entries.push([native, written]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** A provider may read a value of another type in a file, but not in JSON. */
function isOfType({ type }: FieldSpec, value: unknown): boolean {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
    case 'number':
      return readDecimal(value) !== undefined;
    case 'array':
      return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
    case 'object':
      return false;
    default:
      return typeof value === 'string';
  }
}
