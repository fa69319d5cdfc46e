import { literalOf, quote } from './literals.ts';
import type { StructuredType } from './metadata.ts';

/**
 * Ids. A record with one key property has that property's value as its id: `1`, `O'Neil`. With several, the id is their list
 * as OData writes it: `orderNumber='A-1',line=2`. Source: OData URL Conventions 4.01, section 4.3.1.
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
 * The same as a condition of `$filter`, for ids with `/` or `\`: many web servers (Tomcat by default) refuse these in paths however
 * they are encoded. Undefined for other ids, which a path takes, and for a text that is no id of the type.
 */
export function keyFilter(keys: readonly KeyProperty[], id: string): string | undefined {
  if (!/[/\\]/.test(id)) return undefined;
  const parts = splitId(keys, id);
  const literals = keys.map((key) => literalOf(key.typeName, parts.get(key.name) ?? ''));
  if (parts.size !== keys.length || literals.includes(undefined)) return undefined;
  return keys.map(({ name }, index) => `${name} eq ${literals[index]}`).join(' and ');
}

/** Whether a record has the id; a service may find text in other cases as well. */
export function hasId(keys: readonly KeyProperty[], record: Readonly<Record<string, unknown>>, id: string): boolean {
  const parts = splitId(keys, id);
  return keys.every(({ name, typeName }) => typeName !== 'Edm.String' || record[name] === parts.get(name));
}

function splitId(keys: readonly KeyProperty[], id: string): ReadonlyMap<string, string> {
  const [only] = keys;
  return keys.length === 1 && only !== undefined ? new Map([[only.name, id]]) : splitCompositeId(id);
}

/** `(1)`, `('O''Neil')`, `(orderNumber='A-1',line=2)`, encoded for a path. */
export function keyPredicate(keys: readonly KeyProperty[], id: string): string {
  const [only] = keys;
  if (keys.length === 1 && only !== undefined) return `(${encodeURIComponent(literalOrText(only, id))})`;
  const parts = splitCompositeId(id);
  const isComplete = parts.size === keys.length && keys.every(({ name }) => parts.has(name));
  // No such record can exist. Quoted, the text cannot become another address, and the service says what it thinks of it.
  if (!isComplete) return `(${encodeURIComponent(quote(id))})`;
  const pairs = keys.map((key) => `${key.name}=${encodeURIComponent(literalOrText(key, parts.get(key.name) ?? ''))}`);
  return `(${pairs.join(',')})`;
}

function literalOrText({ typeName }: KeyProperty, text: string): string {
  return literalOf(typeName, text) ?? quote(text);
}

/** Names and values of a composite id; empty when the text is none. */
function splitCompositeId(id: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  // name=literal, where the literal is quoted text (perhaps behind an enumeration's name) or runs up to the next comma.
  const part = /([\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}_]*)=(?:[\p{L}\p{Nl}\p{Nd}_.]*'((?:[^']|'')*)'|([^',]*))(,|$)/uy;
  while (part.lastIndex < id.length) {
    const match = part.exec(id);
    if (match === null) return new Map();
    const [, name = '', quoted, bare = ''] = match;
    parts.set(name, quoted?.replaceAll("''", "'") ?? bare);
  }
  return parts;
}

/** The id of a record with several keys. */
export function compositeId(keys: readonly KeyProperty[], record: Readonly<Record<string, unknown>>): string {
  return keys.map((key) => `${key.name}=${literalOrText(key, String(record[key.name]))}`).join(',');
}
