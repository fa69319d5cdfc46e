import { canonicalDecimal } from '../numbers/decimal.ts';
import { divideDecimals, multiplyDecimals } from '../numbers/decimal-grid.ts';
import { ExactNumber, isJsonObject } from '../numbers/exact-json.ts';
import { DECIMAL_TEXT, readDecimal, toJsonNumber } from '../numbers/number-value.ts';
import {
  type Condition,
  compileCondition,
  type FieldSpec,
  type FieldType,
  foldText,
  joinConditions,
  operatorOf,
  type Predicate,
  type PushedField,
  type Rewritten,
  readBoolean,
  readDate,
  readLiteral,
  type ScalarType,
  type Value,
} from '../where/index.ts';
import { datePattern } from './dates.ts';
import type { FieldEntry, MappedType, MappedValue } from './model.ts';

/**
 * How the values of a mapped field follow from the values of a field of the provider. Reading, writing and rewriting belong together: a
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
  /** What values that cannot be converted are not, e.g. `numbers`. It is absent where every value can be converted. */
  readonly noun?: string;
}

/** A value for the provider, or what is wrong with the caller's value, as the end of a sentence. */
export type WrittenValue = { readonly value: unknown } | { readonly fault: string };

const NEVER: Rewritten = { kind: 'never' };
const ALWAYS: Rewritten = { kind: 'always' };

function local(reason: string): Rewritten {
  return { kind: 'local', reason };
}

function rewritten(condition: Condition, isWider = false): Rewritten {
  return { kind: 'rewritten', condition, isWider };
}

/** A field of the provider's object, as conversions see it. */
export interface VendorField {
  readonly field: PushedField;
  /** Why conditions cannot be sent: the path leads into the values of the field. */
  readonly isInside: boolean;
}

/** The types of fields that hold values of a mapped type without conversion. */
const SAME: Readonly<Record<MappedType, readonly FieldType[]>> = {
  string: ['string'],
  number: ['number', 'integer'],
  boolean: ['boolean'],
  date: ['date', 'datetime'],
  array: ['array'],
  object: ['object'],
};

/** The field type of a mapped type where the provider's type is not known. */
export const FIELD_TYPES: Readonly<Record<MappedType, FieldType>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'datetime',
  array: 'array',
  object: 'object',
};

const NOUNS: Readonly<Record<MappedType, string>> = {
  string: 'texts',
  number: 'numbers',
  boolean: 'true or false',
  date: 'dates',
  array: 'lists',
  object: 'objects',
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

/** The abilities of a field that follow from the provider's field, whatever its values become. */
function abilities({
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
  return {
    ...(nullable !== undefined && { nullable }),
    ...(required !== undefined && { required }),
    ...(createable !== undefined && { createable }),
    ...(updateable !== undefined && { updateable }),
    ...(clearable !== undefined && { clearable }),
    ...(custom !== undefined && { custom }),
    ...(label !== undefined && { label }),
    ...(onDemand !== undefined && { onDemand }),
    ...(unlisted !== undefined && { unlisted }),
  };
}

/** The same type at the provider: values and predicates are the same. */
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

const INSIDE = 'the path of the mapping leads into the values of a field';

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

const READERS: Readonly<Record<MappedType, (value: unknown) => unknown>> = {
  string: scalarText,
  number: (value) => {
    if (typeof value === 'number' || value instanceof ExactNumber) return value;
    return typeof value === 'string' && readDecimal(value) !== undefined ? toJsonNumber(value) : undefined;
  },
  boolean: (value) => {
    if (typeof value === 'boolean') return value;
    const word = typeof value === 'string' ? value.toLowerCase() : '';
    return word === 'true' || word === 'false' ? word === 'true' : undefined;
  },
  date: (value) => {
    const read = typeof value === 'string' ? readLiteral(textLiteral(value), 'datetime') : undefined;
    return read === undefined ? undefined : value;
  },
  array: (value) => (Array.isArray(value) ? value : undefined),
  object: (value) => (isJsonObject(value) ? value : undefined),
};

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' || value instanceof ExactNumber ? (readDecimal(value) ?? String(value)) : undefined;
}

function textLiteral(text: string) {
  return { kind: 'string', text, loc: { offset: 0, length: 0 } } as const;
}

function isScalar(type: FieldType): type is ScalarType {
  return type !== 'object' && type !== 'array';
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

/** Returns one text for all spellings of a value, so that a filter on the text finds all of them. */
function canonicalText(type: ScalarType, value: unknown): string | undefined {
  if (type === 'boolean') return mapDefined(readBoolean(value), String) ?? scalarText(value);
  const text = scalarText(value);
  return type === 'number' || type === 'integer' ? (mapDefined(text, canonicalDecimal) ?? text) : text;
}

function mapDefined<Input, Output>(
  input: Input | undefined,
  map: (input: Input) => Output | undefined,
): Output | undefined {
  return input === undefined ? undefined : map(input);
}

function pickNulls({ filter = {} }: PushedField) {
  return {
    ...(filter['IS NULL'] !== undefined && { 'IS NULL': filter['IS NULL'] }),
    ...(filter['IS NOT NULL'] !== undefined && { 'IS NOT NULL': filter['IS NOT NULL'] }),
  };
}

/** Returns the literals of an equality or of a list of texts. Undefined for any other predicate. */
function textsOf(predicate: Predicate): { readonly values: readonly string[]; readonly negated: boolean } | undefined {
  const operator = operatorOf(predicate);
  if (predicate.kind === 'in') {
    return { values: predicate.values.map(textOf), negated: predicate.negated };
  }
  if (predicate.kind !== 'compare' || (operator !== '=' && operator !== '!=')) return undefined;
  return { values: [textOf(predicate.value)], negated: operator === '!=' };
}

function textOf(value: Value): string {
  return value.kind === 'string' ? value.value : value.kind === 'boolean' ? String(value.value) : value.text;
}

function plain(value: Value): unknown {
  if (value.kind === 'number') return toJsonNumber(value.text);
  return value.kind === 'string' || value.kind === 'boolean' ? value.value : value.text;
}

interface Membership {
  readonly negated: boolean;
  readonly loc: Predicate['loc'];
  readonly isWider?: boolean;
}

/** Returns the condition that the provider's value is one of these, or none of them. */
function oneOf(field: PushedField, values: readonly Value[], { negated, loc, isWider = false }: Membership): Rewritten {
  if (values.length > 0) return rewritten({ kind: 'in', field, negated, values, loc }, isWider);
  return negated ? rewritten({ kind: 'isNull', field, negated: true, loc }, isWider) : NEVER;
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

/** Numbers in another unit, with exact decimals. */
function multiply({ field, isInside }: VendorField, factor: string): Conversion {
  const scale = (value: unknown): unknown => {
    const text = readDecimal(value);
    return text === undefined ? undefined : toJsonNumber(multiplyDecimals(text, factor));
  };
  const isNumber = field.type === 'number' || field.type === 'integer';
  const isDirect = isNumber && !isInside;
  const { createable = false, updateable = false } = field;
  const flags = isInside ? { createable, updateable } : abilities(field);
  return {
    spec: {
      ...flags,
      type: 'number',
      ...(isDirect && { filter: field.filter ?? {} }),
      ...(!isDirect && { nullable: true }),
    },
    read: scale,
    write: (value) => {
      const text = readDecimal(value);
      if (text === undefined) return { fault: 'must be a number.' };
      const { below, isExact } = divideDecimals(text, factor);
      if (!isExact || (field.type === 'integer' && !isInside && below.includes('.'))) {
        return { fault: `must be a multiple of ${field.type === 'integer' ? factor : `the factor ${factor}`}.` };
      }
      return { value: field.format === DECIMAL_TEXT || field.type === 'string' ? below : toJsonNumber(below) };
    },
    ...(!isDirect && { noun: NOUNS.number }),
    rewrite: (predicate) => (isDirect ? divideLiterals(field, factor, predicate) : local(INSIDE)),
  };
}

const TURNED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

/** The same predicate in the provider's unit. */
function divideLiterals(field: PushedField, factor: string, predicate: Predicate): Rewritten {
  const { loc } = predicate;
  if (predicate.kind === 'isNull') return rewritten({ ...predicate, field });
  const texts = textsOf(predicate);
  if (texts !== undefined) {
    const values = texts.values.flatMap((text): Value[] => {
      const { below, isExact } = divideDecimals(text, factor);
      const isHeld = isExact && !(field.type === 'integer' && below.includes('.'));
      return isHeld ? [{ kind: 'number', text: below }] : [];
    });
    return oneOf(field, values, { negated: texts.negated, loc });
  }
  if (predicate.kind !== 'compare' || predicate.value.kind !== 'number') return local('numbers have no patterns');
  const { operator } = predicate;
  if (operator === '=' || operator === '!=') return NEVER;
  const turned = factor.startsWith('-') ? TURNED[operator] : operator;
  const { below, above, isExact } = divideDecimals(predicate.value.text, factor);
  if (isExact && !(field.type === 'integer' && below.includes('.'))) {
    return rewritten({ kind: 'compare', field, operator: turned, value: { kind: 'number', text: below }, loc });
  }
  // No value lies between the literal and its neighbours.
  const isUpper = turned === '<' || turned === '<=';
  const [low, high] = field.type === 'integer' ? wholeAround(below) : [below, above];
  const text = isUpper ? low : high;
  const wider = isUpper ? high : low;
  return field.type === 'integer'
    ? rewritten({ kind: 'compare', field, operator: isUpper ? '<=' : '>=', value: { kind: 'number', text }, loc })
    : rewritten({ kind: 'compare', field, operator: turned, value: { kind: 'number', text: wider }, loc }, true);
}

function wholeAround(text: string): readonly [string, string] {
  const [whole = '0', fraction] = text.split('.');
  const cut = BigInt(whole === '-0' ? '0' : whole);
  const floor = text.startsWith('-') && fraction !== undefined ? cut - 1n : cut;
  return [String(floor), String(floor + 1n)];
}

interface ValueMap {
  readonly values: Readonly<Record<string, MappedValue>>;
  readonly otherwise?: MappedValue;
}

/** Values by a table. */
function mapValues({ field, isInside }: VendorField, type: MappedType, { values, otherwise }: ValueMap): Conversion {
  const fold = (text: string) => (field.type === 'string' ? foldText(text, field.collation) : text);
  const table = new Map<string, { readonly key: string; readonly ours: MappedValue }>();
  for (const [key, ours] of Object.entries(values)) {
    const spelled = keyOf(field, key);
    if (spelled !== undefined && !table.has(fold(spelled))) table.set(fold(spelled), { key: spelled, ours });
  }
  const keepsOthers = otherwise === 'keep';
  const other = keepsOthers ? null : (otherwise ?? null);
  const entries = [...table.values()];
  const ours = new Set([...entries.map((entry) => entry.ours), ...(other == null ? [] : [other])]);
  const isClosed = !keepsOthers && type === 'string';
  const shown = [...ours].filter((value) => typeof value === 'string');
  const {
    nullable: _,
    required,
    ...rest
  } = isInside
    ? { nullable: true, required: false, createable: field.createable ?? false, updateable: field.updateable ?? false }
    : abilities(field);
  const spec: FieldSpec = {
    ...rest,
    ...(required !== undefined && { required }),
    type: FIELD_TYPES[type],
    ...(isClosed && { values: shown }),
    // Values that are kept are compared as the provider compares them.
    ...(type === 'string' && { collation: keepsOthers ? (field.collation ?? 'cs') : ('cs' as const) }),
    filter: isInside || !isScalar(field.type) ? {} : listFilter(field),
  };
  const find = (value: unknown): unknown => {
    const text = scalarText(value);
    if (text === undefined) return undefined;
    const spelled = isInside ? text : keyOf(field, text);
    const found = spelled === undefined ? undefined : table.get(fold(spelled));
    if (found !== undefined) return found.ours;
    if (!keepsOthers) return other;
    return type === 'string' && !isInside && isScalar(field.type)
      ? canonicalText(field.type, value)
      : READERS[type](value);
  };
  return {
    spec,
    read: find,
    write: (value) => {
      const entry = entries.find((each) => each.ours === value);
      if (entry !== undefined) return { value: valueOfKey(field, entry.key) };
      if (keepsOthers) return { value };
      return { fault: `must be one of: ${[...new Set(entries.map((each) => String(each.ours)))].join(', ')}.` };
    },
    ...((keepsOthers ? entries.some((each) => each.ours === null) : other === null || ours.has(null)) && {
      makesNull: true,
    }),
    ...(keepsOthers && type !== 'string' && { noun: NOUNS[type] }),
    rewrite: (predicate) => {
      if (isInside) return local(INSIDE);
      if (!isScalar(field.type)) return local(`the provider's values are of type ${field.type}`);
      if (keepsOthers && (field.type === 'date' || field.type === 'datetime')) {
        return local('the mapping keeps dates in the spelling of the provider');
      }
      if (keepsOthers && type !== 'string') return local('values that the mapping keeps may be of another type');
      return rewriteMapped(field, field.type, { entries, keepsOthers, other, fold, table }, predicate);
    },
  };
}

function listFilter({ filter = {} }: PushedField): NonNullable<FieldSpec['filter']> {
  const some = filter.IN ?? filter['='];
  const none = filter['NOT IN'] ?? filter['!='];
  return {
    ...(some !== undefined && { '=': some, IN: some }),
    ...(none !== undefined && { '!=': none, 'NOT IN': none }),
  };
}

/** Returns the spelling of a key that a value of the field has. Undefined for a key that no value can have. */
function keyOf(field: PushedField, key: string): string | undefined {
  if (!isScalar(field.type)) return key;
  if (field.type === 'date') return readDate(key);
  const value = readLiteral(textLiteral(key), field.type);
  return value === undefined ? undefined : textOf(value);
}

function valueOfKey(field: PushedField, key: string): unknown {
  const value = isScalar(field.type) ? readLiteral(textLiteral(key), field.type) : undefined;
  return value === undefined ? key : plain(value);
}

interface Table {
  readonly entries: readonly { readonly key: string; readonly ours: MappedValue }[];
  readonly keepsOthers: boolean;
  /** The value for all other values of the provider. */
  readonly other: MappedValue;
  readonly fold: (text: string) => string;
  readonly table: ReadonlyMap<string, unknown>;
}

function rewriteMapped(field: PushedField, type: ScalarType, map: Table, predicate: Predicate): Rewritten {
  const { loc } = predicate;
  const { entries, keepsOthers, other } = map;
  const test = testOf(predicate);
  const among = (some: Table['entries'], negated: boolean, texts: readonly string[] = []) => {
    const values = [...some.map(({ key }) => key), ...texts].flatMap(
      (key) => readLiteral(textLiteral(key), type) ?? [],
    );
    return oneOf(field, values, { negated, loc });
  };
  const nulls = entries.filter(({ ours }) => ours === null);
  const isNull: Rewritten = rewritten({ kind: 'isNull', field, negated: false, loc });
  if (!keepsOthers) {
    const passing = entries.filter(({ ours }) => test(ours));
    const found = test(other)
      ? among(
          entries.filter((entry) => !passing.includes(entry)),
          true,
        )
      : among(passing, false);
    // Null at the provider is null here, too.
    return predicate.kind === 'isNull' && !predicate.negated ? eitherOf([isNull, found]) : found;
  }
  if (predicate.kind === 'isNull')
    return predicate.negated ? among(nulls, true) : eitherOf([isNull, among(nulls, false)]);
  const texts = textsOf(predicate);
  if (texts === undefined) return local('the mapping changes some of the values, and their order with them');
  const { negated } = texts;
  const kept = texts.values.filter((text) => keyOf(field, text) === text && !map.table.has(map.fold(text)));
  const named = entries.filter(({ ours }) => ours !== null && test(ours) !== negated);
  return among(negated ? [...named, ...nulls] : named, negated, kept);
}

/** Returns a test of single values by a predicate. */
export function testOf(predicate: Predicate): (value: unknown) => boolean {
  const name = 'value';
  const test = compileCondition({ ...predicate, field: { ...predicate.field, name } });
  return (value) => test({ [name]: value });
}

/** Joins rewritten predicates by OR. */
export function eitherOf(parts: readonly Rewritten[], isWider = false): Rewritten {
  const missing = parts.find(({ kind }) => kind === 'local');
  if (missing !== undefined) return missing;
  if (parts.some(({ kind }) => kind === 'always')) return isWider ? local('every value may match') : ALWAYS;
  const asked = parts.filter((part) => part.kind === 'rewritten');
  const condition = joinConditions(
    'or',
    asked.map((part) => part.condition),
  );
  return condition === undefined ? NEVER : rewritten(condition, isWider || asked.some((part) => part.isWider));
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
