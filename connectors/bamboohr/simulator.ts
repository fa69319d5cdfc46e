import {
  BAD_BODY,
  basic,
  type Call,
  changesOf,
  createMovableClock,
  type Fault,
  json,
  type RouteHandler,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  typed,
} from '#connector/simulator';
import { companyRoutes } from './simulator/company.ts';
import { datasetRoutes } from './simulator/dataset.ts';
import { createAccount, employeeRoutes } from './simulator/employees.ts';
import { Problem, refusal } from './simulator/fault.ts';
import { notify, webhookRoutes } from './simulator/webhooks.ts';

const COMPANY_HOST = 'acme.bamboohr.com';
const API_KEY = 'demo-key';

/** Configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { username: API_KEY, 'company.name': 'acme' };

/** Creates a simulator of the account `acme.bamboohr.com` in memory. The README lists what it simulates. */
export function createSimulator(options: Partial<SimulatorOptions> = {}): Simulator {
  const { memory, send } = options;
  const clock = createMovableClock();
  const { employees, webhooks } = createAccount({
    clock,
    memory,
    notify: (change) => notify(change, { webhooks, clock, send }),
  });
  const routes = {
    ...datasetRoutes(employees.table),
    ...employeeRoutes(employees),
    ...companyRoutes(employees.table),
    ...webhookRoutes(webhooks),
  };
  const old = Object.entries(routes).map(([route, handler]) => [
    route,
    route.startsWith('GET /api/v1/') ? xmlUnlessJson(handler) : handler,
  ]);
  return simulate(
    {
      clock,
      authenticate: assertCaller,
      print,
      routes: Object.fromEntries(old),
      commands: changesOf({ employees }),
    },
    { baseUrl: `https://${COMPANY_HOST}`, ...options },
  );
}

const isKey = basic('BambooHR', ({ username }) => username === API_KEY, 'Invalid API key');

function assertCaller(call: Call): void {
  if ((call.host ?? COMPANY_HOST) !== COMPANY_HOST) throw refusal(404, 'Company not found');
  isKey(call);
}

/** Makes the older endpoints respond with XML unless the request accepts JSON. The content of the XML is not simulated. */
function xmlUnlessJson(handler: RouteHandler): RouteHandler {
  return async (call) => {
    const response = await handler(call);
    const wantsJson = call.headers.accept?.includes('application/json') === true;
    return wantsJson ? response : typed('text/xml; charset=utf-8', '<?xml version="1.0"?>\n<simulated/>\n');
  };
}

function print(fault: Fault): SimulatedResponse {
  const { status, code, headers } = fault;
  if (fault instanceof Problem) {
    const body = { type: 'about:blank', title: code, status, detail: fault.message, code };
    return json(body, status, { ...headers, 'content-type': 'application/problem+json', 'x-request-id': 'simulated' });
  }
  const message = code === BAD_BODY ? 'Malformed JSON' : fault.message.replaceAll(/[^\x20-\x7e]/g, '?');
  return typed('text/html; charset=utf-8', '', status, { ...headers, 'x-bamboohr-error-message': message });
}
