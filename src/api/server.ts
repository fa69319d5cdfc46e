import express, { type Express, type Request, type RequestHandler, Router } from 'express';
import { middleware as createValidator } from 'express-openapi-validator';
import type { OpenAPIV3 } from 'express-openapi-validator/dist/framework/types.js';
import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS } from '../../generated/operations.ts';
import type { Idempotency } from '../accounts/idempotency/index.ts';
import { AppError, cutText, pointer } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { withTrace } from '../trace.ts';
import { identify, traceOf } from './access-log.ts';
import { type Answer, answersFiles, assertAcceptsJson, sendAnswer } from './answer.ts';
import type { Caller } from './authorization.ts';
import { type ApiScope, type AuthorizePorts, createAuthorize } from './authorize.ts';
import type { RedactCall } from './call-redactor.ts';
import { createCors } from './cors.ts';
import type { ApiOperationId, Handlers } from './handler.ts';
import { sendJson } from './json-answer.ts';
import { jsonBody } from './json-body.ts';
import { createProblemHandler, notFound } from './problem.ts';
import type { ProxyTrust } from './remote-address.ts';
import { signalEnd } from './request-end.ts';
import { measureRequests } from './request-metrics.ts';
import { parseQuery, type Scope, scopedDocument } from './scoped-document.ts';

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
  readonly passthrough: RequestHandler;
  readonly idempotency: Pick<Idempotency, 'once'>;
  /** Origins whose pages may call. */
  readonly corsOrigins: readonly string[];
  /** Without a slash at the end. */
  readonly publicUrl: () => string;
  /** Checks every answer against the spec; one that does not fit becomes an INTERNAL error. */
  readonly validateResponses: boolean;
}

export const BASE_PATH = '/elements/api-v2';

/**
 * The life of a request: request id → authorization → body → spec validation → handler → answer. Whatever is thrown on
 * the way ends in the problem handler.
 */
export function createServer(ports: ServerPorts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', parseQuery);
  app.response.json = sendJson;
  app.use(identify(ports));
  if (ports.metrics !== undefined) app.use(measureRequests(ports.metrics));
  app.use(ports.root);
  if (ports.api !== undefined) app.use(BASE_PATH, ...createApi(ports.api));
  app.use(notFound);
  app.use(createProblemHandler(ports));
  return app;
}

function createApi(api: ApiPorts): RequestHandler[] {
  return [
    forbidStoring,
    createCors(api.corsOrigins),
    answerHeadAsGet,
    createAuthorize(api),
    api.passthrough,
    checkPath,
    checkQueryNames,
    jsonBody,
    createScopes(api),
  ];
}

/** Tokens, secrets and the records of people are in the answers: no cache keeps them. */
const forbidStoring: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  next();
};

/** Node leaves the body out by what the request was when it came; to everything from here on it is the GET. */
const answerHeadAsGet: RequestHandler = (request, response, next) => {
  response.locals.isHead = request.method === 'HEAD';
  if (response.locals.isHead) request.method = 'GET';
  next();
};

/** The validator would say no more than "malformed uri". */
const checkPath: RequestHandler = (request, _response, next) => {
  try {
    decodeURIComponent(request.path);
  } catch (error) {
    throw new AppError('REQUEST_INVALID', 'The path is not well percent-encoded.', { cause: error });
  }
  next();
};

/** The validator would nest what brackets there are, and lose `__proto__[x]`. */
const checkQueryNames: RequestHandler = (request, _response, next) => {
  if (!/\[|%5b/i.test(request.url)) return next();
  const nested = Object.keys(request.query).find((name) => name.includes('['));
  if (nested === undefined) return next();
  const message = `Unknown query parameter '${cutText(nested)}'.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('query', nested), message }] });
};

/**
 * The same URL may be an operation of the platform and an object of an element, so each scope has a router of its own.
 * It also keeps the way of records short: the validator compiles the paths it passes anew for every request.
 */
function createScopes(ports: ApiPorts): RequestHandler {
  const routers: Readonly<Record<ApiScope, Router>> = {
    platform: createScopeRouter('platform', ports),
    instance: createScopeRouter('instance', ports),
    record: createScopeRouter('record', ports),
  };
  return (request, response, next) => {
    const scope: ApiScope = response.locals.scope;
    routers[scope](request, response, next);
  };
}

function createScopeRouter(scope: ApiScope, ports: ApiPorts): Router {
  const router = Router({ caseSensitive: true, strict: false });
  router.use(
    createValidator({
      // Checked by the validator's own meta-schema in test/spec; TypeScript widens what it imports from JSON.
      apiSpec: scopedDocument(document, scope) as unknown as OpenAPIV3.DocumentV3,
      validateRequests: { allowUnknownQueryParameters: false, allErrors: true },
      validateResponses: ports.validateResponses,
      validateSecurity: false,
      validateApiSpec: false,
    }),
  );
  for (const id of Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]) {
    const { method, path, scopes } = OPERATIONS[id];
    if (!(scopes as readonly Scope[]).includes(scope) || !isHandled(id, ports.handlers)) continue;
    router[method](path.replace(/\{(\w+)\}/g, ':$1'), createRoute(id, ports));
  }
  return router;
}

function isHandled(id: keyof typeof OPERATIONS, handlers: Handlers): id is ApiOperationId {
  return id in handlers;
}

function createRoute(id: ApiOperationId, { handlers, idempotency, publicUrl }: ApiPorts): RequestHandler {
  // The table's type ties each handler to its operation; here any of them is called with what the validator let through.
  const handle = handlers[id] as (request: unknown) => Promise<Answer> | Answer;
  const needsBody = takesBody(id);
  const needsJsonAccepted = !answersFiles(id);
  return async (request, response) => {
    response.locals.operation = id;
    if (needsJsonAccepted) assertAcceptsJson(request);
    if (needsBody && request.body === undefined) throw missingBody();
    const { principal, ...caller }: Caller = response.locals.caller;
    const instance = response.locals.scope === 'platform' ? undefined : caller.instance;
    const input = {
      path: convertedPath(request),
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
    const answer = await withTrace(traceOf(response), async () => (key === undefined ? handle(input) : once(key)));
    sendAnswer(response, answer);

    function once(given: string): Promise<Answer> {
      const fingerprint = JSON.stringify([id, instance?.id, request.originalUrl, request.body]);
      const { accountId, userId } = principal;
      return idempotency.once({ accountId, userId, key: given, fingerprint }, async () => handle(input));
    }
  };
}

type ValidatedRequest = Request & { readonly openapi?: { readonly pathParams: Readonly<Record<string, unknown>> } };

/**
 * The router's own parameters are texts; the validator keeps the numbers that it made of them elsewhere.
 * @throws AppError REQUEST_INVALID for a number in another spelling than its digits: to the validator `0x1`, `1e0` and `+1` are 1
 */
function convertedPath({ openapi, params }: ValidatedRequest): object {
  if (openapi === undefined) return params;
  for (const [name, value] of Object.entries(openapi.pathParams)) {
    if (typeof value !== 'number' || params[name] === String(value)) continue;
    const message = 'must be integer';
    const details = [{ path: pointer('path', name), message }];
    throw new AppError('REQUEST_INVALID', `path.${name} ${message}.`, { details });
  }
  return openapi.pathParams;
}

/** Every operation that takes a body needs it. The validator asks for one only where its schema has required members. */
function takesBody(id: ApiOperationId): boolean {
  const { path, method } = OPERATIONS[id];
  const item: Readonly<Record<string, unknown>> = document.paths[path];
  return Object.hasOwn(Object(item[method]), 'requestBody');
}

function missingBody(): AppError {
  return new AppError('REQUEST_INVALID', 'body is missing.', { details: [{ path: '/body', message: 'is missing' }] });
}
