import express, { type Express, type Request, type RequestHandler, type Response, type Router } from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import type { Idempotency, KeyedRequest } from '../accounts/idempotency/index.ts';
import type { ByteBudget } from '../connector/client/index.ts';
import { AppError, cutText, pointer } from '../errors.ts';
import { createCors } from '../http/cors.ts';
import { type FormBounds, isForm, readFileForm, readStreamedForm } from '../http/file-form.ts';
import { type BodyLimits, LARGE, ORDINARY, readJsonBody } from '../http/json-body.ts';
import { sendJson } from '../http/json-response.ts';
import { signalEnd } from '../http/request-end.ts';
import { type RecordParts, type RecordPorts, recordRequests } from '../http/request-record.ts';
import { assertAcceptsJson, type HandlerResponse, sendResponse } from '../http/response.ts';
import { assertFewParameters, searchOf } from '../pairs.ts';
import { inSpan, type Trace } from '../trace.ts';
import { ACCESS, type Admitted, assertAccess, type Directory } from './access.ts';
import type { Audit, AuditedCall } from './audit.ts';
import type { ApiScope, Authorize, Caller } from './authorization.ts';
import type { ApiOperationId, FileOperationId, Handlers, OperationRequest, StreamOperationId } from './operation.ts';
import { isPassed, type Passthrough } from './passthrough.ts';
import { createProblemHandler, notFound, wrongMethod } from './problem.ts';
import type { NoteCaller } from './redact-call.ts';
import { asOriginal, createRoutes, type FindRoute, joinName, type Route } from './routes.ts';
import { assertStorableInput } from './storable-input.ts';
import { findValidation, parseQuery, type Scope, type Validate } from './validation.ts';

export interface ServerParts extends Omit<RecordParts, 'routes'> {
  /** The paths outside the base path: health, documents, reference. */
  readonly root: Router;
  /** Absent in a process that only works on jobs. */
  readonly api?: ApiParts | undefined;
}

export interface ApiParts {
  readonly authorize: Authorize;
  readonly directory: Directory;
  readonly audit: Audit;
  readonly handlers: Handlers;
  readonly noteCaller: NoteCaller;
  /** Takes the requests that go to a provider as they are. */
  readonly passthrough: Passthrough;
  readonly idempotency: Pick<Idempotency, 'once'>;
  /** The memory of this process for the bodies of requests. */
  readonly bodyBudget: ByteBudget;
  /** Origins whose pages may call. */
  readonly corsOrigins: readonly string[];
  /** Without a slash at the end. */
  readonly publicUrl: () => string;
  /** Checks every response against the spec; one that does not fit becomes an INTERNAL error. */
  readonly validateResponses: boolean;
}

export const BASE_PATH = '/elements/api-v2';
const AUTHORIZATION = { name: 'authorize' } as const;

/** Every request gets its id and its line in the log; whatever is thrown on its way ends in the problem handler. */
export function createServer(ports: RecordPorts, parts: ServerParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', parseQuery);
  app.response.json = sendJson;
  app.use(recordRequests(ports, { ...parts, routes: ROUTES }));
  if (parts.api !== undefined) app.use(BASE_PATH, createApi(parts.api));
  app.use(parts.root);
  app.use(notFound);
  app.use(createProblemHandler(ports.log, parts.redactCall));
  return app;
}

/** The life of a request to the API, step by step. */
function createApi(api: ApiParts): RequestHandler {
  const { authorize, directory, audit, handlers, idempotency, publicUrl } = api;
  const sendPreflight = createCors(api.corsOrigins, Object.keys(document.components.headers));
  // The same URL may be an operation of the platform and an object of an element.
  const scopes: Readonly<Record<ApiScope, FindRoute>> = {
    public: createRoutes('public'),
    platform: createRoutes('platform'),
    instance: createRoutes('instance'),
    record: createRoutes('record'),
    connect: createRoutes('connect'),
  };
  const operations = createOperations(api);

  return async (request, response) => {
    // Tokens, secrets and the records of people are in the responses: no cache keeps them.
    response.setHeader('Cache-Control', 'no-store');
    if (sendPreflight(request, response)) return;
    takeHeadForGet(request, response);
    if (!METHODS.has(request.method)) throw refuseMethod(request, scopes);
    const authorized = await inSpan(AUTHORIZATION, () => authorize(request, response));
    api.noteCaller(response, authorized);
    if (await api.passthrough(request, response, authorized)) return;
    assertPath(request);
    const query = readQuery(request);
    const { caller, scope } = authorized;
    if (scope !== 'platform') joinName(request, caller?.instance?.connector);
    else if (caller?.session === undefined && caller?.instance !== undefined) asOriginal(request);
    const route = scopes[scope](request.path);
    const signal = signalEnd(response);
    const wanted = route?.operations[request.method];
    const params = route?.params ?? {};
    const admitted = caller && (await admit(request, response, { wanted, params, caller }));
    const principal = admitted?.principal;
    response.locals.principal = principal;
    const budget = api.bodyBudget;
    const form = await readForm(wanted, request, response, { budget, signal });
    if (form === undefined) {
      const limits = bodyLimitsOf(wanted);
      request.body = await readJsonBody(request, response, { limits, budget });
    } else if ('values' in form) request.body = form.values;
    const { id, validate } = findOperation(request, route, operations);
    response.locals.sought = id;
    const input = await validate(request, response, { params, query });
    response.locals.operation = id;
    response.locals.isPackable = isPackable(id);
    assertStorableInput({ id, scope, method: request.method, ...input });
    if (!respondsWithFiles(id)) assertAcceptsJson(request);
    assertBody(id, form, request);
    const instance = scope === 'platform' ? undefined : caller?.instance;
    const trace: Trace = response.locals.trace;
    const runAs: OperationRequest<ApiOperationId>['runAs'] = async (user, work) => {
      response.locals.principal = user;
      const access = ACCESS[id];
      if (access.audit === undefined) return work();
      const entry = audit.entryOf(request, response, { id, access, principal: user, params, instance });
      trace.audit = entry;
      return audit.run(entry, work);
    };
    const call = {
      ...input,
      form,
      accept: request.headers.accept,
      principal,
      sent: caller?.sent ?? {},
      user: admitted?.user,
      session: caller?.session,
      pageSession: authorized.scope === 'connect' ? authorized.pageSession : undefined,
      address: response.locals.address,
      runAs,
      instance,
      signal,
      url: publicUrl() + request.originalUrl,
    };
    // The table's type ties each handler to its operation; here any of them is called with what the validator let through.
    const handle = handlers[id] as (call: unknown) => Promise<HandlerResponse> | HandlerResponse;
    const key = principal && idempotencyKeyOf(request, id, { principal, instance });
    let isDone = false;
    const work = async () => {
      isDone = true;
      return principal === undefined ? handle(call) : runAs(principal, async () => handle(call));
    };
    const result = await (key === undefined ? work() : idempotency.once(key, work));
    if (!isDone && principal !== undefined && ACCESS[id].answersSecret === true)
      await noteShown(request, response, { id, principal, params, instance });
    sendResponse(response, result);
  };

  /** A secret that is answered again by an `Idempotency-Key` is shown once more. */
  function noteShown(request: Request, response: Response, call: Omit<AuditedCall, 'access'>): Promise<void> {
    const access = ACCESS[call.id];
    const shown = { ...access, ...(access.audit && { audit: { ...access.audit, action: 'show' } as const }) };
    return audit.run(audit.entryOf(request, response, { ...call, access: shown }), async () => {});
  }

  /** Before the body is read. What is no operation is not refused here. */
  async function admit(request: Request, response: Response, { wanted, params, caller }: Wanted): Promise<Admitted> {
    if (wanted === undefined || !isApiOperation(wanted)) return { principal: caller.principal, user: undefined };
    const access = ACCESS[wanted];
    const { principal, instance } = caller;
    const entry = () => audit.entryOf(request, response, { id: wanted, access, principal, params, instance });
    return audit.refusals(entry, () => assertAccess(directory, principal, access, params));
  }
}

/** Node leaves the body out by what the request was when it came; to everything from here on it is the GET. */
function takeHeadForGet(request: Request, response: Response): void {
  response.locals.isHead = request.method === 'HEAD';
  if (response.locals.isHead) request.method = 'GET';
}

const METHODS: ReadonlySet<string> = new Set(Object.values(OPERATIONS).map(({ method }) => method.toUpperCase()));

/** For a method that no operation has, whoever calls: `Allow` has what the path takes from anybody, as an object of an element only where it is nothing else. */
function refuseMethod(request: Request, scopes: Readonly<Record<ApiScope, FindRoute>>): AppError {
  assertPath(request);
  if (isPassed(request)) return wrongMethod(request, [...METHODS].sort());
  const { record, ...others } = scopes;
  const takenBy = (found: readonly FindRoute[]) =>
    found.flatMap((findRoute) => Object.keys(findRoute(request.path)?.operations ?? {}));
  const own = takenBy(Object.values(others));
  const allow = new Set(own.length > 0 ? own : takenBy([record]));
  return allow.size === 0 ? notFound(request) : wrongMethod(request, [...allow].sort());
}

/** The validator would say no more than "malformed uri". */
function assertPath(request: Request): void {
  try {
    decodeURIComponent(request.path);
  } catch (error) {
    throw new AppError('REQUEST_INVALID', 'The path is not well percent-encoded.', { cause: error });
  }
}

/** The validator would nest what brackets there are, and lose `__proto__[x]`. @throws AppError REQUEST_INVALID */
function readQuery({ query, url }: Request): Request['query'] {
  assertFewParameters(searchOf(url));
  const nested = Object.keys(query).find((name) => name.includes('['));
  if (nested === undefined) return query;
  const message = `Unknown query parameter '${cutText(nested)}'.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('query', nested), message }] });
}

interface Wanted {
  readonly wanted: OperationId | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
}

function isApiOperation(id: OperationId): id is ApiOperationId {
  return Object.hasOwn(ACCESS, id);
}

interface ServedOperation {
  readonly id: ApiOperationId;
  readonly validate: Validate;
}

type Operations = ReadonlyMap<OperationId, ServedOperation>;

function createOperations({ handlers, validateResponses }: ApiParts): Operations {
  const ids = Object.keys(handlers) as ApiOperationId[];
  return new Map(ids.map((id) => [id, { id, validate: findValidation(id, validateResponses) }]));
}

/** @throws AppError NOT_FOUND; OPERATION_UNSUPPORTED for a path that takes other methods */
function findOperation(request: Request, route: Route | undefined, operations: Operations): ServedOperation {
  if (route === undefined) return notFound(request);
  const id = route.operations[request.method];
  if (id === undefined) throw wrongMethod(request, Object.keys(route.operations).sort());
  return operations.get(id) ?? notFound(request);
}

/** What they respond with depends on the `Accept` header: they judge it themselves. */
const FILE_OPERATIONS: Readonly<Record<FileOperationId | StreamOperationId, true>> = {
  getRecord: true,
  getHubRecord: true,
  getBulkFile: true,
  getHubBulkFile: true,
  listBulkErrors: true,
  listHubBulkErrors: true,
};

function respondsWithFiles(id: ApiOperationId): boolean {
  return id in FILE_OPERATIONS;
}

/** Tags of operations whose responses are descriptions and records: no secret of this service is in them. */
const OPEN_TAGS: ReadonlySet<string> = new Set(['bulk', 'objects', 'query', 'records']);
const OPEN_OPERATIONS: ReadonlySet<string> = new Set<OperationId>([
  'listElements',
  'getElement',
  'listDeliveries',
  'getDelivery',
  'listNotifications',
]);

/** Whether there is no secret in the responses of an operation, so that they may be packed (compression.ts). */
export function isPackable(id: OperationId): boolean {
  return OPEN_OPERATIONS.has(id) || OPEN_TAGS.has(OPERATIONS[id].tag);
}

function bodyLimitsOf(id: OperationId | undefined): BodyLimits {
  return id !== undefined && OPERATIONS[id].largeBody ? LARGE : ORDINARY;
}

/** The path template of each operation, as the document has it. */
const ROUTES: ReadonlyMap<string, string> = new Map(
  Object.entries(OPERATIONS).map(([id, { path, scopes }]) => [
    id,
    (scopes as readonly Scope[]).includes('root') ? path : BASE_PATH + path,
  ]),
);

interface TakenBodies {
  /** Media types; none where it takes no body. */
  readonly types: readonly string[];
  readonly required: boolean;
}

const BODIES: ReadonlyMap<OperationId, TakenBodies> = new Map(
  (Object.keys(OPERATIONS) as OperationId[]).map((id) => {
    const { path, method } = OPERATIONS[id];
    const item: Readonly<Record<string, unknown>> = document.paths[path];
    const { content, required = false } = Object(Object(item[method]).requestBody);
    return [id, { types: Object.keys(Object(content)), required }];
  }),
);

async function readForm(id: OperationId | undefined, request: Request, response: Response, bounds: FormBounds) {
  if (!takesForm(id, request)) return undefined;
  return takesOnlyForms(id) ? readStreamedForm(request, response, bounds) : readFileForm(request, response, bounds);
}

const FORM_TYPE = 'multipart/form-data';

function takesOnlyForms(id: OperationId | undefined): boolean {
  return id !== undefined && BODIES.get(id)?.types.join() === FORM_TYPE;
}

/** @throws AppError REQUEST_INVALID for an Idempotency-Key: whether a file is the same again shows when it has been sent again */
function takesForm(id: OperationId | undefined, request: Request): boolean {
  if (id === undefined || !isForm(request) || BODIES.get(id)?.types.includes(FORM_TYPE) !== true) return false;
  if (request.get('idempotency-key') === undefined) return true;
  const message = 'An Idempotency-Key is not taken with a file: send JSON, or leave it out.';
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/headers/idempotency-key', message }] });
}

/** The validator asks for a body only where its schema has required members. @throws AppError REQUEST_INVALID, UNSUPPORTED_MEDIA_TYPE */
function assertBody(id: OperationId, form: unknown, { body }: Request): void {
  if (takesOnlyForms(id)) {
    if (form !== undefined) return;
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `This is sent as ${FORM_TYPE}.`);
  }
  if (body !== undefined || BODIES.get(id)?.required !== true) return;
  throw new AppError('REQUEST_INVALID', 'body is missing.', { details: [{ path: '/body', message: 'is missing' }] });
}

/** @returns by what the same request is known again; undefined: by nothing */
function idempotencyKeyOf(
  request: Request,
  id: OperationId,
  { principal, instance }: Pick<Caller, 'principal' | 'instance'>,
): KeyedRequest | undefined {
  const key = request.method === 'POST' ? request.get('idempotency-key') : undefined;
  if (key === undefined) return undefined;
  const { accountId, userId } = principal;
  return { accountId, userId, key, fingerprint: JSON.stringify([id, instance?.id, request.originalUrl, request.body]) };
}
