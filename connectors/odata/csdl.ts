import { XMLParser } from 'fast-xml-parser';
import { assertWithin, CAPS, MetadataError } from './caps.ts';

/**
 * This file reads a CSDL document (the XML of `$metadata`) as elements and attributes, with resolved names and aliases. Source: OData
 * Common Schema Definition Language (CSDL) XML Representation 4.01, OASIS Standard.
 */

/** An XML element: its attributes under `@name`, and its children under their name, always as lists. */
export type Element = Readonly<Record<string, unknown>>;

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
});

export interface Csdl {
  readonly schemas: readonly Element[];
  /** Resolves a name: an alias before the last dot becomes its namespace. `Self.Product` becomes `Shop.Product`. */
  readonly resolve: (name: string) => string;
}

/**
 * Parses the XML of `$metadata`.
 * @throws MetadataError when the text is not the metadata of an OData 4 service
 */
export function parseCsdl(xml: string): Csdl {
  // CSDL needs no document type. Without one, a document cannot declare an entity whose expansion exhausts memory.
  if (/<!DOCTYPE/i.test(xml)) throw new MetadataError('The $metadata of the service declares a document type.');
  const [document] = elements(toElement(parser.parse(xml)), 'Edmx');
  const version = document && attribute(document, 'Version');
  if (document === undefined || version === undefined) throw new MetadataError('The service has no $metadata in XML.');
  if (!version.startsWith('4.'))
    throw new MetadataError(`The service speaks OData ${version.slice(0, 20)}, not OData 4.`);
  const schemas = elements(document, 'DataServices').flatMap((services) => elements(services, 'Schema'));
  return { schemas, resolve: aliasResolver(document, schemas) };
}

/**
 * Returns the function that resolves aliases. Included vocabularies (`Core` for `Org.OData.Core.V1`) and the schemas themselves declare
 * them.
 */
function aliasResolver(document: Element, schemas: readonly Element[]): Csdl['resolve'] {
  const includes = elements(document, 'Reference').flatMap((reference) => elements(reference, 'Include'));
  const namespaces = new Map<string, string>();
  for (const declaration of [...includes, ...schemas]) {
    const alias = attribute(declaration, 'Alias');
    const namespace = attribute(declaration, 'Namespace');
    // An alias of one letter expands to its namespace in every name.
    assertWithin('characters in a namespace', namespace?.length ?? 0, CAPS.namespace);
    if (alias !== undefined && namespace !== undefined) namespaces.set(alias, namespace);
  }
  return (name) => {
    const dot = name.lastIndexOf('.');
    const namespace = namespaces.get(name.slice(0, Math.max(dot, 0)));
    return namespace === undefined ? name : `${namespace}${name.slice(dot)}`;
  };
}

export function elements(parent: Element, name: string): readonly Element[] {
  const children = parent[name];
  return Array.isArray(children) ? children.map(toElement) : [];
}

export function attribute(element: Element, name: string): string | undefined {
  const value = element[`@${name}`];
  return typeof value === 'string' ? value : undefined;
}

/** Returns the texts of all children with this name, such as `<PropertyPath>price</PropertyPath>`. */
export function texts(parent: Element, name: string): readonly string[] {
  return elements(parent, name).flatMap((child) => {
    const text = child['#text'];
    return typeof text === 'string' ? [text] : [];
  });
}

/** Returns a value in either notation: `<X String="a"/>` or `<X><String>a</String></X>`. */
export function constant(element: Element, kind: string): string | undefined {
  return attribute(element, kind) ?? texts(element, kind)[0];
}

/** Converts a parsed value to an element. The parser returns a string for an element with neither attributes nor children. */
function toElement(value: unknown): Element {
  if (isElement(value)) return value;
  return typeof value === 'string' ? { '#text': value } : {};
}

function isElement(value: unknown): value is Element {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
