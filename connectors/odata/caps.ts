/**
 * Limits for a `$metadata` document. They exceed what a service with several MB of metadata has (one in the form of SAP S/4HANA has
 * 600 sets, 1,200 types, 400 properties in a type), and they are low enough that no document can exhaust the process.
 */
export const CAPS = {
  bytes: 8 * 1024 * 1024,
  sets: 2000,
  types: 10_000,
  /** Maximum number of names of collections over all sets, as a list of objects shows them. */
  collections: 50_000,
  /** Maximum number of fields per object. The next two limits are per object, too. */
  fieldsOfObject: 5000,
  valuesOfObject: 20_000,
  collectionsOfObject: 5000,
  /**
   * Maximum number of members of an enumeration. Fields of a larger one have no filter, like those of an enumeration whose names are
   * ambiguous.
   */
  members: 1000,
  key: 32,
  baseTypes: 32,
  /** Maximum length of names in characters. Source for the names: OData CSDL 4.01, sections 17.2 and 17.4. */
  name: 128,
  namespace: 511,
  qualifiedName: 640,
  label: 128,
  value: 128,
  /** Maximum length of an annotation of a set as JSON, in characters. */
  statement: 500_000,
} as const;

/** The error for metadata that cannot be used. Callers may read its message. */
export class MetadataError extends Error {}

/** Returns a text such as `has 7,213 fields; the maximum is 5,000`, or undefined if the number is within the limit. */
export function excess(what: string, found: number, most: number): string | undefined {
  if (found <= most) return undefined;
  return `has ${found.toLocaleString('en')} ${what}; the maximum is ${most.toLocaleString('en')}`;
}

/**
 * Asserts that a number is within a limit.
 * @throws MetadataError that names the limit and the number
 */
export function assertWithin(what: string, found: number, most: number): void {
  const fault = excess(what, found, most);
  if (fault !== undefined) throw new MetadataError(`The $metadata of the service ${fault}.`);
}

/** Shortens a name for a message. Names come from the service and can have any length. */
export function shorten(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}
