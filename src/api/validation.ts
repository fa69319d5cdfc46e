import { parse } from 'node:querystring';
import type { Request, RequestHandler, Response } from 'express';
import type { OpenAPIV3 } from 'express-openapi-validator/dist/framework/types.js';
import { OpenApiValidator } from 'express-openapi-validator/dist/openapi.validator.js';
import { LRUCache } from 'lru-cache';
import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { AppError, pointer } from '../errors.ts';

/** Validated and converted parts of a request: numbers are parsed, and defaults are filled in. */
interface ValidatedInput {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/**
 * Checks and converts a request for an operation, its headers in place. `params` has the decoded path parameters.
 * @throws an error that the problem handler converts to REQUEST_INVALID
 */
export type Validate = (
  request: Request,
  response: Response,
  params: Readonly<Record<string, string>>,
) => Promise<ValidatedInput>;

/** The validator's data about the operation of a request. */
interface OperationMetadata {
  readonly pathParams: Record<string, unknown>;
  readonly schema: OpenAPIV3.OperationObject;
}

/**
 * The view of a request that the validator reads and converts. With the request itself, it would parse the whole URL again for its query,
 * and redefine the `query` of Express.
 */
interface ShownRequest extends Pick<Request, 'app' | 'method' | 'baseUrl' | 'path' | 'originalUrl' | 'headers'> {
  readonly query: Request['query'];
  readonly body: unknown;
  params: Record<string, unknown>;
  openapi: OperationMetadata | undefined;
}

/** The validator's steps that are taken: the one that finds the operation, for its first request, and those that depend on the request. */
const ONCE: readonly string[] = ['metadataMiddleware'];
const ALWAYS: readonly string[] = ['requestMiddleware', 'responseMiddleware'];

/**
 * Returns the check of requests for one operation by the spec. Its validator is made for its first request, from the part of the document
 * that it needs. Making all of them takes seconds, and most processes serve few operations.
 * @param validateResponses also checks every response against the spec; an invalid one becomes an INTERNAL error
 */
export function findValidation(id: OperationId, validateResponses: boolean): Validate {
  const key = `${id} ${validateResponses}`;
  const validate = made.get(key) ?? createValidation(id, validateResponses);
  made.set(key, validate);
  return validate;
}

/** Validators by operation. They are shared by all services of a process, because a process of tests starts many. */
const made = new Map<string, Validate>();

type ValidRequest = Pick<ShownRequest, 'params' | 'query' | 'headers'>;

/** The valid requests of GETs on instances. A request that comes again, with the same URL and headers, is not checked again. */
const validated = new LRUCache<string, ValidRequest>({
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: (_input, key) => BYTES_OF_VALIDATED + key.length * BYTES_OF_KEY_CHARACTER,
});
const BYTES_OF_VALIDATED = 1_000;
/** Number of bytes per character of the key: the same text is part of the values, too. */
const BYTES_OF_KEY_CHARACTER = 4;
/**
 * Maximum number of characters of a request whose result is cached. A longer request rarely comes again, and would take the space of many
 * that do.
 */
const LONGEST_KEPT = 2_048;

function createValidation(id: OperationId, validateResponses: boolean): Validate {
  let steps: ReturnType<typeof createSteps> | undefined;
  let metadata: OperationMetadata | undefined;
  const parameters = parametersOf(id);
  const flags = parameters.filter((one) => one.in === 'query' && one.schema.type === 'boolean').map(({ name }) => name);
  const hasNumbers = parameters.some((one) => one.in === 'path' && one.schema.type !== 'string');
  const headerNames = parameters.filter((one) => one.in === 'header').map(({ name }) => name.toLowerCase());
  const { method: ownMethod, scopes } = OPERATIONS[id];
  // The URLs of others may have keys in them.
  const isKept = ownMethod === 'get' && scopes.every((scope) => scope === 'instance' || scope === 'record');

  /**
   * Returns the cache key, which contains everything on which the validation depends. URLs and headers contain no line break. Undefined
   * when the result is not cached.
   */
  function keyOf({ url, headers, body }: Request): string | undefined {
    if (!isKept || body !== undefined) return undefined;
    let key = `${id} ${url}`;
    for (const name of headerNames) key += headers[name] === undefined ? '\n' : `\n=${headers[name]}`;
    return key.length > LONGEST_KEPT ? undefined : key;
  }

  return async (request, response, params) => {
    const { app, method, baseUrl, path, headers, body } = request;
    const key = metadata && keyOf(request);
    const known = key === undefined ? undefined : validated.get(key);
    // The validator compiles its schemas anew for every spelling of the type, and keeps them all.
    headers['content-type'] = 'application/json';
    if (known !== undefined) {
      Object.assign(headers, known.headers);
      if (!validateResponses) return { path: known.params, query: known.query, headers, body };
    }
    const query = known?.query ?? request.query;
    for (const name of known === undefined ? flags : []) {
      const value = query[name];
      // Python writes `True`.
      if (value === 'True' || value === 'False') query[name] = value.toLowerCase();
    }
    const shown: ShownRequest = {
      app,
      method,
      baseUrl,
      path,
      // It would be parsed again, and all that is in it is here already.
      originalUrl: metadata === undefined ? baseUrl + path : '',
      headers,
      query,
      body,
      params: known?.params ?? {},
      openapi: metadata && { ...metadata, pathParams: { ...params } },
    };
    steps ??= createSteps(id, { basePath: baseUrl, validateResponses });
    const checking = metadata === undefined ? steps.first : steps.others;
    for (const step of known === undefined ? checking : steps.ofResponse)
      await take(step, { request, shown, response });
    metadata ??= metadataOf(shown, id);
    if (hasNumbers && known === undefined) assertDigits(shown.params, params);
    if (key !== undefined && known === undefined) {
      for (const value of [query, shown.params, ...Object.values(query)]) Object.freeze(value);
      const sent = headerNames.filter((name) => headers[name] !== undefined);
      const converted = Object.fromEntries(sent.map((name) => [name, headers[name]]));
      validated.set(key, { params: shown.params, query, headers: converted });
    }
    return { path: shown.params, query, headers, body };
  };
}

let validators = 0;

/** The validator's own loader is left out: for each of them it would compile the schema of all OpenAPI documents, which test/spec checks ours by. */
function createSteps(
  id: OperationId,
  { basePath, validateResponses }: { readonly basePath: string; readonly validateResponses: boolean },
) {
  const { path, method } = OPERATIONS[id];
  // TypeScript widens what it imports from JSON.
  const apiDoc = operationDocument(document, id, { validateResponses }) as unknown as OpenAPIV3.DocumentV3;
  const validator = new OpenApiValidator({
    apiSpec: apiDoc,
    validateRequests: { allowUnknownQueryParameters: false, allErrors: true },
    validateResponses,
    validateSecurity: false,
    fileUploader: false,
  });
  validators += 1;
  const route = {
    basePath,
    expressRoute: `${basePath}${path.replaceAll(/\{([^}]+)\}/g, ':$1')}`,
    openApiRoute: `${basePath}${path}`,
    method: method.toUpperCase(),
    pathParams: [],
  };
  const spec = { apiDoc, basePaths: [basePath], routes: [route], serial: validators };
  const made: readonly RequestHandler[] = validator.installMiddleware(Promise.resolve(spec));
  const others = made.filter(({ name }) => ALWAYS.includes(name));
  const once = made.filter(({ name }) => ONCE.includes(name));
  if (once.length !== 1 || others.length !== (validateResponses ? 2 : 1))
    throw new Error('The validator has not the steps that are looked for');
  return { first: [...once, ...others], others, ofResponse: others.slice(1) };
}

interface DocumentedParameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly type?: string; readonly allOf?: unknown; readonly $ref?: string };
}

export function parametersOf(id: OperationId): readonly DocumentedParameter[] {
  const { path, method } = OPERATIONS[id];
  const item: Readonly<Record<string, unknown>> = document.paths[path];
  const holders: readonly { readonly parameters?: References }[] = [Object(item), Object(item[method])];
  const parameters = holders.flatMap((holder) => holder.parameters ?? []);
  const known: Readonly<Record<string, DocumentedParameter>> = document.components.parameters;
  return parameters.flatMap(({ $ref = '' }) => known[nameOf($ref)] ?? []);
}

interface ValidatorStep {
  readonly request: Request;
  readonly shown: ShownRequest;
  readonly response: Response;
}

function take(step: RequestHandler, { request, shown, response }: ValidatorStep): Promise<void> {
  return new Promise((resolve, reject) => {
    let isTaken = false;
    const next = (error?: unknown) => {
      if (error === undefined) resolve();
      // A response that does not fit is found when it is sent.
      else if (isTaken) request.next?.(error);
      else reject(error);
      isTaken = true;
    };
    // It reads what it is shown, and no more.
    void step(shown as unknown as Request, response, next);
  });
}

/**
 * Returns the data as the first request left it, with compiled schemas. The validator looks up each parameter again for every request, to
 * split lists, so only parameters that are lists stay.
 */
function metadataOf({ openapi }: ShownRequest, id: OperationId): OperationMetadata {
  if (openapi?.schema.operationId !== id)
    throw new Error(`The validator took ${id} for ${openapi?.schema.operationId}`);
  const parameters = openapi.schema.parameters?.filter((parameter) => !isScalar(parameter));
  return { ...openapi, schema: { ...openapi.schema, parameters } };
}

function isScalar(parameter: object): boolean {
  const { schema = {} }: { readonly schema?: { readonly type?: unknown } } = parameter;
  return ['string', 'integer', 'number', 'boolean'].includes(String(schema.type));
}

/** @throws AppError REQUEST_INVALID for a number in another spelling than its digits: to the validator `0x1`, `1e0` and `+1` are 1 */
function assertDigits(converted: Readonly<Record<string, unknown>>, params: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(converted)) {
    if (typeof value !== 'number' || params[name] === String(value)) continue;
    const message = 'must be integer';
    const details = [{ path: pointer('path', name), message }];
    throw new AppError('REQUEST_INVALID', `path.${name} ${message}.`, { details });
  }
}

/**
 * Scope of an operation: requests without an `Element` token, requests with one for the service's own paths or for the element's objects,
 * or requests outside the base path.
 */
export type Scope = (typeof OPERATIONS)[OperationId]['scopes'][number];

type References = readonly { readonly $ref?: string }[];

interface Operation {
  readonly parameters?: References;
  readonly requestBody?: { readonly content?: Readonly<Record<string, unknown>> } | undefined;
  readonly responses?: object;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly allowReserved?: boolean;
}

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Members of the bundled document that a validator needs. */
interface ApiDocument {
  readonly openapi: string;
  readonly info?: object;
  readonly paths: Readonly<Record<string, object>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

/**
 * Returns the part of the document that a validator for one operation needs: the operation, and everything that it refers to. The validator
 * may change this copy. The copy differs from the document, because express-openapi-validator 5.6 has these habits: It takes brackets in
 * the name of a parameter for nesting and rejects `tags[]`; so the validator gets `tags`, and `parseQuery` changes the URL accordingly. It
 * rejects quotes and colons that the client did not percent-encode, unless `allowReserved` is set; that must not be published, because
 * clients that obey it would not encode `&` and `+` and so break the `where`. It passes the whole document to Ajv, which takes the `id` of
 * a record in an example for the name of a schema and rejects all responses if two are equal; so the copy has no examples. It resolves each
 * `$ref` of a parameter again for every request; so the copy has parameters in place of references.
 */
export function operationDocument(
  { openapi, info, paths, components }: ApiDocument,
  id: OperationId,
  { validateResponses }: { readonly validateResponses: boolean },
): Pick<ApiDocument, 'openapi' | 'info' | 'paths'> & { readonly components: Components } {
  const { path, method } = OPERATIONS[id];
  const item: Readonly<Record<string, Operation>> & { readonly parameters?: References } = { ...paths[path] };
  const { requestBody, responses = {}, parameters = [], ...rest } = item[method] ?? {};
  const names = new Set([...parameters, ...(item.parameters ?? [])].map(({ $ref = '' }) => nameOf($ref)));
  const operation = {
    ...rest,
    parameters: [...names].map((name) => forValidator(components.parameters[name])),
    // The reader of a streamed form checks it.
    ...(requestBody?.content?.['application/json'] !== undefined && { requestBody }),
    responses: validateResponses ? responses : {},
  };
  return structuredClone({
    openapi,
    info,
    paths: { [path]: { [method]: operation } },
    components: componentsOf(components, operation),
  });
}

function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** Returns the components that an operation refers to, directly or indirectly. */
function componentsOf(all: Components, operation: object): Components {
  const used: Record<string, Record<string, unknown>> = {};
  const follow = (node: unknown): void => {
    for (const [, section = '', name = ''] of JSON.stringify(node).matchAll(/"#\/components\/([^"/]+)\/([^"/]+)"/g)) {
      const members = used[section] ?? {};
      used[section] = members;
      if (name in members) continue;
      members[name] = section === 'examples' ? {} : all[section]?.[name];
      follow(members[name]);
    }
  };
  follow(operation);
  return used;
}

function forValidator(parameter: Parameter | undefined): Parameter {
  if (parameter === undefined) throw new Error('A parameter is not among the components');
  const name = bareName(parameter.name);
  return parameter.in === 'query' ? { ...parameter, name, allowReserved: true } : { ...parameter, name };
}

function bareName(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name;
}

/**
 * Parses a query string; used as Express's `query parser`. A parameter that appears once is a string, a repeated one is an array, and
 * `name[]` is always an array under `name`. Nothing nests. Parameters without a value are left out (decisions D16). Text with invalid
 * percent-encoding stays as it is. Node reads the first 1,000 parameters; `assertFewParameters` rejects a request with more.
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
