import { defined } from '../connector/kit/kinds.ts';
import { canonicalDecimal } from '../numbers/decimal.ts';
import { ExactNumber, isJsonObject } from '../numbers/exact-json.ts';
import { readDecimal, toJsonNumber } from '../numbers/number-value.ts';
import {
  type FieldSpec,
  type FieldType,
  type Predicate,
  type PushedField,
  type Rewritten,
  readBoolean,
  readLiteral,
  type ScalarType,
} from '../where/index.ts';
import type { MappedType } from './model.ts';
import { textLiteral } from './rewritten.ts';

/**
 * The conversion of values of a provider's field into values of a mapped field. Reading, writing and rewriting belong together: a
 * rewritten predicate is sound only for values that are read in this way.
 */
export interface Conversion {
  readonly spec: FieldSpec;
  /** Converts a value of the provider. Undefined for a value that cannot be converted. It is never called with null. */
  readonly read: (value: unknown) => unknown;
  /** Converts a value of the caller. It is never called with null. It is absent where values cannot be written. */
  readonly write?: (value: unknown) => WrittenValue;
  /** Turns a predicate on the mapped field into a condition on the provider's field. */
  readonly rewrite: (predicate: Predicate) => Rewritten;
  /** Whether values and predicates are those of the provider's field. */
  readonly isPlain?: true;
  /** Whether values that are not null can become null. */
  readonly makesNull?: true;
  /** The kind of values that can be converted, for messages about others, e.g. `numbers`. It is absent where every value can be converted. */
  readonly noun?: string;
}

/** A value for the provider, or what is wrong with the caller's value, as the end of a sentence. */
export type WrittenValue = { readonly value: unknown } | { readonly fault: string };

/** A field of the provider's object, as conversions see it. */
export interface VendorField {
  readonly field: PushedField;
  /** Why conditions cannot be sent: the path leads into the values of the field. */
  readonly isInside: boolean;
}

/** The field type of a mapped type where the provider's type is not known. */
export const FIELD_TYPES: Readonly<Record<MappedType, FieldType>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'datetime',
  array: 'array',
  object: 'object',
};

export const NOUNS: Readonly<Record<MappedType, string>> = {
  string: 'texts',
  number: 'numbers',
  boolean: 'true or false',
  date: 'dates',
  array: 'lists',
  object: 'objects',
};

export const READERS: Readonly<Record<MappedType, (value: unknown) => unknown>> = {
  string: scalarText,
  number: (value) => {
    if (typeof value === 'number' || value instanceof ExactNumber) return value;
    return typeof value === 'string' && readDecimal(value) !== undefined ? toJsonNumber(value) : undefined;
  },
  boolean: readBoolean,
  date: (value) => {
    const read = typeof value === 'string' ? readLiteral(textLiteral(value), 'datetime') : undefined;
    return read === undefined ? undefined : value;
  },
  array: (value) => (Array.isArray(value) ? value : undefined),
  object: (value) => (isJsonObject(value) ? value : undefined),
};

export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' || value instanceof ExactNumber ? (readDecimal(value) ?? String(value)) : undefined;
}

/** The abilities of a field that follow from the provider's field, whatever its values become. */
export function abilities({
  nullable,
  required,
  createable,
  updateable,
  clearable,
  custom,
  label,
  onDemand,
  unlisted,
}: PushedField) {
  return defined({ nullable, required, createable, updateable, clearable, custom, label, onDemand, unlisted });
}

/** Returns one text for all spellings of a value, so that a filter on the text finds all of them. */
export function canonicalText(type: ScalarType, value: unknown): string | undefined {
  const text = scalarText(value);
  if (text === undefined) return undefined;
  if (type === 'boolean') return String(readBoolean(value) ?? text);
  return type === 'number' || type === 'integer' ? (canonicalDecimal(text) ?? text) : text;
}
