import { type FieldSpec, type PushedField, type Queryable, type Rewriting, type Row, reader } from '../where/index.ts';
import { fieldFinder, type MappedField, type MappedFieldView, mapField } from './mapped-field.ts';
import type { MappingInForce } from './model.ts';
import {
  asLocal,
  localBy,
  type PassedField,
  passedFields,
  passThroughOf,
  type ScriptWrites,
  SEVERAL,
  withScript,
} from './pass-through.ts';
import { hasPath, isMany, type PathStep, withoutPath } from './paths.ts';
import { namesIn, type RowColumn, type RowMapping, rowMappings } from './row-mapping.ts';
import { toVendor, type VendorValues, type VendorWriteInput } from './vendor-values.ts';

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
  /** Returns the field of the provider that a mapped field shows before the script changes it. Undefined for fields that it leaves alone. */
  readonly scriptSourceOf: (name: string) => PushedField | undefined;
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
  const columns: RowColumn[] = [];
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
  const scripted = new Map<string, PushedField>();
  for (const { path, scriptSource } of shown) if (scriptSource !== undefined) scripted.set(path, scriptSource);
  for (const { field, isShown, local } of passed)
    if (isShown && local !== undefined && local !== SEVERAL) scripted.set(field.name, field);
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
    scriptSourceOf: (name) => scripted.get(name),
    plainNameOf,
    vendorFieldOf: (name) => plain.get(name),
    rowMapping: rowMappings(columns),
    needsStored: (body) => written.some(({ target, steps }) => (target?.rest.length ?? 0) > 0 && hasPath(body, steps)),
    toVendor: (body, input) => toVendor(body, input, written, fieldsOfVendor),
  };
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
