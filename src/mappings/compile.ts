import type { ErrorDetail } from '../errors.ts';
import { pointer } from '../errors.ts';
import {
  type FieldSpec,
  joinConditions,
  operatorOf,
  type Predicate,
  type PushedField,
  pushedField,
  type Queryable,
  type Rewriting,
  type Rewritten,
  type Row,
  reader,
} from '../where/index.ts';
import { type Conversion, conversionOf, eitherOf, FIELD_TYPES, testOf, type WrittenValue } from './conversion.ts';
import type {
  DefinitionField,
  FieldEntry,
  Level,
  MappedType,
  MappedValue,
  MappingInForce,
  TransformationField,
} from './model.ts';
import {
  hasPath,
  isMany,
  isWritable,
  type PathStep,
  parsePath,
  readGiven,
  readPath,
  withoutPath,
  writePath,
} from './paths.ts';

/** What a script may write, as its syntax shows. */
export interface ScriptWrites {
  /** Dotted paths of the mapped record, or `anything`. */
  readonly writes: 'anything' | readonly string[];
  /** Why it is anything, as a clause. */
  readonly why?: string;
}

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

/** Turns records of the provider, in the form of the API, into mapped ones. */
export interface RowMapping {
  /** The fields of the provider's object that are needed. */
  readonly vendorFields: readonly PushedField[];
  readonly map: (vendorRow: Row, faults: ConversionFaults) => Record<string, unknown>;
}

/** The values of a request for the provider, in the form of the API. */
export interface VendorValues {
  readonly values: Record<string, unknown>;
  readonly faults: readonly ErrorDetail[];
}

/** What is written, and the record as the provider has it, where it is needed. */
export interface VendorWriteInput {
  readonly action: 'create' | 'update';
  readonly stored?: Row | undefined;
}

/** A mapping that is compiled for one object of a provider. */
export interface CompiledMapping {
  /** Differs for mappings that read or write anything in another way. */
  readonly version: string;
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** Fields that requests may set and responses do not show. */
  readonly writeOnly: Readonly<Record<string, FieldSpec>>;
  /** All fields as metadata shows them, in the order of the definition. */
  readonly views: readonly MappedFieldView[];
  /** The field that shows the identifier of the provider's record, if any. */
  readonly idField?: string;
  readonly rewriting: Rewriting;
  /** The mapped field that shows a field of the provider unchanged, if any. */
  readonly plainNameOf: (vendorField: string) => string | undefined;
  /** Returns the field of the provider that a mapped field shows unchanged, if any. */
  readonly vendorFieldOf: (name: string) => PushedField | undefined;
  /** Maps rows to these fields, by name; without names, to all fields. */
  readonly rowMapping: (names?: readonly string[]) => RowMapping;
  /** Whether the values of this body change a part of a field of the provider, so that its stored value is needed. */
  readonly needsStored: (body: Row) => boolean;
  readonly toVendor: (body: Row, input: VendorWriteInput) => VendorValues;
}

/** Where the value of a mapped field comes from. */
interface Source {
  readonly field: PushedField;
  /** The steps from the field to the value. */
  readonly rest: readonly PathStep[];
  readonly conversion: Conversion;
}

/** A field of the definition with all that follows from the transformation. */
interface MappedField {
  readonly path: string;
  readonly steps: readonly PathStep[];
  readonly spec: FieldSpec;
  readonly view: Omit<MappedFieldView, 'name' | 'spec'>;
  readonly sources: readonly Source[];
  readonly read: (vendorRow: Row, faults: ConversionFaults) => unknown;
  readonly rewrite: (predicate: Predicate) => Rewritten;
  readonly isShown: boolean;
  /** The source that requests write to. */
  readonly target?: Source;
  /** The value of a new record whose request leaves the field out. */
  readonly fallback?: MappedValue;
}

/**
 * Compiles the mapping of an object for one object of a provider.
 * @throws Error for a date pattern that cannot be read
 */
export function compileMapping(
  vendor: Queryable,
  mapping: MappingInForce,
  script: ScriptWrites | undefined,
): CompiledMapping {
  const find = fieldFinder(vendor);
  const isLocal = localBy(script);
  const byPath = new Map(mapping.fields.map((field) => [field.path, field]));
  const mapped = mapping.definition.map((definition, _, all) => {
    const field = mapField(definition, byPath.get(definition.path), find);
    const isMixed = all.some(({ path }) => path.startsWith(`${definition.path}.`));
    return withScript(isMixed ? asLocal(field, SEVERAL) : field, isLocal(definition.path));
  });
  const passing = passThroughOf(mapping);
  const passed = passedFields(vendor, mapped, passing, isLocal);
  return assemble(vendor, mapping.version, mapped, passed);
}

/** Merges the types that a definition and a transformation name. */
function mapField(
  definition: DefinitionField & { readonly level: Level },
  field: (TransformationField & { readonly level: Level }) | undefined,
  find: (path: string) => Omit<Source, 'conversion'> | undefined,
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
  const sources = found.map((each): Source => {
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

function vendorTypeOf(field: TransformationField | undefined, sources: readonly Source[]) {
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

/** How the value is made of its sources. */
function readerOf(
  path: string,
  type: MappedType,
  entries: readonly FieldEntry[],
  sources: readonly Source[],
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
  sources: readonly Source[],
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

/** What a field costs that is made of several: as much as the costliest. */
function costsOf(sources: readonly Source[]): Pick<FieldSpec, 'unlisted' | 'onDemand'> {
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
  sources: readonly Source[],
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

function firstOf(path: string, type: MappedType, sources: readonly Source[], fallback: MappedValue): Reading {
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
function commonSpec(type: MappedType, sources: readonly Source[]): FieldSpec {
  const specs = sources.map(({ conversion }) => conversion.spec);
  const { sortable: _, domain: __, required: ___, collation: ____, ...spec } = specs[0] ?? { type: FIELD_TYPES[type] };
  return {
    ...spec,
    ...(specs.some((each) => each.type !== spec.type) && { type: FIELD_TYPES[type] }),
    ...(specs.every(({ collation }) => collation === 'ci') && { collation: 'ci' }),
  };
}

/** A provider that compares values of one source in another way finds other rows. */
function rewriteOne({ conversion }: Source, common: FieldSpec, predicate: Predicate): Rewritten {
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
  { field, rest, conversion }: Source,
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

/** Fields of the object are found by their own name or the provider's; a longer path leads into the values of the longest that fits. */
function fieldFinder({ fields }: Queryable): (path: string) => Omit<Source, 'conversion'> | undefined {
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
      const steps = parsePath(rest.startsWith('.') ? rest.slice(1) : `_${rest}`);
      return steps === undefined ? undefined : { field, rest: rest.startsWith('.') ? steps : steps.slice(1) };
    }
    return undefined;
  };
}

type LocalTest = (path: string) => string | undefined;

/** Returns why a field can only be checked on the result of the script. Undefined for a field that the script leaves alone. */
function localBy(script: ScriptWrites | undefined): LocalTest {
  if (script === undefined) return () => undefined;
  const { writes, why } = script;
  if (writes === 'anything') return () => `the script may change it${why === undefined ? '' : `: ${why}`}`;
  const meets = (path: string, other: string) =>
    path === other || path.startsWith(`${other}.`) || other.startsWith(`${path}.`);
  return (path) => {
    const names = path.replaceAll(/\[[^\]]*\]/g, '');
    return writes.some((each) => meets(names, each)) ? 'the script may change it' : undefined;
  };
}

/** A field that a script may write has a value, whatever the mapping says. */
function withScript(field: MappedField, reason: string | undefined): MappedField {
  if (reason === undefined) return field;
  const { view, ...rest } = asLocal(field, reason);
  return { ...rest, view: { ...view, isMapped: true } };
}

function asLocal(field: MappedField, reason: string): MappedField {
  const { spec, view } = field;
  return {
    ...field,
    spec: localSpec(spec),
    view: { ...view, local: reason },
    rewrite: () => ({ kind: 'local', reason }),
  };
}

/** A field whose values may be others than the provider's. */
function localSpec({ type, label, createable, updateable, unlisted, onDemand, custom }: FieldSpec): FieldSpec {
  return {
    type,
    ...(label !== undefined && { label }),
    ...(createable !== undefined && { createable }),
    ...(updateable !== undefined && { updateable }),
    ...(unlisted !== undefined && { unlisted }),
    ...(onDemand !== undefined && { onDemand }),
    ...(custom !== undefined && { custom }),
  };
}

function passThroughOf({ configuration }: MappingInForce): {
  readonly fromVendor: boolean;
  readonly toVendor: boolean;
} {
  const entry = configuration.find((each) => each.type === 'passThrough');
  return { fromVendor: entry?.properties.fromVendor !== false, toVendor: entry?.properties.toVendor !== false };
}

/** A field of the provider's object that keeps its name. */
interface PassedField {
  readonly field: PushedField;
  readonly spec: FieldSpec;
  readonly isShown: boolean;
  /** Paths inside its values that mapped fields show. */
  readonly without: readonly (readonly PathStep[])[];
  readonly local?: string;
}

function passedFields(
  { fields }: Queryable,
  mapped: readonly MappedField[],
  { fromVendor, toVendor }: ReturnType<typeof passThroughOf>,
  isLocal: LocalTest,
): readonly PassedField[] {
  const sources = mapped.flatMap((field) => field.sources);
  const taken = new Set(sources.filter(({ rest }) => rest.length === 0).map(({ field }) => field.name));
  const names = new Set(mapped.map(({ path }) => path));
  const tops = new Set(
    mapped.flatMap(({ steps }) =>
      steps.length > 1 && steps[0]?.kind === 'name' && steps[1]?.kind !== 'name' ? [steps[0].name] : [],
    ),
  );
  const isReplaced = (name: string) => taken.has(name) || names.has(name) || tops.has(name);
  return Object.entries(fields).flatMap(([name, spec]): PassedField[] => {
    if (isReplaced(name) || holdersOf(name).some(isReplaced)) return [];
    const { aliases: _, native: __, ...rest } = spec;
    const writable = {
      createable: toVendor && spec.createable === true,
      updateable: toVendor && spec.updateable === true,
    };
    const field = pushedField(name, spec);
    const without = sources.flatMap((source): (readonly PathStep[])[] => {
      if (source.field.name === name) return source.rest.length > 0 ? [source.rest] : [];
      const below = source.field.name.startsWith(`${name}.`)
        ? parsePath(source.field.name.slice(name.length + 1))
        : undefined;
      return below === undefined ? [] : [[...below, ...source.rest]];
    });
    if (!fromVendor && !writable.createable && !writable.updateable) return [];
    const isMixed = mapped.some(({ path }) => path.startsWith(`${name}.`));
    const reason = isMixed ? SEVERAL : isLocal(name);
    const { read: ___, write: ____, ...shown } = rest;
    const whole = { ...shown, ...writable };
    return [
      {
        field,
        spec: reason === undefined ? whole : localSpec(whole),
        isShown: fromVendor,
        without,
        ...(reason !== undefined && { local: reason }),
      },
    ];
  });
}

const SEVERAL = 'the mapping makes it of several values';

/** `a.b.c` has the holders `a` and `a.b`. */
function holdersOf(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
}

/** A column of mapped rows. */
interface Column {
  /** The name of the field that shows the column. */
  readonly name: string;
  readonly steps: readonly PathStep[];
  readonly needs: readonly PushedField[];
  readonly read: MappedField['read'];
}

function assemble(
  vendor: Queryable,
  version: string,
  mapped: readonly MappedField[],
  passed: readonly PassedField[],
): CompiledMapping {
  const shown = mapped.filter(({ isShown }) => isShown);
  const isNest = ({ path, sources, view }: MappedField) =>
    sources.length === 0 &&
    view.isMapped === false &&
    mapped.some((other) => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[`));
  const fields: Record<string, FieldSpec> = {};
  const rewrites = new Map<string, MappedField['rewrite']>();
  const columns: Column[] = [];
  for (const { field, spec, isShown, without, local } of passed) {
    if (!isShown) continue;
    fields[field.name] = spec;
    rewrites.set(
      field.name,
      local === undefined
        ? (predicate) => ({ kind: 'rewritten', condition: { ...predicate, field }, isWider: false })
        : () => ({ kind: 'local', reason: local }),
    );
    const read = reader(field.name);
    columns.push({
      name: field.name,
      steps: namesIn(field.name),
      needs: [field],
      read:
        without.length === 0
          ? read
          : (row) => without.reduce<unknown>((value, path) => withoutPath(value, path), read(row)),
    });
  }
  for (const field of shown) {
    if (isNest(field)) continue;
    const name = shownName(field.steps) ?? field.path;
    if (name === field.path) fields[name] = field.spec;
    else fields[name] ??= listSpec(shown.filter(({ steps }) => shownName(steps) === name));
    if (name === field.path || !rewrites.has(name)) {
      rewrites.set(name, name === field.path ? field.rewrite : () => ({ kind: 'local', reason: SEVERAL }));
    }
    columns.push({ name, steps: field.steps, needs: field.sources.map((source) => source.field), read: field.read });
  }
  const plain = new Map<string, PushedField>();
  for (const { path, steps, sources, view } of shown) {
    const [source, ...more] = sources;
    const isPlain =
      source?.conversion.isPlain === true && source.rest.length === 0 && more.length === 0 && !isMany(steps);
    if (isPlain && view.local === undefined) plain.set(path, source.field);
  }
  for (const { field, isShown, local } of passed) if (isShown && local === undefined) plain.set(field.name, field);
  const shownBy = (name: string) =>
    shown.find(({ sources }) => sources.some(({ field, rest }) => field.name === name && rest.length === 0))?.path;
  const plainNameOf = (name: string) => [...plain].find(([, field]) => field.name === name)?.[0];
  const vendorId = vendor.idField ?? 'id';
  const idField = plainNameOf(vendorId) ?? shownBy(vendorId);
  const hidden = mapped.filter(({ isShown, target }) => !isShown && target !== undefined);
  const writeOnly = Object.fromEntries([
    ...hidden.map(({ path, spec }) => [path, spec] as const),
    ...passed.filter(({ isShown }) => !isShown).map(({ field, spec }) => [field.name, spec] as const),
  ]);
  const fieldsOfVendor = new Map(passed.map(({ field }) => [field.name, field]));
  const written = mapped.filter(({ target }) => target !== undefined);
  return {
    version,
    fields,
    writeOnly,
    views: [
      ...shown.map((field) => ({
        name: field.path,
        spec: field.spec,
        ...field.view,
        ...(isNest(field) && { isMapped: true }),
      })),
      ...passed
        .filter(({ isShown }) => isShown)
        .map(({ field, spec, local }) => ({
          name: field.name,
          spec,
          vendorPath: field.name,
          ...(local !== undefined && { local }),
        })),
    ],
    ...(idField !== undefined && { idField }),
    rewriting: {
      vendor,
      rewrite: (predicate) =>
        rewrites.get(predicate.field.name)?.(predicate) ?? { kind: 'local', reason: 'it is no field of the mapping' },
      nameOf: (name) => shownBy(name) ?? plainNameOf(name),
    },
    plainNameOf,
    vendorFieldOf: (name) => plain.get(name),
    rowMapping: rowMappings(columns),
    needsStored: (body) => written.some(({ target, steps }) => (target?.rest.length ?? 0) > 0 && hasPath(body, steps)),
    toVendor: (body, input) => toVendor(body, input, written, fieldsOfVendor),
  };
}

function namesIn(name: string): readonly PathStep[] {
  return name.split('.').map((each) => ({ kind: 'name', name: each }));
}

/** Returns the name of the list that shows a path with positions or items. Undefined for a path of names. */
function shownName(steps: readonly PathStep[]): string | undefined {
  const end = steps.findIndex(({ kind }) => kind !== 'name');
  if (end < 0) return undefined;
  return steps
    .slice(0, end)
    .map((step) => (step.kind === 'name' ? step.name : ''))
    .join('.');
}

/** A list is requested as its costliest member is. Lists of records have it unless only single records have all of its members. */
function listSpec(items: readonly MappedField[]): FieldSpec {
  const mapped = items.filter(({ sources }) => sources.length > 0);
  return {
    type: 'array',
    ...(mapped.length > 0 && mapped.every(({ spec }) => spec.unlisted === true) && { unlisted: true }),
    ...(items.some(({ spec }) => spec.onDemand === true) && { onDemand: true }),
    createable: items.some(({ spec }) => spec.createable === true),
    updateable: items.some(({ spec }) => spec.updateable === true),
  };
}

/** Compiles the columns of some fields into one loop. The last ones are kept, because queries name the same fields again and again. */
function rowMappings(all: readonly Column[]): CompiledMapping['rowMapping'] {
  const kept = new Map<string, RowMapping>();
  return (names) => {
    const key = names?.join('\n') ?? '*';
    const known = kept.get(key);
    if (known !== undefined) return known;
    const wanted = names && new Set(names);
    const isWanted = ({ name }: Column) =>
      wanted === undefined || wanted.has(name) || [...wanted].some((each) => name.startsWith(`${each}.`));
    const columns = all.filter(isWanted);
    const made = toRowMapping(columns);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(key, made);
    return made;
  };
}

const MOST_KEPT = 100;

function toRowMapping(columns: readonly Column[]): RowMapping {
  const compiled = columns.map(({ steps, read }) => {
    const [only] = steps;
    const name =
      steps.length === 1 && only?.kind === 'name' && !(only.name in Object.prototype) ? only.name : undefined;
    return { name, steps, read };
  });
  return {
    vendorFields: outermost(columns.flatMap(({ needs }) => needs)),
    map: (row, faults) => {
      let record: Record<string, unknown> = {};
      for (const { name, steps, read } of compiled) {
        const value = read(row, faults) ?? null;
        if (name !== undefined) record[name] = value;
        else record = writePath(record, steps, value) as Record<string, unknown>;
      }
      return record;
    },
  };
}

/** Removes duplicates and the fields inside another needed field, which comes with them. */
export function outermost(fields: readonly PushedField[]): readonly PushedField[] {
  const names = new Map(fields.map((field) => [field.name, field]));
  return [...names.values()].filter(({ name }) => !holdersOf(name).some((holder) => names.has(holder)));
}

function toVendor(
  body: Row,
  { action, stored }: VendorWriteInput,
  written: readonly MappedField[],
  passed: ReadonlyMap<string, PushedField>,
): VendorValues {
  const faults: ErrorDetail[] = [];
  let values: unknown = {};
  // What is passed through first: a mapped field wins.
  for (const name of passed.keys()) {
    const steps = namesIn(name);
    if (hasPath(body, steps)) values = writePath(values, steps, readPath(body, steps));
  }
  const write = ({ field, rest }: Source, value: unknown): void => {
    // A part of a value is written with the rest of it, which the provider would lose otherwise.
    if (rest.length > 0 && stored !== undefined && !hasPath(values, namesIn(field.name))) {
      values = writePath(values, namesIn(field.name), reader(field.name)(stored));
    }
    values = writePath(values, [...namesIn(field.name), ...rest], value);
  };
  for (const { path, steps, target, fallback } of written) {
    if (target === undefined || !hasPath(body, steps)) continue;
    const convert = (each: unknown): unknown => {
      if (each === null || each === undefined) return each;
      const result = target.conversion.write?.(each) ?? { value: each };
      if (!isFault(result)) return result.value;
      faults.push({ path: pointer('body', path), message: `'${path}' ${result.fault}` });
      return null;
    };
    const value = readGiven(body, steps);
    // A default fills items that are there, and never makes one.
    const otherwise = action === 'create' ? writtenDefault(target, fallback) : undefined;
    const isList = isMany(steps) && Array.isArray(value);
    write(target, isList ? value.map((each) => convert(each) ?? otherwise ?? each) : convert(value));
  }
  if (action === 'create') {
    for (const { steps, target, fallback } of written) {
      if (target === undefined || isMany(steps) || hasPath(body, steps)) continue;
      const value = writtenDefault(target, fallback);
      // What the request has by another name wins.
      if (value !== undefined && !hasPath(values, [...namesIn(target.field.name), ...target.rest]))
        write(target, value);
    }
  }
  return { values: values as Record<string, unknown>, faults };
}

/** Returns the default as the provider has it. Undefined without one, and for one that the provider cannot have, which is only read. */
function writtenDefault({ conversion }: Source, fallback: MappedValue | undefined): unknown {
  if (fallback === undefined || fallback === null) return undefined;
  const result = conversion.write?.(fallback) ?? { value: fallback };
  return isFault(result) ? undefined : result.value;
}

function isFault(written: WrittenValue | undefined): written is Extract<WrittenValue, { readonly fault: string }> {
  return written !== undefined && 'fault' in written;
}
