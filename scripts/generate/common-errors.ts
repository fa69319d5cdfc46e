import { type ApiDocument, type Method, mapOperations, type PlacedOperation, type Responses } from './api-document.ts';

type Condition = (each: PlacedOperation) => boolean;

interface Rule {
  /** Condition on the operations that the rule applies to. */
  readonly of: Condition;
  /** Names in `spec/responses/errors.yaml`, by status. */
  readonly errors: Readonly<Record<number, string>>;
}

/** The rules by which operations get their error responses. A later rule overrides an earlier one, and a path file overrides all rules. */
const RULES: readonly Rule[] = [
  { of: () => true, errors: { 431: 'HeadersTooLarge', 500: 'Internal' } },
  {
    of: isSecured,
    errors: { 400: 'BadRequest', 401: 'Unauthenticated', 403: 'Forbidden', 429: 'RateLimited', 503: 'Overloaded' },
  },
  { of: hasParameter('where'), errors: { 400: 'BadQuery' } },
  { of: hasParameter('Idempotency-Key'), errors: { 409: 'Conflict' } },
  { of: takesBody, errors: { 408: 'RequestTimeout', 413: 'PayloadTooLarge' } },
  // `Elements-Account-Id` may name an account that does not exist. The page of a connect session exists only for its key.
  { of: hasScope('platform', 'connect'), errors: { 404: 'NotFound' } },
  // A request that is passed to a provider may have any type, and the provider responds to unknown paths.
  { of: all(isSecured, not(isTagged('passthrough'))), errors: { 406: 'NotAcceptable' } },
  { of: all(takesBody, not(isTagged('passthrough'))), errors: { 415: 'UnsupportedMediaType' } },
  { of: all(isSecured, isTemplated, not(isTagged('passthrough'))), errors: { 404: 'NotFound' } },
  {
    of: isTagged('objects', 'passthrough', 'query', 'records'),
    errors: { 424: 'InstanceCredentialsFailed', 502: 'BadGateway', 504: 'ProviderTimeout' },
  },
  { of: isTagged('objects', 'query', 'records'), errors: { 429: 'ProviderRateLimited' } },
  {
    of: isTagged('records'),
    errors: { 404: 'NotFound', 405: 'OperationUnsupported', 422: 'ProviderRejected' },
  },
  { of: all(isTagged('records'), isVerb('post', 'put', 'patch', 'delete')), errors: { 409: 'Conflict' } },
  // The provider verifies the credentials before they are stored.
  {
    of: all(takesBody, isBelow('instances'), not(isTagged('mappings', 'formulas', 'formula-executions'))),
    errors: {
      400: 'BadInstance',
      404: 'NotFound',
      409: 'Conflict',
      422: 'ProviderRejected',
      429: 'ProviderRateLimited',
      502: 'BadGateway',
      504: 'ProviderTimeout',
    },
  },
];

/** Adds the error responses of the rules to every operation. A status that the operation declares itself stays unchanged. */
export function addCommonErrors<Document extends ApiDocument>(document: Document): Document {
  return mapOperations(document, (each) => ({
    ...each.operation,
    responses: { ...commonErrorsOf(each), ...each.operation.responses },
  }));
}

export function commonErrorsOf(each: PlacedOperation): Responses {
  const names = Object.assign({}, ...RULES.filter((rule) => rule.of(each)).map(({ errors }) => errors));
  return Object.fromEntries(
    Object.entries(names).map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

function all(...conditions: readonly Condition[]): Condition {
  return (each) => conditions.every((condition) => condition(each));
}

function not(condition: Condition): Condition {
  return (each) => !condition(each);
}

function isSecured({ operation }: PlacedOperation): boolean {
  return !operation['x-causeway-scopes'].includes('root');
}

function takesBody({ operation }: PlacedOperation): boolean {
  return operation.requestBody !== undefined;
}

function isTemplated({ path }: PlacedOperation): boolean {
  return path.includes('{');
}

function hasParameter(name: string): Condition {
  return ({ parameters }) => parameters.has(name);
}

function isTagged(...tags: readonly string[]): Condition {
  return ({ operation }) => operation.tags.some((tag) => tags.includes(tag));
}

function hasScope(...scopes: readonly string[]): Condition {
  return ({ operation }) => operation['x-causeway-scopes'].some((scope) => scopes.includes(scope));
}

function isVerb(...methods: readonly Method[]): Condition {
  return ({ method }) => methods.includes(method);
}

function isBelow(segment: string): Condition {
  return ({ path }) => path.split('/').includes(segment);
}
