import type { Config } from '#connector';
import {
  type Answer,
  type Call,
  changesOf,
  createBudget,
  createMovableClock,
  DAY_MS,
  empty,
  escapeMarkup,
  Fault,
  json,
  type MovableClock,
  type Routes,
  readBearer,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type Table,
  type TableRow,
  typed,
  xml,
} from '#connector/simulator';
import { invalid, invalidQuery, notFound, printFault, unparsable, unsupported } from './simulator/fault.ts';
import { createLogin, type Login, REALM_ID } from './simulator/login.ts';
import { makePdf } from './simulator/pdf.ts';
import { present, presentDeleted } from './simulator/present.ts';
import { runQuery, type TextRule } from './simulator/query.ts';
import { CHANGES, createTables, type Tables } from './simulator/rows.ts';
import { SCHEMAS, type Schema } from './simulator/schema.ts';
import { printMoment, readTime } from './simulator/time.ts';
import { missing, readChange, readNew } from './simulator/writes.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, REALM_ID } from './simulator/login.ts';
export { type ChangeEvent, deliver, VERIFIER_TOKEN } from './simulator/webhook.ts';

/** What an instance on the simulator has; `DEMO_ACCESS_TOKEN` is its access token. */
export const DEMO_CONFIGURATION: Config = { realmId: REALM_ID, 'quickbooks.sandbox': false };

export interface QuickBooksSimulatorOptions extends SimulatorOptions {
  /** QuickBooks does not document how it compares texts; where it was measured, cases did not count. Default `ignoring case`. */
  readonly text?: TextRule;
  /** Calls in a minute that a company may get; QuickBooks' number is 500. Default: any, so that tests need not wait. */
  readonly callsPerMinute?: number;
}

const API_HOSTS: readonly string[] = ['quickbooks.api.intuit.com', 'sandbox-quickbooks.api.intuit.com'];
const COMPANY = '/v3/company/{realm}';

/** One company in memory. What it does is in the README. */
export function createSimulator(options: QuickBooksSimulatorOptions): Simulator {
  const clock = createMovableClock();
  const login = createLogin(options.memory, clock);
  const tables = createTables(clock);
  const { text = 'ignoring case', callsPerMinute } = options;
  const company: Company = { tables, clock, text };
  return simulate(
    {
      clock,
      print: (fault) => printFault(fault, clock.now()),
      headers: { intuit_tid: '1-6541d3a2-4b9f0a7c2d1e8f3600000000' },
      ...(callsPerMinute !== undefined && {
        // A 429 does not say how long to wait.
        budget: createBudget({ calls: callsPerMinute, windowMs: 60_000, clock, tellsWait: false }),
      }),
      authenticate: (call) => assertCompany(call, login),
      open: login.routes,
      routes: routesOf(company),
      commands: {
        'POST /simulate/end-sessions': () => {
          login.endSessions();
          return empty();
        },
        'POST /simulate/disconnect': () => {
          login.disconnect();
          return empty();
        },
        ...changesOf(Object.fromEntries(Object.entries(CHANGES).map(([name]) => [name, changeableOf(tables, name)]))),
      },
    },
    options,
  );
}

interface Company {
  readonly tables: Tables;
  readonly clock: MovableClock;
  readonly text: TextRule;
}

/** A token is good for its company only. */
function assertCompany({ headers, host, path }: Call, { accepts, isConnected }: Login): void {
  const isHere = host === undefined || API_HOSTS.includes(host);
  if (!isHere || !path.startsWith('/v3/company/')) throw new Fault(404, 'NOT_FOUND', `There is nothing at ${path}.`);
  if (!accepts(readBearer(headers.authorization) ?? '')) {
    throw new Fault(401, 'UNAUTHORIZED', 'Malformed bearer token: too short or too long');
  }
  if (path.split('/')[3] !== REALM_ID || !isConnected()) {
    throw new Fault(403, 'FORBIDDEN', 'The token is of another company.');
  }
}

function routesOf(company: Company): Routes {
  const { tables, clock, text } = company;
  const query = (call: Call, statement: string | null) => {
    if (statement === null) throw unparsable('The query provided was empty');
    return show(call, { QueryResponse: runQuery(tables, statement, text) }, clock);
  };
  const found = (call: Call) => {
    const target = targetOf(call, tables);
    return { ...target, row: find(target.table, call.params.id ?? '') };
  };
  return {
    [`GET ${COMPANY}/query`]: (call) => query(call, call.query.get('query')),
    [`POST ${COMPANY}/query`]: (call) => query(call, call.body.text()),
    [`GET ${COMPANY}/cdc`]: (call) => show(call, { CDCResponse: [capture(call, company)] }, clock),
    [`GET ${COMPANY}/companyinfo/{id}`]: (call) => {
      const row = tables.get('CompanyInfo')?.find('1') ?? {};
      return show(call, { CompanyInfo: present(row) }, clock);
    },
    [`GET ${COMPANY}/{entity}/{id}`]: (call) => {
      const { schema, row } = found(call);
      return show(call, { [schema.name]: present(row) }, clock);
    },
    [`GET ${COMPANY}/{entity}/{id}/pdf`]: (call) => {
      const { schema, row } = found(call);
      if (!schema.hasPdf) throw unsupported('pdf');
      return typed('application/pdf', makePdf(`${schema.name} ${row.DocNumber ?? row.Id}`));
    },
    [`POST ${COMPANY}/{entity}`]: (call) => write(call, company),
  };
}

function targetOf({ params: { entity = '' } }: Call, tables: Tables): { schema: Schema; table: Table } {
  const schema = SCHEMAS.get(entity.toLowerCase());
  const table = schema && tables.get(schema.name);
  if (schema === undefined || table === undefined) {
    throw unsupported(`operation could not find resource for entity ${entity}`);
  }
  return { schema, table };
}

const LARGEST_ID = 2 ** 31 - 1;

/** @throws Fault 2030 for what cannot be an identifier, 610 for what is not there or was deleted */
function find(table: Table, id: string): TableRow {
  if (!/^\d+$/.test(id) || Number(id) > LARGEST_ID) {
    throw invalid(2030, `Id should be a valid number. Supplied value:${id}`, 'Id');
  }
  const row = table.find(id);
  if (row === undefined || row.isDeleted === true) throw notFound();
  return row;
}

/** Creates, updates and deletes: which of them is said by an `Id` in the body, and by `operation`. */
function write(call: Call, { tables, clock }: Company): Answer {
  const { schema, table } = targetOf(call, tables);
  const body = call.body.object();
  const operation = call.query.get('operation') ?? (body.Id === undefined ? 'create' : 'update');
  const isKnown = ['create', 'update', 'delete'].includes(operation) && !call.query.has('include', 'void');
  if (!isKnown || schema.isReadOnly || (operation === 'delete' && schema.isList)) throw unsupported(operation);
  const place = { tables, nowMs: clock.now() };
  if (operation === 'create') {
    return show(call, { [schema.name]: present(table.insert(readNew(schema, body, place))) }, clock);
  }
  if (body.Id === undefined) throw missing('Id');
  const id = String(body.Id);
  const old = find(table, id);
  if (body.SyncToken === undefined) throw missing('SyncToken');
  if (String(body.SyncToken) !== old.SyncToken) throw stale();
  if (operation === 'delete') {
    table.remove(id);
    return show(call, { [schema.name]: { status: 'Deleted', domain: 'QBO', Id: id } }, clock);
  }
  return show(call, { [schema.name]: present(table.update(id, readChange(schema, body, old, place)) ?? {}) }, clock);
}

function stale() {
  return invalid(
    5010,
    'Stale Object Error : You and root were working on this at the same time. root finished before you did, so your work was not saved.',
  );
}

const LOOK_BACK_MS = 30 * DAY_MS;
const MOST_CHANGES = 1000;

/** Change data capture: whole records, and of those that were deleted that they were. */
function capture({ query }: Call, { tables, clock }: Company) {
  const sinceMs = readTime(query.get('changedSince') ?? '');
  if (sinceMs === undefined) throw invalidQuery('changedSince is not a valid time');
  const fromMs = Math.max(sinceMs, clock.now() - LOOK_BACK_MS);
  const names = (query.get('entities') ?? '').split(',').map((name) => name.trim());
  const responses = names.map((name) => {
    const schema = SCHEMAS.get(name.toLowerCase());
    if (schema === undefined) throw invalidQuery(`Metadata not found for Entity: ${name}`);
    const changed = (tables.get(schema.name)?.rows(true) ?? []).filter(({ updatedMs }) => Number(updatedMs) >= fromMs);
    const shown = changed
      .toSorted((a, b) => Number(a.updatedMs) - Number(b.updatedMs))
      .slice(0, MOST_CHANGES)
      .map((row) => (row.isDeleted === true ? presentDeleted(row) : present(row)));
    return shown.length === 0 ? {} : { [schema.name]: shown, startPosition: 1, maxResults: shown.length };
  });
  return { QueryResponse: responses };
}

/** XML, unless JSON is asked for. */
function show({ headers, query }: Call, content: Readonly<Record<string, unknown>>, clock: MovableClock): Answer {
  const time = printMoment(clock.now());
  const isJson = /\bjson\b/.test(headers.accept ?? '') || query.get('format') === 'json';
  if (isJson) return json({ ...content, time }, 200, { 'content-type': 'application/json;charset=UTF-8' });
  const start = `<IntuitResponse xmlns="http://schema.intuit.com/finance/v3" time="${time}">`;
  return xml(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${start}${elementsOf(content)}</IntuitResponse>`);
}

function elementsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return escapeMarkup(String(value));
  return Object.entries(value)
    .flatMap(([name, member]) => [member].flat().map((each) => `<${name}>${elementsOf(each)}</${name}>`))
    .join('');
}

function changeableOf(tables: Tables, name: string) {
  const [table, recipe] = [tables.get(name), CHANGES[name]];
  if (table === undefined || recipe === undefined) throw new Error(`There is no recipe for changes of ${name}.`);
  const [create, changed] = recipe;
  return {
    table,
    keyOf: ({ Id }: TableRow) => String(Id),
    create,
    change: (number: number) => ({ [changed]: `Changed ${number}` }),
  };
}
