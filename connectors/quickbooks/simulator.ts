import type { Config } from '#connector';
import {
  type Call,
  changesOf,
  createBudget,
  createMovableClock,
  DAY_MS,
  escapeMarkup,
  Fault,
  json,
  type MovableClock,
  type Routes,
  readBearer,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableRow,
  type TextRule,
  typed,
  xml,
} from '#connector/simulator';
import { type Company, createCompany, missing, present, readBody } from './simulator/company.ts';
import { invalid, invalidQuery, notFound, printFault, unparsable, unsupported } from './simulator/fault.ts';
import { createLogin, REALM_ID } from './simulator/login.ts';
import { makePdf } from './simulator/pdf.ts';
import { findEntity, runQuery } from './simulator/query.ts';
import { printMoment, readTime } from './simulator/time.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, REALM_ID } from './simulator/login.ts';
export { type ChangeEvent, deliver, VERIFIER_TOKEN } from './simulator/webhook.ts';

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION: Config = { realmId: REALM_ID, 'quickbooks.sandbox': false };

export interface QuickBooksSimulatorOptions extends SimulatorOptions {
  /**
   * The rule for comparing texts, which QuickBooks does not document. Measurements showed that case does not count. Default `ignoring
   * case`.
   */
  readonly text?: TextRule;
  /** Maximum number of calls per company and minute. QuickBooks allows 500. Default: no limit, so that tests need not wait. */
  readonly callsPerMinute?: number;
}

const API_HOSTS: readonly string[] = ['quickbooks.api.intuit.com', 'sandbox-quickbooks.api.intuit.com'];
const COMPANY = '/v3/company/{realm}';

/** Creates a simulator of one company in memory. The README lists what it simulates. */
export function createSimulator(options: QuickBooksSimulatorOptions): Simulator {
  const { memory, text = 'ignoring case', callsPerMinute: calls } = options;
  const clock = createMovableClock();
  const login = createLogin(memory, clock);
  const company = createCompany(clock);
  return simulate(
    {
      clock,
      print: (fault) => printFault(fault, clock.now()),
      headers: { intuit_tid: '1-6541d3a2-4b9f0a7c2d1e8f3600000000' },
      // A 429 contains no time to wait.
      budget:
        calls === undefined ? undefined : createBudget({ calls, windowMs: 60_000, clock, sendsRetryAfter: false }),
      hosts: API_HOSTS,
      authenticate: (call) => assertCompany(call, login),
      open: login.routes,
      routes: routesOf(company, clock, text),
      commands: { ...login.commands, ...changesOf(company) },
    },
    options,
  );
}

/** Asserts that the caller may access the company. A token is valid for one company only. */
function assertCompany({ headers, path }: Call, { accepts, isConnected }: ReturnType<typeof createLogin>): void {
  if (!path.startsWith('/v3/company/')) throw new Fault(404, 'NOT_FOUND', `There is nothing at ${path}.`);
  if (!accepts(readBearer(headers.authorization) ?? '')) {
    throw new Fault(401, 'UNAUTHORIZED', 'Malformed bearer token: too short or too long');
  }
  if (path.split('/')[3] !== REALM_ID || !isConnected()) {
    throw new Fault(403, 'FORBIDDEN', 'The token is of another company.');
  }
}

function routesOf(company: Company, clock: MovableClock, text: TextRule): Routes {
  const query = (call: Call, statement: string | null) => {
    if (statement === null) throw unparsable('The query provided was empty');
    return show(call, { QueryResponse: runQuery(company, statement, text) }, clock);
  };
  const one = (call: Call) => {
    const target = targetOf(company, call);
    return { ...target, row: find(target, call.params.id ?? '') };
  };
  return {
    [`GET ${COMPANY}/query`]: (call) => query(call, call.query.get('query')),
    [`POST ${COMPANY}/query`]: (call) => query(call, call.body.text()),
    [`GET ${COMPANY}/cdc`]: (call) => show(call, { CDCResponse: [capture(call, company, clock)] }, clock),
    [`GET ${COMPANY}/companyinfo/{id}`]: (call) =>
      show(call, { CompanyInfo: present(company.CompanyInfo.get('1')) }, clock),
    [`GET ${COMPANY}/{entity}/{id}`]: (call) => {
      const { name, row } = one(call);
      return show(call, { [name]: present(row) }, clock);
    },
    [`GET ${COMPANY}/{entity}/{id}/pdf`]: (call) => {
      const { name, hasPdf, row } = one(call);
      if (!hasPdf) throw unsupported('pdf');
      return typed('application/pdf', makePdf(`${name} ${row.DocNumber ?? row.Id}`));
    },
    [`POST ${COMPANY}/{entity}`]: (call) => write(call, company, clock),
  };
}

type Target = Company[keyof Company];

function targetOf(company: Company, { params: { entity = '' } }: Call): Target {
  const target = findEntity(company, entity);
  if (target === undefined) throw unsupported(`operation could not find resource for entity ${entity}`);
  return target;
}

const LARGEST_ID = 2 ** 31 - 1;

/**
 * Finds a record.
 * @throws Fault 2030 for an invalid id; 610 for a record that does not exist or was deleted
 */
function find({ get }: Target, id: string): TableRow {
  if (!/^\d+$/.test(id) || Number(id) > LARGEST_ID) {
    throw invalid(2030, `Id should be a valid number. Supplied value:${id}`, 'Id');
  }
  const row = get(id);
  if (row.isDeleted === true) throw notFound();
  return row;
}

/** Creates, updates or deletes a record. An `Id` in the body and `operation` distinguish these. */
function write(call: Call, company: Company, clock: MovableClock): SimulatedResponse {
  const target = targetOf(company, call);
  const { name, table, isReadOnly, isList } = target;
  const body = call.body.object();
  const operation = call.query.get('operation') ?? (body.Id === undefined ? 'create' : 'update');
  if (!['create', 'update', 'delete'].includes(operation) || isReadOnly || (operation === 'delete' && isList)) {
    throw unsupported(operation);
  }
  const read = (old?: TableRow) => readBody(company, name, body, old, clock.now());
  if (operation === 'create') return show(call, { [name]: present(table.insert(read())) }, clock);
  if (body.Id === undefined) throw missing('Id');
  const id = String(body.Id);
  const old = find(target, id);
  if (body.SyncToken === undefined) throw missing('SyncToken');
  if (String(body.SyncToken) !== old.SyncToken) throw stale();
  if (operation === 'update') return show(call, { [name]: present(table.update(id, read(old)) ?? {}) }, clock);
  table.remove(id);
  return show(call, { [name]: { status: 'Deleted', domain: 'QBO', Id: id } }, clock);
}

function stale() {
  return invalid(
    5010,
    'Stale Object Error : You and root were working on this at the same time. root finished before you did, so your work was not saved.',
  );
}

const LOOK_BACK_MS = 30 * DAY_MS;
const MOST_CHANGES = 1000;

/** Responds with changed data: complete records, and a mark for each deleted one. */
function capture({ query }: Call, company: Company, clock: MovableClock) {
  const sinceMs = readTime(query.get('changedSince') ?? '');
  if (sinceMs === undefined) throw invalidQuery('changedSince is not a valid time');
  const fromMs = Math.max(sinceMs, clock.now() - LOOK_BACK_MS);
  const names = (query.get('entities') ?? '').split(',').map((name) => name.trim());
  const responses = names.map((name) => {
    const entity = findEntity(company, name);
    if (entity === undefined) throw invalidQuery(`Metadata not found for Entity: ${name}`);
    const changed = entity.table.rows(true).filter(({ updatedMs }) => Number(updatedMs) >= fromMs);
    const latest = changed.toSorted((a, b) => Number(a.updatedMs) - Number(b.updatedMs)).slice(0, MOST_CHANGES);
    const shown = latest.map((row) => present(row));
    return shown.length === 0 ? {} : { [entity.name]: shown, startPosition: 1, maxResults: shown.length };
  });
  return { QueryResponse: responses };
}

/** Responds with XML unless the request accepts JSON. */
function show(
  { headers, query }: Call,
  content: Readonly<Record<string, unknown>>,
  clock: MovableClock,
): SimulatedResponse {
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
