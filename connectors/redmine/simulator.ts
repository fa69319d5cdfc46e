import {
  type Answer,
  type Call,
  type Clock,
  changesOf,
  createMovableClock,
  createTable,
  empty,
  Fault,
  fault,
  json,
  keyHeader,
  type Routes,
  type Simulator,
  type SimulatorOptions,
  simulate,
  sortRows,
  type Table,
  type TableChange,
  type TableRow,
  takePage,
  typed,
} from '#connector/simulator';
import { type Filters, readConditions } from './simulator/query.ts';
import { CUSTOM_FIELDS, makeIssues, makeProjects, makeTimeEntries, makeUsers, NAMED } from './simulator/rows.ts';
import { createWebhooks } from './simulator/webhooks.ts';

const HOST = 'redmine.example.com';

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { url: `https://${HOST}/pm`, 'api.key': '0123456789abcdef0123456789abcdef01234567' };

interface Collection {
  readonly one: string;
  readonly table: Table;
  readonly filters: Filters;
  /** What is listed where nothing is asked for. */
  readonly usual?: (row: TableRow) => boolean;
  readonly sorts: Readonly<Record<string, 'integer' | 'datetime' | 'date' | 'number' | 'string'>>;
  /** What stands behind every order. */
  readonly tie: (a: TableRow, b: TableRow) => number;
  readonly required: readonly string[];
  /** Members that lists do not show. */
  readonly hidden?: readonly string[];
}

/** A Redmine 5.0.4 in memory that wants everybody to log in; its user lives west of it. */
export function createSimulator(options: Partial<SimulatorOptions> = {}): Simulator {
  const clock = createMovableClock();
  const webhooks = createWebhooks(options.send, clock, present);
  const office = makeOffice(clock, webhooks.tell);
  const root = '/pm';
  const { issues } = office;
  return simulate(
    {
      authenticate: assertCaller,
      print: ({ status, fields, headers }: Fault) =>
        fields.length > 0 ? json({ errors: fields }, status, headers) : typed('application/json', '', status, headers),
      clock,
      routes: {
        [`GET ${root}/users/current.json`]: () => json({ user: office.users.table.find('1') }),
        [`GET ${root}/custom_fields.json`]: () => json({ custom_fields: CUSTOM_FIELDS }),
        ...Object.assign({}, ...Object.entries(office).map(([all, each]) => routesOf(`${root}/${all}`, all, each))),
        ...filesAt(root, clock),
      },
      commands: {
        ...webhooks.commands,
        ...changesOf({
          issues: {
            table: issues.table,
            keyOf: ({ id }) => String(id),
            create: (number) => ({ subject: `New ${number}` }),
            change: (number) => ({ subject: `Changed ${number}` }),
          },
          'time-entries': {
            table: office.time_entries.table,
            keyOf: ({ id }) => String(id),
            create: (number) => ({ hours: 1, activity: NAMED.activity?.(9), comments: `New ${number}` }),
            change: (number) => ({ comments: `Changed ${number}` }),
          },
        }),
      },
    },
    { baseUrl: `https://${HOST}`, ...options },
  );
}

const isUser = keyHeader('x-redmine-api-key', (key) => key === DEMO_CONFIGURATION['api.key']);

function assertCaller(call: Call): void {
  if ((call.host ?? HOST) !== HOST) throw fault(404, '');
  isUser(call);
}

const writeSecond = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
const byId = (a: TableRow, b: TableRow) => Number(a.id) - Number(b.id);

/** @param tell of each change of an issue or a time entry */
function makeOffice(
  clock: Clock,
  tell: (kind: string, change: TableChange) => void,
): Readonly<Record<'issues' | 'time_entries' | 'projects' | 'users', Collection>> {
  const keep = (rows: readonly TableRow[], initial: TableRow = {}, told?: string) =>
    createTable({
      ...(told !== undefined && { onChange: (change: TableChange) => tell(told, change) }),
      rows,
      keyOf: ({ id }) => String(id),
      initial: (_, before) => ({ ...initial, id: 1 + Math.max(...before().map(({ id }) => Number(id))) }),
      stamps: { clock, write: writeSecond, created: ['created_on'], changed: ['updated_on'] },
    });
  const nobody = { parent: null, description: null, custom_fields: [] };
  return {
    issues: {
      one: 'issue',
      table: keep(makeIssues(), { ...nobody, ...NEW_ISSUE }, 'issue'),
      filters: ISSUE_FILTERS,
      usual: ({ status }) => !Reflect.get(Object(status), 'is_closed'),
      sorts: { id: 'integer', done_ratio: 'integer', created_on: 'datetime', updated_on: 'datetime' },
      tie: (a, b) => byId(b, a),
      required: ['project', 'subject'],
    },
    time_entries: {
      one: 'time_entry',
      table: keep(
        makeTimeEntries(),
        {
          project: NAMED.project?.(1),
          user: NAMED.user?.(1),
          issue: null,
          comments: null,
          spent_on: '2026-01-02',
        },
        'time_entry',
      ),
      filters: TIME_ENTRY_FILTERS,
      sorts: { spent_on: 'date', created_on: 'datetime' },
      tie: byId,
      required: ['activity', 'hours'],
    },
    projects: {
      one: 'project',
      table: keep(makeProjects(), { ...nobody, status: 1, is_public: true, inherit_members: false }),
      filters: PROJECT_FILTERS,
      usual: ({ status }) => status === 1,
      sorts: { id: 'integer' },
      tie: byId,
      required: ['name', 'identifier'],
      hidden: ['homepage'],
    },
    users: {
      one: 'user',
      table: keep(makeUsers()),
      filters: {},
      sorts: {},
      tie: byId,
      required: [],
      hidden: ['status'],
    },
  };
}

const NEW_ISSUE = {
  tracker: NAMED.tracker?.(1),
  status: NAMED.status?.(1),
  priority: NAMED.priority?.(2),
  author: NAMED.author?.(1),
  assigned_to: null,
  category: null,
  fixed_version: null,
  start_date: null,
  due_date: null,
  done_ratio: 0,
  is_private: false,
  estimated_hours: null,
  total_estimated_hours: null,
  spent_hours: 0,
  total_spent_hours: 0,
  closed_on: null,
  project: NAMED.project?.(1),
};

const list = (...names: readonly string[]): Filters =>
  Object.fromEntries(names.map((name) => [name, { kind: 'list' }]));

const ISSUE_FILTERS: Filters = {
  ...list('project_id', 'tracker_id', 'status_id', 'priority_id', 'author_id', 'assigned_to_id', 'fixed_version_id'),
  ...list('parent_id', 'is_private'),
  issue_id: { kind: 'integer', read: ({ id }) => id },
  subject: { kind: 'text' },
  description: { kind: 'text' },
  start_date: { kind: 'date' },
  due_date: { kind: 'date' },
  done_ratio: { kind: 'integer' },
  estimated_hours: { kind: 'float' },
  created_on: { kind: 'moment' },
  updated_on: { kind: 'moment' },
  closed_on: { kind: 'moment' },
};

const TIME_ENTRY_FILTERS: Filters = {
  ...list('project_id', 'issue_id', 'user_id', 'activity_id'),
  hours: { kind: 'float' },
  comments: { kind: 'text' },
  spent_on: { kind: 'date' },
};

const PROJECT_FILTERS: Filters = {
  ...list('status', 'parent_id', 'is_public'),
  id: { kind: 'list' },
  name: { kind: 'text' },
  description: { kind: 'text' },
  created_on: { kind: 'moment' },
};

function routesOf(at: string, all: string, collection: Collection): Routes {
  const { one, table } = collection;
  const answer = (row: TableRow, status = 200) => json({ [one]: present(row) }, status);
  return {
    [`GET ${at}.json`]: (call) => listRows(all, collection, call),
    [`GET ${at}/{id}.json`]: ({ params, query }) => {
      const row = find(table, params.id);
      const part = query.get('include');
      return json({ [one]: { ...present(row), ...(part !== null && { [part]: partsOf(row, part) }) } });
    },
    ...(one !== 'user' && {
      [`POST ${at}.json`]: ({ body }: Call) => answer(table.insert(readBody(collection, body.object())), 201),
      [`PUT ${at}/{id}.json`]: ({ params, body }: Call) => {
        const row = find(table, params.id);
        table.update(String(row.id), readBody(collection, body.object(), row));
        return empty();
      },
      [`DELETE ${at}/{id}.json`]: ({ params }: Call) => {
        table.remove(String(find(table, params.id).id));
        return empty();
      },
    }),
  };
}

/** Of a text the digits in front count. @throws Fault 404 */
function find(table: Table, id = ''): TableRow {
  const row = table.find(String(Number.parseInt(id, 10)));
  if (row === undefined) throw fault(404, '');
  return row;
}

const PAGE = { kind: 'offset', offset: 'offset', size: 'limit', usual: 25, most: 100 } as const;

function listRows(
  all: string,
  { table, filters, usual = () => true, sorts, tie, hidden = [] }: Collection,
  call: Call,
): Answer {
  const rows = table
    .rows()
    .filter(readConditions(call, filters, usual))
    .sort(tie);
  // Names that cannot be sorted by are passed over, and so is the fourth.
  const terms = (call.query.get('sort') ?? '')
    .split(',')
    .slice(0, 3)
    .flatMap((term) => {
      const [name = '', direction] = term.split(':');
      const type = Object.hasOwn(sorts, name) ? sorts[name] : undefined;
      return type === undefined ? [] : [{ type, read: (row: TableRow) => row[name], descending: direction === 'desc' }];
    });
  const page = takePage(sortRows(rows, terms), PAGE, call);
  const shown = page.rows.map((row) =>
    Object.fromEntries(Object.entries(present(row)).filter(([name]) => !hidden.includes(name))),
  );
  return json({ [all]: shown, total_count: page.total, offset: page.start, limit: page.size });
}

/** References to nothing are left out, values that are none are null. */
function present(row: TableRow): TableRow {
  const shown = ([name, value]: [string, unknown]) => value !== null || !Object.hasOwn(NAMED, name);
  return Object.fromEntries(Object.entries(row).filter(shown));
}

function partsOf({ id, created_on }: TableRow, part: string): readonly TableRow[] {
  const common = { id: Number(id), created_on };
  if (part === 'attachments')
    return [
      {
        ...common,
        filename: 'a b.txt',
        filesize: 3,
        content_type: 'text/plain',
        description: '',
        author: NAMED.author?.(1),
      },
    ];
  const journal = { user: NAMED.user?.(1), private_notes: false, details: [] };
  return [
    { ...common, ...journal, notes: 'Hello' },
    { ...common, ...journal, id: 1000 + Number(id), notes: '' },
  ];
}

/** What is set, in the form that it is shown in. Names that are not known are passed over. @throws Fault 422 */
function readBody({ one, required }: Collection, body: TableRow, before: TableRow = {}): TableRow {
  const given = Object.entries(Object(body[one])).map(([name, value]) => readMember(name, value));
  const values = Object.fromEntries(given.filter(([name]) => !['notes', 'uploads'].includes(name)));
  const after = { ...before, ...values };
  const missing = required.filter((name) => String(after[name] ?? '').trim() === '');
  if (missing.length === 0) return values;
  throw new Fault(422, 'INVALID', '', { fields: missing.map((name) => `${name} cannot be blank`) });
}

function readMember(name: string, value: unknown): readonly [string, unknown] {
  const member = name.replace(/^parent_issue_id$/, 'parent_id').replace(/_id$/, '');
  const refer = Object.hasOwn(NAMED, member) ? NAMED[member] : undefined;
  return refer === undefined ? [name, value] : [member, value === null || value === '' ? null : refer(Number(value))];
}

/** Files that were sent. They belong to nothing. */
function filesAt(root: string, clock: Clock): Routes {
  const files = new Map<string, { readonly row: TableRow; readonly bytes: Uint8Array }>();
  const findFile = ({ params }: Call) => {
    const id = String(Number.parseInt(params.id ?? '', 10));
    const file = files.get(id);
    if (file === undefined) throw fault(404, '');
    return { id, ...file };
  };
  let made = 0;
  return {
    [`POST ${root}/uploads.json`]: ({ body, query }) => {
      if (body.type !== 'application/octet-stream') throw new Fault(406, 'TYPE', '');
      const id = ++made;
      const filename = (query.get('filename') ?? 'file').replace(/[?%*:|"'<>\n\r/\\]/g, '_');
      const about = { filesize: body.bytes.length, content_type: query.get('content_type'), description: null };
      const row = { id, filename, ...about, author: NAMED.author?.(1), created_on: writeSecond(clock.now()) };
      files.set(String(id), { row, bytes: body.bytes });
      return json({ upload: { id, token: `${id}.${'ab'.repeat(32)}` } }, 201);
    },
    [`GET ${root}/attachments/{id}.json`]: (call) => json({ attachment: findFile(call).row }),
    [`PUT ${root}/attachments/{id}.json`]: (call) => {
      const { id, row, bytes } = findFile(call);
      files.set(id, { row: { ...row, ...Object(call.body.object().attachment) }, bytes });
      return empty();
    },
    [`DELETE ${root}/attachments/{id}.json`]: (call) => {
      files.delete(findFile(call).id);
      return empty();
    },
    [`GET ${root}/attachments/download/{id}`]: (call) => {
      const { row, bytes } = findFile(call);
      return typed(String(row.content_type), bytes);
    },
  };
}
