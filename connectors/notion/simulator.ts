import {
  type Call,
  changesOf,
  createBody,
  createCollections,
  createEnteredWebhooks,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  cycle,
  Fault,
  json,
  type Member,
  type RegisteredClient,
  readBearer,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  signWebhook,
  simulate,
  sortRows,
  type TableChange,
  type TableRow,
  type TextRule,
  takePage,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { compileQuery, orderOf } from './simulator/filter.ts';
import {
  idOf,
  invalid,
  kindOf,
  type Property,
  readProperties,
  readRichText,
  richText,
  showSettings,
  showValue,
  userId,
} from './simulator/properties.ts';

/** An access token that is valid from the start: of an integration, or for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'ntn_demo';
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = { 'demo-client': { secret: 'demo-secret' } };

/** The configuration of an instance on the simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = { 'webhook.secret': 'secret_demo_verification' };

export interface NotionSimulatorOptions extends SimulatorOptions {
  /** The rule for comparing texts, which Notion does not document. Default `ignoring case`. */
  readonly text?: TextRule;
}

const VERSION = '2025-09-03';
const WORKSPACE = idOf('e0', 0);
const createJudge = createOfficialJudges(official, [
  { operation: 'GET /v1/oauth/authorize', unjudged: ['query', 'response'], reason: 'The log-in is a page.' },
  { operation: 'POST /v1/oauth/token', unjudged: ['errors'], reason: 'The errors are those of OAuth.' },
]);

/** A data source: its title, and its properties. Property ids are encoded as Notion encodes them. */
interface Source {
  readonly title: string;
  readonly rows: number;
  readonly properties: readonly Property[];
}

const list = (types: string, first: number): readonly Property[] =>
  types.split(' ').map((type, index) => ({ id: `p%3A${first + index}`, name: `A ${type.replaceAll('_', ' ')}`, type }));

const SOURCES: Readonly<Record<string, Source>> = {
  tasks: {
    title: 'Tasks',
    rows: 40,
    properties: [
      { id: 'title', name: 'Name', type: 'title' },
      { id: 'aB%3Aq', name: 'Notes', type: 'rich_text' },
      { id: 'n%40um', name: 'Points', type: 'number' },
      { id: 's%5Bel', name: 'Priority', type: 'select', options: ['High', 'high', 'Low', "It's"] },
      { id: 'stat', name: 'Status', type: 'status', options: ['Not started', 'In progress', 'Done'] },
      { id: 'tags', name: 'Tags', type: 'multi_select', options: ['red', 'Green'] },
      { id: 'due', name: 'Due', type: 'date' },
      ...list('checkbox url email phone_number people relation files created_time last_edited_time created_by', 0),
      ...list('last_edited_by unique_id formula', 20),
    ],
  },
  projects: {
    title: 'Projects & more (2026)',
    rows: 12,
    properties: [
      { id: 'title', name: 'Größe, "m²"', type: 'title' },
      { id: 'dot', name: 'No. of items', type: 'number' },
      { id: 'ID', name: 'id', type: 'rich_text' },
    ],
  },
};

const USERS = ['Zoë', "Pat O'Brien", 'Ann'].map((name, index) => ({
  ...{ object: 'user', id: userId(`u${index}`), name, avatar_url: null },
  ...{ type: 'person', person: { email: `person${index}@example.com` } },
}));
const BOT = {
  ...{ object: 'user', id: userId('u9'), name: 'Causeway', avatar_url: null, type: 'bot' },
  bot: { owner: { type: 'workspace', workspace: true }, workspace_name: 'Demo', workspace_id: WORKSPACE },
};

const CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'restricted_resource',
  404: 'object_not_found',
  409: 'conflict_error',
  429: 'rate_limited',
  500: 'internal_server_error',
  503: 'service_unavailable',
};

/** Notion keeps times by the minute. Source: the changelog of July 2022. */
const writeTime = (ms: number) => new Date(Math.floor(ms / 60_000) * 60_000).toISOString();

/** Creates a simulator of a workspace of Notion in memory. README.md lists the sources. */
export function createSimulator(options: NotionSimulatorOptions): Simulator {
  const { memory, send, text = 'ignoring case' } = options;
  const clock = createMovableClock();
  const entered = createEnteredWebhooks(send);
  const propertiesOf = Object.fromEntries(
    Object.entries(SOURCES).map(([name, { properties }]) => [
      name,
      properties.map((each) => ({ ...each, ...(each.options && { options: [...each.options] }) })),
    ]),
  );
  const ids = Object.keys(SOURCES).map((name, index) => [idOf(`d${index}`, index), name] as const);
  const sourceOf = new Map(ids);
  const pages = createCollections<string, ReturnType<typeof collectionOf>>({
    of: Object.fromEntries(ids.map(([, name], index) => [name, collectionOf(name, index)])),
    clock,
    writeTime,
    refuse: () => undefined,
    absent: (_collection, id) => notFound('page', id),
    onChange: (name, change) => report(name, change),
  });
  const server = createOAuthServer({
    ...{ title: 'Notion simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    ...{ clientAuthentication: 'basic', accessTokens: [DEMO_ACCESS_TOKEN] },
    prefixes: { access: 'ntn_', refresh: 'nrt_' },
    tokenResponse: ({ access_token, refresh_token = null }) => ({
      ...{ access_token, token_type: 'bearer', refresh_token, bot_id: BOT.id, workspace_icon: null },
      ...{ workspace_name: 'Demo', workspace_id: WORKSPACE, owner: { type: 'user', user: USERS[0] } },
      duplicated_template_id: null,
    }),
  });

  /** Sends an event. Source: "Webhooks", "Event types & delivery". */
  function report(name: string, { key, before, after }: TableChange): void {
    const parent = { id: databaseOf(name), type: 'database', data_source_id: sourceId(name) };
    const word = before === undefined ? 'created' : after === undefined ? 'deleted' : 'properties_updated';
    const event = {
      ...{ id: idOf('f0', reports++), timestamp: new Date(clock.now()).toISOString(), workspace_id: WORKSPACE },
      ...{ workspace_name: 'Demo', subscription_id: idOf('f1', 0), integration_id: idOf('f2', 0) },
      ...{
        authors: [{ id: USERS[0]?.id, type: 'person' }],
        accessible_by: [],
        attempt_number: 1,
        api_version: VERSION,
      },
      ...{ type: `page.${word}`, entity: { id: key, type: 'page' }, data: { parent } },
    };
    entered.report(({ secret }) =>
      signWebhook({ secret, header: 'x-notion-signature', prefix: 'sha256=' }, event, { nowMs: clock.now() }),
    );
  }
  let reports = 0;

  const databaseOf = (name: string) => idOf('b0', Object.keys(SOURCES).indexOf(name));
  const sourceId = (name: string) => ids.find(([, each]) => each === name)?.[0] ?? '';
  const user = (id: unknown) => ({ object: 'user', id });
  const about = {
    ...{ created_by: user(USERS[0]?.id), last_edited_by: user(USERS[0]?.id), in_trash: false, archived: false },
    ...{ icon: null, cover: null, public_url: null },
  };

  function showSource(name: string): TableRow {
    const id = sourceId(name);
    const properties = (propertiesOf[name] ?? []).map((each) => [each.name, showSettings(each)]);
    const parent = { type: 'database_id', database_id: databaseOf(name) };
    return {
      ...{ ...about, object: 'data_source', id, title: richText(SOURCES[name]?.title), description: [], parent },
      ...{
        database_parent: { type: 'workspace', workspace: true },
        is_inline: false,
        url: `https://www.notion.so/${id}`,
      },
      ...{ created_time: '2024-01-31T10:00:00.000Z', last_edited_time: '2024-01-31T10:00:00.000Z' },
      properties: Object.fromEntries(properties),
    };
  }

  function showPage(name: string, row: TableRow, wanted: readonly string[] = []): TableRow {
    const { id, created_time, last_edited_time, in_trash } = row;
    const shown = (propertiesOf[name] ?? []).filter((each) => wanted.length === 0 || wanted.includes(each.id));
    const parent = { type: 'data_source_id', data_source_id: sourceId(name), database_id: databaseOf(name) };
    return {
      ...{ ...about, object: 'page', id, created_time, last_edited_time, in_trash, archived: in_trash, parent },
      ...{ is_archived: in_trash, is_locked: false, url: `https://www.notion.so/${String(id)}` },
      created_by: user(row.created_by),
      last_edited_by: user(row.last_edited_by),
      properties: Object.fromEntries(shown.map((each) => [each.name, showValue(row, each)])),
    };
  }

  function findPage(id = ''): readonly [name: string, row: TableRow] {
    for (const { name, table } of Object.values(pages)) {
      const row = table.find(id);
      if (row !== undefined) return [name, row];
    }
    throw notFound('page', id);
  }

  function findSource({ params: { id = '' } }: Call): string {
    const name = sourceOf.get(id);
    if (name === undefined) throw notFound('data source', id);
    return name;
  }

  function query(call: Call) {
    const name = findSource(call);
    const { filter, sorts, in_trash } = call.body.object();
    const properties = propertiesOf[name] ?? [];
    const test = compileQuery(filter, properties, text);
    const found = (pages[name]?.table.rows(true) ?? []).filter(
      (row) => (row.in_trash === true) === (in_trash === true) && test(row),
    );
    const rows = sortRows(found, orderOf(sorts, properties, text));
    const wanted = call.query.getAll('filter_properties');
    return listOf(
      'page_or_data_source',
      rows.map((row) => showPage(name, row, wanted)),
      call,
    );
  }

  /** Search by title. */
  function search(call: Call) {
    const { filter, query: title = '' } = call.body.object();
    const wanted = Object(filter).value;
    const sources = Object.keys(SOURCES).filter((name) => SOURCES[name]?.title.includes(String(title)));
    const all = Object.values(pages).flatMap(({ name, table }) => table.rows().map((row) => [name, row] as const));
    return listOf(
      'page_or_data_source',
      [
        ...(wanted === 'page' ? [] : sources.map(showSource)),
        ...(wanted === 'data_source' ? [] : all.map(([name, row]) => showPage(name, row))),
      ],
      call,
    );
  }

  function createPage(call: Call) {
    const { parent, properties } = call.body.object();
    const name = sourceOf.get(String(Object(parent).data_source_id));
    const collection = name === undefined ? undefined : pages[name];
    if (name === undefined || collection === undefined)
      throw notFound('data source', String(Object(parent).data_source_id));
    return json(showPage(name, collection.table.insert(readProperties(propertiesOf[name] ?? [], properties))));
  }

  function updatePage({ params, body }: Call) {
    const [name, row] = findPage(params.id);
    const { properties, in_trash, archived } = body.object();
    const isTrashed = in_trash ?? archived;
    if (row.in_trash === true && isTrashed !== false)
      throw invalid("Can't edit block that is archived. You must unarchive the block before editing.");
    const values = readProperties(propertiesOf[name] ?? [], properties);
    const changed = pages[name]?.table.update(String(row.id), {
      ...values,
      ...(typeof isTrashed === 'boolean' && { in_trash: isTrashed }),
    });
    return json(showPage(name, changed ?? row));
  }

  const comments: TableRow[] = [];

  return simulate(
    {
      clock,
      official: createJudge(),
      print: ({ status, code, message, headers }) =>
        json(
          {
            object: 'error',
            status,
            code: CODES[status] ?? (code === 'SIMULATED' ? 'invalid_request' : code),
            message,
            request_id: WORKSPACE,
          },
          status,
          headers,
        ),
      authenticate: ({ headers }) => {
        if (!server.accepts(readBearer(headers.authorization) ?? ''))
          throw new Fault(401, 'unauthorized', 'API token is invalid.');
        if (headers['notion-version'] !== VERSION)
          throw new Fault(400, 'missing_version', 'Notion-Version header should be defined.');
      },
      open: {
        'GET /v1/oauth/authorize': (call) => {
          if (call.query.get('owner') !== 'user') throw invalid('owner should be `user`');
          return server.authorize(call);
        },
        'POST /v1/oauth/token': (call) => {
          const form = textsOf(call.body.object());
          return server.token({
            ...call,
            body: createBody(Buffer.from(String(form)), 'application/x-www-form-urlencoded'),
          });
        },
      },
      routes: {
        'POST /v1/search': search,
        'GET /v1/data_sources/{id}': (call) => json(showSource(findSource(call))),
        'POST /v1/data_sources/{id}/query': query,
        'POST /v1/pages': createPage,
        'GET /v1/pages/{id}': ({ params, query: asked }) =>
          json(showPage(...findPage(params.id), asked.getAll('filter_properties'))),
        'PATCH /v1/pages/{id}': updatePage,
        'GET /v1/users': (call) => listOf('user', [...USERS, BOT], call),
        'GET /v1/users/me': () => json(BOT),
        'GET /v1/users/{id}': ({ params: { id = '' } }) => {
          const found = [...USERS, BOT].find((each) => each.id === id);
          if (found === undefined) throw notFound('user', id);
          return json(found);
        },
        'GET /v1/comments': (call) => {
          const [, { id }] = findPage(call.query.get('block_id') ?? '');
          return listOf(
            'comment',
            comments.filter(({ parent }) => Object(parent).page_id === id),
            call,
          );
        },
        'POST /v1/comments': ({ body }) => {
          const { parent, rich_text } = body.object();
          const [, { id }] = findPage(Object(parent).page_id);
          const at = writeTime(clock.now());
          const comment = {
            ...{ object: 'comment', id: idOf('a9', comments.length), discussion_id: idOf('aa', comments.length) },
            ...{
              parent: { type: 'page_id', page_id: id },
              created_time: at,
              last_edited_time: at,
              created_by: user(BOT.id),
            },
            rich_text: richText(readRichText(rich_text)),
            display_name: { type: 'integration', resolved_name: BOT.name },
          };
          comments.push(comment);
          return json(comment);
        },
      },
      commands: { ...server.commands, ...entered.commands, ...changesOf(pages) },
    },
    options,
  );
}

const ABOUT: Readonly<Record<string, Member>> = {
  created_time: { type: 'datetime', isNeverNull: true },
  last_edited_time: { type: 'datetime', isNeverNull: true },
};

function collectionOf(name: string, index: number) {
  const { rows = 0, properties = [] } = SOURCES[name] ?? {};
  const stored = properties.filter(({ type }) => !/_time$|_by$/.test(type));
  const members = stored.map((each): [string, Member] => {
    const isShort = /^(?:url|email|phone_number)$/.test(each.type);
    return [
      each.id,
      { type: kindOf(each).member, values: each.options, isPossible: (text) => !isShort || text !== '' },
    ];
  });
  const columns = stored.flatMap((each) => {
    const { column } = kindOf(each);
    return column === undefined ? [] : [[each.id, column] as const];
  });
  return {
    members: { ...Object.fromEntries(members), ...ABOUT },
    rows,
    makeId: (row: number) => idOf(`a${index}`, row),
    vary: {
      ...Object.fromEntries(columns),
      created_by: cycle(USERS.map(({ id }) => id)),
      last_edited_by: cycle(USERS.map(({ id }) => id)),
      in_trash: () => false,
    },
    initial: { created_by: BOT.id, last_edited_by: BOT.id },
    created: ['created_time'],
    changed: ['last_edited_time'],
    deleted: 'in_trash',
    label: 'title',
  };
}

function notFound(kind: string, id: string): Fault {
  const message = `Could not find ${kind} with ID: ${id}. Make sure it is shared with your integration.`;
  return new Fault(404, 'object_not_found', message);
}

/** Returns a page of a list. The position and the size are in the body of a POST. */
function listOf(type: string, rows: readonly unknown[], { method, body, query, isStuck }: Call) {
  const given = method === 'POST' ? body.object() : Object.fromEntries(query);
  const page = takePage(
    rows,
    {
      ...{ kind: 'cursor', cursor: 'start_cursor', size: 'page_size', usual: 100, most: 100, beyond: 'refused' },
      refuse: (message) => invalid(`body failed validation: ${message}`),
    },
    { query: textsOf(given), isStuck },
  );
  const next = page.next ?? null;
  return json({ object: 'list', results: page.rows, next_cursor: next, has_more: next !== null, type, [type]: {} });
}

function textsOf(values: Readonly<Record<string, unknown>>): URLSearchParams {
  const given = Object.entries(values).filter(([, value]) => value != null);
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
}
