/**
 * What is taken of a `$metadata`: more than a service of several MB has (that of `scripts/bench/s4-metadata.ts`: 600 sets, 1,200 types,
 * 400 properties in a type), and low enough that no document can use up the process.
 */
export const CAPS = {
  bytes: 8 * 1024 * 1024,
  sets: 2000,
  types: 10_000,
  /** Names of collections over all sets, as a listing of objects shows them. */
  collections: 50_000,
  /** For one object. */
  fieldsOfObject: 5000,
  valuesOfObject: 20_000,
  collectionsOfObject: 5000,
  /** Members of an enumeration; with more, its fields are like those whose names do not tell values apart. */
  members: 1000,
  key: 32,
  baseTypes: 32,
  /** Characters. Source: OData CSDL 4.01, sections 17.2 and 17.4, for the names. */
  name: 128,
  namespace: 511,
  qualifiedName: 640,
  label: 128,
  value: 128,
  /** Characters of an annotation of a set, as JSON. */
  statement: 500_000,
} as const;

/** Metadata that cannot be used; the message is for callers. */
export class MetadataError extends Error {}

/** `has 7,213 fields; the maximum is 5,000`, or undefined when it does not have too many. */
export function excess(what: string, found: number, most: number): string | undefined {
  if (found <= most) return undefined;
  return `has ${found.toLocaleString('en')} ${what}; the maximum is ${most.toLocaleString('en')}`;
}

/** @throws MetadataError that names the cap and what was found */
export function assertWithin(what: string, found: number, most: number): void {
  const fault = excess(what, found, most);
  if (fault !== undefined) throw new MetadataError(`The $metadata of the service ${fault}.`);
}

/** For messages: names are the service's, and of any length. */
export function shorten(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}
