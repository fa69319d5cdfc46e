import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Simulator } from '#connector';
import { createRows, type Row } from './simulator-data.ts';
import { createDataset, type Dataset } from './simulator-dataset.ts';
import { createEmployee, getEmployee, listEmployeeFields, updateEmployee } from './simulator-employees.ts';
import { listCompanyFiles, listEmployeeFiles } from './simulator-files.ts';
import { type Answer, json, Problem, Refusal, readJsonBody, send, sendError, sendXml } from './simulator-http.ts';
import { listPolicies, listRequests, listTypes } from './simulator-time-off.ts';

const COMPANY = 'acme';
const API_KEY = 'demo-key';

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { username: API_KEY, 'company.name': COMPANY };

/** The account `acme.bamboohr.com` in memory. What it does is in the README. */
export function createSimulator(): Simulator {
  const account = createAccount();
  return {
    handle: (request, response) => {
      answer(account, request, response).catch((error) => sendError(response, error));
    },
  };
}

interface Account {
  readonly rows: Map<number, Row>;
  readonly dataset: Dataset;
}

function createAccount(): Account {
  const rows = createRows();
  const dataset = createDataset(rows);
  return { rows, dataset };
}

interface Call {
  readonly account: Account;
  readonly query: URLSearchParams;
  /** The part of the path that is an id. */
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  /** Answers XML unless JSON is asked for. */
  readonly xml?: true;
  readonly answer: (call: Call) => Answer;
}

const ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: /^\/api\/v2\/datasets\/([^/]+)\/data$/,
    answer: ({ account, id, body }) => account.dataset.query(inDataset(id, body)),
  },
  {
    method: 'GET',
    path: /^\/api\/v1_2\/datasets\/([^/]+)\/fields$/,
    answer: ({ account, id, query }) => account.dataset.listFields(inDataset(id, query)),
  },
  {
    method: 'GET',
    path: /^\/api\/v1_2\/datasets$/,
    answer: () => json({ datasets: [{ name: 'employee', label: 'Employee' }] }),
  },
  { method: 'GET', path: /^\/api\/v1\/meta\/fields$/, xml: true, answer: listEmployeeFields },
  { method: 'GET', path: /^\/api\/v1\/meta\/time_off\/types$/, xml: true, answer: listTypes },
  { method: 'GET', path: /^\/api\/v1\/meta\/time_off\/policies$/, xml: true, answer: listPolicies },
  {
    method: 'GET',
    path: /^\/api\/v1\/time_off\/requests$/,
    xml: true,
    answer: ({ account, query }) => listRequests(account.rows, query),
  },
  { method: 'GET', path: /^\/api\/v1\/files\/view$/, xml: true, answer: listCompanyFiles },
  {
    method: 'GET',
    path: /^\/api\/v1\/employees\/([^/]+)\/files\/view$/,
    xml: true,
    answer: ({ account, id }) => listEmployeeFiles(account.rows, id),
  },
  {
    method: 'GET',
    path: /^\/api\/v1\/employees\/([^/]+)$/,
    xml: true,
    answer: ({ account, id, query }) => getEmployee(account.rows, id, query),
  },
  {
    method: 'POST',
    path: /^\/api\/v1\/employees$/,
    answer: ({ account, body }) => changing(account, createEmployee(account.rows, body)),
  },
  {
    method: 'POST',
    path: /^\/api\/v1\/employees\/([^/]+)$/,
    answer: ({ account, id, body }) => changing(account, updateEmployee(account.rows, id, body)),
  },
];

function inDataset<Value>(name: string, value: Value): Value {
  if (name !== 'employee') throw new Problem(404, 'NOT_FOUND', `The dataset ${name} is not accessible.`);
  return value;
}

function changing(account: Account, result: Answer): Answer {
  account.dataset.refresh();
  return result;
}

async function answer(account: Account, request: IncomingMessage, response: ServerResponse): Promise<void> {
  simulateTrouble(request);
  assertCaller(request);
  const url = new URL(request.url ?? '/', 'http://simulated');
  const { route, id } = findRoute(request.method ?? 'GET', url.pathname);
  const body = route.method === 'POST' ? await readJsonBody(request) : {};
  const result = route.answer({ account, query: url.searchParams, id, body });
  if (route.xml && !request.headers.accept?.includes('application/json')) sendXml(response);
  else send(response, result);
}

function findRoute(method: string, pathname: string): { readonly route: Route; readonly id: string } {
  for (const route of ROUTES) {
    const match = route.method === method ? route.path.exec(pathname) : null;
    if (match !== null) return { route, id: decodeURIComponent(match[1] ?? '') };
  }
  throw new Refusal(404, 'Not found');
}

/** `x-simulate: 429` and `x-simulate: 503`. */
function simulateTrouble({ headers }: IncomingMessage): void {
  const wanted = headers['x-simulate'];
  if (wanted === '429') throw new Refusal(429, 'Too many requests', { 'retry-after': '7' });
  if (wanted === '503') throw new Refusal(503, 'Service unavailable', { 'retry-after': '3' });
}

const CREDENTIALS = new RegExp(`^${API_KEY}:`);

function assertCaller({ headers }: IncomingMessage): void {
  const host =
    /(?:^|;)\s*host="?([^";,]+)/i.exec(headers.forwarded?.toString() ?? '')?.[1] ?? `${COMPANY}.bamboohr.com`;
  if (host.toLowerCase() !== `${COMPANY}.bamboohr.com`) throw new Refusal(404, 'Company not found');
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  if (CREDENTIALS.test(Buffer.from(encoded, 'base64').toString('utf8'))) return;
  throw new Refusal(401, 'Invalid API key', { 'www-authenticate': 'Basic realm="BambooHR"' });
}
