import type { IncomingMessage } from 'node:http';
import type { Config, Simulator, SimulatorOptions } from '#connector';
import { createDataset, type Dataset } from './simulator/data.ts';
import { describeGlobal, describeObject } from './simulator/describe.ts';
import { type Answer, json, meantHost, parseJson, readText, send, sendError } from './simulator/http.ts';
import { DEMO_USER_ID, ORGANIZATION_ID } from './simulator/ids.ts';
import { type AuthorizationServer, createAuthorizationServer } from './simulator/oauth.ts';
import { Problem } from './simulator/problem.ts';
import { createQueryEngine, type QueryEngine, showRecord } from './simulator/query.ts';
import { createRow, deleteRow, getBytes, getObject, getRow, updateRow } from './simulator/records.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN } from './simulator/oauth.ts';

/** What an instance on the simulator has been given by its login. */
export const DEMO_CONFIGURATION: Config = { 'api.version': '62.0', 'instance.url': 'https://acme.my.salesforce.com' };

interface Account {
  readonly dataset: Dataset;
  readonly queries: QueryEngine;
}

export interface SalesforceSimulatorOptions extends SimulatorOptions {
  /**
   * How texts compare. Cases never count; that accents and blanks at the ends do is not documented, so tests try both.
   * Default `ignoring case`.
   */
  readonly text?: 'ignoring case' | 'ignoring accents and blanks';
}

/** Salesforce in memory: its login, its REST API, and SOQL parsed by somebody else's parser. */
export function createSimulator({ baseUrl, memory, text = 'ignoring case' }: SalesforceSimulatorOptions): Simulator {
  const fold = FOLDS[text];
  const account = createAccount(fold);
  const authorization = createAuthorizationServer(memory);
  let calls = 0;
  return {
    handle: (request, response) => {
      calls++;
      response.setHeader('sforce-limit-info', `api-usage=${calls}/15000`);
      answer({ account, authorization, baseUrl }, request).then(
        (result) => send(response, result),
        (error: unknown) => sendError(response, error),
      );
    },
  };
}

const FOLDS: Readonly<Record<NonNullable<SalesforceSimulatorOptions['text']>, (text: string) => string>> = {
  'ignoring case': (text) => text.toLowerCase(),
  'ignoring accents and blanks': (text) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').trim(),
};

function createAccount(fold: (text: string) => string): Account {
  const dataset = createDataset();
  return { dataset, queries: createQueryEngine(dataset, fold) };
}

interface Server {
  readonly account: Account;
  readonly authorization: AuthorizationServer;
  readonly baseUrl: string;
}

const MAX_URL_BYTES = 16_384;

async function answer(server: Server, request: IncomingMessage): Promise<Answer> {
  const { authorization, baseUrl } = server;
  const { method = 'GET', headers } = request;
  if ((request.url ?? '').length > MAX_URL_BYTES)
    return { status: 414, body: '<h1>Bad Message 414</h1><pre>reason: URI Too Long</pre>' };
  const url = new URL(request.url ?? '/', 'http://simulated');
  const text = method === 'POST' || method === 'PATCH' ? await readText(request) : '';
  switch (`${method} ${url.pathname}`) {
    case 'GET /services/oauth2/authorize':
      return authorization.authorize(url.searchParams);
    case 'POST /services/oauth2/token':
      return authorization.grant(new URLSearchParams(text), headers, { host: meantHost(request), baseUrl });
    case 'POST /services/oauth2/revoke':
      return authorization.revoke(new URLSearchParams(text).get('token') ?? '');
    case 'POST /simulate/end-sessions':
      return authorization.endSessions();
    case 'GET /services/data':
      return json([{ label: "Winter '25", url: '/services/data/v62.0', version: '62.0' }]);
  }
  assertSession(server, request);
  if (/^\/id\/|^\/services\/oauth2\/userinfo$/.test(url.pathname)) return json(describeUser());
  return route(server.account, { method, url, text, batchSize: readBatchSize(headers['sforce-query-options']) });
}

/** A session is good at its own instance only. */
function assertSession({ authorization }: Server, request: IncomingMessage): void {
  const token = /^(?:Bearer|OAuth) (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const host = meantHost(request);
  const isInstance =
    host === undefined || host.endsWith('.my.salesforce.com') || request.url?.startsWith('/id/') === true;
  if (isInstance && authorization.isValid(token)) return;
  throw new Problem(401, 'INVALID_SESSION_ID', 'Session expired or invalid');
}

function describeUser() {
  return {
    id: `/id/${ORGANIZATION_ID}/${DEMO_USER_ID}`,
    user_id: DEMO_USER_ID,
    organization_id: ORGANIZATION_ID,
    username: 'demo@acme.example',
    display_name: 'Dana Demo',
  };
}

const MAX_BATCH_SIZE = 2000;
const MIN_BATCH_SIZE = 200;

function readBatchSize(header: unknown): number {
  const size = Number(/batchSize=(\d+)/i.exec(String(header ?? ''))?.[1] ?? MAX_BATCH_SIZE);
  return Math.min(MAX_BATCH_SIZE, Math.max(MIN_BATCH_SIZE, size));
}

interface Call {
  readonly method: string;
  readonly url: URL;
  readonly text: string;
  readonly batchSize: number;
  /** `/services/data/v62.0`. */
  readonly prefix: string;
  /** The variable segments of the path. */
  readonly names: readonly string[];
}

type Handler = (account: Account, call: Call) => Answer;

const ROUTES: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
  ['GET', /^\/?$/, (_, { prefix }) => json({ sobjects: `${prefix}/sobjects`, query: `${prefix}/query` })],
  ['GET', /^\/sobjects\/?$/, (_, { prefix }) => json(describeGlobal(prefix))],
  [
    'GET',
    /^\/sobjects\/([^/]+)\/describe\/?$/,
    (_, { names: [name = ''], prefix }) => json(describeObject(name, getObject(name), prefix)),
  ],
  ['GET', /^\/(query|queryAll)\/?$/, runQuery],
  [
    'GET',
    /^\/query(?:All)?\/([\w-]+)$/,
    ({ queries }, { names: [locator = ''], ...call }) => json(queries.queryMore(locator, call)),
  ],
  ['POST', /^\/composite\/?$/, runComposite],
  ['POST', /^\/sobjects\/([^/]+)\/?$/, create],
  ['GET', /^\/sobjects\/([^/]+)\/([^/]+)$/, show],
  ['PATCH', /^\/sobjects\/([^/]+)\/([^/]+)$/, update],
  ['DELETE', /^\/sobjects\/([^/]+)\/([^/]+)$/, remove],
  ['GET', /^\/sobjects\/([^/]+)\/([^/]+)\/([^/]+)$/, showFile],
];

function route(account: Account, call: Omit<Call, 'prefix' | 'names'>): Answer {
  const [, prefix = '', rest = ''] = /^(\/services\/data\/v\d+\.0)(.*)$/.exec(call.url.pathname) ?? [];
  for (const [method, path, handler] of ROUTES) {
    const match = prefix !== '' && method === call.method ? path.exec(rest) : null;
    if (match !== null) return handler(account, { ...call, prefix, names: match.slice(1).map(decodeURIComponent) });
  }
  throw new Problem(404, 'NOT_FOUND', 'The requested resource does not exist');
}

function runQuery({ queries }: Account, { url, prefix, batchSize, names }: Call): Answer {
  const soql = url.searchParams.get('q');
  if (soql === null) throw new Problem(400, 'MALFORMED_QUERY', 'A query has to be specified');
  return json(queries.query(soql, { prefix, batchSize, includeDeleted: names[0] === 'queryAll' }));
}

/** Every part is answered, whatever became of it. */
function runComposite(account: Account, { text }: Call): Answer {
  const { compositeRequest } = parseJson(text);
  const parts = Array.isArray(compositeRequest) ? compositeRequest : [];
  return json({ compositeResponse: parts.map((part: unknown) => runPart(account, parseJson(JSON.stringify(part)))) });
}

function runPart(account: Account, part: Readonly<Record<string, unknown>>) {
  const headers: Readonly<Record<string, unknown>> = Object(part.httpHeaders);
  const call = {
    method: String(part.method),
    url: new URL(String(part.url), 'http://simulated'),
    text: JSON.stringify(part.body ?? {}),
    batchSize: readBatchSize(headers['sforce-query-options']),
  };
  const { status = 200, body = 'null' } = settle(() => route(account, call));
  return { body: JSON.parse(String(body)), httpHeaders: {}, httpStatusCode: status, referenceId: part.referenceId };
}

function settle(answerPart: () => Answer): Answer {
  try {
    return answerPart();
  } catch (error) {
    if (error instanceof Problem) return json(error, error.status);
    throw error;
  }
}

function create({ dataset }: Account, { names: [name = ''], text }: Call): Answer {
  return json(createRow(dataset, name, parseJson(text), Date.now()), 201);
}

function show({ dataset }: Account, { names: [name = '', id = ''], url, prefix }: Call): Answer {
  const wanted = url.searchParams.get('fields')?.split(',');
  const fields = Object.entries(getObject(name).fields).filter(([field]) => wanted?.includes(field) ?? true);
  return json(showRecord(name, getRow(dataset, name, id), { fields, prefix }));
}

function update({ dataset }: Account, { names: [name = '', id = ''], text }: Call): Answer {
  updateRow(dataset, name, id, parseJson(text), Date.now());
  return { status: 204 };
}

function remove({ dataset }: Account, { names: [name = '', id = ''] }: Call): Answer {
  deleteRow(dataset, name, id);
  return { status: 204 };
}

function showFile({ dataset }: Account, { names: [name = '', id = '', field = ''] }: Call): Answer {
  return { headers: { 'content-type': 'application/octet-stream' }, body: getBytes(dataset, name, id, field) };
}
