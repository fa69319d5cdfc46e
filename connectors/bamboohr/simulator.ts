import {
  type Answer,
  BAD_BODY,
  basic,
  type Call,
  changesOf,
  createMovableClock,
  type Fault,
  json,
  type RouteHandler,
  type Simulator,
  type SimulatorOptions,
  simulate,
  typed,
} from '#connector/simulator';
import { listChanged } from './simulator/changed.ts';
import { listCompanyFiles, listEmployeeFiles, listPolicies, listRequests, listTypes } from './simulator/company.ts';
import { createDataset } from './simulator/dataset.ts';
import { createEmployee, getEmployee, listEmployeeFields, updateEmployee } from './simulator/employees.ts';
import { Problem, refusal } from './simulator/fault.ts';
import { createEmployees } from './simulator/rows.ts';
import { createWebhooks, WebhookFault } from './simulator/webhooks.ts';

const COMPANY_HOST = 'acme.bamboohr.com';
const API_KEY = 'demo-key';

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { username: API_KEY, 'company.name': 'acme' };

/** The account `acme.bamboohr.com` in memory. What it does is in the README. */
export function createSimulator(options: Partial<SimulatorOptions> = {}): Simulator {
  const clock = createMovableClock();
  const hooks = createWebhooks({ ...options, clock });
  const employees = createEmployees(clock, hooks.tell);
  const dataset = createDataset(employees);
  return simulate(
    {
      clock,
      authenticate: assertCaller,
      print,
      routes: {
        'GET /api/v1_2/datasets': () => json({ datasets: [{ name: 'employee', label: 'Employee' }] }),
        'GET /api/v1_2/datasets/{name}/fields': inDataset(dataset.listFields),
        'POST /api/v2/datasets/{name}/data': inDataset(dataset.query),
        'GET /api/v1/meta/fields': xmlUnlessJson(listEmployeeFields),
        'GET /api/v1/meta/time_off/types': xmlUnlessJson(listTypes),
        'GET /api/v1/meta/time_off/policies': xmlUnlessJson(listPolicies),
        'GET /api/v1/time_off/requests': xmlUnlessJson((call) => listRequests(employees, call)),
        'GET /api/v1/files/view': xmlUnlessJson(listCompanyFiles),
        'GET /api/v1/employees/{id}/files/view': xmlUnlessJson((call) => listEmployeeFiles(employees, call)),
        'GET /api/v1/employees/changed': xmlUnlessJson((call) => listChanged(employees, call)),
        'GET /api/v1/employees/{id}': xmlUnlessJson((call) => getEmployee(employees, call)),
        ...hooks.routes,
        'POST /api/v1/employees': (call) => createEmployee(employees, call),
        'POST /api/v1/employees/{id}': (call) => updateEmployee(employees, call),
      },
      commands: changesOf({
        employees: {
          table: employees,
          keyOf: ({ eeid }) => String(eeid),
          create: (number) => ({ firstName: 'New', lastName: `Person ${number}` }),
          change: (number) => ({ city: `City ${number}` }),
        },
      }),
    },
    { baseUrl: `https://${COMPANY_HOST}`, ...options },
  );
}

const isKey = basic('BambooHR', ({ username }) => username === API_KEY, 'Invalid API key');

function assertCaller(call: Call): void {
  if ((call.host ?? COMPANY_HOST) !== COMPANY_HOST) throw refusal(404, 'Company not found');
  isKey(call);
}

function inDataset(handler: RouteHandler): RouteHandler {
  return (call) => {
    if (call.params.name === 'employee') return handler(call);
    throw new Problem(404, 'NOT_FOUND', `The dataset ${call.params.name} is not accessible.`);
  };
}

/** The older endpoints answer XML unless JSON is asked for. What the XML says is not simulated. */
function xmlUnlessJson(handler: RouteHandler): RouteHandler {
  return async (call) => {
    const answer = await handler(call);
    const wantsJson = call.headers.accept?.includes('application/json') === true;
    return wantsJson ? answer : typed('text/xml; charset=utf-8', '<?xml version="1.0"?>\n<simulated/>\n');
  };
}

function print(fault: Fault): Answer {
  const { status, code, headers } = fault;
  if (fault instanceof WebhookFault) return json({ errors: fault.errors }, status);
  if (fault instanceof Problem) {
    const body = { type: 'about:blank', title: code, status, detail: fault.message, code };
    return json(body, status, { ...headers, 'content-type': 'application/problem+json', 'x-request-id': 'simulated' });
  }
  const message = code === BAD_BODY ? 'Malformed JSON' : fault.message.replaceAll(/[^\x20-\x7e]/g, '?');
  return typed('text/html; charset=utf-8', '', status, { ...headers, 'x-bamboohr-error-message': message });
}
