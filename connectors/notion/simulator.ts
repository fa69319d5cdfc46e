import {
  type Call,
  changesOf,
  createCollections,
  createEnteredWebhooks,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  cycle,
  Fault,
  fault,
  json,
  type Member,
  type RegisteredClient,
  readBearer,
  recordRoutes,
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
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

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

const list = (types: string): readonly Property[] =>
  types.split(' ').map((type, index) => ({ id: `p%3A${index}`, name: `A ${type.replaceAll('_', ' ')}`, type }));

const TITLE: Property = { id: 'title', name: 'title', type: 'title' };
const SOURCES: Readonly<Record<string, Source>> = {
  tasks: {
    title: 'Tasks',
    rows: 40,
    properties: [
      { ...TITLE, name: 'Name' },
      { id: 'aB%3Aq', name: 'Notes', type: 'rich_text' },
      { id: 'n%40um', name: 'Points', type: 'number' },
      { id: 's%5Bel', name: 'Priority', type: 'select', options: ['High', 'high', 'Low', "It's"] },
      { id: 'stat', name: 'Status', type: 'status', options: ['Not started', 'In progress', 'Done'] },
      { id: 'tags', name: 'Tags', type: 'multi_select', options: ['red', 'Green'] },
      { id: 'due', name: 'Due', type: 'date' },
      ...list(
        `checkbox url email phone_number people relation files created_time last_edited_time created_by last_edited_by
        unique_id formula`.replace(/\s+/g, ' '),
      ),
    ],
  },
  projects: {
    title: 'Projects',
    rows: 12,
    properties: [
      { ...TITLE, name: 'Größe, "m²"' },
      { id: 'dot', name: 'No. of items', type: 'number' },
      { id: 'ID', name: 'id', type: 'rich_text' },
    ],
  },
};
/** Pages that are no rows of a data source. */
const PAGES = { rows: 12, properties: [TITLE] };

const USERS = ['Zoë', "Pat O'Brien", 'Ann'].map((name, index) => ({
  ...{ object: 'user', id: userId(`u${index}`), name, avatar_url: null },
  ...{ type: 'person', person: { email: `person${index}@example.com` } },
}));
const BOT = {
  ...{ object: 'user', id: userId('u9'), name: 'Causeway', avatar_url: null, type: 'bot' },
  bot: { owner: { type: 'workspace', workspace: true }, workspace_name: 'Demo', workspace_id: WORKSPACE },
};
const user = (id: unknown) => ({ object: 'user', id });

const CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'restricted_resource',
  404: 'object_not_found',
  409: 'conflict_error',
  429: 'rate_limited',
  500: 'internal_server_error',
  503: 'service_unavailable',
};

/** Notion shows times by the minute. */
const writeTime = (ms: number) => new Date(Math.floor(ms / 60_000) * 60_000).toISOString();

const NAMES = Object.keys(SOURCES);
const sourceId = (name: string) => idOf('d0', NAMES.indexOf(name));
const databaseId = (name: string) => idOf('b0', NAMES.indexOf(name));
const nameOf = (id: unknown) => NAMES.find((name) => sourceId(name) === id);

/** Creates a simulator of a workspace of Notion in memory. README.md lists the sources. */
export function createSimulator(options: NotionSimulatorOptions): Simulator {
  const { memory, send, text = 'ignoring case' } = options;
  const clock = createMovableClock();
  const entered = createEnteredWebhooks(send);
  // Pages can add options.
  const propertiesOf = structuredClone(
    Object.fromEntries([...NAMES.map((name) => [name, SOURCES[name]?.properties ?? []]), ['pages', PAGES.properties]]),
  ) as Readonly<Record<string, readonly Property[]>>;
  const pagesOf = (name: string, index: number) =>
    collectionOf(`a${index}`, SOURCES[name]?.rows ?? PAGES.rows, propertiesOf[name] ?? []);
  const common = {
    ...{ clock, writeTime, refuse: () => undefined },
    absent: (_collection: object, id: string) => notFound('comment', id),
  };
  const tables = createCollections({
    ...common,
    onChange: report,
    of: Object.fromEntries([...NAMES, 'pages'].map((name, index) => [name, pagesOf(name, index)])),
  });
  const { comments } = createCollections({
    ...common,
    of: { comments: COMMENTS },
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

  /** Sends an event. Source: `api-endpoints/webhooks.d.ts` of the client. */
  function report(name: string, { key, before, after = before }: TableChange): void {
    const isPage = name !== 'comments';
    const changed = isPage ? 'properties_updated' : 'updated';
    const word = before === undefined ? 'created' : after === before ? 'deleted' : changed;
    const pageId = String(after?.page);
    const row = { id: databaseId(name), type: 'database', data_source_id: sourceId(name) };
    const parent = SOURCES[name] === undefined ? { id: pageId, type: 'page' } : row;
    const event = {
      ...{ id: idOf('f0', reports++), timestamp: new Date(clock.now()).toISOString(), workspace_id: WORKSPACE },
      ...{ workspace_name: 'Demo', subscription_id: idOf('f1', 0), integration_id: idOf('f2', 0) },
      ...{ authors: [{ id: USERS[0]?.id, type: 'person' }], attempt_number: 1, api_version: VERSION },
      ...{ type: `${isPage ? 'page' : 'comment'}.${word}`, entity: { id: key, type: isPage ? 'page' : 'comment' } },
      data: { parent, ...(isPage ? word === changed && { updated_properties: [] } : { page_id: pageId }) },
    };
    entered.report(({ secret }) =>
      signWebhook({ secret, header: 'x-notion-signature', prefix: 'sha256=' }, event, { nowMs: clock.now() }),
    );
  }
  let reports = 0;

  const about = { in_trash: false, archived: false, icon: null, cover: null, public_url: null };

  function showSource(name: string): TableRow {
    const id = sourceId(name);
    const properties = (propertiesOf[name] ?? []).map((each) => [each.name, showSettings(each)]);
    const at = '2024-01-31T10:00:00.000Z';
    const by = user(USERS[0]?.id);
    return {
      ...{ ...about, object: 'data_source', id, title: richText(SOURCES[name]?.title), description: [] },
      ...{ parent: { type: 'database_id', database_id: databaseId(name) }, created_by: by, last_edited_by: by },
      ...{ database_parent: { type: 'workspace', workspace: true }, is_inline: false, created_time: at },
      ...{ last_edited_time: at, url: `https://www.notion.so/${id}`, properties: Object.fromEntries(properties) },
    };
  }

  function showPage(name: string, row: TableRow): TableRow {
    const { id, created_time, last_edited_time, in_trash, page } = row;
    const properties = (propertiesOf[name] ?? []).map((each) => [each.name, showValue(row, each)]);
    const above = page == null ? { type: 'workspace', workspace: true } : { type: 'page_id', page_id: page };
    const source = { type: 'data_source_id', data_source_id: sourceId(name), database_id: databaseId(name) };
    return {
      ...{ ...about, object: 'page', id, created_time, last_edited_time, in_trash, archived: in_trash },
      ...{ parent: name === 'pages' ? above : source, is_archived: false, is_locked: false },
      ...{ url: `https://www.notion.so/${String(id)}`, created_by: user(row.created_by) },
      last_edited_by: user(row.last_edited_by),
      properties: Object.fromEntries(properties),
    };
  }

  const allPages = (withDeleted = false) =>
    [...NAMES, 'pages'].flatMap((name) => (tables[name]?.table.rows(withDeleted) ?? []).map((row) => ({ name, row })));

  function findPage(id: unknown): { readonly name: string; readonly row: TableRow } {
    const found = allPages(true).find(({ row }) => row.id === id);
    if (found === undefined) throw notFound('page', String(id));
    return found;
  }

  function findSource(id: unknown): string {
    const name = nameOf(id);
    if (name === undefined) throw notFound('data source', String(id));
    return name;
  }

  function query(call: Call) {
    const name = findSource(call.params.id);
    const { filter, sorts, in_trash = false } = call.body.object();
    const properties = propertiesOf[name] ?? [];
    const test = compileQuery(filter, properties, text);
    const all = tables[name]?.table.rows(true) ?? [];
    const rows = sortRows(
      all.filter((row) => row.in_trash === in_trash && test(row)),
      orderOf(sorts, properties, text),
    );
    return listOf(
      call,
      'page_or_data_source',
      rows.map((row) => showPage(name, row)),
    );
  }

  /** Lists pages or data sources. */
  function search(call: Call) {
    const { filter, sort } = call.body.object();
    const { value: wanted } = Object(filter);
    const order = orderOf(sort === undefined ? [] : [sort], [], text);
    const all = [
      ...(wanted === 'page' ? [] : NAMES.map(showSource)),
      ...(wanted === 'data_source' ? [] : allPages().map(({ name, row }) => showPage(name, row))),
    ];
    return listOf(call, 'page_or_data_source', sortRows(all, order));
  }

  function createPage(call: Call) {
    const { parent, properties } = call.body.object();
    const { data_source_id, page_id = null } = Object(parent);
    const name = data_source_id === undefined ? 'pages' : findSource(data_source_id);
    if (page_id !== null) findPage(page_id);
    const values = { ...readProperties(propertiesOf[name] ?? [], properties ?? {}), page: page_id };
    return json(showPage(name, tables[name]?.table.insert(values) ?? {}));
  }

  function updatePage(call: Call) {
    const { name, row } = findPage(call.params.id);
    const { properties = {}, in_trash = row.in_trash } = call.body.object();
    if (row.in_trash === true && in_trash !== false)
      throw invalid("Can't edit block that is archived. You must unarchive the block before editing.");
    const values = readProperties(propertiesOf[name] ?? [], properties);
    const changed = tables[name]?.table.update(String(row.id), { ...values, in_trash });
    return json(showPage(name, changed ?? row));
  }

  function showComment(row: TableRow): TableRow {
    const { id, page, created_time, last_edited_time, created_by, rich_text } = row;
    return {
      ...{ object: 'comment', id, discussion_id: id, parent: { type: 'page_id', page_id: page ?? FIRST_PAGE } },
      ...{ created_time, last_edited_time, created_by: user(created_by), rich_text: richText(rich_text) },
      display_name: { type: 'integration', resolved_name: BOT.name },
    };
  }

  const textIn = ({ body }: Call) => ({ rich_text: readRichText(body.object().rich_text) });

  return simulate(
    {
      clock,
      official: createJudge(),
      print: ({ status, message, headers }) => {
        const code = CODES[status] ?? (status < 500 ? 'validation_error' : 'service_overload');
        return json({ object: 'error', status, code, message, request_id: WORKSPACE }, status, headers);
      },
      authenticate: ({ headers }) => {
        if (!server.accepts(readBearer(headers.authorization) ?? '')) throw fault(401, 'API token is invalid.');
        if (headers['notion-version'] !== VERSION) throw invalid('Notion-Version header should be defined.');
      },
      open: {
        'GET /v1/oauth/authorize': (call) => {
          if (call.query.get('owner') !== 'user') throw invalid('owner should be `user`');
          return server.authorize(call);
        },
        'POST /v1/oauth/token': (call) =>
          server.token({ ...call, body: { ...call.body, form: () => textsOf(call.body.object()) } }),
      },
      routes: {
        'POST /v1/search': search,
        'GET /v1/data_sources/{id}': ({ params }) => json(showSource(findSource(params.id))),
        'POST /v1/data_sources/{id}/query': query,
        'POST /v1/pages': createPage,
        'GET /v1/pages/{id}': (call) => {
          const { name, row } = findPage(call.params.id);
          return json(showPage(name, row));
        },
        'PATCH /v1/pages/{id}': updatePage,
        'GET /v1/users': (call) => listOf(call, 'user', [...USERS, BOT]),
        'GET /v1/users/me': () => json(BOT),
        'GET /v1/users/{id}': ({ params: { id = '' } }) => {
          const found = [...USERS, BOT].find((each) => each.id === id);
          if (found === undefined) throw notFound('user', id);
          return json(found);
        },
        ...recordRoutes('/v1/comments', comments, {
          show: (row) => json(showComment(row)),
          body: textIn,
          complete: (values, { body }, old) => ({
            ...values,
            page: old?.page ?? findPage(Object(body.object().parent).page_id).row.id,
          }),
          removed: () => json(GONE),
          list: (call) => {
            const { id } = findPage(call.query.get('block_id')).row;
            return listOf(
              call,
              'comment',
              comments.table
                .rows()
                .map(showComment)
                .filter(({ parent }) => Object(parent).page_id === id),
            );
          },
        }),
      },
      commands: { ...server.commands, ...entered.commands, ...changesOf({ ...tables, comments }) },
    },
    options,
  );
}

const FIRST_PAGE = idOf('a0', 0);
const GONE = { object: 'comment', id: idOf('c9', 0) };

const ABOUT: Readonly<Record<string, Member>> = {
  created_time: { type: 'datetime', isNeverNull: true },
  last_edited_time: { type: 'datetime', isNeverNull: true },
};

function collectionOf(prefix: string, rows: number, properties: readonly Property[]) {
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
  const authors = cycle(USERS.map(({ id }) => id));
  return {
    members: { ...Object.fromEntries(members), ...ABOUT },
    rows,
    makeId: (row: number) => idOf(prefix, row),
    vary: { ...Object.fromEntries(columns), created_by: authors, last_edited_by: authors, in_trash: () => false },
    initial: { created_by: BOT.id, last_edited_by: BOT.id },
    created: ['created_time'],
    changed: ['last_edited_time'],
    deleted: 'in_trash',
    label: 'title',
  };
}

/** Comments are gone when they are deleted. */
const COMMENTS = {
  ...collectionOf('c9', 9, [{ id: 'rich_text', name: '', type: 'rich_text' }]),
  ...{ deleted: undefined, label: 'rich_text' },
};

function notFound(kind: string, id: string): Fault {
  const message = `Could not find ${kind} with ID: ${id}. Make sure it is shared with your integration.`;
  return new Fault(404, 'object_not_found', message);
}

/** Returns a page of a list. The position and the size are in the body of a POST. */
function listOf({ method, body, query, isStuck }: Call, type: string, rows: readonly unknown[]) {
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
