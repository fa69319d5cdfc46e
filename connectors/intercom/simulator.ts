import { randomUUID } from 'node:crypto';
import {
  bearer,
  type Call,
  changesOf,
  createConform,
  createEnteredWebhooks,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  type Deviation,
  Fault,
  type JsonSchema,
  json,
  type PageStyle,
  type RegisteredClient,
  type Routes,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  signWebhook,
  simulate,
  sortRows,
  type TableChange,
  type TableRow,
  takePage,
  undescribed,
  valueAt,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { ADMINS, CONVERSATION_ATTRIBUTES, dataAttributes, TICKET_TYPES, WORKSPACE } from './simulator/account.ts';
import { createRecords, type Kind, type Records, withReply } from './simulator/records.ts';
import { compileSearch } from './simulator/search.ts';

/** An access token that is valid from the start. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = { 'demo-client': { secret: 'demo-secret' } };
/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = {
  'webhook.secret': 'demo-webhook-secret',
  'intercom.workspace.id': WORKSPACE.id_code,
};

const typed = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  properties: { ...Object(schema.properties), custom_attributes: { type: 'object' } },
});
const GUIDE = 'The guide "Pagination" has these parameters for every list.';

/** The reasons why Intercom's description is not the whole truth. */
const DEVIATIONS: readonly Deviation[] = [
  ...['company', 'create_or_update_company_request', 'update_company_request'].map(
    (schema): Deviation => ({ schema, reason: 'Attributes have types of their own.', change: typed }),
  ),
  {
    schema: 'create_conversation_request',
    reason: 'An id of 24 characters is no UUID.',
    change: ({ properties, ...rest }) => ({ ...rest, properties: { ...Object(properties), from: { type: 'object' } } }),
  },
  { operation: 'GET /contacts', unjudged: ['query'], reason: GUIDE },
  { operation: 'GET /contacts/{contact_id}/notes', unjudged: ['query'], reason: GUIDE },
  ...undescribed('The log-in is in no description.', 'GET /oauth', 'POST /auth/eagle/token'),
];

const createJudge = createOfficialJudges(official, DEVIATIONS);
const conform = createConform(official);

/** Creates a simulator of one workspace in memory. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { memory, send } = options;
  const clock = createMovableClock();
  const entered = createEnteredWebhooks(send);
  const gone: TableRow[] = [];
  const login = createOAuthServer({
    ...{ title: 'Intercom simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    ...{ clientAuthentication: 'body', tokenRedirect: 'unsaid', responseType: 'unsaid', isLasting: () => false },
    accessTokens: [DEMO_ACCESS_TOKEN],
    tokenResponse: ({ access_token }) => ({ token_type: 'Bearer', token: access_token, access_token }),
  });
  const records = createRecords(clock, (kind, change) => {
    const at = Math.floor(clock.now() / 1000);
    if (kind.schema === 'conversation' && change.after === undefined)
      gone.unshift({ type: 'conversation', id: change.key, metrics_retained: true, deleted_at: at });
    const event = eventOf(kind, change, at);
    const signature = { header: 'x-hub-signature', algorithm: 'sha1', prefix: 'sha1=' } as const;
    entered.report(({ secret }) => signWebhook({ ...signature, secret }, event, { nowMs: clock.now() }));
  });
  const guard = bearer(login.accepts, 'Access Token Invalid');
  return simulate(
    {
      clock,
      official: createJudge(),
      authenticate: (call) => {
        if (call.host !== undefined && !/^api\.(?:eu\.|au\.)?intercom\.io$/.test(call.host)) throw nothing();
        guard(call);
      },
      print: ({ status, code, message, headers }) =>
        json(
          { type: 'error.list', request_id: randomUUID(), errors: [{ code: WORDS[status] ?? code, message }] },
          status,
          headers,
        ),
      open: {
        'GET /oauth': (call) => {
          if (call.host !== undefined && !/^app\.(?:eu\.|au\.)?intercom\.com$/.test(call.host)) throw nothing();
          return login.authorize(call);
        },
        'POST /auth/eagle/token': login.token,
      },
      routes: {
        ...accountRoutes(gone),
        ...noteRoutes(records, clock.now),
        'POST /conversations/{id}/reply': (call) => reply(records, call, Math.floor(clock.now() / 1000)),
        ...Object.assign({}, ...Object.values(records).map((each) => routesOf(each, records))),
        'GET /companies': (call) => findCompanies(records, call),
      },
      commands: { ...login.commands, ...entered.commands, ...changesOf(records) },
    },
    options,
  );
}

/** The codes of errors that the kit makes. Source: "Error codes". */
const WORDS: Readonly<Record<number, string>> = { 401: 'unauthorized', 429: 'rate_limit_exceeded' };
const nothing = () => new Fault(404, 'not_found', 'The requested resource was not found.');

type Of = Records[keyof Records];
const CURSOR = { kind: 'cursor', cursor: 'starting_after', size: 'per_page', usual: 20, most: 150 } as const;
const NUMBERED = { kind: 'number', page: 'page', size: 'per_page', usual: 20, most: 60 } as const;

/** Returns a list: with a cursor, or with the number of the page. */
function listOf(
  [type, member]: Kind['list'],
  rows: readonly unknown[],
  call: Pick<Call, 'query' | 'isStuck'>,
  style: PageStyle,
) {
  const page = takePage(rows, style, { ...call });
  const { size: per_page, start, total } = page;
  const next = style.kind === 'cursor' && page.next !== undefined && { next: { per_page, starting_after: page.next } };
  const number = { page: Math.floor(start / per_page) + 1, per_page, total_pages: Math.ceil(total / per_page) };
  const pages = { type: 'pages', ...number };
  return json({ type, [member]: page.rows, total_count: total, pages: { ...pages, ...next } });
}

const listed = ({ listed: schema, schema: own }: Of, rows: readonly TableRow[]) =>
  rows.map((row) => conform(row, schema ?? own));

function routesOf(of: Of, records: Records): Routes {
  const { name, schema, holder, table, get, read, list, store } = of;
  const path = `/${name}`;
  const show = (row: TableRow) => json(conform(row, schema));
  const idOf = ({ params: { id = '' } }: Call) => id;
  const valuesOf = (body: TableRow, old?: TableRow) => ({
    ...read(body, old),
    // Attributes that a request leaves out stay as they are.
    ...(body[holder] !== undefined && { [holder]: { ...Object(old?.[holder]), ...Object(body[holder]) } }),
    ...store?.(body, old === undefined, records.contacts.table.rows()),
  });
  const put = (row: TableRow, body: TableRow) => table.update(table.keyOf(row), valuesOf(body, row)) ?? row;
  const all = (call: Call, style: PageStyle) => listOf(list, listed(of, table.rows()), call, style);
  return {
    [`GET ${path}`]: (call) => all(call, CURSOR),
    [`POST ${path}/list`]: (call) => all(call, NUMBERED),
    [`POST ${path}/search`]: (call) => {
      const { query, sort, pagination } = call.body.object();
      const rows = sorted(of, table.rows().filter(compileSearch(name, Object(query))), sort);
      const pairs = Object.entries(Object(pagination)).map(([key, value]): [string, string] => [key, String(value)]);
      return listOf(list, listed(of, rows), { ...call, query: new URLSearchParams(pairs) }, CURSOR);
    },
    [`GET ${path}/{id}`]: (call) => show(get(idOf(call))),
    [`POST ${path}`]: (call) => {
      const body = call.body.object();
      const known = name === 'companies' && table.rows().find((row) => row.company_id === body.company_id);
      const row = known ? put(known, body) : table.insert(valuesOf(body));
      if (name !== 'conversations') return show(row);
      const message = { type: 'user_message', id: String(valueAt(row, 'source.id')), message_type: 'inapp' };
      return json({ ...message, created_at: row.created_at, body: body.body, conversation_id: row.id });
    },
    [`PUT ${path}/{id}`]: (call) => show(put(get(idOf(call)), call.body.object())),
    [`DELETE ${path}/{id}`]: (call) => {
      const removed = removedOf(of, get(idOf(call)));
      table.remove(idOf(call));
      return json(removed);
    },
  };
}

function removedOf({ schema }: Pick<Kind, 'schema'>, { id, external_id }: TableRow): TableRow {
  return { id, ...(schema === 'contact' ? { type: schema, external_id } : { object: schema }), deleted: true };
}

/** Only contacts can be sorted. Their own order is by creation, the latest first. */
function sorted({ schema, members }: Of, rows: readonly TableRow[], sort: unknown): readonly TableRow[] {
  if (schema !== 'contact') return rows;
  const { field = 'created_at', order = 'descending' }: TableRow = Object(sort);
  const { type = 'string' } = members[String(field)] ?? {};
  const isNumber = type === 'datetime' || type === 'integer';
  const term = { type: isNumber ? 'integer' : 'string', read: (row: TableRow) => valueAt(row, String(field)) } as const;
  return sortRows(rows, [{ ...term, descending: order === 'descending' }]);
}

/** Companies are found by their name or by the id that the customer gave them. */
function findCompanies({ companies }: Records, call: Call) {
  const [name, id] = [call.query.get('name'), call.query.get('company_id')];
  const isFound = (row: TableRow) => (name === null || row.name === name) && (id === null || row.company_id === id);
  const rows = companies.table.rows().filter(isFound);
  if (rows.length === 0) throw new Fault(404, 'company_not_found', 'Company Not Found');
  return listOf(companies.list, listed(companies, rows), call, NUMBERED);
}

function accountRoutes(gone: readonly TableRow[]): Routes {
  return {
    'GET /me': () => json({ ...conform(ADMINS[0], 'admin_with_app'), app: WORKSPACE }),
    'GET /admins': () => json({ type: 'admin.list', admins: ADMINS }),
    'GET /admins/{id}': ({ params }) => {
      const admin = ADMINS.find(({ id }) => id === params.id);
      if (admin === undefined) throw new Fault(404, 'admin_not_found', 'Admin not found');
      return json(admin);
    },
    'GET /data_attributes': ({ query }) => json({ type: 'list', data: dataAttributes(query.get('model')) }),
    'GET /conversations/attributes': () => json({ type: 'list', data: CONVERSATION_ATTRIBUTES }),
    'GET /conversations/deleted': (call) => listOf(['conversation.list', 'conversations'], gone, call, NUMBERED),
    'GET /ticket_types': () => json({ type: 'list', data: TICKET_TYPES }),
  };
}

/** Adds a reply to a conversation, and returns the conversation. */
function reply({ conversations, contacts }: Records, { params: { id = '' }, body }: Call, at: number) {
  const row = conversations.get(id);
  const conversation_parts = withReply(row, body.object(), { contacts: contacts.table.rows(), at });
  return json(conform(conversations.table.update(id, { conversation_parts }), conversations.schema));
}

function noteRoutes({ contacts }: Records, now: () => number): Routes {
  const notes: TableRow[] = [];
  const path = '/contacts/{id}/notes';
  return {
    [`GET ${path}`]: (call) => {
      contacts.get(call.params.id ?? '');
      const own = notes.filter((note) => valueAt(note, 'contact.id') === call.params.id);
      return listOf(['list', 'data'], own, call, CURSOR);
    },
    [`POST ${path}`]: ({ params, body }) => {
      contacts.get(params.id ?? '');
      const sent = body.object();
      const author = ADMINS.find(({ id }) => id === sent.admin_id) ?? ADMINS[0];
      const note = { type: 'note', id: String(notes.length + 1), created_at: Math.floor(now() / 1000), author };
      const stored = { ...note, contact: { type: 'contact', id: params.id }, body: `<p>${sent.body}</p>` };
      notes.push(stored);
      return json(stored);
    },
  };
}

/** The topics of webhooks, where they are not the schema and the change. Source: "Webhook topics". */
const TOPICS: Readonly<Record<string, string>> = {
  'contact.created': 'contact.user.created',
  'contact.updated': 'contact.user.updated',
  'conversation.created': 'conversation.user.created',
  'conversation.updated': 'conversation.admin.assigned',
  'ticket.updated': 'ticket.state.updated',
};

function eventOf(kind: Kind, { key, before, after }: TableChange, created_at: number): TableRow {
  const { schema } = kind;
  const item = after === undefined ? { ...removedOf(kind, { id: key }), type: schema } : conform(after, schema);
  const change = `${schema}.${before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated'}`;
  return {
    ...{ type: 'notification_event', app_id: WORKSPACE.id_code, id: `notif_${randomUUID()}`, created_at },
    ...{ topic: TOPICS[change] ?? change, data: { type: 'notification_event_data', item } },
  };
}
