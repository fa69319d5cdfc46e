import {
  type Call,
  type Collection,
  changesOf,
  createBudget,
  createConform,
  createMovableClock,
  createOfficialJudges,
  Fault,
  filterFieldOf,
  foldCases,
  json,
  type Routes,
  recordRoutes,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  sortRows,
  type TableRow,
  takePage,
  writeSeconds,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { showFields } from './simulator/custom-fields.ts';
import { createLogin } from './simulator/login.ts';
import { createRecords, isTime, KINDS, type Kind } from './simulator/records.ts';
import { COMPANY_ID, createWebhooks } from './simulator/webhooks.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, DEMO_API_TOKEN } from './simulator/login.ts';

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = {};

export interface PipedriveSimulatorOptions extends SimulatorOptions {
  /** Maximum number of calls in two seconds. Default: no limit, so that tests need not wait. */
  readonly callsPerWindow?: number;
}

const reason = 'The log-in has a host of its own, and is in no description.';
const createJudge = createOfficialJudges(official, [
  { operation: 'GET /oauth/authorize', unjudged: ['query', 'response'], reason },
  { operation: 'POST /oauth/token', unjudged: ['body', 'response'], reason },
]);
const conform = createConform(official);

const SIZED = { size: 'limit', usual: 100, most: 500, beyond: 'refused' } as const;
const CURSOR = { ...SIZED, kind: 'cursor', cursor: 'cursor' } as const;
const OFFSET = { ...SIZED, kind: 'offset', offset: 'start' } as const;

/** Creates a simulator of a Pipedrive account in memory. README.md lists the sources. */
export function createSimulator(options: PipedriveSimulatorOptions): Simulator {
  const { memory, send, callsPerWindow: calls } = options;
  const clock = createMovableClock();
  const login = createLogin(clock, shareMemory(memory, 'login'));
  const webhooks = createWebhooks(clock, send, shareMemory(memory, 'webhooks'));
  const records = createRecords(clock, (kind, change) =>
    webhooks.report(kind.entity, change, (row) => show(kind, row)),
  );
  const changeable = Object.entries(records).map(([name, each]) => [
    name,
    { ...each, create: (number: number) => ({ ...each.create(number), add_time: writeSeconds(clock.now()) }) },
  ]);
  const routes = Object.entries(KINDS).map(([name, kind]) => routesOf(name, kind, records[name]));
  return simulate(
    {
      clock,
      authenticate: login.authenticate,
      open: login.routes,
      official: createJudge(),
      ...(calls !== undefined && {
        budget: createBudget({
          ...{ calls, windowMs: 2000, clock, sendsRetryAfter: false },
          headers: (state) => ({
            'x-ratelimit-limit': String(state.calls),
            'x-ratelimit-remaining': String(state.left),
            'x-ratelimit-reset': String(Math.ceil(state.resetMs / 1000)),
          }),
        }),
      }),
      print: ({ status, message, headers }) =>
        json({ success: false, error: message, error_info: HELP, data: null, additional_data: null }, status, headers),
      routes: {
        'GET /v1/users/me': () => json({ success: true, data: meOf(records.users?.get('1')) }),
        ...webhooks.routes,
        ...(Object.assign({}, ...routes) as Routes),
      },
      commands: { ...login.commands, ...changesOf(Object.fromEntries(changeable)) },
    },
    options,
  );
}

const HELP = 'Please check developers.pipedrive.com for more information about Pipedrive API.';
const COMPANY = { company_id: COMPANY_ID, company_name: 'Demo', company_domain: 'demo', company_country: 'EE' };

function meOf(user: TableRow = {}) {
  return conform({ ...user, ...COMPANY, is_you: true }, 'Me');
}

/** Returns a record as its version of the API shows it. Version 1 writes instants without an offset. */
function show({ schema, v1 }: Kind, row: TableRow): TableRow {
  const shown = conform(row, schema);
  if (v1 !== true) return shown;
  const entries = Object.entries(shown).map(([name, value]) =>
    typeof value === 'string' && isTime(name) ? [name, value.replace('T', ' ').slice(0, -1)] : [name, value],
  );
  return Object.fromEntries(entries);
}

function routesOf(name: string, kind: Kind, collection: Collection | undefined): Routes {
  if (collection === undefined) return {};
  const path = `/${kind.v1 ? '' : 'api/'}${kind.v1 ? 'v1' : 'v2'}/${name}`;
  const routes: Routes = {
    // A search is no record.
    [`GET ${path}/search`]: (call) => search(kind, collection, call),
    ...recordRoutes(path, collection, {
      show: (row, _call, status) => json({ success: true, data: show(kind, row) }, status),
      list: (call) => (kind.v1 ? listV1(kind, collection, call) : listV2(kind, collection, call)),
      createdStatus: name === 'products' ? 201 : 200,
      update: kind.v1 ? 'PUT' : 'PATCH',
      // Custom fields that a body does not name keep their values.
      complete: (values, _call, old) =>
        'custom_fields' in values
          ? { ...values, custom_fields: { ...Object(old?.custom_fields), ...Object(values.custom_fields) } }
          : values,
    }),
    [`DELETE ${path}/{id}`]: ({ params: { id = '' } }) => {
      if (collection.get(id).is_deleted === true) throw new Fault(404, 'not_found', 'The record was deleted');
      collection.table.remove(id);
      return json({ success: true, data: kind.v1 ? true : { id: Number(id) } });
    },
    [`GET /api/v2/${kind.fields}`]: (call) => {
      const page = takePage(showFields('name'), CURSOR, call);
      return json({ success: true, data: page.rows, additional_data: { next_cursor: page.next ?? null } });
    },
  };
  return Object.fromEntries(Object.entries(routes).filter(([route]) => Object.hasOwn(official.operations, route)));
}

/** Parameters that are no columns. */
const OTHERS = new Set(
  'filter_id ids status updated_since updated_until sort_by sort_direction include_fields custom_fields limit cursor start sort'.split(
    ' ',
  ),
);

/** Returns the tests of the parameters that are columns. */
function testsOf({ query }: Call): (row: TableRow) => boolean {
  const given = [...query].filter(([name]) => !OTHERS.has(name));
  const since = timeOf(query, 'updated_since');
  const until = timeOf(query, 'updated_until');
  return (row) => {
    const at = Date.parse(String(row.update_time));
    if ((since !== undefined && !(at >= since)) || (until !== undefined && !(at < until))) return false;
    return given.every(([name, value]) => String(row[name] ?? '') === value);
  };
}

function timeOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text))
    throw new Fault(400, 'validation', `${name}: must be in RFC3339 format`);
  return Date.parse(text);
}

/** Lists records of version 2. Sources: "Get all deals" and the like; deleted ones are found by `status=deleted` only. */
function listV2(kind: Kind, { table }: Collection, call: Call) {
  const { query } = call;
  const ids = query.get('ids')?.split(',');
  if ((ids?.length ?? 0) > 100) throw new Fault(400, 'validation', 'ids: at most 100 ids can be given');
  const statuses = query.get('status')?.split(',');
  const isWanted = testsOf(call);
  const found = table.rows(true).filter((row) => {
    const status = row.is_deleted === true ? 'deleted' : row.status;
    if (statuses === undefined ? status === 'deleted' : !statuses.includes(String(status))) return false;
    return (ids === undefined || ids.includes(String(row.id))) && isWanted(row);
  });
  const name = query.get('sort_by') ?? 'id';
  const descending = query.get('sort_direction') === 'desc';
  const type = name === 'id' || name === 'order_nr' ? 'integer' : 'datetime';
  const sorted = sortRows(found, [{ type, read: (row) => row[name], descending }]);
  const page = takePage(sorted, CURSOR, call);
  const data = page.rows.map((row) => show(kind, row));
  return json({ success: true, data, additional_data: { next_cursor: page.next ?? null } });
}

/** Lists records of version 1: users as a whole, notes in pages. Source: "Get all notes". */
function listV1(kind: Kind, { table, members }: Collection, call: Call) {
  const isWanted = testsOf(call);
  const terms = (call.query.get('sort') ?? 'id').split(',').map((term) => {
    const [, name = '', direction = 'ASC'] = /^\s*(\w+)(?: (ASC|DESC))?\s*$/i.exec(term) ?? [];
    const field = filterFieldOf(members, name);
    if (field === undefined) throw new Fault(400, 'validation', `sort: ${term} is not valid`);
    return { ...field, descending: direction.toUpperCase() === 'DESC' };
  });
  const rows = sortRows(table.rows().filter(isWanted), terms);
  if (kind.schema === 'User') return json({ success: true, data: rows.map((row) => show(kind, row)) });
  const { rows: shown, start, size, next } = takePage(rows, OFFSET, call);
  const pagination = { start, limit: size, more_items_in_collection: next !== undefined };
  return json({
    success: true,
    data: shown.map((row) => show(kind, row)),
    additional_data: { pagination: { ...pagination, ...(next !== undefined && { next_start: Number(next) }) } },
  });
}

/** Finds records by their texts, without regard to case. Source: "Search deals" and the like. */
function search({ searched = {}, entity }: Kind, { table }: Collection, call: Call) {
  const { query } = call;
  const term = foldCases(query.get('term') ?? '').trim();
  const isExact = query.get('exact_match') === 'true';
  if (term.length < (isExact ? 1 : 2)) throw new Fault(400, 'validation', 'term: must have at least 2 characters');
  const names = query.get('fields')?.split(',') ?? Object.keys(searched);
  const found = table.rows().filter((row) =>
    names
      .flatMap((name) => textsIn(row[searched[name] ?? '']))
      .map((text) => foldCases(text).trim())
      .some((text) => (isExact ? text === term : text.includes(term))),
  );
  const page = takePage(found, CURSOR, call);
  const items = page.rows.map(({ id, title, name }) => ({
    result_score: 0.5,
    item: { id, type: entity, ...(entity === 'deal' ? { title } : { name: name ?? '' }) },
  }));
  return json({ success: true, data: { items }, additional_data: { next_cursor: page.next ?? null } });
}

/** Returns the texts of a column: its own, or the values of a list or an object. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return parts.flatMap((part) => {
    const text: unknown = Object(part ?? {}).value;
    return typeof text === 'string' ? [text] : [];
  });
}
