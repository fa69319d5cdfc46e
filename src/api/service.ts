import { type RequestHandler, type Response, Router } from 'express';
import { OPERATIONS } from '../../generated/operations.ts';
import type { Clock } from '../clock.ts';
import type { Role } from '../config/index.ts';
import { AppError } from '../errors.ts';
import { sendKept } from '../http/kept-response.ts';
import type { TokenBuckets } from '../http/rate-limits.ts';
import { createShared } from '../http/shared.ts';
import type { ApiServices } from './api-services.ts';
import type { ConnectPages } from './connect-pages.ts';
import { createConsolePages } from './console-pages.ts';
import { ASSETS_PATH, QUERY_LANGUAGE_PATH, REFERENCE_PATH } from './docs/paths.ts';
import { createDocuments } from './documents.ts';
import { createCallback, createProxyRedirect } from './oauth-pages.ts';
import type { RootOperationId } from './operation.ts';
import { notFound, refuseOtherMethods, wrongMethod } from './problem.ts';

interface ServiceRouterParts {
  readonly role: Role;
  /** Undefined when this port does not serve metrics. */
  readonly metrics: RequestHandler | undefined;
  /** Rate limits per network of the browsers. */
  readonly redirects: TokenBuckets;
  /** Handler for webhooks of providers. */
  readonly receiveEvents: RequestHandler;
  readonly connectPages: ConnectPages;
  /** Handler for agents. */
  readonly serveAgents: RequestHandler;
  /** Comes before `serveAgents`, for pages of other origins. */
  readonly allowAgentPages: RequestHandler;
}

const CHECK_TIMEOUT_MS = 2000;
/** Requests within this time receive the same response, because anybody may send them and each costs a query. */
const CHECK_KEEP_MS = 500;

/** Operations that every process responds to, whatever its role is. */
const OF_EVERY_ROLE: readonly RootOperationId[] = ['getLiveness', 'getReadiness', 'getMetrics'];

/**
 * Creates the router for the paths outside the base path: health, the document, its rendered reference, redirects. They need no
 * authorization.
 */
export function createServiceRouter(clock: Clock, services: ApiServices, parts: ServiceRouterParts): Router {
  const { checks, isStuck, publicUrl, connectorFolders, console, proxies } = services;
  const { role, metrics = notFound, redirects, receiveEvents, connectPages, serveAgents, allowAgentPages } = parts;
  const states = createShared(() => runChecks(checks), { clock, ms: CHECK_KEEP_MS });
  const documents = createDocuments(publicUrl, connectorFolders);
  const sendPage = async (response: Response, path: string) => {
    const page = (await documents.pages()).get(path);
    if (page === undefined)
      throw new AppError('NOT_FOUND', `There is no page ${path}. ${REFERENCE_PATH} lists all pages.`);
    await sendKept(response, page);
  };
  const pages = createConsolePages(console);
  const handlers: Readonly<Record<RootOperationId, RequestHandler>> = {
    redirectToDocs: (_request, response) => response.redirect(302, '/docs'),

    getLiveness: (_request, response) => {
      const stuck = isStuck();
      response.status(stuck ? 503 : 200).json({ status: stuck ? 'unavailable' : 'ok' });
    },

    getReadiness: async (_request, response) => {
      const found = await states();
      const ready = Object.values(found).every((state) => state === 'ok');
      response.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable', checks: found });
    },

    getMetrics: metrics,

    getOpenApiJson: async (_request, response) => sendKept(response, await documents.json()),

    getOpenApiYaml: async (_request, response) => sendKept(response, await documents.yaml()),

    getDocs: (_request, response) => sendPage(response, REFERENCE_PATH),

    getGuide: async (request, response) => {
      const moved = await documents.movedTo(request.path);
      if (moved === undefined) await sendPage(response, request.path);
      else response.redirect(302, moved);
    },

    getElementGuide: (request, response) => sendPage(response, request.path),

    getConsole: pages.sendPage,

    getQueryReference: (_request, response) => sendPage(response, QUERY_LANGUAGE_PATH),

    redirectThroughOAuthProxy: createProxyRedirect(proxies, redirects),

    showOAuthCallback: connectPages.arrive(createCallback(console)),

    getConnectScript: pages.sendConnectScript,
    showConnectPage: connectPages.showPage,
    leaveForProvider: connectPages.depart,

    receiveProviderEvents: receiveEvents,
    answerProvider: receiveEvents,

    callAgentTools: serveAgents,
  };
  const sendAsset: RequestHandler<{ readonly file: string }> = async (request, response) => {
    const asset = documents.assets.get(request.params.file);
    if (asset === undefined) return notFound(request);
    await sendKept(response, await asset());
  };
  const router = Router();
  if (role !== 'worker') router.get(`${ASSETS_PATH}/:file`, sendAsset).all(`${ASSETS_PATH}/:file`, refuseOtherMethods);
  const served = role === 'worker' ? OF_EVERY_ROLE : (Object.keys(handlers) as RootOperationId[]);
  if (role !== 'worker') router.all(OPERATIONS.callAgentTools.path, allowAgentPages);
  for (const [template, ids] of Map.groupBy(served, (id) => OPERATIONS[id].path)) {
    const path = template.replace(/\{(\w+)\}/g, ':$1');
    for (const id of ids) router[OPERATIONS[id].method](path, note(id), handlers[id]);
    const methods = ids.flatMap((id) => (OPERATIONS[id].method === 'get' ? ['GET', 'HEAD'] : ['POST']));
    router.all(path, (request) => {
      throw wrongMethod(request, methods);
    });
  }
  if (role === 'worker') return router;
  return router.use(pages.router);
}

/** Notes the operation for metrics. */
function note(id: RootOperationId): RequestHandler {
  return (_request, response, next) => {
    response.locals.operation = id;
    next();
  };
}

async function runChecks(checks: ApiServices['checks']): Promise<Record<string, 'ok' | 'unavailable'>> {
  const states = Object.entries(checks).map(async ([name, check]) => {
    const reachable = await check(AbortSignal.timeout(CHECK_TIMEOUT_MS));
    return [name, reachable ? 'ok' : 'unavailable'] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}
