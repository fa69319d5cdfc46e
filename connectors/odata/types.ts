import { type Annotations, booleanOf, membersOf, propertyOf, statementOf, textOf } from './annotations.ts';
import { assertWithin, CAPS, excess } from './caps.ts';
import { attribute, type Csdl, type Element, elements } from './csdl.ts';

/** A type as JSON of its `TypeData`, which is parsed when an object of the type is used. */
export interface TypeText {
  readonly kind: TypeKind;
  readonly text: string;
}

const KINDS = {
  EntityType: 'structured',
  ComplexType: 'structured',
  EnumType: 'enum',
  TypeDefinition: 'definition',
} as const;

export type TypeKind = (typeof KINDS)[keyof typeof KINDS];

/** The declarations of a type itself, without those of its base types. */
export interface StructuredData {
  readonly base?: string;
  readonly key: readonly string[];
  readonly properties: readonly PropertyData[];
  /** Navigation properties to many, with the types of their records. */
  readonly collections: readonly (readonly [name: string, type: string])[];
  /** Whether the records are files with properties. */
  readonly isMedia?: true;
}

/** A property. A missing member means false or absent, and a missing type means text. */
export interface PropertyData {
  readonly name: string;
  readonly type?: string;
  readonly required?: true;
  readonly hasDefault?: true;
  readonly computed?: true;
  readonly immutable?: true;
  readonly label?: string;
  readonly values?: readonly string[];
  readonly precision?: number;
}

export interface EnumData {
  readonly members: readonly string[];
  readonly distinct: boolean;
}

export interface DefinitionData {
  readonly underlying: string;
}

/** The data of a type that exceeds a limit. */
export interface FaultData {
  /** A text such as `has 7,213 fields; the maximum is 5,000`. */
  readonly fault: string;
}

type TypeData = StructuredData | EnumData | DefinitionData | FaultData;

/** Maximum depth of nested fields. A complex type may contain itself. Records contain deeper members, too, as part of their object. */
export const MAX_DEPTH = 3;

/** The types of a document by qualified name. */
export interface Types {
  /** Returns the names of the key properties including inherited ones, those of the outermost base type first. */
  readonly keyOf: (name: string) => readonly string[];
  /** Returns the name of the field that identifies a record, or undefined without a key. */
  readonly idFieldOf: (name: string) => string | undefined;
  readonly collectionsOf: (name: string) => readonly string[];
  readonly isMedia: (name: string) => boolean;
  readonly labelOf: (target: string) => string | undefined;
  readonly write: () => ReadonlyMap<string, TypeText>;
}

const CORE = 'Org.OData.Core.V1';
const LABEL = 'com.sap.vocabularies.Common.v1.Label';
const ALLOWED_VALUES = 'Org.OData.Validation.V1.AllowedValues';

/** The document from which types are read. */
interface Source {
  readonly csdl: Csdl;
  readonly find: Annotations['find'];
}

const READERS: Readonly<Record<TypeKind, (source: Source, name: string, element: Element) => TypeData>> = {
  structured: readStructured,
  enum: readEnum,
  definition: (_source, _name, element) => ({ underlying: attribute(element, 'UnderlyingType') ?? 'Edm.String' }),
};

export function createTypes(csdl: Csdl, find: Annotations['find']): Types {
  const source = { csdl, find };
  const elementsByName = indexTypes(csdl);
  assertWithin('types', elementsByName.size, CAPS.types);
  const types = new Map(
    [...elementsByName].map(([name, { kind, element }]) => [
      name,
      { kind, data: READERS[kind](source, name, element) },
    ]),
  );
  const lineages = createLineages(types);
  const faultOf = createFaults(types, lineages);
  const keyOf = (name: string) => entityKey(lineages(name).flatMap(({ key }) => key));
  return {
    keyOf,
    idFieldOf: (name) =>
      idFieldOf({ key: keyOf(name), properties: lineages(name).flatMap(({ properties }) => properties) }),
    collectionsOf: (name) =>
      faultOf(name) === undefined ? lineages(name).flatMap(({ collections }) => collections.map(([each]) => each)) : [],
    isMedia: (name) => isMedia(lineages(name)),
    labelOf: (target) => labelOf(source, target),
    write: () =>
      new Map(
        [...types].map(([name, { kind, data }]) => {
          const fault = kind === 'structured' ? faultOf(name) : undefined;
          return [name, { kind, text: JSON.stringify(fault === undefined ? data : { fault }) }];
        }),
      ),
  };
}

export function isMedia(lineage: readonly StructuredData[]): boolean {
  return lineage.some((data) => data.isMedia === true);
}

function indexTypes(csdl: Csdl): ReadonlyMap<string, { readonly kind: TypeKind; readonly element: Element }> {
  const found = new Map<string, { readonly kind: TypeKind; readonly element: Element }>();
  for (const schema of csdl.schemas) {
    for (const [tag, kind] of Object.entries(KINDS)) {
      for (const element of elements(schema, tag)) {
        found.set(`${attribute(schema, 'Namespace')}.${attribute(element, 'Name')}`, { kind, element });
      }
    }
  }
  return found;
}

/**
 * Returns the key of an entity type. A key inside a complex property has an alias in the URL and another structure in records, so such
 * entities can only be listed, and their key is empty.
 */
export function entityKey(parts: readonly string[]): readonly string[] {
  return parts.some((part) => part.includes('/')) ? [] : parts;
}

interface Keyed {
  readonly key: readonly string[];
  readonly properties: readonly { readonly name: string }[];
}

/** Returns the name of the key property, or of our own field if the key has several properties. Undefined without a key. */
export function idFieldOf({ key, properties }: Keyed): string | undefined {
  if (key.length < 2) return key[0];
  return properties.some(({ name }) => name === 'id') ? '$id' : 'id';
}

function readStructured(source: Source, name: string, element: Element): StructuredData | FaultData {
  const { csdl } = source;
  const properties = elements(element, 'Property');
  const navigation = elements(element, 'NavigationProperty');
  const refs = elements(element, 'Key').flatMap((key) => elements(key, 'PropertyRef'));
  const base = attribute(element, 'BaseType');
  const fault =
    excess('properties', properties.length, CAPS.fieldsOfObject) ??
    excess('navigation properties', navigation.length, CAPS.collectionsOfObject) ??
    excess('key properties', refs.length, CAPS.key) ??
    faultOfNames([element, ...properties, ...navigation, ...refs]);
  if (fault !== undefined) return { fault };
  return {
    ...(base !== undefined && { base: csdl.resolve(base) }),
    ...(attribute(element, 'HasStream') === 'true' && { isMedia: true }),
    key: refs.map((ref) => attribute(ref, 'Name') ?? ''),
    properties: properties.map((property) => readProperty(source, name, property)),
    collections: navigation.flatMap((property) => {
      const target = unwrapCollection(attribute(property, 'Type') ?? '');
      return target === undefined ? [] : [[attribute(property, 'Name') ?? '', csdl.resolve(target)] as const];
    }),
  };
}

/** Returns the fault of names that are too long. Names become part of every path, response and message that mentions them. */
function faultOfNames(named: readonly Element[]): string | undefined {
  const lengths = (name: string) => named.map((element) => attribute(element, name)?.length ?? 0);
  const longest = (name: string) => lengths(name).reduce((most, length) => Math.max(most, length), 0);
  const nested = named.find((element) => /^Collection\(Collection\(/.test(attribute(element, 'Type') ?? ''));
  return (
    excess('characters in a name', longest('Name'), CAPS.name) ??
    excess('characters in the name of a type', Math.max(longest('Type'), longest('BaseType')), CAPS.qualifiedName) ??
    (nested && `has a collection of collections in '${attribute(nested, 'Name')}', which OData does not have`)
  );
}

function readProperty({ csdl, find }: Source, owner: string, element: Element): PropertyData {
  const name = attribute(element, 'Name') ?? '';
  const target = `${owner}/${name}`;
  const stated = (term: string) => {
    const annotation = find(target, term);
    return annotation && statementOf(annotation);
  };
  const is = (term: string) => booleanOf(stated(`${CORE}.${term}`)) ?? false;
  const type = resolveType(csdl, attribute(element, 'Type') ?? 'Edm.String');
  const precision = Number(attribute(element, 'Precision'));
  const label = labelOf({ csdl, find }, target);
  const values = readAllowedValues({ csdl, find }, target);
  const readOnly = /\/Read$/.test(textOf(stated(`${CORE}.Permissions`)) ?? '');
  return {
    name,
    ...(type !== 'Edm.String' && { type }),
    ...(attribute(element, 'Nullable') === 'false' && { required: true }),
    ...((attribute(element, 'DefaultValue') !== undefined || is('ComputedDefaultValue')) && { hasDefault: true }),
    ...((is('Computed') || readOnly) && { computed: true }),
    ...(is('Immutable') && { immutable: true }),
    ...(label !== undefined && { label }),
    ...(values !== undefined && { values }),
    ...(Number.isInteger(precision) && { precision }),
  };
}

function resolveType(csdl: Csdl, written: string): string {
  const member = unwrapCollection(written);
  return member === undefined ? csdl.resolve(written) : `Collection(${csdl.resolve(member)})`;
}

/** Returns the type of a collection's items: `Collection(Shop.Name)` → `Shop.Name`. Undefined if the type is no collection. */
export function unwrapCollection(type: string): string | undefined {
  return type.startsWith('Collection(') && type.endsWith(')') ? type.slice('Collection('.length, -1) : undefined;
}

function readAllowedValues({ find }: Source, target: string): readonly string[] | undefined {
  const annotation = find(target, ALLOWED_VALUES);
  if (annotation === undefined) return undefined;
  const values = membersOf(statementOf(annotation)).flatMap((record) => textOf(propertyOf(record, 'Value')) ?? []);
  return values.length === 0 || areTooMany(values) ? undefined : values;
}

function readEnum(_source: Source, _name: string, element: Element): EnumData {
  const members = elements(element, 'Member');
  const names = members.map((member) => attribute(member, 'Name') ?? '');
  if (areTooMany(names)) return { members: [], distinct: false };
  const values = members.map((member, index) => attribute(member, 'Value') ?? `${index}`);
  const distinct = attribute(element, 'IsFlags') !== 'true' && new Set(values).size === values.length;
  return { members: distinct ? names : [], distinct };
}

function areTooMany(values: readonly string[]): boolean {
  return values.length > CAPS.members || values.some((value) => value.length > CAPS.value);
}

function labelOf({ find }: Source, target: string): string | undefined {
  const annotation = find(target, LABEL);
  return annotation && textOf(statementOf(annotation))?.slice(0, CAPS.label);
}

type TypeMap = ReadonlyMap<string, { readonly kind: TypeKind; readonly data: TypeData }>;

type Lineages = (name: string) => readonly StructuredData[];

/**
 * Returns a function for the type and its base types, the outermost base first. If there are too many base types, or if they form a circle,
 * the result has one more than the limit.
 */
function createLineages(types: TypeMap): Lineages {
  return (name) => {
    const lineage: StructuredData[] = [];
    for (let next: string | undefined = name; next !== undefined && lineage.length <= CAPS.baseTypes + 1; ) {
      const data: TypeData | undefined = types.get(next)?.data;
      if (data === undefined || !('properties' in data)) break;
      lineage.unshift(data);
      next = data.base;
    }
    return lineage;
  };
}

interface Tally {
  readonly fields: number;
  readonly values: number;
}

/**
 * Returns a function for the reason why a type can have no object. It counts the fields without creating them, because there can be far
 * more of them than bytes in the document.
 */
function createFaults(types: TypeMap, lineageOf: Lineages): (name: string) => string | undefined {
  const tallies = new Map<string, Tally>();

  function tallyOf(name: string, depth: number): Tally {
    const key = `${depth} ${name}`;
    const known = tallies.get(key);
    if (known !== undefined) return known;
    const tally = addUp(lineageOf(name).flatMap(({ properties }) => properties.map((each) => tallyOfOne(each, depth))));
    tallies.set(key, tally);
    return tally;
  }

  function tallyOfOne({ type = 'Edm.String', values = [] }: PropertyData, depth: number): Tally {
    const data = types.get(type)?.data;
    const members = data !== undefined && 'members' in data && data.distinct ? data.members : [];
    const nested = data !== undefined && 'properties' in data && depth < MAX_DEPTH ? tallyOf(type, depth + 1) : NOTHING;
    return { fields: 1 + nested.fields, values: Math.max(values.length, members.length) + nested.values };
  }

  return (name) => {
    const data = types.get(name)?.data;
    if (data === undefined || 'fault' in data) return data?.fault;
    const lineage = lineageOf(name);
    const bases = excess('base types', lineage.length - 1, CAPS.baseTypes);
    if (bases !== undefined) return bases.replace(/^has \d+/, 'has more than 32');
    const collections = lineage.reduce((sum, each) => sum + each.collections.length, 0);
    const { fields, values } = tallyOf(name, 1);
    return (
      excess('fields', fields, CAPS.fieldsOfObject) ??
      excess('values of fields', values, CAPS.valuesOfObject) ??
      excess('collections', collections, CAPS.collectionsOfObject)
    );
  };
}

const NOTHING: Tally = { fields: 0, values: 0 };

function addUp(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (sum, { fields, values }) => ({ fields: sum.fields + fields, values: sum.values + values }),
    NOTHING,
  );
}
