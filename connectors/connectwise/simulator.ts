import type { Config } from '#connector';
import {
  BAD_BODY,
  type Call,
  changesOf,
  createMovableClock,
  Fault,
  fault,
  type Routes,
  readBasic,
  recordRoutes,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableRow,
} from '#connector/simulator';
import { COMPANY, KEY_PATH, notify, respondWithKey } from './simulator/callbacks.ts';
import {
  type Company,
  createCompany,
  type Name,
  type Resource,
  readCustomFields,
  showRow,
} from './simulator/company.ts';
import { CANNOT_ROUTE, print } from './simulator/fault.ts';
import { list, show } from './simulator/lists.ts';

export { COMPANY, SIGNING_KEY, signCallback } from './simulator/callbacks.ts';
export const PUBLIC_KEY = 'demo-public-key';
export const PRIVATE_KEY = 'demo-private-key';
export const CLIENT_ID = '4c0de5a1-0000-4000-8000-00000000c11e';

/** Configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION: Config = {
  site: 'na',
  company: COMPANY,
  'public.key': PUBLIC_KEY,
  'private.key': PRIVATE_KEY,
  'client.id': CLIENT_ID,
};

const BASE = '/v4_6_release/apis/3.0';
const API_HOST = /^api-[a-z]+\.(?:myconnectwise\.net|connectwisedev\.com)$/;

/** Creates a simulator of one company of the cloud in memory. The README lists what it simulates. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { memory } = options;
  const clock = createMovableClock();
  const company: Company = createCompany({
    clock,
    memory,
    notify: (name, change) =>
      notify(
        company.callbacks.table.rows(),
        { name, change, show: (row) => showRow(company, company[name], row) },
        options,
      ),
  });
  const { callbacks, ...records } = company;
  return simulate(
    {
      clock,
      print,
      authenticate: assertCaller,
      limits: { urlCharacters: 10_000 },
      open: { [`GET ${KEY_PATH}`]: respondWithKey },
      routes: Object.assign({}, ...Object.values(company).map((collection) => routesOf(company, collection))),
      commands: changesOf({
        ...records,
        // The names of ConnectWise and of the connector both work.
        ...Object.fromEntries(Object.values(records).map((collection) => [collection.path, collection])),
        ...{ incidents: company.tickets, organizations: company.companies, 'time-entries': company.timeEntries },
      }),
    },
    options,
  );
}

/** Asserts that the caller is authenticated. The gateway checks the company first, and rejects an unregistered client id. */
function assertCaller({ headers, host }: Call): void {
  const { username = '', password = '' } = readBasic(headers.authorization) ?? {};
  const [company = '', publicKey] = username.split('+', 2);
  const isHere = host === undefined || API_HOST.test(host);
  if (!isHere || (company !== '' && company !== COMPANY)) {
    throw new Fault(400, CANNOT_ROUTE, 'Cannot route. Codebase/company is invalid');
  }
  if (headers.clientid !== CLIENT_ID) throw fault(401, 'A valid clientId is required.');
  if (publicKey !== PUBLIC_KEY || password !== PRIVATE_KEY) throw fault(401, 'Authentication failed.');
}

function routesOf(company: Company, collection: Company[Name]): Routes {
  const { name, path, table } = collection;
  const listing = ({ params: { parent } }: Call) => {
    // The notes of one ticket.
    const id = parent === undefined ? undefined : company.tickets.get(parent).id;
    const rows = table.rows(true).filter(({ ticketId }) => id === undefined || ticketId === id);
    return { company, resource: collection, rows };
  };
  return recordRoutes(`${BASE}/${path}`, collection, {
    list: (call) => list(listing(call), call),
    show: (row, call, status) => show(call, showRow(company, collection, row), status),
    body: (call, old) => (old === undefined ? call.body.object() : readPatch(collection, call)),
    complete: (values, { params: { parent }, origin }, old) => ({
      ...readCustomFields(name, values),
      ...(name === 'notes' && { ticketId: Number(parent) }),
      ...(name === 'timeEntries' && old === undefined && { ticket: values.chargeToId ?? null }),
      ...(name === 'callbacks' && { origin }),
    }),
  });
}

/**
 * Returns the changes of a JSON Patch. A change inside an object is silently ignored.
 * @throws Fault 400 for a body that is no JSON Patch
 */
function readPatch({ members }: Resource, { body }: Call): TableRow {
  const operations = body.json();
  if (!Array.isArray(operations)) throw new Fault(400, BAD_BODY, 'The body is no array of operations.');
  const changes = operations.map(Object).flatMap(({ op, path, value = null }): [string, unknown][] => {
    const [member = '', ...inside] = String(path).replace(/^\//, '').split('/');
    if (!['add', 'replace', 'remove'].includes(op) || !Object.hasOwn(members, member)) {
      throw new Fault(400, 'InvalidObject', `The operation '${op}' on '${path}' cannot be done.`);
    }
    return inside.length > 0 ? [] : [[member, op === 'remove' ? null : value]];
  });
  return Object.fromEntries(changes);
}
