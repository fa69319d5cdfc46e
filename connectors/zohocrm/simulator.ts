import {
  atHosts,
  type Call,
  type CollectionSpec,
  type Complaint,
  changesOf,
  createCollections,
  createKeptTable,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  cycle,
  type Deviation,
  empty,
  Fault,
  type JsonSchema,
  json,
  type RegisteredClient,
  type Routes,
  readBearer,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  type TableChange,
  type TableRow,
  type TextRule,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { parseQuery, runQuery } from './simulator/coql.ts';
import { conform, MODULES, type Module, membersOf, showField, showModule } from './simulator/modules.ts';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = '1000.demo-access-token';

export const CLIENTS: Readonly<Record<string, RegisteredClient>> = { 'demo-client': { secret: 'demo-secret' } };

const API = 'https://www.zohoapis.com';
const LOG_IN = ['accounts.zoho.com'];

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = { 'api.domain': API, 'zoho.datacenter': 'com' };

export interface ZohoSimulatorOptions extends SimulatorOptions {
  /** Number of records of each module. Default 120. */
  readonly rows?: number;
  /** The comparison of texts, which Zoho CRM does not document. Default: it ignores case. */
  readonly text?: TextRule;
  /** Whether negative criteria match records without a value, which Zoho CRM does not document. Default true. */
  readonly matchesMissing?: boolean;
  /** The status of a list of deleted records that is empty. The description mentions "Not Modified", too. Default 204. */
  readonly nothingDeleted?: 204 | 304;
}

/** The response to a change, which the description has for the status 200 only. */
const WRITTEN = official.operations['POST /crm/v8/{module_api_name}'].responses[200];

/** The reasons why Zoho CRM's description is not the whole truth. */
const DEVIATIONS: readonly Deviation[] = [
  ...['GET /oauth/v2/auth', 'POST /oauth/v2/token'].map(
    (operation): Deviation => ({
      ...{ operation, unjudged: ['query', 'body', 'response'] },
      reason: 'The log-in has hosts of its own, and is in no description.',
    }),
  ),
  ...[
    ['POST /crm/v8/coql', 'a query that finds nothing'],
    ['GET /crm/v8/{module_api_name}/{id}', 'a record that does not exist'],
    ['GET /crm/v8/{module_api_name}/deleted', 'a list without deleted records'],
    ['GET /crm/v8/users', 'a list without users'],
    ['GET /crm/v8/users/{user}', 'a user who does not exist'],
  ].map(
    ([operation = '', what]): Deviation => ({
      ...{ operation, responses: { 204: {}, ...(operation.endsWith('/deleted') && { 304: {} }) } },
      reason: `The documentation of the API has the status 204, without a body, for ${what}.`,
    }),
  ),
  {
    operation: 'POST /crm/v8/{module_api_name}',
    responses: { 201: WRITTEN, 202: WRITTEN },
    reason: 'The documentation of the API has 201 for a new record, and 202 for one that is rejected.',
  },
  {
    operation: 'PUT /crm/v8/{module_api_name}/{id}',
    responses: { 202: WRITTEN },
    reason: 'The documentation of the API has 202 for a change that is rejected.',
  },
  {
    operation: 'DELETE /crm/v8/{module_api_name}/{id}',
    responses: { 202: WRITTEN },
    reason: 'The simulator rejects a deletion as it rejects a change. No document has the status.',
  },
  {
    schema: 'users',
    reason:
      'Patterns such as that of the e-mail are those of samples. The time zone is the name of a class, and a text.',
    change: ({ properties, ...rest }) => ({
      ...rest,
      properties: { ...withoutPatterns(properties), time_zone: { type: ['string', 'null'] } },
    }),
  },
  {
    schema: 'Notification',
    reason:
      'The pattern of the address is that of a sample, and the id of a channel is a long integer (documentation).',
    change: ({ properties, ...rest }) => ({
      ...rest,
      properties: { ...withoutPatterns(properties), channel_id: { type: 'integer' } },
    }),
  },
];

function withoutPatterns(properties: unknown): Readonly<Record<string, unknown>> {
  const entries = Object.entries<JsonSchema>(Object(properties));
  return Object.fromEntries(entries.map(([name, { pattern: _, ...schema }]) => [name, schema]));
}

const createJudge = createOfficialJudges(official, DEVIATIONS);
const HOUR_MS = 3_600_000;
/** An instant as the documentation of the header If-Modified-Since has it. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/;

/** Creates a simulator of one Zoho CRM account in memory. */
export function createSimulator(options: ZohoSimulatorOptions): Simulator {
  const { memory, send, rows = 120, text = 'ignoring case', matchesMissing = true, nothingDeleted = 204 } = options;
  const clock = createMovableClock();
  const server = createOAuthServer({
    ...{ title: 'Zoho CRM simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    ...{ clientAuthentication: 'body', lifetimes: { codeMs: 120_000, accessMs: HOUR_MS } },
    accessTokens: [DEMO_ACCESS_TOKEN],
    tokenResponse: (standard) => ({ ...standard, api_domain: API }),
    // Errors of tokens have the status 200.
    errors: {
      unknownCode: ['invalid_code', '', 200],
      unknownRefreshToken: ['invalid_code', '', 200],
      wrongSecret: ['invalid_client_secret', '', 200],
      unknownClient: ['invalid_client', '', 200],
    },
  });
  const watches = createKeptTable({ memory: shareMemory(memory, 'watches'), key: 'channel_id' });
  const deleted: TableRow[] = [];
  const note = (name: string, { key, before, after }: TableChange) => {
    const operation = before === undefined ? 'insert' : after === undefined ? 'delete' : 'update';
    if (after === undefined) deleted.push({ module: name, id: key, at: writeTime(clock.now()) });
    for (const { events, token, notify_url, channel_id, channel_expiry } of watches.rows()) {
      const isOver = Date.parse(String(channel_expiry)) < clock.now();
      if (![events].flat().includes(`${name}.all`) || isOver) continue;
      const about = { module: name, operation, ids: [key], resource_uri: `${API}/crm/v8/${name}`, query_params: {} };
      const body = JSON.stringify({ ...about, token, channel_id, server_time: clock.now(), affected_fields: [] });
      send?.({ url: String(notify_url), headers: { 'content-type': 'application/json;charset=UTF-8' }, body });
    }
  };
  const specs = MODULES.map((module, index): [string, CollectionSpec] => [module.name, specOf(module, index, rows)]);
  const users: CollectionSpec = {
    members: { id: { type: 'string' }, last_name: { type: 'string', isNeverNull: true }, email: { type: 'string' } },
    rows: 7,
    makeId: (index) => String(554_023_000_000_100_000 + index * 8),
    vary: { email: (index) => `user${index}@example.com` },
  };
  const records = createCollections<string, CollectionSpec>({
    of: { ...Object.fromEntries(specs), users },
    clock,
    writeTime,
    isStrict: false,
    read: { reference: (value) => Object(value).id },
    refuse: (complaints) => refusalOf(complaints),
    absent: () => new Fault(202, 'INVALID_DATA', 'the id given seems to be invalid', { fields: ['id'] }),
    onChange: note,
  });
  const of = ({ params: { module = '' } }: Call) => {
    const found = MODULES.find(({ name }) => name === module);
    const collection = records[module];
    if (found === undefined || collection === undefined)
      throw new Fault(400, 'INVALID_MODULE', 'the module name given seems to be invalid');
    return { ...collection, module: found };
  };
  const show = (module: Module, row: TableRow, names: readonly string[] = Object.keys(row)) => {
    const shown = names.map((name) => {
      const { refersTo } = module.fields.find((field) => field.name === name) ?? {};
      const value = row[name] ?? null;
      return [name, refersTo !== undefined && value !== null ? { name: `Record ${value}`, id: value } : value] as const;
    });
    return { ...Object.fromEntries(shown), id: row.id };
  };
  const done = (row: TableRow, message: string, status = 200) => {
    const details = { id: row.id, Created_Time: row.Created_Time, Modified_Time: row.Modified_Time };
    return json({ data: [{ code: 'SUCCESS', details, message, status: 'success' }] }, status);
  };
  const valuesIn = ({ body }: Call): TableRow => Object([body.object().data].flat()[0]);
  const page = (call: Call, found: readonly TableRow[], member: string) => {
    const [number, size] = [Number(call.query.get('page') ?? 1), Number(call.query.get('per_page') ?? 200)];
    const shown = found.slice((number - 1) * size, number * size);
    if (shown.length === 0) return empty();
    const info = { per_page: size, count: shown.length, page: number, more_records: found.length > number * size };
    return json({ [member]: shown, info });
  };
  const showUser = (row: TableRow) => ({ ...conform({ ...row, status: 'active' }, 'users'), time_zone: 'Europe/Oslo' });

  const routes: Routes = {
    'GET /crm/v8/org': () => json({ org: [conform({ id: '554023000000000001', company_name: 'Demo' }, 'Org')] }),
    'GET /crm/v8/users': (call) => page(call, (records.users?.table.rows() ?? []).map(showUser), 'users'),
    'GET /crm/v8/users/{id}': ({ params: { id = '' } }) => {
      const row = records.users?.table.find(id);
      return row === undefined
        ? empty()
        : json({ users: [showUser(row)], info: { per_page: 1, count: 1, page: 1, more_records: false } });
    },
    'GET /crm/v8/settings/modules': () => json({ modules: MODULES.map(showModule) }),
    'GET /crm/v8/settings/fields': ({ query }) => {
      const module = MODULES.find(({ name }) => name === query.get('module'));
      if (module === undefined) throw new Fault(400, 'INVALID_MODULE', 'the module name given seems to be invalid');
      return json({ fields: module.fields.map((field) => showField(field, 'fieldsOfFields')) });
    },
    'POST /crm/v8/coql': (call) => {
      const query = parseQuery(String(call.body.object().select_query));
      const { module, table } = of({ ...call, params: { module: query.module } });
      const { found, hasMore } = runQuery(query, module, membersOf(module), table.rows(), { text, matchesMissing });
      if (found.length === 0) return empty();
      const data = found.map((row) => show(module, row, query.columns));
      return json({ data, info: { count: data.length, more_records: hasMore } });
    },
    'POST /crm/v8/actions/watch': ({ body }) => {
      const watch = watches.insert(Object([body.object().watch].flat()[0]));
      const events = [watch.events].flat().map((event) => {
        const resource_name = String(event).replace(/\..*$/, '');
        const about = { resource_name, resource_id: '1', resource_uri: `${API}/crm/v8/${resource_name}` };
        return conform(
          { ...about, channel_id: String(watch.channel_id), channel_expiry: watch.channel_expiry },
          'event',
        );
      });
      const message = 'Successfully subscribed for actions-watch of the given module';
      return json({ watch: [{ code: 'SUCCESS', details: { events }, message, status: 'success' }] }, 201);
    },
    'DELETE /crm/v8/actions/watch': ({ query }) => {
      const ids = (query.get('channel_ids') ?? '').split(',');
      for (const id of ids) watches.remove(id);
      const message = 'Successfully un-subscribed from actions-watch';
      const watch = ids.map((id) => ({ code: 'SUCCESS', details: { channel_id: id }, message, status: 'success' }));
      return json({ watch });
    },
    'GET /crm/v8/{module}/deleted': (call) => {
      const header = call.headers['if-modified-since'] ?? '1970-01-01T00:00:00+00:00';
      if (!INSTANT.test(header)) throw new Fault(400, 'INVALID_DATA', 'invalid If-Modified-Since');
      const since = Date.parse(header);
      const found = deleted.filter((row) => row.module === of(call).module.name && Date.parse(String(row.at)) >= since);
      const shown = found.map(({ id, at }) => ({ id, deleted_time: at, type: 'recycle' }));
      return shown.length === 0 ? empty(nothingDeleted) : page(call, shown, 'data');
    },
    'GET /crm/v8/{module}/{id}': (call) => {
      const { module, table } = of(call);
      const row = table.find(call.params.id ?? '');
      return row === undefined ? empty() : json({ data: [show(module, row)] });
    },
    'POST /crm/v8/{module}': (call) => {
      const { table, read } = of(call);
      const owner = records.users?.table.rows()[0]?.id;
      return done(
        table.insert({ Owner: owner, Created_By: owner, Modified_By: owner, ...read(valuesIn(call)) }),
        'record added',
        201,
      );
    },
    'PUT /crm/v8/{module}/{id}': (call) => {
      const { table, get, read } = of(call);
      const old = get(call.params.id ?? '');
      return done(table.update(String(old.id), read(valuesIn(call), old)) ?? old, 'record updated');
    },
    'DELETE /crm/v8/{module}/{id}': (call) => {
      const { table, get } = of(call);
      const old = get(call.params.id ?? '');
      table.remove(String(old.id));
      return done(old, 'record deleted');
    },
  };
  return simulate(
    {
      clock,
      routes,
      official: createJudge(),
      print: ({ status, code, message, fields, headers }) => {
        const details = fields.length === 0 ? {} : { api_name: fields[0] };
        const error = { code, details, message, status: 'error' };
        // A change of several records reports the failure of each.
        return status === 202 ? json({ data: [error] }, status, headers) : json(error, status, headers);
      },
      open: {
        'GET /oauth/v2/auth': atHosts(LOG_IN, server.authorize),
        'POST /oauth/v2/token': atHosts(LOG_IN, server.token),
      },
      authenticate: ({ headers, host }) => {
        const token = readBearer(headers.authorization, ['Zoho-oauthtoken']);
        const isThere = host === undefined || host === new URL(API).host;
        if (!isThere || token === undefined || !server.accepts(token))
          throw new Fault(401, 'INVALID_TOKEN', 'invalid oauth token');
      },
      commands: { ...server.commands, ...changesOf(records) },
    },
    options,
  );
}

function specOf(module: Module, index: number, rows: number): CollectionSpec {
  const chosen = module.fields.filter(({ kind }) => kind === 'multiselectpicklist');
  return {
    ...{ members: membersOf(module), rows, created: ['Created_Time'], changed: ['Modified_Time'] },
    makeId: (row) => String(554_023_000_000_000_000n + BigInt(index) * 1_000_000n + BigInt(row) * 7n),
    vary: {
      ...Object.fromEntries(chosen.map(({ name, values }) => [name, cycle([values.slice(0, 1), null, values])])),
      ...(module.fields.some(({ kind }) => kind === 'bigint') && {
        Account_Number: (row: number) => `90071992547409${row}`,
      }),
    },
    initial: Object.fromEntries(
      module.fields.filter(({ kind }) => kind === 'boolean').map(({ name }) => [name, false]),
    ),
  };
}

/** Instants have an offset, and no fraction. */
function writeTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, '+00:00');
}

function refusalOf([complaint]: readonly Complaint[]): Fault | undefined {
  if (complaint === undefined) return undefined;
  const isMissing = complaint.reason === 'missing';
  const [code, message] = isMissing
    ? ['MANDATORY_NOT_FOUND', 'required field not found']
    : ['INVALID_DATA', 'invalid data'];
  return new Fault(202, code, message, { fields: [complaint.member] });
}
