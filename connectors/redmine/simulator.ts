import {
  type Call,
  changesOf,
  createMovableClock,
  empty,
  Fault,
  filterFieldOf,
  json,
  keyHeader,
  type Routes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  sortRows,
  type TableRow,
  takePage,
  typed,
} from '#connector/simulator';
import { createOffice, type Name, type Office, present } from './simulator/office.ts';
import { readConditions } from './simulator/query.ts';
import { createWebhooks } from './simulator/webhooks.ts';

const HOST = 'redmine.example.com';
const ROOT = '/pm';

/** Configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = {
  url: `https://${HOST}${ROOT}`,
  'api.key': '0123456789abcdef0123456789abcdef01234567',
};

/** Creates a simulator of a Redmine 5.0.4 in memory that requires a log-in. The time zone of its user is west of the server's. */
export function createSimulator(options: Partial<SimulatorOptions> = {}): Simulator {
  const clock = createMovableClock();
  const webhooks = createWebhooks(options.send, clock);
  const office: Office = createOffice(clock, (name, change) => webhooks.notify(office[name], change));
  const { issues, time_entries, projects, users, attachments } = office;
  return simulate(
    {
      hosts: [HOST],
      authenticate: keyHeader('x-redmine-api-key', (key) => key === DEMO_CONFIGURATION['api.key']),
      print: ({ status, fields, headers }: Fault) =>
        fields.length > 0 ? json({ errors: fields }, status, headers) : typed('application/json', '', status, headers),
      clock,
      routes: {
        [`GET ${ROOT}/users/current.json`]: () => show(users, users.get('1')),
        [`GET ${ROOT}/custom_fields.json`]: (call) => list(office.custom_fields, call),
        ...Object.assign({}, ...[issues, time_entries, projects, users, attachments].map(routesOf)),
        [`GET ${ROOT}/issues/{id}.json`]: (call) => showIssue(office, call),
        [`POST ${ROOT}/uploads.json`]: (call) => upload(attachments, call),
        [`GET ${ROOT}/attachments/download/{id}`]: (call) => download(find(attachments, call)),
      },
      commands: { ...webhooks.commands, ...changesOf({ ...office, 'time-entries': time_entries }) },
    },
    { baseUrl: `https://${HOST}`, ...options },
  );
}

type Collection = Office[Name];

function routesOf(collection: Collection): Routes {
  const { name, table } = collection;
  const path = `${ROOT}/${name}`;
  return {
    [`GET ${path}.json`]: (call) => list(collection, call),
    [`GET ${path}/{id}.json`]: (call) => show(collection, find(collection, call)),
    [`POST ${path}.json`]: ({ body }) => show(collection, table.insert(readBody(collection, body)), 201),
    [`PUT ${path}/{id}.json`]: (call) => {
      const row = find(collection, call);
      table.update(table.keyOf(row), readBody(collection, call.body, row));
      return empty();
    },
    [`DELETE ${path}/{id}.json`]: (call) => {
      table.remove(table.keyOf(find(collection, call)));
      return empty();
    },
  };
}

/**
 * Finds a record. Only the leading digits of the id count.
 * @throws Fault 404
 */
function find({ get }: Collection, { params }: Call): TableRow {
  return get(String(Number.parseInt(params.id ?? '', 10)));
}

function show(collection: Collection, row: TableRow, status = 200): SimulatedResponse {
  return json({ [collection.one]: present(collection, row) }, status);
}

/** Responds with an issue and the parts that `include` names. */
function showIssue(office: Office, call: Call): SimulatedResponse {
  const row = find(office.issues, call);
  const parts = [office.journals, office.attachments].filter(({ name }) => name === call.query.get('include'));
  const included = parts.map((part) => [
    part.name,
    part.table.rows().flatMap((each) => (each.of === row.id ? [present(part, each)] : [])),
  ]);
  return json({ issue: { ...present(office.issues, row), ...Object.fromEntries(included) } });
}

/**
 * Reads the values of a write. Ids of references become the references, and unknown names are ignored.
 * @throws Fault 422
 */
function readBody({ one, members, read }: Collection, body: Call['body'], old?: TableRow): TableRow {
  const given = Object.entries(Object(body.object()[one])).map(([name, value]) => {
    const whole = name.replace(/^parent_issue_id$/, 'parent_id').replace(/_id$/, '');
    return [Object.hasOwn(members, whole) ? whole : name, value];
  });
  return read(Object.fromEntries(given), old);
}

const PAGE = { kind: 'offset', offset: 'offset', size: 'limit', usual: 25, most: 100 } as const;

/** Responds with a list. An order uses three terms at most, and ignores names by which Redmine cannot sort. */
function list(collection: Collection, call: Call): SimulatedResponse {
  const { name, table, members, sorts, hidden, isReversed = false } = collection;
  const rows = table.rows().filter(readConditions(call, collection));
  const terms = (call.query.get('sort') ?? '').split(',').slice(0, 3);
  const order = terms.flatMap((term) => {
    const [path = '', direction] = term.split(':');
    const field = sorts.includes(path) ? filterFieldOf(members, path) : undefined;
    return field === undefined ? [] : [{ ...field, descending: direction === 'desc' }];
  });
  const page = takePage(sortRows(isReversed ? rows.toReversed() : rows, order), PAGE, call);
  const shown = page.rows.map((row) => {
    const all = Object.entries(present(collection, row));
    return Object.fromEntries(all.filter(([member]) => !hidden.includes(member)));
  });
  return json({ [name]: shown, total_count: page.total, offset: page.start, limit: page.size });
}

/**
 * Stores a file that belongs to no record yet.
 * @throws Fault 406
 */
function upload({ table }: Collection, { body, query }: Call): SimulatedResponse {
  if (body.type !== 'application/octet-stream') throw new Fault(406, 'TYPE', '');
  const filename = (query.get('filename') ?? 'file').replace(/[?%*:|"'<>\n\r/\\]/g, '_');
  const about = { filesize: body.bytes.length, content_type: query.get('content_type') };
  const { id } = table.insert({ filename, ...about, bytes: body.bytes });
  return json({ upload: { id, token: `${id}.${'ab'.repeat(32)}` } }, 201);
}

function download({ content_type, bytes }: TableRow): SimulatedResponse {
  return typed(String(content_type), bytes instanceof Uint8Array ? bytes : '');
}
