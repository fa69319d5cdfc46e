import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBody, fault, type TableRow } from '#connector/simulator';

/**
 * The content of `$metadata`, with aliases, a base type, and annotations in both of their places. The simulator reads the description of
 * its sets from it.
 */
export const METADATA = readFileSync(join(import.meta.dirname, 'metadata.xml'), 'utf8');

export interface Property {
  readonly type: string;
  readonly isRequired: boolean;
  /** Whether the service sets the value. */
  readonly isComputed: boolean;
}

export type Properties = Readonly<Record<string, Property>>;

export interface EntitySet {
  readonly name: string;
  readonly key: readonly string[];
  readonly properties: Properties;
  /** The navigation properties to many: the other set, and its property that contains the key of this set. */
  readonly collections: readonly { readonly path: string; readonly target: string; readonly by: string }[];
  /** Whether changes need If-Match. */
  readonly isGuarded: boolean;
  readonly isReadOnly: boolean;
}

const schema = ['edmx:Edmx', 'edmx:DataServices', 'Schema'].reduce<unknown>(
  (element, name) => Object(element)[name],
  createBody(Buffer.from(METADATA)).xml(),
);

function childrenOf(element: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  return [Object(element)[name] ?? []].flat().map(Object);
}

/** Returns a type by its qualified name, such as `Self.Product`. */
function typeOf(kind: string, name: unknown) {
  return childrenOf(schema, kind).find((type) => `Self.${type.Name}` === name);
}

function propertiesOf(element: unknown): Properties {
  const entries = childrenOf(element, 'Property').map(({ Name, Type, Nullable, Annotation }): [string, Property] => [
    String(Name),
    { type: String(Type), isRequired: Nullable === 'false', isComputed: Annotation !== undefined },
  ]);
  return Object.fromEntries(entries);
}

export const SETS: readonly EntitySet[] = childrenOf(Object(schema).EntityContainer, 'EntitySet').map((set) => {
  const type = typeOf('EntityType', set.EntityType);
  const base = typeOf('EntityType', type?.BaseType);
  const key = childrenOf((base ?? type)?.Key, 'PropertyRef').map(({ Name }) => String(Name));
  const collections = childrenOf(set, 'NavigationPropertyBinding').map(({ Path, Target }) => ({
    ...{ path: String(Path), target: String(Target), by: `${type?.Name}${key[0]}` },
  }));
  const properties = { ...propertiesOf(base), ...propertiesOf(type) };
  const name = String(set.Name);
  return { name, key, properties, collections, isGuarded: name === 'Orders', isReadOnly: name === 'Countries' };
});

const MEMBERS = childrenOf(typeOf('EnumType', 'Self.Category'), 'Member');
export const CATEGORIES = MEMBERS.map(({ Name }) => String(Name));

/** Returns whether JSON contains numbers of the type as text for requests with IEEE754Compatible. */
export function isBig(type: string): boolean {
  return type === 'Edm.Decimal' || type === 'Edm.Int64';
}

/** Returns whether a media type requests IEEE754Compatible. */
export function hasBigAsText(mediaType: string | undefined): boolean {
  return /IEEE754Compatible=true/i.test(String(mediaType));
}

/** Returns the type of a property path such as `Package/Store/City`, or undefined if there is none. */
export function typeOfPath(properties: Properties, [name = '', ...rest]: readonly string[]): string | undefined {
  const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
  return rest.length === 0 ? type : typeOfPath(propertiesOf(typeOf('ComplexType', type)), rest);
}

/** Returns the key of a row, as one text. */
export function keyOf({ key }: EntitySet, row: TableRow): string {
  return JSON.stringify(key.map((name) => String(row[name])));
}

export const GUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const KEY_LITERALS: Readonly<Record<string, RegExp>> = {
  'Edm.String': /^'(?:[^']|'')*'$/,
  'Edm.Guid': GUID,
  'Edm.Int32': /^-?\d+$/,
};

/**
 * Reads the key between the parentheses of a URL.
 * @throws Fault 400 for an invalid key
 */
export function readKey({ key, properties }: EntitySet, predicate: string): TableRow {
  const pairs = [...predicate.matchAll(/(?:^|,)(\w+)=('(?:[^']|'')*'|[^',]*)/g)];
  const values = key.map((name) => {
    const { type = '' } = properties[name] ?? {};
    const literal = key.length === 1 ? predicate : (pairs.find(([, each]) => each === name)?.[2] ?? '');
    if (!KEY_LITERALS[type]?.test(literal)) throw fault(400, `'${literal}' is no ${type}, which the key '${name}' is.`);
    if (type === 'Edm.String') return [name, literal.slice(1, -1).replaceAll("''", "'")];
    return [name, type === 'Edm.Guid' ? literal.toLowerCase() : Number(literal)];
  });
  return Object.fromEntries(values);
}

/** Returns the path of a row below the service root. */
export function addressOf({ name: set, key, properties }: EntitySet, row: TableRow): string {
  const literals = key.map((name) => {
    const value = String(row[name]);
    const literal = properties[name]?.type === 'Edm.String' ? `'${value.replaceAll("'", "''")}'` : value;
    return key.length === 1 ? encodeURIComponent(literal) : `${name}=${encodeURIComponent(literal)}`;
  });
  return `${set}(${literals.join(',')})`;
}
