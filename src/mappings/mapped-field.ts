import {
  type FieldSpec,
  joinConditions,
  operatorOf,
  type Predicate,
  type PushedField,
  pushedField,
  type Queryable,
  type Rewritten,
  type Row,
  reader,
} from '../where/index.ts';
import { conversionOf } from './conversion.ts';
import { type Conversion, FIELD_TYPES } from './conversion-base.ts';
import type { DefinitionField, FieldEntry, Level, MappedType, MappedValue, TransformationField } from './model.ts';
import { isMany, isWritable, type PathStep, parsePath, readPath } from './paths.ts';
import { eitherOf, testOf } from './rewritten.ts';

/** A field of a mapped object, as metadata shows it. */
export interface MappedFieldView {
  readonly name: string;
  readonly spec: FieldSpec;
  readonly vendorPath?: string;
  readonly vendorType?: string;
  /** The level of the mapping, or of the definition where nothing maps the field. Absent for fields that are passed through. */
  readonly level?: Level;
  /** Whether the field of the definition has a value on this element. Absent for fields that are passed through. */
  readonly isMapped?: boolean;
  /** Why conditions on the field are not sent to the provider, as a clause. */
  readonly local?: string;
}

/** Counts values that could not be converted, by field. */
export type ConversionFaults = Map<string, { count: number; readonly noun: string }>;

/** The field of the provider that a mapped value is read from. */
export interface FieldSource {
  readonly field: PushedField;
  /** The steps from the field to the value. */
  readonly rest: readonly PathStep[];
  readonly conversion: Conversion;
}

/** A field of the definition with all that follows from the transformation. */
export interface MappedField {
  readonly path: string;
  readonly steps: readonly PathStep[];
  readonly spec: FieldSpec;
  readonly view: Omit<MappedFieldView, 'name' | 'spec'>;
  readonly sources: readonly FieldSource[];
  readonly read: (vendorRow: Row, faults: ConversionFaults) => unknown;
  readonly rewrite: (predicate: Predicate) => Rewritten;
  /** The field of the provider that a field shows which only the script's result decides. */
  readonly scriptSource?: PushedField;
  readonly isShown: boolean;
  /** The source that requests write to. */
  readonly target?: FieldSource;
  /** The value of a new record whose request leaves the field out. */
  readonly fallback?: MappedValue;
}

/**
 * Compiles a field of a definition with the field of the transformation, if there is one.
 * @param find finds the provider's field of a path
 */
export function mapField(
  definition: DefinitionField & { readonly level: Level },
  field: (TransformationField & { readonly level: Level }) | undefined,
  find: (path: string) => Omit<FieldSource, 'conversion'> | undefined,
): MappedField {
  const { path } = definition;
  const steps = parsePath(path) ?? [{ kind: 'name', name: path }];
  const type = field?.type ?? definition.type;
  const label = definition.displayName === undefined ? {} : { label: definition.displayName };
  const entries = field?.configuration ?? [];
  const found = vendorPathsOf(field, entries).flatMap((vendorPath) => find(vendorPath) ?? []);
  // The default of several sources stands for the value that is made of them, not for each of theirs.
  const isOneOfSeveral = found.length > 1 || entries.some((entry) => entry.type === 'join');
  const own = isOneOfSeveral ? entries.filter((entry) => entry.type !== 'defaultValue') : entries;
  const sources = found.map((each): FieldSource => {
    const isInside = each.rest.length > 0 || isMany(steps);
    return { ...each, conversion: conversionOf({ field: each.field, isInside }, type, own) };
  });
  const { fromVendor, toVendor } = directionsOf(entries);
  const made = readerOf(path, type, entries, sources, steps);
  const target = made.isWritable && isWritable(sources[0]?.rest ?? []) ? sources[0] : undefined;
  const canWrite = toVendor && target?.conversion.write !== undefined;
  const fallback = defaultIn(entries);
  const spec: FieldSpec = {
    ...made.spec,
    ...label,
    createable: canWrite && made.spec.createable === true,
    updateable: canWrite && made.spec.updateable === true,
    ...(!canWrite && { required: false }),
  };
  return {
    path,
    steps,
    spec,
    view: {
      level: field?.level ?? definition.level,
      isMapped: made.isMapped,
      ...(field?.vendorPath !== undefined && { vendorPath: field.vendorPath }),
      ...vendorTypeOf(field, sources),
    },
    sources,
    read: made.read,
    rewrite: made.rewrite,
    isShown: fromVendor,
    ...(canWrite && target !== undefined && { target }),
    ...(fallback !== null && { fallback }),
  };
}

function defaultIn(entries: readonly FieldEntry[]): MappedValue {
  return entries.find((entry) => entry.type === 'defaultValue')?.properties.value ?? null;
}

function vendorTypeOf(field: TransformationField | undefined, sources: readonly FieldSource[]) {
  const type = field?.vendorType ?? (sources[0]?.rest.length === 0 ? sources[0].field.type : undefined);
  return type === undefined ? {} : { vendorType: type };
}

function vendorPathsOf(field: TransformationField | undefined, entries: readonly FieldEntry[]): readonly string[] {
  const several = entries.find((entry) => entry.type === 'join' || entry.type === 'first');
  if (several !== undefined) return several.properties.paths;
  return field?.vendorPath === undefined ? [] : [field.vendorPath];
}

function directionsOf(entries: readonly FieldEntry[]): { readonly fromVendor: boolean; readonly toVendor: boolean } {
  let [fromVendor, toVendor] = [true, true];
  for (const entry of entries) {
    if (entry.type === 'remove') {
      fromVendor &&= entry.properties.fromVendor !== true;
      toVendor &&= entry.properties.toVendor !== true;
    } else if (entry.type === 'passThrough') {
      fromVendor &&= entry.properties.fromVendor !== false;
      toVendor &&= entry.properties.toVendor !== false;
    }
  }
  return { fromVendor, toVendor };
}

type Reading = Pick<MappedField, 'spec' | 'read' | 'rewrite'> & {
  readonly isWritable: boolean;
  readonly isMapped: boolean;
};

/** Returns the function that makes the value of its sources. */
function readerOf(
  path: string,
  type: MappedType,
  entries: readonly FieldEntry[],
  sources: readonly FieldSource[],
  steps: readonly PathStep[],
): Reading {
  const constant = entries.find((entry) => entry.type === 'constant');
  if (constant !== undefined) return constantly(type, constant.properties.value);
  const join = entries.find((entry) => entry.type === 'join');
  const fallback = defaultIn(entries);
  const [first] = sources;
  if (first === undefined) return { ...constantly(type, fallback), isMapped: false };
  if (join !== undefined) return joined(path, sources, { separator: join.properties.separator ?? ' ', fallback });
  if (sources.length > 1) return firstOf(path, type, sources, fallback);
  const { spec, rewrite } = first.conversion;
  const read = sourceReader(path, first, { isPerItem: isMany(steps), fallback });
  return { spec, read: withFallback(read, sources, fallback), rewrite, isWritable: true, isMapped: true };
}

/** A default stands for null and for nothing, not for a value that cannot be converted. */
function withFallback(
  read: MappedField['read'],
  sources: readonly FieldSource[],
  fallback: MappedValue,
): MappedField['read'] {
  if (fallback === null) return read;
  const readers = sources.map(({ field, rest }) => {
    const whole = reader(field.name);
    return (row: Row) => readPath(whole(row), rest);
  });
  return (row, faults) => {
    const isThere = readers.some((readRaw) => (readRaw(row) ?? null) !== null);
    return isThere ? read(row, faults) : fallback;
  };
}

/** Returns the cost of a field that is made of several: that of the costliest. */
function costsOf(sources: readonly FieldSource[]): Pick<FieldSpec, 'unlisted' | 'onDemand'> {
  return {
    ...(sources.some(({ field }) => field.unlisted === true) && { unlisted: true }),
    ...(sources.some(({ field }) => field.onDemand === true) && { onDemand: true }),
  };
}

function constantly(type: MappedType, value: MappedValue): Reading {
  const exact = {
    '=': 'exact',
    '!=': 'exact',
    IN: 'exact',
    'NOT IN': 'exact',
    'IS NULL': 'exact',
    'IS NOT NULL': 'exact',
  } as const;
  return {
    spec: { type: FIELD_TYPES[type], nullable: value === null, filter: exact },
    read: () => value,
    rewrite: (predicate) => ({ kind: testOf(predicate)(value) ? 'always' : 'never' }),
    isWritable: false,
    isMapped: true,
  };
}

function joined(
  path: string,
  sources: readonly FieldSource[],
  { separator, fallback }: { readonly separator: string; readonly fallback: MappedValue },
): Reading {
  const readers = sources.map((source) => sourceReader(path, source));
  return {
    spec: { type: 'string', ...costsOf(sources) },
    read: (row, faults) => {
      const texts = readers.flatMap((read) => {
        const value = read(row, faults);
        return value === null || value === undefined || value === '' ? [] : [String(value)];
      });
      return texts.length === 0 ? fallback : texts.join(separator);
    },
    rewrite: () => ({ kind: 'local', reason: 'the mapping joins several fields' }),
    isWritable: false,
    isMapped: true,
  };
}

function firstOf(path: string, type: MappedType, sources: readonly FieldSource[], fallback: MappedValue): Reading {
  const readers = sources.map((source) => sourceReader(path, source));
  const common = commonSpec(type, sources);
  const read: MappedField['read'] = (row, faults) => {
    for (const readOne of readers) {
      const value = readOne(row, faults);
      if (value !== null && value !== undefined) return value;
    }
    return null;
  };
  return {
    spec: { ...common, ...costsOf(sources), nullable: true, filter: {} },
    read: withFallback(read, sources, fallback),
    rewrite: (predicate) => {
      if (fallback !== null && (predicate.kind === 'isNull' || testOf(predicate)(fallback))) {
        return { kind: 'local', reason: 'the mapping has a default where the provider has no value' };
      }
      const parts = sources.map((source) => rewriteOne(source, common, predicate));
      if (predicate.kind !== 'isNull') return eitherOf(parts, true);
      return predicate.negated ? eitherOf(parts) : allOf(parts);
    },
    isWritable: true,
    isMapped: true,
  };
}

/** Returns what all sources have in common. The rest is as the first one has it, because requests write to it. */
function commonSpec(type: MappedType, sources: readonly FieldSource[]): FieldSpec {
  const specs = sources.map(({ conversion }) => conversion.spec);
  const { sortable: _, domain: __, required: ___, collation: ____, ...spec } = specs[0] ?? { type: FIELD_TYPES[type] };
  return {
    ...spec,
    ...(specs.some((each) => each.type !== spec.type) && { type: FIELD_TYPES[type] }),
    ...(specs.every(({ collation }) => collation === 'ci') && { collation: 'ci' }),
  };
}

/** A provider that compares values of one source in another way finds other rows. */
function rewriteOne({ conversion }: FieldSource, common: FieldSpec, predicate: Predicate): Rewritten {
  if (predicate.kind === 'isNull') return conversion.rewrite(predicate);
  const { type, collation = 'cs' } = conversion.spec;
  const isEquality = operatorOf(predicate) === '=' || operatorOf(predicate) === 'IN';
  // Ignoring case only adds rows to an equality, and the core checks them again.
  const isSound = type === common.type && (collation === (common.collation ?? 'cs') || isEquality);
  if (isSound) return conversion.rewrite(predicate);
  return { kind: 'local', reason: 'the mapping chooses from fields that the provider compares in different ways' };
}

function allOf(parts: readonly Rewritten[]): Rewritten {
  const odd = parts.find(({ kind }) => kind === 'local' || kind === 'never');
  if (odd !== undefined) return odd;
  const asked = parts.filter((part) => part.kind === 'rewritten');
  const condition = joinConditions(
    'and',
    asked.map((part) => part.condition),
  );
  if (condition === undefined) return { kind: 'always' };
  return { kind: 'rewritten', condition, isWider: asked.some(({ isWider }) => isWider) };
}

function sourceReader(
  path: string,
  { field, rest, conversion }: FieldSource,
  { isPerItem = false, fallback = null }: { readonly isPerItem?: boolean; readonly fallback?: MappedValue } = {},
): MappedField['read'] {
  const read = reader(field.name);
  const convert = (value: unknown, faults: ConversionFaults): unknown => {
    if (value === null || value === undefined) return null;
    const converted = conversion.read(value);
    if (converted !== undefined) return converted;
    const known = faults.get(path);
    if (known === undefined) faults.set(path, { count: 1, noun: conversion.noun ?? 'values' });
    else known.count++;
    return null;
  };
  if (rest.length === 0 && !isPerItem) return (row, faults) => convert(read(row), faults);
  const convertItem = (item: unknown, faults: ConversionFaults) =>
    item === null || item === undefined ? fallback : convert(item, faults);
  return (row, faults) => {
    const found = readPath(read(row), rest);
    return isPerItem && Array.isArray(found) ? found.map((item) => convertItem(item, faults)) : convert(found, faults);
  };
}

/**
 * Returns a function that finds the field of a path. It accepts the field's own name and the provider's name. A longer path leads into the
 * values of the longest name that fits.
 */
export function fieldFinder({ fields }: Queryable): (path: string) => Omit<FieldSource, 'conversion'> | undefined {
  const byNative = new Map(Object.entries(fields).map(([name, spec]) => [spec.native ?? name, name]));
  const named = (path: string): PushedField | undefined => {
    const name = Object.hasOwn(fields, path) ? path : byNative.get(path);
    const spec = name === undefined ? undefined : fields[name];
    return name === undefined || spec === undefined ? undefined : pushedField(name, spec);
  };
  return (path) => {
    for (
      let end = path.length;
      end > 0;
      end = Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1))
    ) {
      const field = named(path.slice(0, end));
      if (field === undefined) continue;
      const rest = path.slice(end);
      if (rest === '') return { field, rest: [] };
      // A path must begin with a name.
      const steps = parsePath(`_${rest}`);
      return steps && { field, rest: steps.slice(1) };
    }
    return undefined;
  };
}
