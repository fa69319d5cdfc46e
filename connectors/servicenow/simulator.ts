import type { Config } from '#connector';
import {
  type Answer,
  type Call,
  changesOf,
  createBudget,
  createMovableClock,
  empty,
  type MovableClock,
  type PageStyle,
  type Routes,
  type Simulator,
  type SimulatorOptions,
  simulate,
  sortRows,
  type Table,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { attachmentPresenter, attachmentRoutes } from './simulator/attachments.ts';
import { createBusinessRule } from './simulator/business-rule.ts';
import { noRecord, printFault, RULE_ID, refusal, reply } from './simulator/fault.ts';
import { createLogin, INSTANCE, PASSWORD, USERNAME } from './simulator/login.ts';
import { presenter } from './simulator/present.ts';
import { compileQuery, type TextRules } from './simulator/query.ts';
import { rowsOf } from './simulator/rows.ts';
import { createStore, isVisible, type Store } from './simulator/store.ts';
import { assertOpen, defaultsOf, insertRecord, updateRecord } from './simulator/writes.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, HOST, INSTANCE, PASSWORD, USERNAME } from './simulator/login.ts';

/** What an instance on the simulator has; with OAuth only the name, and `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION: Config = { 'company.name': INSTANCE, username: USERNAME, password: PASSWORD };

export interface ServiceNowSimulatorOptions extends SimulatorOptions, TextRules {
  /** What a rule of the instance lets the user call. Default: any, so that tests need not wait. */
  readonly callsPerHour?: number;
}

/** An instance in memory. What it does is in the README. */
export function createSimulator(options: ServiceNowSimulatorOptions): Simulator {
  const clock = createMovableClock();
  const login = createLogin(options.memory, clock);
  const rule = createBusinessRule(options.send, clock);
  const store = createStore(clock, rowsOf, rule.tell);
  const files = new Map<string, Buffer>();
  const { callsPerHour: calls } = options;
  const place: Place = { store, clock, rules: options };
  const roots = ['/api/now', '/api/now/v1', '/api/now/v2'];
  return simulate(
    {
      clock,
      print: (fault, { path }) =>
        printFault(fault, path, { calls: calls ?? 0, headers: rateOf(calls ?? 0, clock.now() + 7000) }),
      authenticate: login.assertUser,
      open: login.routes,
      limits: { urlCharacters: LONGEST_URL },
      ...(calls !== undefined && {
        budget: createBudget({
          calls,
          windowMs: HOUR_MS,
          clock,
          headers: ({ resetMs }) => rateOf(calls, clock.now() + resetMs),
        }),
      }),
      routes: Object.assign(
        {},
        ...roots.flatMap((root) => [routesOf(root, place), attachmentRoutes(root, store, files)]),
      ),
      commands: {
        'POST /simulate/end-sessions': () => {
          login.endSessions();
          return empty();
        },
        ...rule.commands,
        ...changesOf(Object.fromEntries(Object.keys(CHANGED).map((name) => [name, changeableOf(place, name)]))),
      },
    },
    options,
  );
}

interface Place {
  readonly store: Store;
  readonly clock: MovableClock;
  readonly rules: TextRules;
}

const HOUR_MS = 3_600_000;
/** Longer addresses are refused; where exactly, no document says. */
const LONGEST_URL = 8192;

function rateOf(calls: number, resetMs: number): Readonly<Record<string, string>> {
  return {
    'x-ratelimit-limit': String(calls),
    'x-ratelimit-reset': String(Math.ceil(resetMs / 1000)),
    'x-ratelimit-rule': RULE_ID,
  };
}

function routesOf(root: string, place: Place): Routes {
  const all = `${root}/table/{table}`;
  const one = `${all}/{id}`;
  const { store } = place;
  const show = (call: Call, row: TableRow, status = 200, headers = {}) =>
    reply({ result: presenter(store, tableOf(call, store).name, call)(row) }, status, headers);
  return {
    [`GET ${all}`]: (call) => {
      const { name, table } = tableOf(call, store);
      return list(call, place, { name, table, usual: 10_000, show: presenter(store, name, call) });
    },
    [`GET ${root}/attachment`]: (call) => {
      const { name, table } = tableOf({ params: { table: 'sys_attachment' } }, store);
      return list(call, place, { name, table, usual: 1000, show: attachmentPresenter(store, call) });
    },
    [`GET ${one}`]: (call) => show(call, find(call, store).row),
    [`POST ${all}`]: (call) => {
      const { name } = tableOf(call, store);
      assertOpen(name, 'Insert');
      const row = insertRecord(name, call, place);
      return show(call, row, 201, { location: `${call.origin}${root}/table/${name}/${row.sys_id}` });
    },
    [`PATCH ${one}`]: (call) => show(call, update(call, place)),
    [`PUT ${one}`]: (call) => show(call, update(call, place)),
    [`DELETE ${one}`]: (call) => {
      const { name, table, row } = find(call, store);
      assertOpen(name, 'Delete');
      table.remove(table.keyOf(row));
      return empty();
    },
  };
}

function update(call: Call, place: Place): TableRow {
  const { name, row } = find(call, place.store);
  assertOpen(name, 'Update');
  return updateRecord(name, row, call, place);
}

interface Found {
  readonly name: string;
  readonly table: Table;
}

function tableOf({ params: { table: name = '' } }: Pick<Call, 'params'>, store: Store): Found {
  const table = store.table(name);
  if (table === undefined) throw refusal(400, `Invalid table ${name}`);
  return { name, table };
}

function find(call: Call, store: Store): Found & { readonly row: TableRow } {
  const found = tableOf(call, store);
  const row = found.table.find(call.params.id ?? '');
  if (row === undefined || !isVisible(row)) throw noRecord();
  return { ...found, row };
}

interface Listed extends Found {
  /** Rows of a page where the caller does not say it. */
  readonly usual: number;
  readonly show: (row: TableRow) => unknown;
}

/** The page is taken first, and then what the user may not see is left out of it: it may be short, even empty, and not the last. */
function list(call: Call, { store, rules }: Place, { name, table, usual, show }: Listed): Answer {
  const { test, order, isTotal } = compileQuery(queryOf(call), { store, table: name, rules });
  const found = table.rows().filter(test);
  const paging: PageStyle = {
    kind: 'offset',
    offset: 'sysparm_offset',
    size: 'sysparm_limit',
    usual,
    most: Number.MAX_SAFE_INTEGER,
    refuse: (message, parameter) => refusal(400, `Invalid ${parameter}`, message),
  };
  // Rows that the order does not tell apart stand elsewhere on another page, as a database has them.
  const isLater = !isTotal && Number(call.query.get('sysparm_offset') ?? 0) > 0;
  const page = takePage(sortRows(isLater ? found.toReversed() : found, order), paging, call);
  const result = page.rows.filter(isVisible).map(show);
  if (result.length === 0 && call.path.startsWith('/api/now/v1/')) throw noRecord();
  return reply({ result }, 200, {
    ...(call.query.get('sysparm_no_count') !== 'true' && { 'x-total-count': String(page.total) }),
    ...(call.query.get('sysparm_suppress_pagination_header') !== 'true' && linksOf(call, page)),
  });
}

/** Other parameters than those of the API are conditions. */
function queryOf({ query }: Call): string {
  const said = query.get('sysparm_query');
  if (said !== null) return said;
  const pairs = [...query].filter(([name]) => !name.startsWith('sysparm_'));
  return pairs.map(([name, value]) => `${name}=${value.replaceAll('^', '^^')}`).join('^');
}

interface Paged {
  readonly start: number;
  readonly size: number;
  readonly total: number;
  readonly next?: string;
}

/** Absolute, with all of the parameters again; none where everything is on one page. */
function linksOf({ origin, path, query }: Call, { start, size, total, next }: Paged): Readonly<Record<string, string>> {
  if (total <= size && start === 0) return {};
  const link = (rel: string, offset: number) => {
    const parameters = new URLSearchParams(query);
    parameters.set('sysparm_limit', String(size));
    parameters.set('sysparm_offset', String(offset));
    return `<${origin}${path}?${parameters}>;rel="${rel}"`;
  };
  const links = [
    link('first', 0),
    ...(start > 0 ? [link('prev', Math.max(0, start - size))] : []),
    ...(next === undefined ? [] : [link('next', Number(next))]),
    link('last', Math.floor(Math.max(0, total - 1) / size) * size),
  ];
  return { link: links.join(',') };
}

/** What others write in these tables: the column that they fill in and change. */
const CHANGED: Readonly<Record<string, string>> = {
  task: 'short_description',
  incident: 'short_description',
  problem: 'short_description',
  change_request: 'short_description',
  sys_user: 'name',
  sys_user_group: 'name',
  core_company: 'name',
  cmdb_ci: 'name',
  cmdb_ci_server: 'name',
  time_card: 'monday',
  sys_journal_field: 'value',
  sys_attachment: 'file_name',
};

/** What the user may not see does not change either, as far as he knows. */
function changeableOf(place: Place, name: string) {
  const { table } = tableOf({ params: { table: name } }, place.store);
  const column = CHANGED[name] ?? '';
  const write = (word: string, number: number) => ({
    [column]: column === 'monday' ? String(number) : `${word} ${number}`,
  });
  return {
    table: { ...table, rows: () => table.rows().filter(isVisible) },
    keyOf: table.keyOf,
    create: (number: number) => ({ ...defaultsOf(name, {}, place), ...write('New', number) }),
    change: (number: number) => write('Changed', number),
  };
}
