import { booleanOf, type FindAnnotation, readAnnotations, recordsOf } from './annotations.ts';
import { type Capabilities, readCapabilities } from './capabilities.ts';
import { attribute, type Csdl, constant, type Element, elements, parseCsdl } from './csdl.ts';

/** What a service offers, read from its `$metadata` (CSDL XML 4.0 and 4.01). */
export interface EntitySet {
  readonly name: string;
  readonly label?: string | undefined;
  readonly type: StructuredType;
  readonly capabilities: Capabilities;
}

/** An entity type or a complex type, with everything that its base types give it. */
export interface StructuredType {
  /** Names of the key properties in order; empty for a complex type, and for an entity without a key that we can write. */
  readonly key: readonly string[];
  readonly properties: readonly Property[];
  /** Collections that can be read below an entity: `/Products(1)/reviews`. */
  readonly collections: readonly { readonly name: string; readonly target: EntitySet }[];
}

export interface Property {
  readonly name: string;
  readonly type: PropertyType;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  /** The service sets it. */
  readonly computed: boolean;
  /** Set on creation only. */
  readonly immutable: boolean;
  readonly label?: string | undefined;
  readonly values?: readonly string[] | undefined;
  /** Total digits of a decimal. */
  readonly precision?: number | undefined;
}

export type PropertyType =
  | { readonly kind: 'primitive'; readonly name: string }
  | { readonly kind: 'enum'; readonly name: string; readonly members: readonly string[]; readonly distinct: boolean }
  /** Read on demand, as complex types may contain themselves. */
  | { readonly kind: 'complex'; readonly name: string; readonly properties: () => readonly Property[] }
  | { readonly kind: 'collection'; readonly name: string; readonly of: PropertyType };

const CORE = 'Org.OData.Core.V1';
const LABEL = 'com.sap.vocabularies.Common.v1.Label';
const ALLOWED_VALUES = 'Org.OData.Validation.V1.AllowedValues';

interface Model {
  readonly csdl: Csdl;
  readonly find: FindAnnotation;
  /** EntityType, ComplexType, EnumType and TypeDefinition elements by qualified name, with their kind. */
  readonly types: ReadonlyMap<string, { readonly kind: string; readonly element: Element }>;
}

/** @throws Error that says what is wrong when this is not the metadata of an OData 4 service. */
export function readMetadata(xml: string): readonly EntitySet[] {
  const csdl = parseCsdl(xml);
  const model: Model = { csdl, find: readAnnotations(csdl), types: indexTypes(csdl) };
  return csdl.schemas.flatMap((schema) =>
    elements(schema, 'EntityContainer').flatMap((container) =>
      readContainer(model, `${attribute(schema, 'Namespace')}.${attribute(container, 'Name')}`, container),
    ),
  );
}

function indexTypes(csdl: Csdl): Model['types'] {
  const kinds = ['EntityType', 'ComplexType', 'EnumType', 'TypeDefinition'];
  return new Map(
    csdl.schemas.flatMap((schema) =>
      kinds.flatMap((kind) =>
        elements(schema, kind).map(
          (element) => [`${attribute(schema, 'Namespace')}.${attribute(element, 'Name')}`, { kind, element }] as const,
        ),
      ),
    ),
  );
}

function readContainer(model: Model, container: string, element: Element): readonly EntitySet[] {
  const sets = new Map<string, EntitySet>();
  for (const set of elements(element, 'EntitySet')) {
    const name = attribute(set, 'Name') ?? '';
    const target = `${container}/${name}`;
    const typeName = model.csdl.resolve(attribute(set, 'EntityType') ?? '');
    sets.set(name, {
      name,
      label: labelOf(model, target) ?? labelOf(model, typeName),
      type: readEntityType(
        model,
        typeName,
        (property) => boundSet(set, property, sets) ?? contained(model, target, property),
      ),
      capabilities: readCapabilities(model.find, target, container),
    });
  }
  return [...sets.values()];
}

/** The set that the records behind a navigation property belong to. */
function boundSet(set: Element, property: Element, sets: ReadonlyMap<string, EntitySet>): EntitySet | undefined {
  const name = attribute(property, 'Name');
  const binding = elements(set, 'NavigationPropertyBinding').find((candidate) => attribute(candidate, 'Path') === name);
  return binding && sets.get(attribute(binding, 'Target')?.split('/').at(-1) ?? '');
}

/** Records that live below their parent only. What they can do stands at the navigation property, if anywhere. */
function contained(model: Model, owner: string, property: Element): EntitySet {
  const name = model.csdl.resolve(unwrapCollection(attribute(property, 'Type') ?? '') ?? '');
  const target = `${owner}/${attribute(property, 'Name')}`;
  const capabilities = readCapabilities(model.find, target, owner.slice(0, owner.indexOf('/')));
  return { name, type: readEntityType(model, name), capabilities };
}

function readEntityType(
  model: Model,
  name: string,
  targetOf: (property: Element) => EntitySet | undefined = () => undefined,
): StructuredType {
  const lineage = lineageOf(model, name);
  const keys = lineage.flatMap(({ element }) => elements(element, 'Key'));
  const key = keys.flatMap((each) => elements(each, 'PropertyRef')).map((ref) => attribute(ref, 'Name') ?? '');
  const navigation = lineage.flatMap(({ element }) => elements(element, 'NavigationProperty'));
  return {
    // A key inside a complex property has an alias in the URL and another shape in records: such entities are listed only.
    key: key.some((part) => part.includes('/')) ? [] : key,
    properties: readProperties(model, name),
    get collections() {
      return navigation.flatMap((property) => {
        const isCollection = unwrapCollection(attribute(property, 'Type') ?? '') !== undefined;
        const target = isCollection ? targetOf(property) : undefined;
        return target === undefined ? [] : [{ name: attribute(property, 'Name') ?? '', target }];
      });
    },
  };
}

interface TypeElement {
  readonly name: string;
  readonly element: Element;
}

/** A type and its base types, the outermost base first. A circle, which CSDL forbids, ends the search. */
function lineageOf(model: Model, name: string): readonly TypeElement[] {
  const lineage: TypeElement[] = [];
  for (let next: string | undefined = name; next !== undefined; ) {
    const element = model.types.get(next)?.element;
    if (element === undefined || lineage.some((known) => known.element === element)) break;
    lineage.unshift({ name: next, element });
    const base = attribute(element, 'BaseType');
    next = base && model.csdl.resolve(base);
  }
  return lineage;
}

function readProperties(model: Model, typeName: string): readonly Property[] {
  return lineageOf(model, typeName).flatMap(({ name, element }) =>
    elements(element, 'Property').map((property) => readProperty(model, name, property)),
  );
}

function readProperty(model: Model, owner: string, element: Element): Property {
  const name = attribute(element, 'Name') ?? '';
  const target = `${owner}/${name}`;
  const is = (term: string) => booleanOf(model.find(target, `${CORE}.${term}`)) ?? false;
  const permissions = model.find(target, `${CORE}.Permissions`);
  const precision = Number(attribute(element, 'Precision'));
  return {
    name,
    type: readType(model, attribute(element, 'Type') ?? 'Edm.String'),
    nullable: attribute(element, 'Nullable') !== 'false',
    hasDefault: attribute(element, 'DefaultValue') !== undefined || is('ComputedDefaultValue'),
    computed:
      is('Computed') || (permissions !== undefined && /\/Read$/.test(constant(permissions, 'EnumMember') ?? '')),
    immutable: is('Immutable'),
    label: labelOf(model, target),
    values: readAllowedValues(model.find(target, ALLOWED_VALUES)),
    ...(Number.isInteger(precision) && { precision }),
  };
}

function readType(model: Model, written: string): PropertyType {
  const member = unwrapCollection(written);
  if (member !== undefined) return { kind: 'collection', name: written, of: readType(model, member) };
  const name = model.csdl.resolve(written);
  const definition = model.types.get(name);
  if (definition === undefined) return { kind: 'primitive', name };
  if (definition.kind === 'EnumType') return readEnum(name, definition.element);
  if (definition.kind === 'TypeDefinition') {
    return readType(model, attribute(definition.element, 'UnderlyingType') ?? 'Edm.String');
  }
  return { kind: 'complex', name, properties: () => readProperties(model, name) };
}

function readEnum(name: string, element: Element): PropertyType {
  const members = elements(element, 'Member');
  const values = members.map((member, index) => attribute(member, 'Value') ?? `${index}`);
  const distinct = attribute(element, 'IsFlags') !== 'true' && new Set(values).size === values.length;
  return { kind: 'enum', name, members: members.map((member) => attribute(member, 'Name') ?? ''), distinct };
}

function readAllowedValues(annotation: Element | undefined): readonly string[] | undefined {
  if (annotation === undefined) return undefined;
  const values = recordsOf(annotation).map((record) => record.get('Value'));
  return values.flatMap((value) => (value && constant(value, 'String')) ?? []);
}

function labelOf(model: Model, target: string): string | undefined {
  const label = model.find(target, LABEL);
  return label && constant(label, 'String');
}

function unwrapCollection(type: string): string | undefined {
  return /^Collection\((.*)\)$/.exec(type)?.[1];
}
