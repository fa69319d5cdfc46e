import type { OpenAPI3 } from 'openapi-typescript';

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

/** The parts of a bundled document that the generator reads. Other members stay unchanged. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  /** The requests that the service sends, as subscriptions get them. */
  readonly 'x-webhooks'?: unknown;
  readonly components: {
    readonly schemas?: object;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly responses?: Readonly<Record<string, Response>>;
  };
}

export type PathItem = Readonly<Partial<Record<Method, Operation>>> & { readonly parameters?: readonly Parameter[] };

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: unknown;
  readonly security?: unknown;
  readonly responses: Responses;
  readonly 'x-causeway-scopes': readonly string[];
  /** The scopes that an access key needs. Only what `key-scopes.ts` cannot know is written in `spec/`. */
  readonly 'x-causeway-key-scopes'?: readonly string[];
  /** Whether the body is a record or an event, for which wider limits apply. */
  readonly 'x-causeway-large-body'?: boolean;
  /** Key of the operation that this one repeats under another path, where the path identifies the resource in another way. */
  readonly 'x-causeway-form-of'?: string;
  /** Key of the operation that this one repeats under the path of Cloud Elements, for clients of that API. Our own clients leave it out. */
  readonly 'x-causeway-same-as'?: string;
  /** The members that replace those of the operation in its form by token. Only operations with it have such a form. Not published. */
  readonly 'x-causeway-by-token'?: Readonly<Partial<Operation>>;
  /** The members that replace those of the operation in its form by hub. Not published. */
  readonly 'x-causeway-by-hub'?: Readonly<Partial<Operation>>;
}

export interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
}

export type Responses = Readonly<Record<string, Response>>;

export interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** An operation with its path and method. */
export interface PlacedOperation {
  readonly path: string;
  readonly method: Method;
  readonly operation: Operation;
  /** Names of all parameters, including those of the path. */
  readonly parameters: ReadonlySet<string>;
}

/** The complete bundled document. */
export type BundledDocument = Record<string, unknown> & OpenAPI3 & ApiDocument;

/** Asserts the type of a document. It checks nothing, because the `struct` rule of redocly has checked the document. */
export function assertApi(document: Record<string, unknown>): asserts document is BundledDocument {
  for (const member of ['openapi', 'info', 'paths', 'components']) {
    if (!(member in document)) throw new Error(`The bundled document has no member "${member}".`);
  }
}

/** Returns all operations, in the order of the document. */
export function operationsOf(document: ApiDocument): readonly PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const own = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return { path, method, operation, parameters: new Set(own.map((parameter) => nameOf(document, parameter))) };
    }),
  );
}

/** Returns the document with each operation replaced by another one. */
export function mapOperations<Document extends ApiDocument>(
  document: Document,
  map: (each: PlacedOperation) => Operation,
): Document {
  const paths: Record<string, PathItem> = { ...document.paths };
  for (const each of operationsOf(document)) paths[each.path] = { ...paths[each.path], [each.method]: map(each) };
  return { ...document, paths };
}

/** Returns a path with each operation replaced by another one. An operation without a replacement is left out. */
export function mapItem(
  { parameters, ...item }: PathItem,
  map: (operation: Operation) => Operation | undefined,
): PathItem {
  const operations = METHODS.flatMap((method) => {
    const mapped = item[method] && map(item[method]);
    return mapped === undefined ? [] : [[method, mapped]];
  });
  return { ...(parameters && { parameters }), ...Object.fromEntries(operations) };
}

/** The words by which an operation under another path differs from its own form. */
interface FormWords {
  /** Follows the verb in the id of the operation. */
  readonly infix: string;
  readonly by: string;
  /** A sentence for the end of the first paragraph of the description. */
  readonly sentence: string;
}

/** Returns an operation on an instance under another path. */
export function formOf(operation: Operation, words: FormWords): Operation {
  const { operationId, summary, description } = operation;
  return {
    ...operation,
    operationId: operationId.replace(/^[a-z]+/, `$&${words.infix}`),
    summary: `${summary}, by ${words.by}`,
    description: description.replace(/(?=\n\n|\n?$)/, ` ${words.sentence}`),
    'x-causeway-scopes': ['instance'],
  };
}

function nameOf({ components }: ApiDocument, { $ref, name }: Parameter): string {
  const resolved = $ref === undefined ? name : components.parameters?.[componentName($ref)]?.name;
  if (resolved === undefined) throw new Error(`There is no parameter ${$ref ?? 'without a name'}.`);
  return resolved;
}

/** Returns the name of the component in a `#/components/<kind>/<name>` reference. */
export function componentName(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
