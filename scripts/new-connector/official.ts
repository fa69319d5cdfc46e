import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema, OfficialDescription, OfficialOperation } from '../../src/connector/simulator/index.ts';
import { titleOf } from './choices.ts';
import { isObject, type JsonObject, schemasIn } from './schemas.ts';

/** A document as a set of named schemas and of operations, before the choice of what a connector uses. */
export interface Described {
  /** The name of the document, for schemas whose names meet those of another document. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** The address of the provider, where the document has it. */
  readonly server?: string;
  /** The kinds of authentication, in words. */
  readonly security: readonly string[];
  readonly operations: OfficialDescription['operations'];
  readonly schemas: OfficialDescription['schemas'];
}

interface Choice {
  /** The operations that the connector uses, e.g. `GET /contacts/{id}`. */
  readonly operations: readonly string[];
  /** Default: the titles and versions of the documents. */
  readonly source?: string | undefined;
  readonly version?: string | undefined;
}

/**
 * Returns the chosen operations of the documents with the schemas that they reach. Of two documents with the same operation, the first
 * describes it.
 * @throws Error that names the operations that no document has
 */
export function chooseOfficial(documents: readonly Described[], choice: Choice): OfficialDescription {
  const operations: Record<string, OfficialOperation> = {};
  const schemas: Record<string, JsonSchema> = {};
  const missing: string[] = [];
  const used = new Set<Described>();
  for (const name of choice.operations) {
    const document = documents.find((each) => Object.hasOwn(each.operations, name));
    const operation = document?.operations[name];
    if (document === undefined || operation === undefined) missing.push(name);
    else {
      used.add(document);
      operations[name] = mapSchemas(operation, (schema) => addReached(schema, document, schemas));
    }
  }
  if (missing.length > 0)
    throw new Error(`No document has the operations ${missing.join(', ')}.${nearestTo(documents)}`);
  const of = documents.filter((document) => used.has(document));
  return {
    source: choice.source ?? [...new Set(of.map(({ title }) => title))].join(', '),
    version: choice.version ?? [...new Set(of.map(({ version }) => version))].join(', '),
    operations: sorted(operations),
    schemas: sorted(schemas),
  };
}

function nearestTo(documents: readonly Described[]): string {
  const all = documents.flatMap(({ operations }) => Object.keys(operations));
  return ` They have ${all.slice(0, 20).join(', ')}${all.length > 20 ? ` and ${all.length - 20} more` : ''}.`;
}

/** Adds the schemas that a schema of the document reaches, and returns the schema with the names that these have in the result. */
function addReached(schema: JsonSchema, document: Described, into: Record<string, JsonSchema>): JsonSchema {
  return schemasIn(schema, (reference) => {
    const original = document.schemas[reference];
    if (original === undefined) throw new Error(`${document.name} has no schema '${reference}'.`);
    const name = nameIn(into, reference, original, document);
    if (!Object.hasOwn(into, name)) {
      ORIGINALS.set(into, new Map([...(ORIGINALS.get(into) ?? []), [name, original]]));
      // The name is taken before its schema is made, because schemas may refer to themselves.
      into[name] = {};
      into[name] = addReached(original, document, into);
    }
    return name;
  });
}

/** The schemas as their documents have them, by which equal ones of several documents are found. */
const ORIGINALS = new WeakMap<object, ReadonlyMap<string, JsonSchema>>();

function nameIn(into: object, name: string, schema: JsonSchema, { name: document }: Described): string {
  const known = ORIGINALS.get(into)?.get(name);
  return known === undefined || isDeepStrictEqual(known, schema) ? name : `${name}Of${capital(document)}`;
}

function capital(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.map(titleOf).join('');
}

function mapSchemas(operation: OfficialOperation, map: (schema: JsonSchema) => JsonSchema): OfficialOperation {
  const mapAll = (schemas: Readonly<Record<string, JsonSchema>>) =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, map(schema)]));
  const { query, body, content, responses } = operation;
  return {
    ...(query !== undefined && { query: mapAll(query) }),
    ...(content !== undefined && { content }),
    ...(body !== undefined && { body: map(body) }),
    responses: mapAll(responses),
  };
}

function sorted<Member>(members: Readonly<Record<string, Member>>): Record<string, Member> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the differences between two descriptions, one line each: `+` for an added part, `-` for a removed one, `~` for a changed one. */
export function compareOfficial(before: OfficialDescription, after: OfficialDescription): readonly string[] {
  return [
    ...(['source', 'version'] as const).flatMap((name) => compareValues(name, before[name], after[name])),
    ...compareMembers('operation', before.operations, after.operations),
    ...compareMembers('schema', before.schemas, after.schemas),
  ];
}

function compareMembers(kind: string, before: JsonObject, after: JsonObject): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    if (!Object.hasOwn(before, name)) return [`+ ${kind} ${name}`];
    if (!Object.hasOwn(after, name)) return [`- ${kind} ${name}`];
    return compareValues(`${kind} ${name}`, before[name], after[name]);
  });
}

function compareValues(path: string, before: unknown, after: unknown): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [`~ ${path}: ${print(before)} → ${print(after)}`];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    // `properties` says nothing to a reader of `Contact.properties.email`.
    const inner = name === 'properties' ? path : `${path}.${name}`;
    if (!Object.hasOwn(before, name)) return [`+ ${inner}${print(after[name], ': ')}`];
    if (!Object.hasOwn(after, name)) return [`- ${inner}`];
    return compareValues(inner, before[name], after[name]);
  });
}

const LONGEST_VALUE = 120;

function print(value: unknown, lead = ''): string {
  const text = JSON.stringify(value);
  return `${lead}${text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text}`;
}
