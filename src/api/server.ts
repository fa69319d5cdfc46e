import express, { type Express, type Request, type RequestHandler, type Response, type Router } from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import type { Idempotency } from '../accounts/idempotency/index.ts';
import type { ByteBudget } from '../connector/client/index.ts';
import { AppError, cutText, pointer } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { withTrace } from '../trace.ts';
import { identify, traceOf } from './access-log.ts';
import { type Answer, answersFiles, assertAcceptsJson, sendAnswer } from './answer.ts';
import type { Caller } from './authorization.ts';
import { type ApiScope, type AuthorizePorts, createAuthorize } from './authorize.ts';
import { bodyLimitsOf } from './body-limits.ts';
import type { RedactCall } from './call-redactor.ts';
import { createCors } from './cors.ts';
import type { ApiOperationId, Handlers } from './handler.ts';
import { sendJson } from './json-answer.ts';
import { readJsonBody } from './json-body.ts';
import type { Passthrough } from './passthrough.ts';
import { createProblemHandler, notFound, wrongMethod } from './problem.ts';
import type { ProxyTrust } from './remote-address.ts';
import { signalEnd } from './request-end.ts';
import { measureRequests } from './request-metrics.ts';
import { createRoutes, type FindRoute, type Route } from './routes.ts';
import { parseQuery } from './scoped-document.ts';
import { createValidation, type Validate, type ValidatedRequest } from './validation.ts';

export interface ServerPorts {
  /** The paths outside the base path: health, documents, reference. */
  readonly root: Router;
  /** Absent in a process that only works on jobs. */
  readonly api?: ApiPorts | undefined;
  /** Absent where requests are not measured. */
  readonly metrics?: Metrics | undefined;
  readonly trust: ProxyTrust;
  readonly log: Logger;
  readonly redactCall: RedactCall;
}

export interface ApiPorts extends AuthorizePorts {
  readonly handlers: Handlers;
  /** Takes the requests that go to a provider as they are. */
  readonly passthrough: Passthrough;
  readonly idempotency: Pick<Idempotency, 'once'>;
  /** The memory of this process for the bodies of requests. */
  readonly bodyBudget: ByteBudget;
  /** Origins whose pages may call. */
  readonly corsOrigins: readonly string[];
  /** Without a slash at the end. */
  readonly publicUrl: () => string;
  /** Checks every answer against the spec; one that does not fit becomes an INTERNAL error. */
  readonly validateResponses: boolean;
}

export const BASE_PATH = '/elements/api-v2';

/** Every request gets its id and its line in the log; whatever is thrown on its way ends in the problem handler. */
export function createServer(ports: ServerPorts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', parseQuery);
  app.response.json = sendJson;
  app.use(identify(ports));
  if (ports.metrics !== undefined) app.use(measureRequests(ports.metrics));
  if (ports.api !== undefined) app.use(BASE_PATH, createApi(ports.api));
  app.use(ports.root);
  app.use(notFound);
  app.use(createProblemHandler(ports));
  return app;
}

/** The life of a request to the API, step by step. */
function createApi(api: ApiPorts): RequestHandler {
  const answerPreflight = createCors(api.corsOrigins);
  const authorize = createAuthorize(api);
  // The same URL may be an operation of the platform and an object of an element.
  const scopes: Readonly<Record<ApiScope, ScopedOperations>> = {
    platform: createScope('platform', api),
    instance: createScope('instance', api),
    record: createScope('record', api),
  };
  return async (request, response) => {
    // Tokens, secrets and the records of people are in the answers: no cache keeps them.
    response.setHeader('Cache-Control', 'no-store');
    if (answerPreflight(request, response)) return;
    takeHeadForGet(request, response);
    await authorize(request, response);
    if (await api.passthrough(request, response)) return;
    assertPath(request);
    assertQueryNames(request);
    const scope: ApiScope = response.locals.scope;
    const { findRoute, handled } = scopes[scope];
    const route = findRoute(request.path);
    const limits = bodyLimitsOf(route?.operations[request.method]);
    await readJsonBody(request, response, { limits, budget: api.bodyBudget });
    const { id, validate } = findHandled(request, route, handled);
    await validate(request, response, route?.params ?? {});
    response.locals.operation = id;
    await answer(id, request, response, api);
  };
}

/** Node leaves the body out by what the request was when it came; to everything from here on it is the GET. */
function takeHeadForGet(request: Request, response: Response): void {
  response.locals.isHead = request.method === 'HEAD';
  if (response.locals.isHead) request.method = 'GET';
}

/** The validator would say no more than "malformed uri". */
function assertPath(request: Request): void {
  try {
    decodeURIComponent(request.path);
  } catch (error) {
    throw new AppError('REQUEST_INVALID', 'The path is not well percent-encoded.', { cause: error });
  }
}

/** The validator would nest what brackets there are, and lose `__proto__[x]`. */
function assertQueryNames(request: Request): void {
  if (!/\[|%5b/i.test(request.url)) return;
  const nested = Object.keys(request.query).find((name) => name.includes('['));
  if (nested === undefined) return;
  const message = `Unknown query parameter '${cutText(nested)}'.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('query', nested), message }] });
}

interface Handled {
  readonly id: ApiOperationId;
  readonly validate: Validate;
}

interface ScopedOperations {
  readonly findRoute: FindRoute;
  readonly handled: ReadonlyMap<OperationId, Handled>;
}

function createScope(scope: ApiScope, ports: ApiPorts): ScopedOperations {
  const validation = createValidation(scope, ports);
  const ids = Object.keys(ports.handlers) as ApiOperationId[];
  return { findRoute: createRoutes(scope), handled: new Map(ids.map((id) => [id, { id, validate: validation(id) }])) };
}

/** @throws AppError NOT_FOUND; OPERATION_UNSUPPORTED for a path that takes other methods */
function findHandled(request: Request, route: Route | undefined, handled: ScopedOperations['handled']): Handled {
  const { operations } = route ?? notFound(request);
  const id = operations[request.method];
  if (id === undefined) throw wrongMethod(request, Object.keys(operations).sort());
  return handled.get(id) ?? notFound(request);
}

async function answer(
  id: ApiOperationId,
  request: ValidatedRequest,
  response: Response,
  ports: ApiPorts,
): Promise<void> {
  const { handlers, idempotency, publicUrl } = ports;
  // The table's type ties each handler to its operation; here any of them is called with what the validator let through.
  const handle = handlers[id] as (request: unknown) => Promise<Answer> | Answer;
  if (!answersFiles(id)) assertAcceptsJson(request);
  if (TAKES_BODY.has(id) && request.body === undefined) throw missingBody();
  const { principal, ...caller }: Caller = response.locals.caller;
  const instance = response.locals.scope === 'platform' ? undefined : caller.instance;
  const input = {
    path: request.openapi?.pathParams,
    query: request.query,
    headers: request.headers,
    accept: request.headers.accept,
    body: request.body,
    principal,
    instance,
    signal: signalEnd(response),
    url: publicUrl() + request.originalUrl,
  };
  const key = request.method === 'POST' ? request.get('idempotency-key') : undefined;
  // Not for the whole request: events of its socket come from outside of what would be run here.
  const answered = await withTrace(traceOf(response), async () => (key === undefined ? handle(input) : once(key)));
  sendAnswer(response, answered);

  function once(given: string): Promise<Answer> {
    const fingerprint = JSON.stringify([id, instance?.id, request.originalUrl, request.body]);
    const { accountId, userId } = principal;
    return idempotency.once({ accountId, userId, key: given, fingerprint }, async () => handle(input));
  }
}

/** Every operation that takes a body needs it. The validator asks for one only where its schema has required members. */
const TAKES_BODY: ReadonlySet<OperationId> = new Set(
  (Object.keys(OPERATIONS) as OperationId[]).filter((id) => {
    const { path, method } = OPERATIONS[id];
    const item: Readonly<Record<string, unknown>> = document.paths[path];
    return Object.hasOwn(Object(item[method]), 'requestBody');
  }),
);

function missingBody(): AppError {
  return new AppError('REQUEST_INVALID', 'body is missing.', { details: [{ path: '/body', message: 'is missing' }] });
}
