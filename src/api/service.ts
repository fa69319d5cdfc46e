import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS } from '../../generated/operations.ts';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import type { Metrics } from '../metrics.ts';
import { showCallback } from './callback-page.ts';
import { DOCS_ASSETS, docsPage } from './docs-page.ts';
import type { RootOperationId } from './handler.ts';
import { wrongMethod } from './problem.ts';
import { createProxyRedirect } from './proxy-redirect.ts';
import { queryPage } from './query-page.ts';

/** Whether a part the service needs can be reached. */
export type Check = (signal: AbortSignal) => Promise<boolean>;

export interface ServiceRouterPorts {
  readonly checks: Readonly<Record<string, Check>>;
  /** The process does nothing any more and should be started again. */
  readonly isStuck: () => boolean;
  readonly publicUrl: () => string;
  readonly metrics: Metrics;
  readonly proxies: Pick<Proxies, 'redirectTarget'>;
}

const CHECK_TIMEOUT_MS = 2000;
const ASSETS_PATH = '/docs/assets';

/** The paths outside the base path: health, the document, its rendered reference, redirects. No authorization. */
export function createServiceRouter({ checks, isStuck, publicUrl, metrics, proxies }: ServiceRouterPorts): Router {
  const handlers: Readonly<Record<RootOperationId, RequestHandler>> = {
    getLiveness: (_request, response) => {
      const stuck = isStuck();
      response.status(stuck ? 503 : 200).json({ status: stuck ? 'unavailable' : 'ok' });
    },

    getReadiness: async (_request, response) => {
      const states = await runChecks(checks);
      const ready = Object.values(states).every((state) => state === 'ok');
      response.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable', checks: states });
    },

    getMetrics: async (_request, response) => {
      const { registry } = metrics;
      response.set('Content-Type', registry.contentType).send(await registry.metrics());
    },

    getOpenApiJson: (_request, response) => void response.json(documentFor(publicUrl())),

    getOpenApiYaml: async (_request, response) => {
      const yaml = await readFile(join(import.meta.dirname, '../../generated/openapi.yaml'), 'utf8');
      response.type('application/yaml').send(yaml);
    },

    getDocs: (_request, response) => {
      const { html, contentSecurityPolicy } = docsPage({ documentUrl: '/openapi.json', assetsUrl: ASSETS_PATH });
      response.set('Content-Security-Policy', contentSecurityPolicy).type('html').send(html);
    },

    getQueryReference: async (_request, response) => {
      const { html, contentSecurityPolicy } = await queryPage();
      response.set('Content-Security-Policy', contentSecurityPolicy).type('html').send(html);
    },

    redirectThroughOAuthProxy: createProxyRedirect(proxies),

    showOAuthCallback: showCallback,
  };
  const router = Router();
  for (const id of Object.keys(handlers) as RootOperationId[]) {
    const { method, path: template } = OPERATIONS[id];
    const path = template.replace(/\{(\w+)\}/g, ':$1');
    router[method](path, note(id), handlers[id]);
    router.all(path, (request) => {
      throw wrongMethod(request, ['GET', 'HEAD']);
    });
  }
  router.get(`${ASSETS_PATH}/:file`, sendAsset);
  return router;
}

/** For the measurements. */
function note(id: RootOperationId): RequestHandler {
  return (_request, response, next) => {
    response.locals.operation = id;
    next();
  };
}

/** The document with this service as its server, so that "try it out" in the reference works. */
function documentFor(publicUrl: string) {
  const [server] = document.servers;
  const variables = { publicUrl: { ...server?.variables.publicUrl, default: publicUrl } };
  return { ...document, servers: [{ ...server, variables }] };
}

async function runChecks(checks: ServiceRouterPorts['checks']): Promise<Record<string, 'ok' | 'unavailable'>> {
  const states = Object.entries(checks).map(async ([name, check]) => {
    const reachable = await check(AbortSignal.timeout(CHECK_TIMEOUT_MS));
    return [name, reachable ? 'ok' : 'unavailable'] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}

const sendAsset: RequestHandler = (request, response, next) => {
  const file = DOCS_ASSETS.find((name) => name === request.params.file);
  if (file === undefined) return next();
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  response.sendFile(file, { root: folder, maxAge: '1d' });
};
