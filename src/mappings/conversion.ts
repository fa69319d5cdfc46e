import { canonicalDecimal } from '../numbers/decimal.ts';
import {
  type FieldSpec,
  type FieldType,
  type PushedField,
  readLiteral,
  type ScalarType,
  type Value,
} from '../where/index.ts';
import {
  abilities,
  type Conversion,
  canonicalText,
  FIELD_TYPES,
  NOUNS,
  READERS,
  scalarText,
  type VendorField,
  type WrittenValue,
} from './conversion-base.ts';
import { datePattern } from './dates.ts';
import type { FieldEntry, MappedType, MappedValue } from './model.ts';
import { multiply } from './number-conversion.ts';
import {
  ALWAYS,
  eitherOf,
  INSIDE,
  isScalar,
  local,
  NEVER,
  oneOf,
  plain,
  rewritten,
  testOf,
  textLiteral,
  textOf,
  textsOf,
} from './rewritten.ts';
import { mapValues } from './value-map.ts';

/** The types of fields that hold values of a mapped type without conversion. */
const SAME: Readonly<Record<MappedType, readonly FieldType[]>> = {
  string: ['string'],
  number: ['number', 'integer'],
  boolean: ['boolean'],
  date: ['date', 'datetime'],
  array: ['array'],
  object: ['object'],
};

/**
 * Returns the conversion of a field by its types and its configuration.
 * @throws Error for a date pattern that cannot be read
 */
export function conversionOf(vendor: VendorField, type: MappedType, entries: readonly FieldEntry[]): Conversion {
  const base = baseOf(vendor, type, entries);
  const fallback = entries.find((entry) => entry.type === 'defaultValue')?.properties.value;
  return fallback === undefined || fallback === null ? base : withDefault(base, vendor, fallback);
}

function baseOf(vendor: VendorField, type: MappedType, entries: readonly FieldEntry[]): Conversion {
  const values = entries.find((entry) => entry.type === 'valueMap');
  if (values !== undefined) return mapValues(vendor, type, values.properties);
  const factor = entries.find((entry) => entry.type === 'number');
  if (factor !== undefined) return multiply(vendor, canonicalDecimal(String(factor.properties.multiply)) ?? '1');
  const { field, isInside } = vendor;
  if (isInside) return inside(field, type, entries);
  if (SAME[type].includes(field.type)) return same(field);
  const pattern = entries.find((entry) => entry.type === 'transformDate');
  if (type === 'date' && field.type === 'string' && pattern !== undefined) {
    return readDates(field, pattern.properties.pattern);
  }
  return change(field, type);
}

/** Returns the conversion for a field of the same type at the provider, whose values and predicates stay the same. */
function same(field: PushedField): Conversion {
  const { name: _, native: __, aliases: ___, read: ____, write: _____, ...spec } = field;
  return {
    spec,
    read: keep,
    write: (value) => ({ value }),
    rewrite: (predicate) => rewritten({ ...predicate, field }),
    isPlain: true,
  };
}

function keep(value: unknown): unknown {
  return value;
}

/** A value inside a field of the provider: its type is known only when it arrives. */
function inside(field: PushedField, type: MappedType, entries: readonly FieldEntry[]): Conversion {
  const pattern = entries.find((entry) => entry.type === 'transformDate');
  const dates = type === 'date' && pattern !== undefined ? datePattern(pattern.properties.pattern) : undefined;
  const { createable = false, updateable = false, custom, unlisted, onDemand } = field;
  const flags = { ...(custom && { custom }), ...(unlisted && { unlisted }), ...(onDemand && { onDemand }) };
  return {
    spec: { type: dates?.type ?? FIELD_TYPES[type], createable, updateable, ...flags },
    read: dates === undefined ? READERS[type] : (value) => (typeof value === 'string' ? dates.read(value) : undefined),
    write:
      dates === undefined
        ? (value) => ({ value })
        : (value) => writtenDate(dates.write(String(value)), pattern?.properties.pattern ?? ''),
    rewrite: () => local(INSIDE),
    noun: NOUNS[type],
  };
}

function writtenDate(text: string | undefined, pattern: string): WrittenValue {
  return text === undefined ? { fault: `is no date that the pattern '${pattern}' can write.` } : { value: text };
}

/** Another type than the provider's. */
function change(field: PushedField, type: MappedType): Conversion {
  const spec: FieldSpec = { ...abilities(field), type: FIELD_TYPES[type] };
  if (type === 'string' && isScalar(field.type)) return toText(field, field.type, spec);
  const { nullable: _, ...rest } = spec;
  const made: Conversion = {
    spec: rest,
    read: READERS[type],
    rewrite: () => local(`the provider has '${field.type}' values, which are converted to ${NOUNS[type]}`),
    noun: NOUNS[type],
  };
  if (field.type !== 'string') return { ...made, spec: { ...rest, createable: false, updateable: false } };
  const write = (value: unknown): WrittenValue => ({ value: scalarText(value) ?? String(value) });
  return type === 'boolean' && field.collation === 'ci'
    ? { ...made, ...wordsAsBooleans(field, spec), write }
    : { ...made, write };
}

/** `true` and `false` in any case. A provider that ignores case finds all spellings by one text. */
function wordsAsBooleans(field: PushedField, spec: FieldSpec): Pick<Conversion, 'spec' | 'rewrite'> {
  const filter = field.filter?.['='] === undefined ? {} : { '=': 'superset' as const };
  return {
    spec: { ...spec, nullable: true, filter },
    rewrite: (predicate) => {
      if (predicate.kind !== 'compare' || predicate.operator !== '=' || predicate.value.kind !== 'boolean') {
        return local('the provider has texts, which are converted to true or false');
      }
      const value: Value = { kind: 'string', value: String(predicate.value.value) };
      return rewritten({ ...predicate, field, value }, true);
    },
  };
}

/** Numbers, booleans and dates as texts. Only the text of a value equals it. */
function toText(field: PushedField, type: ScalarType, { nullable, ...spec }: FieldSpec): Conversion {
  const isDate = type === 'date' || type === 'datetime';
  const operators = ['=', '!=', 'IN', 'NOT IN'] as const;
  const filter = Object.fromEntries(
    operators
      .filter((each) => !(isDate && (each === '!=' || each === 'NOT IN')))
      .flatMap((each) => (field.filter?.[each] === undefined ? [] : [[each, 'superset']])),
  );
  const nulls = pickNulls(field);
  return {
    spec: { ...spec, ...(nullable !== undefined && { nullable }), collation: 'cs', filter: { ...filter, ...nulls } },
    read: (value) => canonicalText(type, value),
    write: (text) => {
      const value = typeof text === 'string' ? readLiteral(textLiteral(text), type) : undefined;
      if (value === undefined)
        return { fault: `must be the text of a value of type ${type}: the provider has no texts.` };
      return { value: plain(value) };
    },
    rewrite: (predicate) => {
      const { loc } = predicate;
      if (predicate.kind === 'isNull') return rewritten({ ...predicate, field });
      const texts = textsOf(predicate);
      if (texts === undefined || (isDate && texts.negated)) {
        return local(`the provider has values of type ${type}, which are converted to texts`);
      }
      const read = texts.values.map((text) => ({ text, value: readLiteral(textLiteral(text), type) }));
      if (isDate && read.some(({ value }) => value === undefined)) return local('a text of the filter is no date');
      const values = read.flatMap(({ text, value }) =>
        value !== undefined && (isDate || textOf(value) === text) ? [value] : [],
      );
      return oneOf(field, values, { negated: texts.negated, loc, isWider: true });
    },
  };
}

function pickNulls({ filter = {} }: PushedField) {
  return {
    ...(filter['IS NULL'] !== undefined && { 'IS NULL': filter['IS NULL'] }),
    ...(filter['IS NOT NULL'] !== undefined && { 'IS NOT NULL': filter['IS NOT NULL'] }),
  };
}

/** Texts at the provider that are dates in a pattern. */
function readDates(field: PushedField, pattern: string): Conversion {
  const { type, read, write, isOrdered, floor } = datePattern(pattern);
  const { nullable: _, ...rest } = abilities(field);
  const ordered = isOrdered ? (['<', '<=', '>', '>='] as const) : [];
  const operators = (['=', '!=', 'IN', 'NOT IN', ...ordered] as const).filter(
    (each) => field.filter?.[each] !== undefined,
  );
  return {
    spec: { ...rest, type, filter: Object.fromEntries(operators.map((each) => [each, 'superset'])) },
    read: (value) => (typeof value === 'string' ? read(value) : undefined),
    write: (value) => writtenDate(write(String(value)), pattern),
    noun: NOUNS.date,
    rewrite: (predicate) => {
      const { loc } = predicate;
      const texts = textsOf(predicate);
      if (texts !== undefined) {
        const values = texts.values.flatMap((iso): Value[] => {
          const text = write(iso);
          return text === undefined ? [] : [{ kind: 'string', value: text }];
        });
        return oneOf(field, values, { negated: texts.negated, loc, isWider: true });
      }
      const value = predicate.kind === 'compare' ? predicate.value : undefined;
      const isMoment = value?.kind === 'date' || value?.kind === 'datetime';
      const text = isMoment && isOrdered ? floor(value) : undefined;
      if (predicate.kind !== 'compare' || text === undefined)
        return local(`the provider has texts in the pattern '${pattern}'`);
      // The literal may lie between two texts: both bounds include the one before it.
      const operator = predicate.operator === '>' || predicate.operator === '>=' ? '>=' : '<=';
      return rewritten({ kind: 'compare', field, operator, value: { kind: 'string', value: text }, loc }, true);
    },
  };
}

/** A value in place of null. */
function withDefault(base: Conversion, { field, isInside }: VendorField, fallback: MappedValue): Conversion {
  const { nullable: _, required: __, sortable: ___, domain: ____, ...spec } = base.spec;
  const { isPlain: _____, ...rest } = base;
  const isTotal = base.noun === undefined && base.makesNull !== true;
  return {
    ...rest,
    spec: { ...spec, nullable: !isTotal, filter: inexact(spec.filter) },
    rewrite: (predicate) => {
      if (predicate.kind === 'isNull') {
        if (!isTotal) return local('the mapping makes some values null');
        return predicate.negated ? ALWAYS : NEVER;
      }
      const inner = base.rewrite(predicate);
      if (isInside || !testOf(predicate)(fallback)) return inner;
      const isNull = rewritten({ kind: 'isNull', field, negated: false, loc: predicate.loc });
      return eitherOf([inner, isNull], true);
    },
  };
}

function inexact(filter: FieldSpec['filter'] = {}): NonNullable<FieldSpec['filter']> {
  const { 'IS NULL': _, 'IS NOT NULL': __, ...rest } = filter;
  return Object.fromEntries(Object.keys(rest).map((operator) => [operator, 'superset']));
}
