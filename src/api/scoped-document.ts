import { parse } from 'node:querystring';
import type { OPERATIONS, OperationId } from '../../generated/operations.ts';

/**
 * Whom an operation is for: calls without an `Element` token, calls with one on the service's own paths or on the
 * element's objects, or the paths outside the base path.
 */
export type Scope = (typeof OPERATIONS)[OperationId]['scopes'][number];

interface ScopedOperation {
  readonly 'x-causeway-scopes'?: readonly string[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly allowReserved?: boolean;
}

/** The members of the bundled document that differ between scopes. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, object>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly examples: Readonly<Record<string, object>>;
  };
}

/**
 * The document as a validator for one scope needs it, a copy that the validator may change. The same URL is two
 * operations: `GET /elements` is the catalogue without a token and the provider's object `elements` with one (D2), so
 * each scope is validated against its own operations only.
 *
 * Three habits of express-openapi-validator 5.6 are met here. It takes any bracket in a parameter's name for nesting and
 * then calls `tags[]` unknown, so it is `tags` for the validator, and `parseQuery` does the same to the URL. And it
 * refuses a quote or a colon that the client did not percent-encode unless `allowReserved` is set, which must not be
 * published: clients that obey it would leave `&` and `+` as they are and break the `where`. And it gives Ajv the whole document, which takes the `id` of every record in an example for
 * the name of a schema, and refuses all answers when two have the same: so the examples are empty here.
 */
export function scopedDocument<Api extends ApiDocument>(document: Api, scope: Scope): Api {
  const { parameters, examples } = document.components;
  return structuredClone({
    ...document,
    paths: scopedPaths(document.paths, scope),
    components: {
      ...document.components,
      parameters: mapValues(parameters, forValidator),
      examples: mapValues(examples, () => ({})),
    },
  });
}

function scopedPaths(paths: ApiDocument['paths'], scope: Scope): ApiDocument['paths'] {
  const scoped = Object.entries(paths).map(([path, item]) => [path, scopedItem(item, scope)] as const);
  return Object.fromEntries(scoped.filter(([, item]) => Object.values(item).some(isOperation)));
}

function scopedItem(item: object, scope: Scope): object {
  return Object.fromEntries(
    Object.entries(item).filter(([, member]) => !isOperation(member) || member['x-causeway-scopes']?.includes(scope)),
  );
}

function isOperation(member: unknown): member is ScopedOperation {
  return typeof member === 'object' && member !== null && 'operationId' in member;
}

function forValidator(parameter: Parameter): Parameter {
  const name = bareName(parameter.name);
  return parameter.in === 'query' ? { ...parameter, name, allowReserved: true } : { ...parameter, name };
}

function bareName(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name;
}

function mapValues<Value, Mapped>(record: Readonly<Record<string, Value>>, map: (value: Value) => Mapped) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

/**
 * Express's `query parser` for this API: a parameter that comes once is a string, one that is repeated is an array, and
 * `name[]` is always an array under `name`. Nothing nests. What has no value is not there (decisions D16). Text that is not
 * well percent-encoded is kept as it is.
 */
export function parseQuery(text: string | null): Record<string, string | string[]> {
  const given: [string, string | string[]][] = [];
  for (const [name, value = ''] of Object.entries(parse(text ?? ''))) {
    const isList = name.endsWith('[]');
    if (typeof value === 'string' && !isList) {
      if (value !== '') given.push([name, value]);
      continue;
    }
    const values = [value].flat().filter((each) => each !== '');
    const [first, ...more] = values;
    if (first !== undefined) given.push([bareName(name), isList || more.length > 0 ? values : first]);
  }
  // Not by assignment: one may be called `__proto__`.
  return Object.fromEntries(given);
}
