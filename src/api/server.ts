import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Request, type Response, type Router } from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import type { Idempotency, KeyedRequest } from '../accounts/idempotency/index.ts';
import type { TenantIds } from '../accounts/store.ts';
import type { ByteBudget } from '../connector/client/index.ts';
import { AppError, isAppError, pointer, unknownName } from '../errors.ts';
import type { EndRequest, NotedRequest, RequestPath } from '../formulas/request-triggers.ts';
import { type HttpHandler, hasBody, signalEnd } from '../http/connection.ts';
import { createCors } from '../http/cors.ts';
import { isForm, readFileForm, readStreamedForm, type StreamedForm } from '../http/file-form.ts';
import { ORDINARY, readJsonBody } from '../http/json-body.ts';
import { logRequests, type RequestLogParts, type RequestLogPorts } from '../http/request-log.ts';
import { assertAcceptsJson, type HandlerResponse, sendJson, sendResponse } from '../http/response.ts';
import { assertFewParameters, MOST_PAIRS, searchOf } from '../pairs.ts';
import type { FileForm } from '../resources/upload.ts';
import { inSpan, type Trace } from '../trace.ts';
import { type Admitted, assertAccess, type Directory } from './access.ts';
import type { Audit } from './audit.ts';
import type { ApiScope, Authorize, Caller } from './authorization.ts';
import { createEndpoints, type Endpoint, FORM_TYPE, type TakenBody } from './endpoint.ts';
import type { HandleFormulaResource } from './formula-resources.ts';
import { assertKeyMay, assertKeyReachesBody, lackingPlatform } from './key-scopes.ts';
import type { Handlers } from './operation.ts';
import { isPassed, isPassthrough, type Passthrough } from './passthrough.ts';
import { createProblemHandler, notFound, wrongMethod } from './problem.ts';
import type { NoteCaller } from './redact-call.ts';
import { asOriginal, createRoutes, type FindRoute, joinName, type Route } from './routes.ts';
import { assertStorableInput } from './storable-input.ts';
import { parseQuery, type Scope } from './validation.ts';

interface ServerParts extends Omit<RequestLogParts, 'routes'> {
  /** Handles the paths outside the base path: health, documents, reference. */
  readonly root: Router;
  /** Absent in a process that runs only jobs. */
  readonly api?: ApiParts | undefined;
}

export interface ApiParts {
  readonly authorize: Authorize;
  readonly directory: Directory;
  readonly audit: Audit;
  readonly handlers: Handlers;
  readonly noteCaller: NoteCaller;
  /** Handles requests that are passed to a provider. */
  readonly passthrough: Passthrough;
  /** Handles requests to paths that no operation has. */
  readonly handleFormulaResource: HandleFormulaResource;
  readonly idempotency: Pick<Idempotency, 'once'>;
  /** Called before the response of each successful request on an instance. What it returns is called after the response. It does not reject. */
  readonly noteRequest: (called: RequestPath, read: () => NotedRequest) => Promise<EndRequest | undefined>;
  /** Whether an `Authorization` header is a ticket of this process. */
  readonly isInner: (authorization: string) => boolean;
  /** Memory limit of this process for the bodies of requests. */
  readonly bodyBudget: ByteBudget;
  /** Origins whose pages may send requests. */
  readonly corsOrigins: readonly string[];
  /** Public URL of the service, without a slash at the end. */
  readonly publicUrl: () => string;
  /** Whether every response is checked against the spec. An invalid response becomes an INTERNAL error. */
  readonly validateResponses: boolean;
}

export const BASE_PATH = '/elements/api-v2';
const AUTHORIZATION = { name: 'authorize' } as const;
const METHODS: ReadonlySet<string> = new Set(Object.values(OPERATIONS).map(({ method }) => method.toUpperCase()));

/** The path template of each operation, as the document has it. */
const ROUTES: ReadonlyMap<string, string> = new Map(
  Object.entries(OPERATIONS).map(([id, { path, scopes }]) => [
    id,
    (scopes as readonly Scope[]).includes('root') ? path : BASE_PATH + path,
  ]),
);

/** Creates the HTTP server. Every request gets its id and a line in the log, and the problem handler gets every error. */
export function createServer(ports: RequestLogPorts, parts: ServerParts): HttpHandler {
  const { log } = ports;
  const refuse = createProblemHandler(log, parts.redactCall);
  const api = parts.api && createApi(parts.api);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', parseQuery);
  app.response.json = sendJson;
  if (api !== undefined) app.use(BASE_PATH, api);
  const refuseLast: ErrorRequestHandler = (thrown, request, response, _next) => refuse(thrown, request, response);
  app.use(parts.root, notFound, refuseLast);

  const record = logRequests(ports, { ...parts, routes: ROUTES });

  /** Does what Express does for a path in its usual spelling, without Express's search for a handler. */
  function serveApi(serve: Serve, request: Request, response: Response): void {
    const fail = (thrown: unknown) => {
      try {
        refuse(thrown, request, response);
      } catch (error) {
        log.error({ err: error }, 'could not send an error to the caller');
        response.destroy();
      }
    };
    request.baseUrl = BASE_PATH;
    request.url = request.url.slice(BASE_PATH.length);
    request.next = fail;
    serve(request, response).catch(fail);
  }

  // Made with what Express adds to them: a request that gets it afterwards is another object to all of Node, which then is slow at it.
  class ExpressMessage extends IncomingMessage {}
  class ExpressResponse<Of extends IncomingMessage> extends ServerResponse<Of> {}
  Object.setPrototypeOf(ExpressMessage.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);

  const handle: RequestListener = (incoming, outgoing) => {
    const request = incoming as Request;
    const response = outgoing as Response;
    request.originalUrl = request.url;
    request.res = response;
    response.locals = {};
    const isOfApi = api !== undefined && request.url.startsWith(`${BASE_PATH}/`);
    record(request, response, isOfApi ? () => serveApi(api, request, response) : () => app(request, response));
  };
  return { handle, IncomingMessage: ExpressMessage, ServerResponse: ExpressResponse };
}

type Serve = (request: Request, response: Response) => Promise<void>;

/** The life of a request to the API, step by step. */
function createApi(api: ApiParts): Serve {
  const { authorize, directory, audit, handlers, idempotency, publicUrl, bodyBudget: budget } = api;
  const sendPreflight = createCors(api.corsOrigins, Object.keys(document.components.headers));
  const endpoints = createEndpoints(handlers, api.validateResponses);
  // The same URL may be an operation of the platform and an object of an element.
  const routes: Readonly<Record<ApiScope, FindRoute>> = {
    public: createRoutes('public'),
    platform: createRoutes('platform'),
    instance: createRoutes('instance'),
    record: createRoutes('record'),
    connect: createRoutes('connect'),
  };

  let ownUrl: string | undefined;

  return async (request, response) => {
    // Known once there are requests.
    ownUrl ??= publicUrl();
    const { locals } = response;
    // Tokens, secrets and the records of people are in the responses: no cache keeps them.
    response.setHeader('Cache-Control', 'no-store');
    if (sendPreflight?.(request, response) === true) return;
    // Node leaves the body out by what the request was when it came; to everything from here on it is the GET.
    locals.isHead = request.method === 'HEAD';
    if (locals.isHead) request.method = 'GET';
    if (!METHODS.has(request.method)) throw refuseMethod(request, routes);
    const authorized = await inSpan(AUTHORIZATION, () => authorize(request, response));
    api.noteCaller(response, authorized);
    const { caller, scope } = authorized;
    if (scope === 'instance' && isPassthrough(request)) return api.passthrough(request, response, caller);
    if (request.path.includes('%')) assertPath(request);
    assertFlatQuery(request);
    if (authorized.scope === 'platform' && authorized.isUnknown === true)
      return authorized.caller.key === undefined
        ? api.handleFormulaResource(request, response, authorized.caller)
        : Promise.reject(lackingPlatform());
    if (scope !== 'platform') joinName(request, caller?.instance?.connector);
    else if (caller.session === undefined && caller.instance !== undefined) asOriginal(request);
    const route = routes[scope](request.path);
    const wanted = route?.operations[request.method];
    const endpoint = wanted && endpoints.get(wanted);
    if (endpoint === undefined) return refuseUnknown(request, response, route);

    const { id, access } = endpoint;
    const params = route?.readParams() ?? {};
    const instance = scope === 'platform' ? undefined : caller?.instance;
    const isAdmitted = caller === undefined || (endpoint.isForEverybody && caller.key === undefined);
    const admitted = isAdmitted ? undefined : await admit(request, response, { endpoint, params, caller });
    const principal = admitted?.principal ?? caller?.principal;
    locals.principal = principal;
    const signal = signalEnd(response);
    let form: FileForm | StreamedForm | undefined;
    if (endpoint.body !== undefined && takesForm(endpoint.body, request)) {
      const read = endpoint.body.form === 'only' ? readStreamedForm : readFileForm;
      form = await read(request, response, { budget, signal });
      if ('values' in form) request.body = form.values;
    } else if (hasBody(request.headers)) {
      request.body = await readJsonBody(request, response, { limits: endpoint.limits, budget });
    }
    locals.sought = id;
    const { path, query, headers, body } = await endpoint.validate(request, response, params);
    locals.operation = id;
    locals.isPackable = endpoint.isPackable;
    if (endpoint.stored.length > 0) assertStorableInput(endpoint.stored, { query, body });
    if (endpoint.isJson) assertAcceptsJson(request.headers.accept);
    if (endpoint.body !== undefined) assertBody(endpoint.body, form, body);
    if (caller?.key !== undefined) assertKeyReachesBody(caller.key, id, body);

    const runAs = async <Result>(user: TenantIds, work: () => Promise<Result>): Promise<Result> => {
      locals.principal = user;
      if (access.audit === undefined) return work();
      const entry = audit.entryOf(request, response, { id, access, principal: user, params, instance });
      const trace: Trace = locals.trace;
      trace.audit = entry;
      return audit.run(entry, work);
    };
    const call = {
      path,
      query,
      headers,
      body,
      form,
      accept: request.headers.accept,
      principal,
      sent: caller?.sent ?? {},
      user: admitted?.user,
      session: caller?.session,
      key: caller?.key,
      pageSession: authorized.scope === 'connect' ? authorized.pageSession : undefined,
      address: locals.address,
      runAs,
      instance,
      signal,
      url: ownUrl + request.originalUrl,
    };
    const note = async (result: HandlerResponse) => {
      if (principal === undefined || instance === undefined) return;
      const { method, path: requestPath } = request;
      const called = { accountId: principal.accountId, instanceId: instance.id, method, path: requestPath };
      const end = await api.noteRequest(called, () => toNoted(request, response, { called, body, result }));
      if (end === undefined) return;
      if (response.closed) end();
      else response.once('close', end);
    };
    if (principal === undefined || !endpoint.isNoted) {
      const result = await endpoint.handle(call);
      await note(result);
      return sendResponse(response, result);
    }
    let isDone = false;
    const work = async () => {
      isDone = true;
      const result = await runAs(principal, async () => endpoint.handle(call));
      // Before the result is stored by its key: a repeated request gets that result, and starts nothing.
      await note(result);
      return result;
    };
    const key = endpoint.isRepeatable ? idempotencyKeyOf(request, id, { principal, instance }) : undefined;
    const result = key === undefined ? await work() : await idempotency.once(key, work);
    if (!isDone && access.returnsSecret === true) {
      // A secret in a repeated response is shown once more, which the audit log must have.
      const shown = { ...access, ...(access.audit && { audit: { ...access.audit, action: 'show' } as const }) };
      const entry = audit.entryOf(request, response, { id, access: shown, principal, params, instance });
      await audit.run(entry, async () => {});
    }
    sendResponse(response, result);
  };

  function toNoted(request: Request, response: Response, { called, body, result }: Responded): NotedRequest {
    return {
      ...called,
      query: request.query,
      headers: request.headers,
      body,
      response: {
        code: 'pieces' in result ? result.status : 200,
        headers: headersOf(response, result),
        body: 'body' in result ? result.body : undefined,
      },
      isInner: api.isInner(request.headers.authorization ?? ''),
    };
  }

  /** Asserts that the caller may use the operation, before the body is read. */
  async function admit(request: Request, response: Response, { endpoint, params, caller }: Wanted): Promise<Admitted> {
    const { id, access } = endpoint;
    const { principal, instance, key } = caller;
    try {
      if (key !== undefined) assertKeyMay(key, id, params);
      return await assertAccess(directory, principal, access, params);
    } catch (error) {
      if (isAppError(error, 'FORBIDDEN'))
        await audit.noteRefusal(audit.entryOf(request, response, { id, access, principal, params, instance, key }));
      throw error;
    }
  }

  /**
   * Rejects a request that is no operation. A fault of its body is reported first.
   * @throws AppError NOT_FOUND; OPERATION_UNSUPPORTED for a path that supports other methods
   */
  async function refuseUnknown(request: Request, response: Response, route: Route | undefined): Promise<void> {
    if (hasBody(request.headers)) await readJsonBody(request, response, { limits: ORDINARY, budget });
    if (route === undefined || route.operations[request.method] !== undefined) return notFound(request);
    throw wrongMethod(request, Object.keys(route.operations).sort());
  }
}

/** The headers of a response that is not sent yet, with names in lower case. */
function headersOf(response: Response, { headers = {} }: HandlerResponse): Readonly<Record<string, unknown>> {
  const own = Object.entries(headers).filter(([, value]) => value !== undefined);
  return {
    ...response.getHeaders(),
    'content-type': 'application/json; charset=utf-8',
    ...Object.fromEntries(own.map(([name, value]) => [name.toLowerCase(), value])),
  };
}

interface Responded {
  readonly called: RequestPath;
  readonly body: unknown;
  readonly result: HandlerResponse;
}

interface Wanted {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
}

/**
 * Rejects a method that no operation of the path has, for any caller. `Allow` has the methods of the platform's operation, and those of an
 * object of an element only if there is no such operation.
 */
function refuseMethod(request: Request, routes: Readonly<Record<ApiScope, FindRoute>>): AppError {
  assertPath(request);
  if (isPassed(request)) return wrongMethod(request, [...METHODS].sort());
  const { record, ...others } = routes;
  const takenBy = (found: readonly FindRoute[]) =>
    found.flatMap((findRoute) => Object.keys(findRoute(request.path)?.operations ?? {}));
  const own = takenBy(Object.values(others));
  const allow = new Set(own.length > 0 ? own : takenBy([record]));
  return allow.size === 0 ? notFound(request) : wrongMethod(request, [...allow].sort());
}

/** The validator would say no more than "malformed uri". */
function assertPath({ path }: Request): void {
  try {
    decodeURIComponent(path);
  } catch (error) {
    throw new AppError('REQUEST_INVALID', 'The path is not valid percent-encoding.', { cause: error });
  }
}

const BRACKET = /\[|%5b/i;

/** The validator would nest what brackets there are, and lose `__proto__[x]`. @throws AppError REQUEST_INVALID */
function assertFlatQuery(request: Request): void {
  const { url } = request;
  // With fewer characters there cannot be too many.
  if (url.length > MOST_PAIRS) assertFewParameters(searchOf(url));
  // Without a bracket in the URL, the query need not be parsed for this.
  const nested = BRACKET.test(url) ? Object.keys(request.query).find((name) => name.includes('[')) : undefined;
  if (nested === undefined) return;
  const { message } = unknownName('query parameter', nested, []);
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('query', nested), message }] });
}

/** @throws AppError REQUEST_INVALID for an Idempotency-Key: whether a file is the same again shows when it has been sent again */
function takesForm(body: TakenBody, request: Request): boolean {
  if (body.form === 'none' || !isForm(request)) return false;
  if (request.get('idempotency-key') === undefined) return true;
  const message = 'A file cannot be sent with an Idempotency-Key. Send JSON, or leave out the header.';
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/headers/idempotency-key', message }] });
}

/**
 * Asserts that there is a body where one is required. The validator does so only for schemas with required members.
 * @throws AppError REQUEST_INVALID, UNSUPPORTED_MEDIA_TYPE
 */
function assertBody({ form, isRequired }: TakenBody, given: unknown, body: unknown): void {
  if (form === 'only') {
    if (given !== undefined) return;
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `This operation accepts only ${FORM_TYPE}.`);
  }
  if (body !== undefined || !isRequired) return;
  throw new AppError('REQUEST_INVALID', 'body is missing.', { details: [{ path: '/body', message: 'is missing' }] });
}

/** @returns by what the same request is known again; undefined: by nothing */
function idempotencyKeyOf(
  request: Request,
  id: OperationId,
  { principal, instance }: Pick<Caller, 'principal' | 'instance'>,
): KeyedRequest | undefined {
  const key = request.get('idempotency-key');
  if (key === undefined) return undefined;
  const { accountId, userId } = principal;
  return { accountId, userId, key, fingerprint: JSON.stringify([id, instance?.id, request.originalUrl, request.body]) };
}
