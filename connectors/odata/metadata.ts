import { unusable } from '#connector';
import type { Statement } from './annotations.ts';
import { type Capabilities, ofMedia, readCapabilities } from './capabilities.ts';
import { shorten } from './caps.ts';
import type { Model, SetDetail, Terms } from './model.ts';
import {
  type DefinitionData,
  type EnumData,
  entityKey,
  type FaultData,
  isMedia,
  type PropertyData,
  type StructuredData,
  type TypeKind,
  unwrapCollection,
} from './types.ts';

/** An entity set, or the records below a record of another set. */
export interface EntitySet {
  readonly name: string;
  readonly type: StructuredType;
  readonly capabilities: Capabilities;
  /** A value that is equal for sets with the same fields. */
  readonly likeness: string;
}

/** An entity type or a complex type, including the inherited properties of its base types. */
export interface StructuredType {
  /** Names of the key properties in order. Empty for a complex type, and for an entity type whose key the connector cannot write. */
  readonly key: readonly string[];
  readonly properties: readonly Property[];
}

/** Records that can be read below those of a set, such as `/Products(1)/reviews`. */
export interface Collection {
  readonly name: string;
  readonly target: () => EntitySet;
}

export interface Property {
  readonly name: string;
  readonly type: PropertyType;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  /** Whether the service sets the value. */
  readonly computed: boolean;
  /** Whether only a creation sets the value. */
  readonly immutable: boolean;
  readonly label?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

export type PropertyType =
  /** A primitive type. `precision` is the number of total digits of a decimal. */
  | { readonly kind: 'primitive'; readonly name: string; readonly precision?: number | undefined }
  | { readonly kind: 'enum'; readonly name: string; readonly members: readonly string[]; readonly distinct: boolean }
  /** A complex type. Its properties are read on demand, because complex types may contain themselves. */
  | { readonly kind: 'complex'; readonly name: string; readonly properties: () => readonly Property[] }
  | { readonly kind: 'collection'; readonly name: string; readonly of: PropertyType };

/** The entity sets of a model. Each set is read from its text when it is first used. */
export interface Service {
  readonly set: (name: string) => EntitySet;
  readonly collections: (setName: string) => readonly Collection[];
}

/**
 * Opens the service of a model.
 * @throws the error of `unusable` (the returned functions) when a type exceeds a limit
 */
export function openService(model: Model): Service {
  const details = new Map(model.sets.map(({ name, detail }) => [name, detail]));
  const share = createShared<StructuredType>();
  const typeOf = (name: string): StructuredType => share(name, () => readType(source, name));
  const source = createSource(model, typeOf);

  function detailOf(name: string): SetDetail {
    return JSON.parse(details.get(name) ?? '{}');
  }

  function createSet(name: string, typeName: string, terms: Terms): EntitySet {
    const likeness = `${typeName} ${JSON.stringify(terms)}`;
    const stated = capabilitiesOf(model, terms);
    const capabilities = isMedia(lineageOf(model, typeName)) ? ofMedia(stated) : stated;
    return { name, type: typeOf(typeName), capabilities, likeness };
  }

  function set(name: string): EntitySet {
    const { type, terms } = detailOf(name);
    return createSet(name, type, terms);
  }

  return {
    set,
    collections: (setName) => {
      const { type, bound, contained, containerTerms } = detailOf(setName);
      return lineageOf(model, type).flatMap(({ collections }) =>
        collections.map(([name, targetType]) => ({
          name,
          target: () => {
            const boundTo = Object.hasOwn(bound, name) ? bound[name] : undefined;
            const terms = Object.hasOwn(contained, name) ? contained[name] : undefined;
            return boundTo === undefined ? createSet(targetType, targetType, terms ?? containerTerms) : set(boundTo);
          },
        })),
      );
    },
  };
}

function capabilitiesOf({ statements }: Model, terms: Terms): Capabilities {
  return readCapabilities((term): Statement | undefined => {
    const text = statements[terms[term] ?? -1];
    return text === undefined ? undefined : JSON.parse(text);
  });
}

/**
 * Returns a function that creates values once and shares them among simultaneous users. It holds values weakly, so they live only as long
 * as somebody uses them.
 */
export function createShared<Value extends object>(): (key: string, make: () => Value) => Value {
  const made = new Map<string, WeakRef<Value>>();
  return (key, make) => {
    const known = made.get(key)?.deref();
    if (known !== undefined) return known;
    const value = make();
    made.set(key, new WeakRef(value));
    return value;
  };
}

/** A model, and functions that read it once. */
interface Source extends Pick<Model, 'types'> {
  readonly propertiesOf: (typeName: string) => readonly Property[];
  readonly enumOf: (typeName: string) => EnumData;
}

function createSource({ types }: Model, typeOf: (name: string) => StructuredType): Source {
  const share = createShared<EnumData>();
  const enumOf = (name: string) =>
    share(name, () => dataOf({ types }, 'enum', name) ?? { members: [], distinct: false });
  return { types, enumOf, propertiesOf: (name) => typeOf(name).properties };
}

function readType(source: Source, name: string): StructuredType {
  const lineage = lineageOf(source, name);
  return {
    key: entityKey(lineage.flatMap(({ key }) => key)),
    properties: lineage.flatMap(({ properties }) => properties.map((property) => readProperty(source, property))),
  };
}

/**
 * Returns a type and its base types, the outermost base first. The number of base types needs no check here, because the model limits it.
 */
function lineageOf(source: Pick<Source, 'types'>, name: string): readonly StructuredData[] {
  const lineage: StructuredData[] = [];
  for (let next: string | undefined = name; next !== undefined; ) {
    const data: StructuredData | undefined = dataOf(source, 'structured', next);
    if (data === undefined) break;
    lineage.unshift(data);
    next = data.base;
  }
  return lineage;
}

interface DataOfKind {
  readonly structured: StructuredData;
  readonly enum: EnumData;
  readonly definition: DefinitionData;
}

function dataOf<Kind extends TypeKind>(
  { types }: Pick<Source, 'types'>,
  kind: Kind,
  name: string,
): DataOfKind[Kind] | undefined {
  const type = types.get(name);
  if (type?.kind !== kind) return undefined;
  const data: DataOfKind[Kind] | FaultData = JSON.parse(type.text);
  if ('fault' in data) throw unusable(`The type ${shorten(name)} in the $metadata of the service ${data.fault}.`);
  return data;
}

function readProperty(source: Source, data: PropertyData): Property {
  return {
    name: data.name,
    type: readPropertyType(source, data.type ?? 'Edm.String', data.precision),
    nullable: data.required !== true,
    hasDefault: data.hasDefault === true,
    computed: data.computed === true,
    immutable: data.immutable === true,
    label: data.label,
    values: data.values,
  };
}

function readPropertyType(source: Source, name: string, precision: number | undefined): PropertyType {
  const member = unwrapCollection(name);
  if (member !== undefined) return { kind: 'collection', name, of: readPropertyType(source, member, precision) };
  switch (source.types.get(name)?.kind) {
    case 'structured':
      return { kind: 'complex', name, properties: () => source.propertiesOf(name) };
    case 'enum':
      return { kind: 'enum', name, ...source.enumOf(name) };
    case 'definition':
      return { kind: 'primitive', name: dataOf(source, 'definition', name)?.underlying ?? name, precision };
    case undefined:
      return { kind: 'primitive', name, precision };
  }
}
