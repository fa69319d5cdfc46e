import {
  atHosts,
  bearer,
  type Call,
  changesOf,
  createChangeLog,
  createEnteredWebhooks,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  empty,
  Fault,
  json,
  type MovableClock,
  type RegisteredClient,
  type Routes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  sortRows,
  type TableChange,
  type TableRow,
  takePage,
  undescribed,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { badQuery, compileWhere, readOrder } from './simulator/filter.ts';
import { definitionRoutes } from './simulator/metadata.ts';
import { ANNOTATION, createTables, guidOf, type Table, type Tables, withLookups } from './simulator/tables.ts';
import { isTracking, type Log, listTracked } from './simulator/tracking.ts';

const HOST = 'demo.api.crm.dynamics.com';
const LOGIN = 'login.microsoftonline.com';
const ROOT = '/api/data/v9.2';
const ADDRESS = `https://${HOST}${ROOT}`;

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

/** Each refresh returns a new token, and the old one stays valid. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: { graceMs: 90 * 86_400_000 } },
};

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = { 'dynamics.host': HOST, 'webhook.secret': 'demo-webhook-secret' };

const createJudge = createOfficialJudges(official, [
  ...undescribed(
    'The log-in is not part of the description.',
    ...['GET /{tenant}/oauth2/v2.0/authorize', 'POST /{tenant}/oauth2/v2.0/token'],
  ),
]);

/** Creates a simulator of a Dataverse environment in memory. README.md lists the sources. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { memory, send } = options;
  const clock = createMovableClock();
  const login = createOAuthServer({
    ...{ title: 'Dynamics 365 simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    lifetimes: { codeMs: 600_000, accessMs: 3_600_000, refreshMs: 90 * 86_400_000 },
    isLasting: (scope) => scope.split(' ').includes('offline_access'),
    accessTokens: [DEMO_ACCESS_TOKEN],
  });
  const entered = createEnteredWebhooks(send);
  const logs: Record<string, Log> = {};
  const logOf = (logical: string): Log => (logs[logical] ??= createChangeLog(clock));
  const tables: Tables = createTables(clock, (logical, change) => {
    logOf(logical).note(change.key, null);
    const nowMs = clock.now();
    entered.report(({ secret }) => deliveryOf(logical, change, { secret, nowMs }));
  });
  const authenticate = bearer(login.accepts, 'The access token is not valid.');
  return simulate(
    {
      // Source: "Compose HTTP requests and handle errors".
      print: ({ status, code, message, headers }) => json({ error: { code, message } }, status, headers),
      ...{ clock, official: createJudge(), headers: { 'odata-version': '4.0' } },
      open: {
        'GET /{tenant}/oauth2/v2.0/authorize': atHosts([LOGIN], login.authorize),
        'POST /{tenant}/oauth2/v2.0/token': atHosts([LOGIN], login.token),
      },
      authenticate: (call) => {
        if (call.host !== undefined && call.host !== HOST) throw new Fault(404, '', 'There is no such organization.');
        authenticate(call);
      },
      routes: Object.assign(
        { [`GET ${ROOT}/WhoAmI`]: whoAmI, ...definitionRoutes(ROOT) },
        ...Object.entries(tables).map(([logical, table]) =>
          routesOf(table, { tables, logical, log: logOf(logical), clock }),
        ),
      ),
      commands: { ...login.commands, ...entered.commands, ...changesOf(tables) },
    },
    options,
  );
}

function whoAmI(): SimulatedResponse {
  const [BusinessUnitId, UserId, OrganizationId] = ['unit', 'systemuser', 'organization'].map((name) =>
    guidOf(name, 0),
  );
  return json({ BusinessUnitId, UserId, OrganizationId });
}

interface Environment {
  readonly tables: Tables;
  readonly logical: string;
  readonly log: Log;
  readonly clock: MovableClock;
}

function routesOf(table: Table, environment: Environment): Routes {
  const { tables } = environment;
  const { set, key, get } = table;
  const one = `${ROOT}/${set}({key})`;
  const idOf = ({ params: { key: id = '' } }: Call) => id.toLowerCase();
  const valuesOf = ({ body }: Call, old?: TableRow) => {
    const { values, references } = withLookups(body.object(), table, tables);
    return { ...table.read(values, old), ...references };
  };
  const insert = (call: Call, own: TableRow = {}) =>
    respond(table, table.table.insert({ ...valuesOf(call), ...own }), call, 201);
  const writing: Routes = {
    [`POST ${ROOT}/${set}`]: (call) => insert(call),
    [`PATCH ${one}`]: (call) => {
      const id = idOf(call);
      const isUpsert = table.table.find(id) === undefined && call.headers['if-match'] === undefined;
      // Source: "Prevent create in upsert".
      if (isUpsert) return insert(call, { [key]: id });
      const old = get(id);
      return respond(table, table.table.update(id, valuesOf(call, old)) ?? old, call, 200);
    },
    [`DELETE ${one}`]: (call) => {
      get(idOf(call));
      table.table.remove(idOf(call));
      return empty();
    },
  };
  const known = Object.entries(writing).filter(([route]) => Object.hasOwn(official.operations, route));
  return {
    [`GET ${ROOT}/${set}`]: (call) => {
      const show = (row: TableRow) => shown(table, row, call);
      return isTracking(call) ? listTracked(call, { ...environment, table, root: ADDRESS, show }) : listOf(table, call);
    },
    [`GET ${one}`]: (call) => json(shown(table, get(idOf(call)), call)),
    ...Object.fromEntries(known),
  };
}

/** Returns the response to a write: nothing, or the record with `Prefer: return=representation`. */
function respond(table: Table, row: TableRow, call: Call, status: number): SimulatedResponse {
  const headers = { 'odata-entityid': `${ADDRESS}/${table.set}(${row[table.key]})` };
  if (!String(call.headers.prefer).includes('return=representation')) return empty(204, headers);
  return json(shown(table, row, call), status, { ...headers, 'preference-applied': 'return=representation' });
}

/** Returns the selected columns of a row, and always its key. Annotations are shown on request. */
function shown({ members, key, properties }: Table, row: TableRow, { query, headers }: Call): TableRow {
  const names = query.get('$select')?.split(',') ?? Object.keys(members);
  const unknown = names.find((name) => !Object.hasOwn(members, name));
  if (unknown !== undefined) throw badQuery(`Could not find a property named '${unknown}' on type '${key}'`);
  const isAnnotated = String(headers.prefer).includes(ANNOTATION.slice(1));
  const values = [...new Set([key, ...names])].flatMap((name) => {
    const isNamed = isAnnotated && row[name] != null && Object.hasOwn(properties, name + ANNOTATION);
    const note = isNamed ? [[name + ANNOTATION, row[name + ANNOTATION]] as const] : [];
    return [[name, row[name] ?? null] as const, ...note];
  });
  return { '@odata.etag': `W/"${row.versionnumber ?? 1}"`, ...Object.fromEntries(values) };
}

/** The largest page. Source: "Page results using OData". */
const LARGEST_PAGE = 5000;
const STYLE = { kind: 'cursor', cursor: '$skiptoken', size: 'size', usual: LARGEST_PAGE, most: LARGEST_PAGE } as const;

function listOf(table: Table, call: Call): SimulatedResponse {
  const { query, headers } = call;
  const order = readOrder(query.get('$orderby'), table);
  const found = sortRows(table.table.rows().filter(compileWhere(query.get('$filter'), table)), order);
  const [, preferred] = /odata\.maxpagesize=(\d+)/.exec(String(headers.prefer)) ?? [];
  const position = new URLSearchParams(query);
  position.set('size', preferred ?? String(LARGEST_PAGE));
  const page = takePage(found, STYLE, { query: position, isStuck: call.isStuck });
  const asked = [...query].filter(([name]) => name !== '$skiptoken');
  const next = [...asked, ['$skiptoken', page.next ?? '']].map(
    ([name, text = '']) => `${name}=${encodeURIComponent(text)}`,
  );
  return json({
    '@odata.context': `${ADDRESS}/$metadata#${table.set}`,
    value: page.rows.map((row) => shown(table, row, call)),
    ...(page.next !== undefined && { '@odata.nextLink': `${ADDRESS}/${table.set}?${next.join('&')}` }),
  });
}

/** Returns the webhook of a change. Source: "Use WebHooks to create external handlers for server events". */
function deliveryOf(
  logical: string,
  { key, before, after }: TableChange,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
) {
  const message = before === undefined ? 'Create' : after === undefined ? 'Delete' : 'Update';
  const context = {
    ...{ MessageName: message, PrimaryEntityId: key, PrimaryEntityName: logical, SecondaryEntityName: 'none' },
    ...{ Depth: 1, Mode: 1, Stage: 40, OrganizationName: 'demo', OrganizationId: guidOf('organization', 0) },
    ...{ CorrelationId: guidOf('correlation', nowMs), OperationId: guidOf(`${key} ${message}`, nowMs) },
    OperationCreatedOn: `/Date(${nowMs}+0000)/`,
    InputParameters: [{ key: 'Target', value: { Attributes: [], Id: key, LogicalName: logical } }],
  };
  return {
    headers: {
      ...{ 'content-type': 'application/json', 'x-webhook-key': secret, 'x-ms-dynamics-organization': HOST },
      ...{ 'x-ms-dynamics-entity-name': logical, 'x-ms-dynamics-request-name': message },
    },
    body: JSON.stringify(context),
  };
}
