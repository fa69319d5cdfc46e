import { literalOf, quote } from './literals.ts';
import type { StructuredType } from './metadata.ts';

/**
 * Ids of records. The id of a record with one key property is the value of the property: `1`, `O'Neil`. With several key properties, the id
 * lists them in OData's notation: `orderNumber='A-1',line=2`. Source: OData URL Conventions 4.01, section 4.3.1.
 */

interface KeyProperty {
  readonly name: string;
  readonly typeName: string;
}

export function keyOf(type: StructuredType): readonly KeyProperty[] {
  return type.key.map((name) => {
    const property = type.properties.find((candidate) => candidate.name === name);
    return { name, typeName: property?.type.name ?? 'Edm.String' };
  });
}

/**
 * Returns a condition of `$filter` for an id with `/` or `\`. Many web servers (Tomcat by default) reject these characters in paths,
 * however they are encoded. Undefined for other ids, which a path can contain, and for a text that is no id of the type.
 */
export function keyFilter(keys: readonly KeyProperty[], id: string): string | undefined {
  if (!/[/\\]/.test(id)) return undefined;
  const parts = splitId(keys, id);
  const literals = keys.map((key) => literalOf(key.typeName, parts.get(key.name) ?? ''));
  if (parts.size !== keys.length || literals.includes(undefined)) return undefined;
  return keys.map(({ name }, index) => `${name} eq ${literals[index]}`).join(' and ');
}

/** Returns whether a record has the id. A service may also find texts that differ in case. */
export function hasId(keys: readonly KeyProperty[], record: Readonly<Record<string, unknown>>, id: string): boolean {
  const parts = splitId(keys, id);
  return keys.every(({ name, typeName }) => typeName !== 'Edm.String' || record[name] === parts.get(name));
}

function splitId(keys: readonly KeyProperty[], id: string): ReadonlyMap<string, string> {
  const [only] = keys;
  return keys.length === 1 && only !== undefined ? new Map([[only.name, id]]) : splitCompositeId(id);
}

/** Returns the key in parentheses, encoded for a path: `(1)`, `('O''Neil')`, `(orderNumber='A-1',line=2)`. */
export function keyPredicate(keys: readonly KeyProperty[], id: string): string {
  const [only] = keys;
  if (keys.length === 1 && only !== undefined) return `(${encodeURIComponent(literalOrText(only, id))})`;
  const parts = splitCompositeId(id);
  const isComplete = parts.size === keys.length && keys.every(({ name }) => parts.has(name));
  // No such record can exist. As a quoted text the id cannot become another URL, and the service returns its own error.
  if (!isComplete) return `(${encodeURIComponent(quote(id))})`;
  const pairs = keys.map((key) => `${key.name}=${encodeURIComponent(literalOrText(key, parts.get(key.name) ?? ''))}`);
  return `(${pairs.join(',')})`;
}

function literalOrText({ typeName }: KeyProperty, text: string): string {
  return literalOf(typeName, text) ?? quote(text);
}

/** Returns the names and values of a composite id. Empty if the text is no composite id. */
function splitCompositeId(id: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  // The pattern is name=literal. The literal is a quoted text, possibly after the name of an enumeration, or extends to the next comma.
  const part = /([\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}_]*)=(?:[\p{L}\p{Nl}\p{Nd}_.]*'((?:[^']|'')*)'|([^',]*))(,|$)/uy;
  while (part.lastIndex < id.length) {
    const match = part.exec(id);
    if (match === null) return new Map();
    const [, name = '', quoted, bare = ''] = match;
    parts.set(name, quoted?.replaceAll("''", "'") ?? bare);
  }
  return parts;
}

/** Returns the id of a record with several key properties. */
export function compositeId(keys: readonly KeyProperty[], record: Readonly<Record<string, unknown>>): string {
  return keys.map((key) => `${key.name}=${literalOrText(key, String(record[key.name]))}`).join(',');
}
