import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type RequestHandler, type Response, Router } from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS } from '../../generated/operations.ts';
import type { Role } from '../config/index.ts';
import { AppError } from '../errors.ts';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import { showCallback } from './callback-page.ts';
import { ASSETS_PATH, type DocsPage } from './docs/layout.ts';
import { createDocsPages, QUERY_LANGUAGE_PATH, REFERENCE_PATH } from './docs/pages.ts';
import type { RootOperationId } from './handler.ts';
import { createKept, type KeptAnswer, sendKept } from './kept-answer.ts';
import { notFound, wrongMethod } from './problem.ts';
import { createProxyRedirect } from './proxy-redirect.ts';
import { createShared } from './shared.ts';
import type { TokenBuckets } from './token-buckets.ts';

/** Whether a part the service needs can be reached. */
export type Check = (signal: AbortSignal) => Promise<boolean>;

export interface ServiceRouterPorts {
  readonly role: Role;
  readonly checks: Readonly<Record<string, Check>>;
  /** The process does nothing any more and should be started again. */
  readonly isStuck: () => boolean;
  readonly publicUrl: () => string;
  /** The folders of all connectors, whose READMEs are part of the documentation. */
  readonly connectorFolders: readonly string[];
  /** Undefined where the measurements are not served here. */
  readonly metrics: RequestHandler | undefined;
  readonly proxies: Pick<Proxies, 'redirectTarget'>;
  /** For each network that browsers come from. */
  readonly redirects: TokenBuckets;
}

const CHECK_TIMEOUT_MS = 2000;
/** Whoever asks more often gets the same answer: anybody may ask, and it costs a query. */
const CHECK_KEEP_MS = 500;
const ASSETS_FOLDER = join(import.meta.dirname, 'docs/assets');
const ASSETS = ['docs.js', 'docs.css'];
const ASSET_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** What every process answers, whatever its role. */
const OF_EVERY_ROLE: readonly RootOperationId[] = ['getLiveness', 'getReadiness', 'getMetrics'];

/** The paths outside the base path: health, the document, its rendered reference, redirects. No authorization. */
export function createServiceRouter(ports: ServiceRouterPorts): Router {
  const { role, checks, isStuck, publicUrl, connectorFolders, metrics = notFound, proxies, redirects } = ports;
  const states = createShared(() => runChecks(checks), CHECK_KEEP_MS);
  const documents = createKeptDocuments(publicUrl);
  const pages = createKeptPages(connectorFolders);
  const sendPage = async (response: Response, path: string) => {
    const page = (await pages()).get(path);
    if (page === undefined)
      throw new AppError('NOT_FOUND', `There is no page ${path}. ${REFERENCE_PATH} leads to all.`);
    await sendKept(response, page);
  };
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

    getGuide: (request, response) => sendPage(response, request.path),

    getElementGuide: (request, response) => sendPage(response, request.path),

    getQueryReference: (_request, response) => sendPage(response, QUERY_LANGUAGE_PATH),

    redirectThroughOAuthProxy: createProxyRedirect({ proxies, redirects }),

    showOAuthCallback: showCallback,
  };
  const router = Router();
  for (const id of role === 'worker' ? OF_EVERY_ROLE : (Object.keys(handlers) as RootOperationId[])) {
    const { method, path: template } = OPERATIONS[id];
    const path = template.replace(/\{(\w+)\}/g, ':$1');
    router[method](path, note(id), handlers[id]);
    router.all(path, (request) => {
      throw wrongMethod(request, ['GET', 'HEAD']);
    });
  }
  if (role !== 'worker') router.get(`${ASSETS_PATH}/:file`, createAssets());
  return router;
}

/** For the measurements. */
function note(id: RootOperationId): RequestHandler {
  return (_request, response, next) => {
    response.locals.operation = id;
    next();
  };
}

type KeptDocument = () => Promise<KeptAnswer>;

/** What the service says of itself: made when it is first asked for, and again only when the public URL is another. */
function createKeptDocuments(publicUrl: () => string): Readonly<Record<'json' | 'yaml', KeptDocument>> {
  let json: { readonly url: string; readonly answer: KeptAnswer } | undefined;
  const yaml = once(async () => {
    const file = join(import.meta.dirname, '../../generated/openapi.yaml');
    return createKept('application/yaml; charset=utf-8', await readFile(file, 'utf8'));
  });
  return {
    json: async () => {
      const url = publicUrl();
      if (json?.url !== url) json = { url, answer: createKept(JSON_TYPE, JSON.stringify(documentFor(url))) };
      return json.answer;
    },
    yaml,
  };
}

/** All of them together: each has the names of the others in its navigation. */
function createKeptPages(connectorFolders: readonly string[]): () => Promise<ReadonlyMap<string, KeptAnswer>> {
  return once(async () => {
    const pages = await createDocsPages(document, connectorFolders);
    return new Map([...pages].map(([path, page]) => [path, keepPage(page)]));
  });
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** A failure is not kept. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return async () => {
    made ??= make();
    try {
      return await made;
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
}

function keepPage({ html, contentSecurityPolicy }: DocsPage): KeptAnswer {
  return createKept('text/html; charset=utf-8', html, { 'Content-Security-Policy': contentSecurityPolicy });
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

function createAssets(): RequestHandler {
  const assets = new Map<string, KeptDocument>(ASSETS.map((name) => [name, once(() => keepAsset(name))]));
  return async (request, response, next) => {
    const asset = assets.get(String(request.params.file));
    if (asset === undefined) return next();
    await sendKept(response, await asset());
  };
}

/** Asked for each time, as the pages are: a page never meets the script of another version. */
async function keepAsset(name: string): Promise<KeptAnswer> {
  return createKept(ASSET_TYPES[extname(name)] ?? 'text/plain', await readFile(join(ASSETS_FOLDER, name), 'utf8'));
}
