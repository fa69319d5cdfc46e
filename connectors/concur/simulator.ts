import type { Config } from '#connector';
import {
  type Call,
  type Collection,
  changesOf,
  createBudget,
  createMovableClock,
  empty,
  Fault,
  type PageStyle,
  recordRoutes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { ADMINISTRATOR, createCompany, findUser, type Resource, readForm, type User } from './simulator/company.ts';
import { createLogin, GEOLOCATION } from './simulator/login.ts';
import { print, printFault } from './simulator/print.ts';
import { badRequest, type SearchOptions, testsOf } from './simulator/search.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, GEOLOCATION, TRAVELER_ACCESS_TOKEN } from './simulator/login.ts';

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION: Config = { geolocation: GEOLOCATION };

interface ConcurSimulatorOptions extends SimulatorOptions {
  /** The status for a token that has expired. Default 403, as documented for this version of the API. */
  readonly badToken?: 401 | 403;
  /** Maximum number of calls per minute. Concur has a limit, but does not document it. Default: none. */
  readonly callsPerMinute?: number;
}

const ROOT = '/api/v3.0/expense';

/** Creates a simulator of one company with reports of two users in memory. The README lists what it simulates. */
export function createSimulator(options: ConcurSimulatorOptions): Simulator {
  const { memory, badToken = 403, callsPerMinute: calls = Infinity } = options;
  const clock = createMovableClock();
  const login = createLogin({ memory, clock, badToken });
  const { reports, entries } = createCompany(clock);
  const related: SearchOptions['related'] = ({ ID, OwnerLoginID }, name) =>
    name === 'owner' ? [{ ...findUser(OwnerLoginID) }] : entries.table.rows().filter(({ ReportID }) => ReportID === ID);
  const ownerIn = (call: Call) => readOwner(call, login.userOf(call));
  const routesOf = (collection: Collection<Resource>, can: readonly ('get' | 'create' | 'update')[]) =>
    recordRoutes(`${ROOT}/${collection.name}`, collection, {
      can,
      list: (call) => list(collection, call, { related, owner: ownerIn(call) }),
      show: (row, call) => {
        if (call.method === 'GET') assertOwned(row[collection.owner], ownerIn(call));
        return show(collection, row, call);
      },
      update: 'PUT',
      body: (call, old) => {
        if (old !== undefined) assertChangeable(old, ownerIn(call));
        // Null has the same effect as a missing value. Responses show a comment under another name.
        const { Comment: LastComment = null, ...rest } = call.body.object();
        return Object.fromEntries(Object.entries({ ...rest, LastComment }).filter(([, value]) => value !== null));
      },
      complete: (values, call, old) =>
        old === undefined ? { OwnerLoginID: ownerIn(call), ...readForm(values) } : readForm(values),
    });
  return simulate(
    {
      clock,
      print: (fault, { path }) => printFault(fault, path, clock.now()),
      budget: createBudget({ calls, windowMs: 60_000, clock, sendsRetryAfter: false }),
      authenticate: (call) => {
        if (call.headers['transfer-encoding'] !== undefined)
          throw badRequest('Chunked transfer encoding is not supported.');
        login.userOf(call);
      },
      open: login.routes,
      routes: { ...routesOf(reports, ['get', 'create', 'update']), ...routesOf(entries, ['get']) },
      commands: { ...login.commands, ...changesOf({ reports, entries }) },
    },
    options,
  );
}

const PAGING: PageStyle = { kind: 'link', token: 'offset', size: 'limit', usual: 25, most: 100, refuse: badRequest };

function list(
  collection: Collection<Resource>,
  call: Call,
  { owner: login, ...search }: SearchOptions & { readonly owner: string },
): SimulatedResponse {
  const { table, filters, owner, all, one } = collection;
  const tests = testsOf(filters, call.query, search);
  const isMeant = (row: TableRow) => (login === ALL || row[owner] === login) && tests.every((test) => test(row));
  const { rows, next = null } = takePage(table.rows().filter(isMeant), PAGING, call);
  return print(call, [all, one], { Items: rows.map((row) => present(collection, row, call)), NextPage: next });
}

/** Responds to a write. A creation returns the address of the report, and a change returns nothing. */
function show(collection: Collection<Resource>, row: TableRow, call: Call): SimulatedResponse {
  if (call.method === 'PUT') return empty();
  const shown = present(collection, row, call);
  if (call.method === 'GET') return print(call, [collection.one], shown);
  return print(call, ['Response'], { ID: shown.ID, URI: shown.URI });
}

/** Prints a record. The address of a workflow repeats the query of the request, as in the provider's own example. */
function present({ name: collection }: Collection<Resource>, row: TableRow, { origin, search }: Call): TableRow {
  const address = `${origin}${ROOT}/${collection}`;
  const { WorkflowActionUrl: key = '' } = row;
  const action = key !== '' && { WorkflowActionUrl: `${address}/report/${key}/WorkFlowAction${search}` };
  const shown = Object.entries(row).filter(([name]) => /^[A-Z]/.test(name) && name !== 'ID');
  return { ...Object.fromEntries(shown), ...action, ID: row.ID, URI: `${address}/${row.ID}` };
}

const ALL = 'ALL';

/**
 * Returns the login of the requested owner, or `ALL`. The default is the caller.
 * @throws Fault 403
 */
function readOwner({ query }: Call, user: User): string {
  const text = query.get('user') ?? '';
  if (text === '') return user.login;
  const login = text === ALL ? ALL : (findUser(text)?.login ?? text);
  if (login === user.login || user.login === ADMINISTRATOR.login) return login;
  throw new Fault(403, 'FORBIDDEN', 'The user parameter is for those with the Web Services Admin role.');
}

/**
 * Asserts that a single record belongs to the named user.
 * @throws Fault 400 for all users at once, 404 for a record of another user
 */
function assertOwned(owner: unknown, login: string): void {
  if (login === ALL) throw badRequest('user=ALL is not allowed when operating on a single resource.');
  if (owner !== login) throw new Fault(404, 'NOT_FOUND', 'It was not found.');
}

const FINAL: readonly unknown[] = ['P_PROC', 'P_PAID', 'P_PAYC'];

function assertChangeable({ OwnerLoginID, PaymentStatusCode, PaymentStatusName }: TableRow, login: string): void {
  assertOwned(OwnerLoginID, login);
  if (FINAL.includes(PaymentStatusCode)) throw badRequest(`The report cannot be changed: ${PaymentStatusName}.`);
}
