import type { Schemas } from '../api.ts';
import { type MappedType, printValue, readValue } from './values.ts';

export type Level = Schemas['MappingLevel'];

/** The levels, highest first. */
export const LEVELS = ['organization', 'account', 'instance'] as const satisfies readonly Level[];

type Entry = Schemas['ConfigurationEntry'];
type Body = Schemas['TransformationBody'];
type StoredField = Schemas['TransformationField'];

/** The origin of the value of a field. `script`: the field has no path, and only the script sets it. */
export type Source = 'path' | 'constant' | 'join' | 'first' | 'script';

/** The directions in which a field is mapped. `read`: only in responses; `write`: only in requests. */
export type Direction = 'both' | 'read' | 'write' | 'none';

/** The result for a value that a value map does not list. `keep`: the provider's value, unchanged. */
export type Otherwise = 'null' | 'keep' | 'value';

/** A line of a value map. */
export interface ValuePair {
  readonly vendor: string;
  readonly ours: string;
}

/** A field in the editor, with the texts of its controls. */
export interface FieldForm {
  readonly path: string;
  readonly type: MappedType;
  /** The type in the definition. Undefined for a field that the definition does not have yet. */
  readonly definedAs: MappedType | undefined;
  readonly displayName: string | undefined;
  /** The level that the mapping is inherited from. Undefined if the edited level has the mapping itself. */
  readonly inheritedFrom: Level | undefined;
  readonly source: Source;
  readonly vendorPath: string;
  readonly vendorType: string | undefined;
  readonly constant: string;
  /** Paths of the provider, one per line. */
  readonly paths: string;
  readonly separator: string;
  readonly datePattern: string;
  readonly defaultValue: string;
  readonly factor: string;
  readonly values: readonly ValuePair[];
  readonly otherwise: Otherwise;
  readonly otherwiseValue: string;
  readonly direction: Direction;
}

/** A transformation in the form of the editor. */
export interface TransformationForm {
  readonly vendorName: string;
  readonly fields: readonly FieldForm[];
  /** The settings of the transformation that are on. */
  readonly flags: ReadonlySet<Flag>;
  readonly script: string;
  readonly dropsEmpty: boolean;
}

/** Settings that are on or off. The first two are the directions of one entry, `passThrough`. */
export type Flag = 'passFromVendor' | 'passToVendor' | 'inherit' | 'addToDocumentation' | 'applyJSOnQueryFieldValue';

const ENTRY_FLAGS = ['inherit', 'addToDocumentation', 'applyJSOnQueryFieldValue'] as const satisfies readonly Flag[];

/** A field of the definition that applies to the target. */
export interface DefinedField {
  readonly path: string;
  readonly type: MappedType;
  readonly displayName?: string | undefined;
}

const NO_CONVERSION = {
  source: 'path',
  vendorPath: '',
  vendorType: undefined,
  constant: '',
  paths: '',
  separator: ' ',
  datePattern: '',
  defaultValue: '',
  factor: '',
  values: [],
  otherwise: 'null',
  otherwiseValue: '',
  direction: 'both',
} as const satisfies Partial<FieldForm>;

/** Returns a field that nothing maps yet. */
export function unmappedField({ path, type, displayName }: DefinedField, definedAs: MappedType | undefined): FieldForm {
  return { ...NO_CONVERSION, path, type, definedAs, displayName, inheritedFrom: undefined };
}

/** Returns whether the edited transformation or one that it inherits from maps the field. */
export function isMapped({ source, vendorPath }: Pick<FieldForm, 'source' | 'vendorPath'>): boolean {
  return source !== 'path' || vendorPath.trim() !== '';
}

/**
 * Returns the form of a transformation: the fields of the definition, followed by fields that only the transformation has.
 * @param stored the stored transformation; undefined for a new one
 */
export function readForm(
  defined: readonly DefinedField[],
  stored: Schemas['Transformation'] | undefined,
  level: Level,
): TransformationForm {
  const mapped = new Map((stored?.fields ?? []).map((field) => [field.path, field]));
  const known = new Set(defined.map(({ path }) => path));
  const others = (stored?.fields ?? []).filter(({ path }) => !known.has(path));
  return {
    vendorName: stored?.vendorName ?? '',
    fields: [
      ...defined.map((field) => {
        const mapping = mapped.get(field.path);
        return mapping === undefined ? unmappedField(field, field.type) : readField(mapping, field, level);
      }),
      ...others.map((field) => readField(field, undefined, level)),
    ],
    flags: readFlags(stored?.configuration),
    script: stored?.script?.body ?? '',
    dropsEmpty: stored?.script?.filterEmptyResponse === true,
  };
}

/** A new transformation passes nothing through, so that its records have the fields of the definition only. */
function readFlags(configuration: readonly Entry[] | undefined): ReadonlySet<Flag> {
  if (configuration === undefined) return new Set();
  const entries = byType(configuration);
  const { fromVendor = true, toVendor = true } = entries.get('passThrough') ?? {};
  const flags: readonly (Flag | false)[] = [
    fromVendor !== false && 'passFromVendor',
    toVendor !== false && 'passToVendor',
    ...ENTRY_FLAGS.map((flag) => entries.has(flag) && flag),
  ];
  return new Set(flags.filter((flag) => flag !== false));
}

type Properties = Readonly<Record<string, unknown>>;

function byType(configuration: readonly Entry[] | null | undefined): ReadonlyMap<string, Properties> {
  return new Map((configuration ?? []).map(({ type, properties }) => [type, properties ?? {}]));
}

function readField(stored: StoredField, defined: DefinedField | undefined, level: Level): FieldForm {
  const { path, type, vendorPath = '', vendorType } = stored;
  const entries = byType(stored.configuration);
  const source = (['constant', 'join', 'first'] as const).find((maker) => entries.has(maker));
  const valueMap = entries.get('valueMap');
  return {
    ...unmappedField({ path, type, displayName: defined?.displayName }, defined?.type),
    inheritedFrom: stored.level === level ? undefined : stored.level,
    source: source ?? (vendorPath === '' ? 'script' : 'path'),
    vendorPath,
    vendorType,
    constant: printValue(entries.get('constant')?.value),
    paths: pathsOf(entries.get('join') ?? entries.get('first')),
    separator: String(entries.get('join')?.separator ?? (entries.has('join') ? '' : NO_CONVERSION.separator)),
    datePattern: printValue(entries.get('transformDate')?.pattern),
    defaultValue: printValue(entries.get('defaultValue')?.value),
    factor: printValue(entries.get('number')?.multiply),
    values: pairsOf(valueMap?.values),
    ...readOtherwise(valueMap),
    direction: readDirection(entries),
  };
}

function pathsOf(properties: Properties | undefined): string {
  return Array.isArray(properties?.paths) ? properties.paths.map(String).join('\n') : '';
}

function pairsOf(values: unknown): readonly ValuePair[] {
  return typeof values === 'object' && values !== null
    ? Object.entries(values).map(([vendor, ours]) => ({ vendor, ours: printValue(ours) }))
    : [];
}

function readOtherwise(valueMap: Properties | undefined): Pick<FieldForm, 'otherwise' | 'otherwiseValue'> {
  const { otherwise } = valueMap ?? {};
  if (otherwise === undefined || otherwise === null) return { otherwise: 'null', otherwiseValue: '' };
  if (otherwise === 'keep') return { otherwise: 'keep', otherwiseValue: '' };
  return { otherwise: 'value', otherwiseValue: printValue(otherwise) };
}

/** Reads the direction of a field. Two entries can switch a direction off: `remove`, and `passThrough` with the value false. */
function readDirection(entries: ReadonlyMap<string, Properties>): Direction {
  const isRemoved = (direction: 'fromVendor' | 'toVendor') =>
    entries.get('remove')?.[direction] === true || entries.get('passThrough')?.[direction] === false;
  const isRead = !isRemoved('fromVendor');
  const isWritten = !isRemoved('toVendor');
  if (isRead) return isWritten ? 'both' : 'read';
  return isWritten ? 'write' : 'none';
}

/** The body of a request, with the mapped field of each entry in its list of fields. */
export interface WrittenTransformation {
  readonly body: Pick<Body, 'vendorName' | 'fields' | 'configuration' | 'script'>;
  readonly mappedFields: readonly string[];
}

/** Returns the body that stores a form. Fields that are inherited or not mapped are left out. */
export function writeForm({
  vendorName,
  fields,
  flags,
  script,
  dropsEmpty,
}: TransformationForm): WrittenTransformation {
  const own = fields.filter((field) => field.inheritedFrom === undefined && isMapped(field));
  return {
    body: {
      vendorName: vendorName.trim(),
      fields: own.map(writeField),
      configuration: writeFlags(flags),
      ...(script.trim() !== '' && { script: { body: script, filterEmptyResponse: dropsEmpty } }),
    },
    mappedFields: own.map(({ path }) => path),
  };
}

function writeFlags(flags: ReadonlySet<Flag>): Entry[] {
  const fromVendor = flags.has('passFromVendor');
  const toVendor = flags.has('passToVendor');
  return [
    ...(fromVendor && toVendor ? [] : [{ type: 'passThrough', properties: { fromVendor, toVendor } }]),
    ...ENTRY_FLAGS.filter((flag) => flags.has(flag)).map((type) => ({ type })),
  ];
}

function writeField(field: FieldForm): Schemas['TransformationFieldBody'] {
  const { path, type, definedAs, source, vendorPath, vendorType } = field;
  const configuration = writeEntries(field);
  return {
    path,
    ...(type !== definedAs && { type }),
    ...(source === 'path' && { vendorPath: vendorPath.trim(), ...(vendorType !== undefined && { vendorType }) }),
    ...(configuration.length > 0 && { configuration }),
  };
}

const REMOVED: Readonly<Record<Exclude<Direction, 'both'>, Properties>> = {
  read: { fromVendor: false, toVendor: true },
  write: { fromVendor: true, toVendor: false },
  none: { fromVendor: true, toVendor: true },
};

function writeEntries(field: FieldForm): Entry[] {
  const { type, direction, datePattern, defaultValue, factor, values } = field;
  const given: readonly (Entry | false)[] = [
    writeSource(field),
    datePattern.trim() !== '' && { type: 'transformDate', properties: { pattern: datePattern.trim() } },
    factor.trim() !== '' && { type: 'number', properties: { multiply: readValue(factor.trim(), 'number') } },
    values.some(({ vendor }) => vendor !== '') && { type: 'valueMap', properties: writeValueMap(field) },
    defaultValue !== '' && { type: 'defaultValue', properties: { value: readValue(defaultValue, type) } },
    direction !== 'both' && { type: 'remove', properties: { ...REMOVED[direction] } },
  ];
  return given.filter((entry) => entry !== false);
}

function writeSource({ source, type, constant, paths, separator }: FieldForm): Entry | false {
  const list = paths
    .split('\n')
    .map((path) => path.trim())
    .filter((path) => path !== '');
  const entries: Readonly<Record<Source, Entry | false>> = {
    path: false,
    script: false,
    constant: { type: 'constant', properties: { value: readValue(constant, type) } },
    join: { type: 'join', properties: { paths: list, separator } },
    first: { type: 'first', properties: { paths: list } },
  };
  return entries[source];
}

function writeValueMap({ type, values, otherwise, otherwiseValue }: FieldForm): Record<string, unknown> {
  const otherwiseOf: Readonly<Record<Otherwise, object>> = {
    null: {},
    keep: { otherwise: 'keep' },
    value: { otherwise: readValue(otherwiseValue, type) },
  };
  const listed = values.filter(({ vendor }) => vendor !== '');
  return {
    values: Object.fromEntries(listed.map(({ vendor, ours }) => [vendor, readValue(ours, type)])),
    ...otherwiseOf[otherwise],
  };
}
