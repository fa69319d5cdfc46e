import { createHmac } from 'node:crypto';
import {
  type Call,
  type Collection,
  changesOf,
  createMovableClock,
  createOAuthServer,
  createSearchIndex,
  createTable,
  Fault,
  json,
  type RegisteredClient,
  type RouteHandler,
  type Routes,
  readBasic,
  readBearer,
  recordRoutes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  type TableChange,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { createJudge } from './simulator/official.ts';
import {
  createRecords,
  definitionsOf,
  isGone,
  type Kind,
  OWNERS,
  propertyOf,
  type Records,
  show,
  withCustom,
} from './simulator/records.ts';
import { compileSearch } from './simulator/search.ts';

export const DEMO_CONFIGURATION = { 'zendesk.subdomain': 'demo' };
/** An access token that is valid from the start, and the API token of `DEMO_EMAIL`. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
export const DEMO_EMAIL = 'demo@example.com';
export const DEMO_API_TOKEN = 'demo-api-token';
/** A refresh token works once. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

const HOST = 'demo.zendesk.com';
const API = '/api/v2';
const EXPORT_PAGE = 1000;

export interface ZendeskSimulatorOptions extends SimulatorOptions {
  /** Milliseconds after which the search knows a change. Zendesk says "a few minutes". Default 0. */
  readonly searchLagMs?: number;
}

/** Prints an error. Source: "Introduction", "Errors". */
function print({ status, code, message, headers, fields }: Fault): SimulatedResponse {
  if (status === 401 || status === 403) return json({ error: { title: code, message } }, status, headers);
  const details = fields.map((field) => {
    const [name = '', description = ''] = field.split(': ');
    return [name, [{ description: `${name}: ${description}`, error: 'InvalidValue' }]] as const;
  });
  const more = details.length > 0 && { details: Object.fromEntries(details) };
  return json({ error: code, description: message, ...more }, status, headers);
}

/** Creates a simulator of a Zendesk Support account in memory. README.md lists the sources. */
export function createSimulator({ memory, send, searchLagMs = 0, ...options }: ZendeskSimulatorOptions): Simulator {
  const clock = createMovableClock();
  const index = createSearchIndex({ clock, lagMs: searchLagMs });
  const webhooks = createTable({ rows: [], keyOf: ({ id }) => String(id) });
  let deliveries = 0;
  const records = createRecords(clock, (name, change) => {
    index.note(name, change);
    const event = eventOf(name, change);
    if (event === undefined) return;
    deliveries++;
    const time = new Date(clock.now()).toISOString();
    const detail = show(records[name] as Kind, change.after ?? change.before ?? {});
    const shown = { ...detail, id: change.key };
    const subject = `zen:${records[name]?.singular}:${change.key}`;
    const body = JSON.stringify({
      account_id: 1,
      id: `e${deliveries}`,
      type: event,
      subject,
      time,
      detail: shown,
      event: {},
    });
    for (const { id, endpoint, status, subscriptions } of webhooks.rows()) {
      const isWanted = Array.isArray(subscriptions) && subscriptions.some((each) => matches(String(each), event));
      if (status !== 'active' || !isWanted) continue;
      const signature = createHmac('sha256', secretOf(id))
        .update(time + body)
        .digest('base64');
      send?.({
        url: String(endpoint),
        headers: {
          ...{ 'content-type': 'application/json', 'x-zendesk-webhook-id': String(id) },
          ...{ 'x-zendesk-webhook-signature': signature, 'x-zendesk-webhook-signature-timestamp': time },
        },
        body,
      });
    }
  });
  const server = createOAuthServer({
    ...{ title: 'Zendesk simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    ...{ clientAuthentication: 'body', accessTokens: [DEMO_ACCESS_TOKEN] },
    lifetimes: { codeMs: 120_000, accessMs: 1_800_000, refreshMs: 30 * 86_400_000 },
  });
  const token: RouteHandler = (call) => {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(call.body.object())) form.set(name, String(value));
    return server.token({ ...call, body: { ...call.body, form: () => form } });
  };
  function authenticate({ host, headers }: Call): void {
    if (host !== undefined && host !== HOST) throw new Fault(404, 'InvalidEndpoint', 'Not found');
    const { username, password } = readBasic(headers.authorization) ?? {};
    if (username === `${DEMO_EMAIL}/token` && password === DEMO_API_TOKEN) return;
    const bearer = readBearer(headers.authorization);
    if (bearer === undefined || !server.accepts(bearer))
      throw new Fault(401, 'Unauthorized', "Couldn't authenticate you");
  }
  const { comments, ...objects } = records;
  const me = () => json({ user: show(records.users as Kind, records.users?.table.rows()[0] ?? {}) });
  return simulate(
    {
      ...{ clock, print, authenticate, official: createJudge() },
      open: { 'GET /oauth/authorizations/new': server.authorize, 'POST /oauth/tokens': token },
      routes: {
        [`GET ${API}/users/me`]: me,
        ...Object.assign({}, ...Object.values(objects).map((each) => routesOf(each, records))),
        [`GET ${API}/tickets/{id}/comments`]: (call) => {
          const id = Number(alive(records.tickets)(call.params.id ?? '').id);
          return pageOf('comments', comments?.table.rows().filter((row) => row.ticket_id === id) ?? [], comments, call);
        },
        [`GET ${API}/search/export`]: (call) => searchIn(records, index.rows, call),
        ...incrementalRoutes(records, clock),
        ...Object.fromEntries(
          OWNERS.map((name) => {
            const member = `${name.slice(0, -1)}_fields`;
            return [`GET ${API}/${member}`, (call: Call) => pageOf(member, definitionsOf(name), undefined, call)];
          }),
        ),
        ...webhookRoutes(webhooks),
      },
      commands: { ...server.commands, ...changesOf(objects) },
    },
    options,
  );
}

type Of = Collection<Kind>;

function alive(collection: Of | undefined): (id: string) => TableRow {
  return (id) => {
    const row = collection?.get(id);
    if (row === undefined || isGone(row)) throw new Fault(404, 'RecordNotFound', 'Not found');
    return row;
  };
}

const PAGE = { kind: 'cursor', cursor: 'page[after]', size: 'page[size]', usual: 100, most: 100 } as const;

/** Source: "Pagination", cursor pagination. */
function pageOf(
  plural: string,
  rows: readonly TableRow[],
  kind: Kind | undefined,
  call: Call,
  most = 100,
): SimulatedResponse {
  const page = takePage(rows, { ...PAGE, most }, call);
  const meta = { has_more: page.next !== undefined, after_cursor: page.next ?? null, before_cursor: null };
  const shown = page.rows.map((row) => (kind === undefined ? row : show(kind, row)));
  return json({ [plural]: shown, meta, links: { next: null, prev: null } });
}

function routesOf(collection: Of, records: Records): Routes {
  const { name, singular, table } = collection;
  const path = `${API}/${name}`;
  // A deleted user is still shown, as inactive.
  const get = name === 'users' ? collection.get : alive(collection);
  const answer = (row: TableRow, _call?: Call, status?: number) => json({ [singular]: show(collection, row) }, status);
  const complete = (values: TableRow, { body }: Call, old?: TableRow) => {
    const { comment } = Object(body.object()[singular]);
    const text = comment?.body;
    if (name === 'tickets' && old === undefined && (typeof text !== 'string' || text.trim() === ''))
      throw new Fault(422, 'RecordInvalid', 'Record validation errors', {
        fields: ["base: Description: can't be blank"],
      });
    const full = withCustom(name, values, old);
    return name === 'tickets' && old === undefined ? { ...full, description: text } : full;
  };
  const withComment =
    (handler: RouteHandler | undefined): RouteHandler =>
    async (call) => {
      const response = await handler?.(call);
      const { comment } = Object(call.body.object().ticket);
      const { ticket } = JSON.parse(String(response?.body));
      if (comment !== undefined)
        records.comments?.table.insert({ ...records.comments.read(comment), ticket_id: ticket.id });
      return response ?? { status: 500 };
    };
  const routes = recordRoutes(
    path,
    { ...collection, get },
    {
      ...{ show: answer, update: 'PUT', complete },
      list: (call) =>
        pageOf(
          name,
          table.rows().filter((row) => !isGone(row)),
          collection,
          call,
        ),
      body: ({ body }) => Object(body.object()[singular]),
    },
  );
  const [created, changed] = [`POST ${path}`, `PUT ${path}/{id}`];
  return {
    // These paths are no ids.
    [`GET ${path}/show_many`]: ({ query }) => {
      const ids = new Set((query.get('ids') ?? '').split(','));
      return json({
        [name]: table
          .rows()
          .filter((row) => ids.has(String(row.id)))
          .map((row) => show(collection, row)),
      });
    },
    ...routes,
    ...(name === 'tickets' && { [created]: withComment(routes[created]), [changed]: withComment(routes[changed]) }),
    ...(name === 'users' && {
      [`DELETE ${path}/{id}`]: ({ params: { id = '' } }: Call) => {
        alive(collection)(id);
        return answer(table.remove(id) ?? {});
      },
    }),
  };
}

/** Source: "Export search results". */
function searchIn(records: Records, rowsOf: (collection: Of) => readonly TableRow[], call: Call): SimulatedResponse {
  const type = call.query.get('filter[type]') ?? '';
  const collection = Object.values(records).find(
    ({ singular, searched }) => singular === type && Object.keys(searched).length > 0,
  );
  if (collection === undefined) throw new Fault(422, 'invalid', 'filter[type] is ticket, user, organization or group');
  const test = compileSearch(call.query.get('query') ?? '', (keyword) => propertyOf(collection, keyword));
  const rows = rowsOf(collection).filter((row) => !isGone(row) && test(row));
  const results = rows.map((row) => ({ ...show(collection, row), result_type: type }));
  return pageOf('results', results, undefined, call, 1000);
}

/** Source: "Incremental Exports". Records come in the order of their last change, deleted ones too. */
function incrementalRoutes(records: Records, clock: { readonly now: () => number }): Routes {
  const secondsOf = (row: TableRow) => Math.floor(Date.parse(String(row.updated_at)) / 1000);
  const ordered = (collection: Of | undefined) =>
    [...(collection?.table.rows(true) ?? [])].sort(
      (a, b) => secondsOf(a) - secondsOf(b) || Number(a.id) - Number(b.id),
    );
  const startOf = ({ query }: Call) => {
    const start = Number(query.get('start_time'));
    if (start > clock.now() / 1000 - 60)
      throw new Fault(422, 'InvalidValue', 'Too recent start_time. Use a start_time older than 60 seconds');
    return start;
  };
  const byCursor = (name: string): Routes => ({
    [`GET ${API}/incremental/${name}/cursor`]: (call) => {
      const cursor = call.query.get('cursor');
      const [start = 0, id = 0] =
        cursor === null ? [startOf(call), 0] : Buffer.from(cursor, 'base64url').toString().split('|').map(Number);
      const collection = records[name];
      const rows = ordered(collection).filter(
        (row) => secondsOf(row) > start || (secondsOf(row) === start && Number(row.id) > id),
      );
      const page = rows.slice(0, EXPORT_PAGE);
      const last = page.at(-1);
      const next = last === undefined ? `${start}|${id}` : `${secondsOf(last)}|${last.id}`;
      const after_cursor = call.isStuck && cursor !== null ? cursor : Buffer.from(next).toString('base64url');
      const isEnd = rows.length <= EXPORT_PAGE && !call.isStuck;
      return json({
        [name]: page.map((row) => show(collection as Kind, row)),
        ...{ after_cursor, after_url: null, before_cursor: null, before_url: null, end_of_stream: isEnd },
      });
    },
  });
  return {
    ...byCursor('tickets'),
    ...byCursor('users'),
    [`GET ${API}/incremental/organizations`]: (call) => {
      const start = startOf(call);
      const rows = ordered(records.organizations).filter((row) => secondsOf(row) >= start);
      const page = rows.slice(0, EXPORT_PAGE);
      const end_time = page.length === 0 ? start : secondsOf(page.at(-1) ?? {});
      return json({
        organizations: page.map((row) => show(records.organizations as Kind, row)),
        ...{ count: page.length, next_page: null, end_time, end_of_stream: rows.length <= EXPORT_PAGE },
      });
    },
  };
}

const secretOf = (id: unknown) => `dGhpcyBzZWNyZXQ${id}`;

/** Source: the Webhooks API. */
function webhookRoutes(webhooks: ReturnType<typeof createTable>): Routes {
  const find = (id = '') => {
    const row = webhooks.find(id);
    if (row === undefined) throw new Fault(404, 'RecordNotFound', 'Not found');
    return row;
  };
  let made = 0;
  return {
    [`GET ${API}/webhooks`]: () => json({ webhooks: webhooks.rows(), meta: { has_more: false } }),
    [`POST ${API}/webhooks`]: ({ body }) => {
      made++;
      const row = webhooks.insert({
        ...Object(body.object().webhook),
        id: `01WEBHOOK${made}`,
        created_at: AT,
        updated_at: AT,
      });
      return json({ webhook: row }, 201);
    },
    [`DELETE ${API}/webhooks/{id}`]: ({ params: { id } }) => {
      webhooks.remove(String(find(id).id));
      return { status: 204 };
    },
    [`GET ${API}/webhooks/{id}/signing_secret`]: ({ params: { id } }) =>
      json({ signing_secret: { algorithm: 'SHA256', secret: secretOf(find(id).id) } }),
  };
}

const AT = '2024-01-01T00:00:00Z';

/** Returns the type of the event for a change. Source: "Event types for webhooks". */
function eventOf(name: string, { before, after }: TableChange): string | undefined {
  if (name === 'groups' || name === 'comments') return undefined;
  const noun = name.slice(0, -1);
  const changed = Object.keys(after ?? {}).find((key) => key !== 'updated_at' && after?.[key] !== before?.[key]);
  const verb =
    before === undefined
      ? 'created'
      : after === undefined
        ? noun === 'ticket'
          ? 'soft_deleted'
          : 'deleted'
        : `${changed ?? 'name'}_changed`;
  return `zen:event-type:${noun}.${verb}`;
}

/** A subscription names one type, or all of an object: `zen:event-type:ticket.*`. */
function matches(subscription: string, type: string): boolean {
  return subscription.endsWith('*') ? type.startsWith(subscription.slice(0, -1)) : subscription === type;
}
