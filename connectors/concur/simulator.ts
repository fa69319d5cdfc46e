import type { Config } from '#connector';
import {
  type Answer,
  type Call,
  type Changeable,
  changesOf,
  createBudget,
  createMovableClock,
  createTable,
  empty,
  Fault,
  type MovableClock,
  type PageStyle,
  type Routes,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type Table,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { makeEntry } from './simulator/entries.ts';
import { printMoment } from './simulator/form.ts';
import { createLogin, GEOLOCATION, type Login } from './simulator/login.ts';
import { print, printFault } from './simulator/print.ts';
import { blankReport, makeRows, REPORTS, reportId } from './simulator/rows.ts';
import { badRequest, entryFilters, type Filters, reportFilters, type TextRule, testsOf } from './simulator/search.ts';
import { ADMINISTRATOR, USERS, type User } from './simulator/users.ts';
import { readReport } from './simulator/writes.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, GEOLOCATION, TRAVELER_ACCESS_TOKEN } from './simulator/login.ts';

/** What an instance on the simulator has; `DEMO_ACCESS_TOKEN` is its access token. */
export const DEMO_CONFIGURATION: Config = { geolocation: GEOLOCATION };

export interface ConcurSimulatorOptions extends SimulatorOptions {
  /** Default `ignoring case`, and blanks at the end. */
  readonly text?: TextRule;
  /** What a token that has expired is answered with. Default 403, as the documents have it for this version of the API. */
  readonly badToken?: 401 | 403;
  /** There is a limit, and no document says which. Default: none. */
  readonly callsPerMinute?: number;
}

/** One company in memory, with reports of two users. What it does is in the README. */
export function createSimulator(options: ConcurSimulatorOptions): Simulator {
  const { memory, text = 'ignoring case', badToken = 403, callsPerMinute: calls } = options;
  const clock = createMovableClock();
  const login = createLogin({ memory, clock, badToken });
  const { reports, entries } = createResources(clock, text);
  return simulate(
    {
      clock,
      print: (fault, { path }) => printFault(fault, path, clock.now()),
      headers: { 'concur-correlationid': '2803b8f8-a42b-43c2-a739-000000000000' },
      ...(calls !== undefined && { budget: createBudget({ calls, windowMs: 60_000, clock, tellsWait: false }) }),
      authenticate: (call) => {
        if (call.headers['transfer-encoding'] !== undefined)
          throw badRequest('Chunked transfer encoding is not supported.');
        login.userOf(call);
      },
      open: login.routes,
      routes: {
        ...routesOf(reports, login),
        ...routesOf(entries, login),
        [`POST ${reports.path}`]: (call) => createReport(reports, call, login.userOf(call)),
        [`PUT ${reports.path}/{id}`]: (call) => updateReport(reports, call, login.userOf(call)),
      },
      commands: {
        'POST /simulate/end-sessions': () => {
          login.endSessions();
          return empty();
        },
        ...changesOf({ reports: reports.changeable, entries: entries.changeable }),
      },
    },
    options,
  );
}

const ROOT = '/api/v3.0/expense';

interface Resource {
  readonly path: string;
  /** The element around all of them, and around one. */
  readonly nouns: readonly [all: string, one: string];
  readonly table: Table;
  readonly filters: Filters;
  /** The member that is the login of whom it belongs to. */
  readonly owner: string;
  readonly changeable: Changeable;
}

function createResources(clock: MovableClock, text: TextRule): Readonly<Record<'reports' | 'entries', Resource>> {
  const rows = makeRows();
  const keyOf = ({ ID }: TableRow) => String(ID);
  const stamped = (created: readonly string[], changed: readonly string[]) => ({
    stamps: { clock, write: printMoment, created, changed },
  });
  let made = REPORTS;
  const reports = createTable({
    rows: rows.reports,
    keyOf,
    initial: ({ OwnerLoginID }) => {
      const owner = USERS.find(({ loginId }) => loginId === OwnerLoginID) ?? ADMINISTRATOR;
      return { ...blankReport(owner, printMoment(clock.now()).slice(0, 10)), ID: reportId(made++) };
    },
    ...stamped(['CreateDate'], ['LastModifiedDate']),
  });
  const entries = createTable({ rows: rows.entries, keyOf, ...stamped([], ['LastModified']) });
  const entriesOf = ({ ID }: TableRow) => entries.rows().filter(({ ReportID }) => ReportID === ID);
  const header = { ID: reportId(0), owner: ADMINISTRATOR, batchId: null };
  return {
    reports: {
      path: `${ROOT}/reports`,
      nouns: ['Reports', 'Report'],
      table: reports,
      filters: reportFilters(entriesOf, text),
      owner: 'OwnerLoginID',
      changeable: {
        table: reports,
        keyOf,
        create: (number) => ({ Name: `New ${number}` }),
        change: (number) => ({ Name: `Changed ${number}` }),
      },
    },
    entries: {
      path: `${ROOT}/entries`,
      nouns: ['Entries', 'Entry'],
      table: entries,
      filters: entryFilters(text),
      owner: 'ReportOwnerID',
      changeable: {
        table: entries,
        keyOf,
        create: (number) => makeEntry(4 * REPORTS + number, { ...header, madeMs: clock.now() }),
        change: (number) => ({ Description: `Changed ${number}` }),
      },
    },
  };
}

function routesOf(resource: Resource, { userOf }: Pick<Login, 'userOf'>): Routes {
  const { path, nouns } = resource;
  return {
    [`GET ${path}`]: (call) => list(resource, call, userOf(call)),
    [`GET ${path}/{id}`]: (call) => print(call, nouns[1], present(resource, find(resource, call, userOf(call)), call)),
  };
}

const PAGING: PageStyle = { kind: 'link', token: 'offset', size: 'limit', usual: 25, most: 100, refuse: badRequest };

function list(resource: Resource, call: Call, user: User): Answer {
  const { table, filters, owner, nouns } = resource;
  const login = ownerOf(call, user);
  const tests = testsOf(filters, call.query);
  const found = table
    .rows()
    .filter((row) => (login === ALL || row[owner] === login) && tests.every((test) => test(row)));
  const { rows, next = null } = takePage(found, PAGING, call);
  return print(call, nouns[0], { Items: rows.map((row) => present(resource, row, call)), NextPage: next });
}

const ALL = 'ALL';

/** @returns the login of whose records are asked for: the caller's own without a word, or `ALL`. @throws Fault 403 */
function ownerOf({ query }: Call, user: User): string {
  const text = query.get('user') ?? '';
  if (text === '') return user.loginId;
  const login = text === ALL ? ALL : (USERS.find(({ loginId }) => isSame(loginId, text))?.loginId ?? text);
  if (login === user.loginId || user.isAdmin) return login;
  throw new Fault(403, 'FORBIDDEN', 'The user parameter is for those with the Web Services Admin role.');
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** @throws Fault 400 for all users at once, 404 for what is not there, or belongs to another than the one who is named */
function find({ table, owner, nouns }: Resource, call: Call, user: User): TableRow {
  const login = ownerOf(call, user);
  if (login === ALL) throw badRequest('user=ALL is not allowed when operating on a single resource.');
  const row = table.find(call.params.id ?? '');
  if (row?.[owner] === login) return row;
  throw new Fault(404, 'NOT_FOUND', `${nouns[1]} ${call.params.id} was not found.`);
}

/** The address of a workflow repeats what was asked, as in the provider's own example. */
function present({ path }: Resource, row: TableRow, { origin, search }: Call): TableRow {
  const { WorkflowActionUrl: key = '' } = row;
  const action = key !== '' && { WorkflowActionUrl: `${origin}${path}/report/${key}/WorkFlowAction${search}` };
  const shown = Object.entries(row).filter(([name]) => /^[A-Z]/.test(name) && name !== 'ID');
  return { ...Object.fromEntries(shown), ...action, ID: row.ID, URI: `${origin}${path}/${row.ID}` };
}

function createReport({ path, table }: Resource, call: Call, user: User): Answer {
  const login = ownerOf(call, user);
  if (!USERS.some(({ loginId }) => loginId === login)) throw badRequest(`Nobody has the login '${login}'.`);
  const { ID } = table.insert({ OwnerLoginID: login, ...readReport(call.body.object(), true) });
  return print(call, 'Response', { ID, URI: `${call.origin}${path}/${ID}` });
}

const FINAL: readonly unknown[] = ['P_PROC', 'P_PAID', 'P_PAYC'];

/** Answers nothing. */
function updateReport(resource: Resource, call: Call, user: User): Answer {
  const { ID, PaymentStatusCode, PaymentStatusName } = find(resource, call, user);
  if (FINAL.includes(PaymentStatusCode)) throw badRequest(`The report cannot be changed: ${PaymentStatusName}.`);
  resource.table.update(String(ID), readReport(call.body.object(), false));
  return empty();
}
