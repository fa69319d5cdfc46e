import {
  type FieldSpec,
  foldText,
  type Predicate,
  type PushedField,
  type Rewritten,
  readDate,
  readLiteral,
  type ScalarType,
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
} from './conversion-base.ts';
import type { MappedType, MappedValue } from './model.ts';
import {
  eitherOf,
  INSIDE,
  isScalar,
  local,
  oneOf,
  plain,
  rewritten,
  testOf,
  textLiteral,
  textOf,
  textsOf,
} from './rewritten.ts';

interface ValueMap {
  readonly values: Readonly<Record<string, MappedValue>>;
  readonly otherwise?: MappedValue;
}

/** Returns the conversion of values by a table. */
export function mapValues(
  { field, isInside }: VendorField,
  type: MappedType,
  { values, otherwise }: ValueMap,
): Conversion {
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
