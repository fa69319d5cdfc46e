import type { Config } from '#connector';
import {
  type Answer,
  type Call,
  type Changeable,
  changesOf,
  createBudget,
  createMovableClock,
  empty,
  Fault,
  fault,
  type Routes,
  readBasic,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableRow,
} from '#connector/simulator';
import { COMPANY, createCallbacks } from './simulator/callbacks.ts';
import type { TextRule } from './simulator/condition.ts';
import { CANNOT_ROUTE, notFound, print } from './simulator/fault.ts';
import { findRows, readAsked, show, showPage } from './simulator/lists.ts';
import { API_MEMBER, createTables } from './simulator/rows.ts';
import { SCHEMAS, type Schema, type TableName } from './simulator/schema.ts';
import { BASE, createWorlds, showRow, type World } from './simulator/show.ts';
import { readObject, readPatch, readReplacement } from './simulator/writes.ts';

export { COMPANY, SIGNING_KEY, signCallback } from './simulator/callbacks.ts';
export const PUBLIC_KEY = 'demo-public-key';
export const PRIVATE_KEY = 'demo-private-key';
export const CLIENT_ID = '4c0de5a1-0000-4000-8000-00000000c11e';

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION: Config = {
  site: 'na',
  company: COMPANY,
  'public.key': PUBLIC_KEY,
  'private.key': PRIVATE_KEY,
  'client.id': CLIENT_ID,
};

export interface ConnectWiseSimulatorOptions extends SimulatorOptions {
  /** ConnectWise does not say how it compares texts. Default `ignoring case`, and blanks at the end in equalities. */
  readonly text?: TextRule;
  /** The guide tells of limits above 1,000. Default: any, so that tests need not wait. */
  readonly callsPerMinute?: number;
  /** See CallbackOptions. */
  readonly keyHost?: 'api' | 'site';
}

const API_HOST = /^api-[a-z]+\.(?:myconnectwise\.net|connectwisedev\.com)$/;
const TABLES: readonly TableName[] = [
  'tickets',
  'notes',
  'timeEntries',
  'companies',
  'contacts',
  'configurations',
  'opportunities',
  'fields',
];

/** One company of the cloud in memory. What it does is in the README. */
export function createSimulator(options: ConnectWiseSimulatorOptions): Simulator {
  const { text = 'ignoring case', callsPerMinute: calls } = options;
  const clock = createMovableClock();
  const worldAt = createWorlds(() => tables);
  const callbacks = createCallbacks({ ...options, clock }, worldAt);
  const tables = createTables(clock, callbacks.tell);
  return simulate(
    {
      clock,
      print,
      authenticate: assertCaller,
      limits: { urlCharacters: 10_000 },
      ...(calls !== undefined && { budget: createBudget({ calls, windowMs: 60_000, clock }) }),
      open: callbacks.open,
      routes: {
        [`GET ${BASE}/system/info`]: (call) => show(call, INFO),
        [`POST ${BASE}/service/tickets/search`]: (call) => search(worldAt(call.origin), call, text),
        ...callbacks.routes,
        ...Object.assign({}, ...TABLES.map((name) => routesOf(name, worldAt, text))),
        ...timeEntriesOf(worldAt),
      },
      commands: changesOf(changeables(tables)),
    },
    options,
  );
}

const INFO = {
  version: 'v2025.16.112233',
  isCloud: true,
  serverTimeZone: 'Eastern Standard Time',
  licenseBits: [{ name: 'serviceFlag', activeFlag: true }],
  cloudRegion: 'NA',
};

/** The gateway looks for the company first; a client id that nobody registered is none. */
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

type WorldAt = (origin: string) => World;

function routesOf(name: TableName, worldAt: WorldAt, text: TextRule): Routes {
  const { path }: Schema = SCHEMAS[name];
  const all = `${BASE}/${path}`;
  const list = (call: Call) => {
    const world = worldAt(call.origin);
    const asked = readAsked(call.query);
    return { asked, rows: findRows(world, name, { rows: rowsOf(world, name, call), asked, text }) };
  };
  return {
    [`GET ${all}`]: (call) => {
      const { rows, asked } = list(call);
      return showPage(rows, call, asked);
    },
    [`GET ${all}/count`]: (call) => show(call, { count: list(call).rows.length }),
    [`GET ${all}/{id}`]: (call) => showOne(worldAt(call.origin), name, call),
    ...writesOf(name, worldAt),
  };
}

function writesOf(name: TableName, worldAt: WorldAt): Routes {
  const all = `${BASE}/${SCHEMAS[name].path}`;
  const change = (read: (world: World, call: Call, old: TableRow) => TableRow) => (call: Call) => {
    const world = worldAt(call.origin);
    const old = find(world, name, call);
    const values = { ...read(world, call, old), updatedBy: API_MEMBER.identifier };
    return show(call, showRow(world, name, world.tables[name].update(String(old.id), values) ?? {}));
  };
  return {
    [`POST ${all}`]: (call) => {
      const world = worldAt(call.origin);
      const parent = parentOf(world, call);
      const values = completed(world, name, readObject(world, name, call.body.object()));
      const row = world.tables[name].insert({ ...values, ...(parent && { ticketId: parent.id }) });
      const location = `${call.origin}${call.path.replace(/\/$/, '')}/${row.id}`;
      return show(call, showRow(world, name, row), 201, { location });
    },
    [`PUT ${all}/{id}`]: change((world, { body }, old) => readReplacement(world, name, body.object(), old)),
    [`PATCH ${all}/{id}`]: change((world, call, old) => readPatch(world, name, call, old)),
    [`DELETE ${all}/{id}`]: (call) => {
      const world = worldAt(call.origin);
      world.tables[name].remove(String(find(world, name, call).id));
      return empty();
    },
  };
}

/** What ConnectWise works out of a new record. */
function completed({ tables }: World, name: TableName, values: TableRow): TableRow {
  const { chargeToId = null, timeStart, timeEnd, actualHours, podId } = values;
  if (name === 'fields') {
    const { podDescription, screenId, screenDescription } =
      tables.fields.rows().find((row) => row.podId === podId) ?? {};
    return { ...values, podDescription, screenId, screenDescription };
  }
  if (name !== 'timeEntries') return values;
  const hours = (Date.parse(String(timeEnd)) - Date.parse(String(timeStart))) / 3_600_000;
  const isKnown = actualHours != null || Number.isNaN(hours);
  return { ticket: chargeToId, ...values, ...(!isKnown && { actualHours: Math.round(hours * 100) / 100 }) };
}

/** Notes are those of their ticket. */
function parentOf({ tables }: World, { params: { parent } }: Call): TableRow | undefined {
  if (parent === undefined) return undefined;
  const ticket = tables.tickets.find(parent);
  if (ticket === undefined) throw notFound('Service Ticket', parent);
  return ticket;
}

function rowsOf(world: World, name: TableName, call: Call): readonly TableRow[] {
  const parent = parentOf(world, call);
  const rows = world.tables[name].rows(true);
  return parent === undefined ? rows : rows.filter(({ ticketId }) => ticketId === parent.id);
}

/** @throws Fault 404 */
function find(world: World, name: TableName, call: Call): TableRow {
  const { id = '' } = call.params;
  if (!/^\d+$/.test(id)) throw fault(404, 'An id is a number.');
  const row = rowsOf(world, name, call).find((each) => String(each.id) === id);
  if (row === undefined) throw notFound(SCHEMAS[name].label, id);
  return row;
}

function showOne(world: World, name: TableName, call: Call): Answer {
  return show(call, showRow(world, name, find(world, name, call)));
}

/** For conditions that are too long for an address. */
function search(world: World, call: Call, text: TextRule): Answer {
  const said = Object.entries(call.body.object()).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const asked = readAsked([...call.query, ...said]);
  return showPage(findRows(world, 'tickets', { rows: world.tables.tickets.rows(), asked, text }), call, asked);
}

/** References only: the entries themselves are in `time/entries`. */
function timeEntriesOf(worldAt: WorldAt): Routes {
  const all = `${BASE}/service/tickets/{parent}/timeentries`;
  const referencesOf = (call: Call) => {
    const world = worldAt(call.origin);
    const ticket = parentOf(world, call);
    const entries = world.tables.timeEntries.rows().filter(({ ticket: id }) => id === ticket?.id);
    return entries.map(({ id }) => ({ id, _info: { timeEntry_href: `${call.origin}${BASE}//time/entries/${id}` } }));
  };
  return {
    [`GET ${all}`]: (call) => showPage(referencesOf(call), call, readAsked(call.query)),
    [`GET ${all}/count`]: (call) => show(call, { count: referencesOf(call).length }),
  };
}

/** By the end of the path, by the path, and by the names that others have for them. */
function changeables(tables: World['tables']): Readonly<Record<string, Changeable>> {
  const recipes: readonly (readonly [TableName, readonly string[], (number: number) => TableRow, string])[] = [
    ['tickets', ['incidents'], (number) => ({ summary: `New ${number}`, company: 250 }), 'summary'],
    ['timeEntries', ['entries', 'time-entries'], () => ({ timeStart: '2026-01-31T08:30:00Z', ticket: 5000 }), 'notes'],
    [
      'companies',
      ['organizations'],
      (number) => ({ identifier: `New${number}`, name: `New ${number}`, city: 'Ulm' }),
      'name',
    ],
    ['contacts', [], (number) => ({ firstName: `New ${number}`, company: 250 }), 'title'],
    ['configurations', [], (number) => ({ name: `New ${number}`, company: 250 }), 'name'],
    ['opportunities', [], (number) => ({ name: `New ${number}`, company: 250 }), 'name'],
  ];
  const entries = recipes.flatMap(([name, others, create, changed]) => {
    const changeable: Changeable = {
      table: tables[name],
      keyOf: ({ id }) => String(id),
      create,
      change: (number) => ({ [changed]: `Changed ${number}`, updatedBy: 'DObrien' }),
    };
    return [name, SCHEMAS[name].path, ...others].map((word): [string, Changeable] => [word, changeable]);
  });
  return Object.fromEntries(entries);
}
