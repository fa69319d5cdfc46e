import {
  type Call,
  changesOf,
  createMovableClock,
  createOAuthServer,
  createSearchIndex,
  Fault,
  json,
  type RegisteredClient,
  type RouteHandler,
  type Routes,
  readBasic,
  readBearer,
  recordRoutes,
  type SearchIndex,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { createJudge } from './simulator/official.ts';
import {
  createRecords,
  definitionsOf,
  isGone,
  type Kind,
  type Of,
  propertyOf,
  type Records,
  show,
  withCustom,
} from './simulator/records.ts';
import { compileSearch } from './simulator/search.ts';
import { createWebhooks } from './simulator/webhooks.ts';

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
const EXPORTED = 1000;
const MINUTE_MS = 60_000;

export interface ZendeskSimulatorOptions extends SimulatorOptions {
  /** Milliseconds after which the search knows a change. Zendesk says "a few minutes". Default 0. */
  readonly searchLagMs?: number;
}

/** Prints an error. Source: "Introduction", "Errors". */
function print({ status, code, message, headers, fields }: Fault): SimulatedResponse {
  if (status === 401 || status === 403) return json({ error: { title: code, message } }, status, headers);
  const details = fields.map((field) => [field.split(':', 1), [{ description: field, error: 'InvalidValue' }]]);
  const more = details.length > 0 && { details: Object.fromEntries(details) };
  return json({ error: code, description: message, ...more }, status, headers);
}

/** Creates a simulator of a Zendesk Support account in memory. README.md lists the sources. */
export function createSimulator({ memory, send, searchLagMs = 0, ...options }: ZendeskSimulatorOptions): Simulator {
  const clock = createMovableClock();
  const index = createSearchIndex({ clock, lagMs: searchLagMs });
  const webhooks = createWebhooks(send, clock.now, shareMemory(memory, 'webhooks'));
  const records = createRecords(clock, (name, change) => {
    index.note(name, change);
    const { [name]: kind } = objects;
    if (kind !== undefined) webhooks.report(kind, change, change.before === undefined);
  });
  const { comments, ...objects } = records;
  const login = createOAuthServer({
    ...{ title: 'Zendesk simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    ...{ clientAuthentication: 'body', accessTokens: [DEMO_ACCESS_TOKEN] },
    lifetimes: { codeMs: 2 * MINUTE_MS, accessMs: 30 * MINUTE_MS, refreshMs: 43_200 * MINUTE_MS },
  });
  /** The kit reads forms, and Zendesk's examples send JSON. */
  const token: RouteHandler = (call) => {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(call.body.object())) form.set(name, String(value));
    return login.token({ ...call, body: { ...call.body, form: () => form } });
  };
  function authenticate({ headers }: Call): void {
    const { username, password } = readBasic(headers.authorization) ?? {};
    if (username === `${DEMO_EMAIL}/token` && password === DEMO_API_TOKEN) return;
    const bearer = readBearer(headers.authorization) ?? '';
    if (!login.accepts(bearer)) throw new Fault(401, 'Unauthorized', "Couldn't authenticate you");
  }
  const commentsOf: RouteHandler = (call) => {
    const { id } = alive(records.tickets, call.params.id);
    return pageOf('comments', comments?.table.rows().filter((row) => row.ticket_id === id) ?? [], comments, call);
  };
  return simulate(
    {
      ...{ clock, print, hosts: [HOST], authenticate, official: createJudge() },
      open: { 'GET /oauth/authorizations/new': login.authorize, 'POST /oauth/tokens': token },
      routes: {
        [`GET ${API}/users/me`]: () => json({ user: show(records.users as Kind, alive(records.users, '1')) }),
        [`GET ${API}/tickets/{id}/comments`]: commentsOf,
        [`GET ${API}/search/export`]: (call) => searchIn(Object.values(objects), index, call),
        ...webhooks.routes,
        ...Object.assign({}, ...Object.values(objects).map((each) => routesOf(each, records, clock.now))),
      },
      commands: { ...login.commands, ...changesOf(objects) },
    },
    options,
  );
}

/**
 * Returns a record that was not deleted.
 * @throws Fault 404 where there is none
 */
function alive(collection: Of | undefined, id = ''): TableRow {
  const row = collection?.get(id);
  if (row === undefined || isGone(row)) throw new Fault(404, 'RecordNotFound', 'Not found');
  return row;
}

/** Source: "Pagination", cursor pagination. */
function pageOf(plural: string, all: readonly TableRow[], kind: Kind | undefined, call: Call, most = 100) {
  const paging = { kind: 'cursor', cursor: 'page[after]', size: 'page[size]', usual: 100, most } as const;
  const { rows, next = null } = takePage(all, paging, call);
  const meta = { has_more: next !== null, after_cursor: next, before_cursor: null };
  const shown = rows.map((row) => (kind === undefined ? row : show(kind, row)));
  return json({ [plural]: shown, meta, links: { next: null, prev: null } });
}

/** Source: "Export search results". */
function searchIn(objects: readonly Of[], index: SearchIndex, call: Call): SimulatedResponse {
  const type = call.query.get('filter[type]');
  const collection = objects.find(({ singular }) => singular === type);
  if (collection === undefined) throw new Fault(422, 'invalid', 'filter[type] is ticket, user, organization or group');
  const test = compileSearch(call.query.get('query') ?? '', (keyword) => propertyOf(collection, keyword));
  const rows = index.rows(collection).filter((row) => !isGone(row) && test(row));
  return pageOf('results', rows, collection, call, EXPORTED);
}

/** Returns the routes of an object, of its custom fields, and of its incremental export. */
function routesOf(collection: Of, { comments }: Records, now: () => number): Routes {
  const { name, singular, table, custom } = collection;
  const path = `${API}/${name}`;
  const bodyOf = ({ body }: Call): TableRow => Object(body.object()[singular]);
  const answer = (row: TableRow, call: Call, status?: number) => {
    const { comment } = call.method === 'DELETE' || call.method === 'GET' ? {} : bodyOf(call);
    if (comment !== undefined) comments?.table.insert({ ...comments.read(Object(comment)), ticket_id: row.id });
    return json({ [singular]: show(collection, row) }, status);
  };
  const complete = (values: TableRow, call: Call, old?: TableRow) => {
    const body = bodyOf(call);
    const full = withCustom(collection, values, body, old);
    if (name !== 'tickets' || old !== undefined) return full;
    const description = String(Object(body.comment).body ?? '');
    if (description.trim() !== '') return { ...full, description };
    throw new Fault(422, 'RecordInvalid', 'Record validation errors', {
      fields: ["base: Description: can't be blank"],
    });
  };
  return {
    [`GET ${path}/show_many`]: ({ query }) => {
      const ids = (query.get('ids') ?? '').split(',');
      return json({
        [name]: table
          .rows()
          .filter(({ id }) => ids.includes(String(id)))
          .map((row) => show(collection, row)),
      });
    },
    ...recordRoutes(
      path,
      // A deleted user is still shown, as inactive.
      { ...collection, get: name === 'users' ? collection.get : (id) => alive(collection, id) },
      {
        ...{ show: answer, update: 'PUT', complete, body: bodyOf },
        list: (call) =>
          pageOf(
            name,
            table.rows().filter((row) => !isGone(row)),
            collection,
            call,
          ),
      },
    ),
    ...(name === 'users' && {
      [`DELETE ${path}/{id}`]: (call) => {
        alive(collection, call.params.id);
        return answer(table.remove(call.params.id ?? '') ?? {}, call);
      },
    }),
    ...(custom !== undefined && {
      [`GET ${API}/${singular}_fields`]: (call) =>
        pageOf(`${singular}_fields`, definitionsOf(collection), undefined, call),
      [`GET ${API}/incremental/${name}${name === 'organizations' ? '' : '/cursor'}`]: (call) =>
        exportOf(collection, call, now()),
    }),
  };
}

/** Returns the records that changed since a time, deleted ones too, in the order of their changes. Source: "Incremental Exports". */
function exportOf(collection: Of, { query, isStuck }: Call, nowMs: number): SimulatedResponse {
  const { name, table } = collection;
  const cursor = query.get('cursor');
  const start = Number(query.get('start_time'));
  if (cursor === null && start > (nowMs - MINUTE_MS) / 1000)
    throw new Fault(422, 'InvalidValue', 'Too recent start_time. Use a start_time older than 60 seconds');
  const secondsOf = ({ updated_at }: TableRow) => Math.floor(Date.parse(String(updated_at)) / 1000);
  const positionOf = (row: TableRow) => secondsOf(row) * 1_000_000 + Number(row.id);
  const from = cursor === null ? start * 1_000_000 : Number(Buffer.from(cursor, 'base64url').toString()) + 1;
  const all = table.rows(true).filter((row) => positionOf(row) >= from);
  const page = all.toSorted((a, b) => positionOf(a) - positionOf(b)).slice(0, EXPORTED);
  const last = page.at(-1);
  const found = { [name]: page.map((row) => show(collection, row)), end_of_stream: all.length <= EXPORTED && !isStuck };
  if (name === 'organizations') {
    return json({ ...found, count: page.length, next_page: null, end_time: last ? secondsOf(last) : start });
  }
  const next = last === undefined ? from - 1 : positionOf(last);
  const after_cursor = isStuck && cursor !== null ? cursor : Buffer.from(String(next)).toString('base64url');
  return json({ ...found, after_cursor, after_url: null, before_cursor: null, before_url: null });
}
