import {
  type Call,
  changesOf,
  compileFilter,
  createBudget,
  createEnteredWebhooks,
  createMovableClock,
  createOfficialJudges,
  createRepeater,
  type Fault,
  FOLDS,
  json,
  type Routes,
  type SimulatedResponse,
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
  typed,
  valueAt,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { API_HOST, createLogin, TENANTS } from './simulator/login.ts';
import { createRecords, kindIn, present, type Records, resolveParts } from './simulator/records.ts';
import { fieldOf, parseWhere, queryFault } from './simulator/where.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, TENANTS } from './simulator/login.ts';

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = {
  'webhook.secret': 'demo-webhook-secret',
  'xero.tenant.id': TENANTS[0]?.tenantId ?? '',
};

export interface XeroSimulatorOptions extends SimulatorOptions {
  /** The rule for comparing texts, which Xero does not document. Default `ignoring case`. */
  readonly text?: TextRule;
  /** Maximum number of calls in a minute. Xero accepts 60. Default: no limit, so that tests need not wait. */
  readonly callsPerMinute?: number;
}

const ROOT = '/api.xro/2.0';
const VALIDATION = 10;
const QUERY = 16;

const createJudge = createOfficialJudges(official, [
  {
    operation: 'GET /identity/connect/authorize',
    unjudged: ['query', 'response'],
    reason: 'The log-in has hosts of its own, and is in no description.',
  },
  { operation: 'POST /connect/token', unjudged: ['body', 'response'], reason: 'As above.' },
  { operation: 'GET /connections', unjudged: [], reason: 'The guide writes the path in lower case.' },
]);

/** Prints an error. Source: "HTTP response codes and errors". */
function print({ status, code, message, headers }: Fault): SimulatedResponse {
  if (status === 404) return typed('text/html', message, status, headers);
  if (status === 429) return typed('text/plain', '', status, { 'x-rate-limit-problem': 'minute', ...headers });
  if (status === 401 || status === 403)
    return json(
      { Type: null, Title: code, Status: status, Detail: message, Instance: null, Extensions: {} },
      status,
      headers,
    );
  if (code !== 'ValidationException')
    return json({ ErrorNumber: QUERY, Type: code, Message: message }, status, headers);
  const errors = message.split('\n').map((Message) => ({ Message }));
  return json(
    {
      ErrorNumber: VALIDATION,
      Type: code,
      Message: 'A validation exception occurred',
      Elements: [{ ValidationErrors: errors }],
    },
    status,
    headers,
  );
}

/** Creates a simulator of a Xero organisation in memory. README.md lists the sources. */
export function createSimulator(options: XeroSimulatorOptions): Simulator {
  const { memory, send, text = 'ignoring case', callsPerMinute: calls } = options;
  const clock = createMovableClock();
  const login = createLogin(shareMemory(memory, 'login'), clock);
  const entered = createEnteredWebhooks(send);
  const records = createRecords(clock, (name, change) => {
    const deliver = reporterOf(name, change, clock.now());
    if (deliver !== undefined) entered.report(deliver);
  });
  const routes = Object.values(records).map((collection) => routesOf(records, collection, text));
  return simulate(
    {
      ...{
        clock,
        print,
        hosts: [API_HOST],
        authenticate: login.authenticate,
        open: login.routes,
        official: createJudge((path) => path.replace(ROOT, '')),
      },
      ...(calls !== undefined && {
        budget: createBudget({
          ...{ calls, windowMs: 60_000, clock },
          headers: ({ left }) => ({ 'x-minlimit-remaining': String(left), 'x-daylimit-remaining': '4900' }),
        }),
      }),
      routes: { ...login.connections, ...(Object.assign({}, ...routes) as Routes) },
      commands: { ...login.commands, ...entered.commands, ...changesOf(records) },
    },
    options,
  );
}

type Of = Records[string];

function routesOf(records: Records, collection: Of, rule: TextRule): Routes {
  const { plural, key, table } = collection;
  const one = `${ROOT}/${plural}/{id}`;
  const show = (...rows: readonly TableRow[]) => json({ [plural]: rows.map((row) => present(collection, row)) });
  const idOf = ({ params: { id = '' } }: Call) => id;
  const read = ({ body }: Call, old?: TableRow) => {
    const sent = body.object();
    const [first = sent]: readonly TableRow[] = Array.isArray(sent[plural]) ? sent[plural].map(Object) : [];
    const { [key]: _, ...values } = first;
    return resolveParts(records, collection, collection.read(values, old));
  };
  // Source: "Idempotent requests".
  const repeat = createRepeater();
  const routes: Routes = {
    [`GET ${ROOT}/${plural}`]: (call) => listOf(collection, call, rule),
    [`GET ${one}`]: (call) => show(collection.get(idOf(call))),
    [`PUT ${ROOT}/${plural}`]: repeat((call) => show(table.insert(read(call)))),
    [`POST ${one}`]: repeat((call) => {
      const old = collection.get(idOf(call));
      return show(table.update(idOf(call), read(call, old)) ?? old);
    }),
    [`DELETE ${one}`]: (call) => {
      const old = collection.get(idOf(call));
      table.remove(idOf(call));
      return plural === 'Items' ? { status: 204 } : show({ ...old, Status: 'DELETED' });
    },
  };
  const known = Object.entries(routes).filter(([route]) =>
    Object.hasOwn(official.operations, route.replace(ROOT, '').replace('{id}', `{${key}}`)),
  );
  return Object.fromEntries(known);
}

const PAGED: ReadonlySet<string> = new Set(['Contacts', 'Invoices', 'Payments', 'CreditNotes', 'BankTransactions']);

function listOf(collection: Of, call: Call, rule: TextRule): SimulatedResponse {
  const { plural, table } = collection;
  const { query } = call;
  const where = query.get('where')?.trim() ?? '';
  const field = (name: string) => {
    const kind = kindIn(collection, name);
    if (kind === undefined) return undefined;
    const type = kind === 'guid' ? 'string' : kind;
    const isFolded = kind === 'string' && collection.members[name]?.values === undefined;
    return {
      type,
      read: (row: TableRow) => valueAt(row, name),
      fold: kind === 'guid' ? FOLDS['ignoring case'] : isFolded ? FOLDS[rule] : undefined,
    } as const;
  };
  const test =
    where === ''
      ? () => true
      : compileFilter(
          parseWhere(where, (name) => kindIn(collection, name)),
          {
            field: (name) => fieldOf(name, field),
            ofNull: { '!=': true, '=': false, '<': false, '<=': false, '>': false, '>=': false },
            refuse: (message) => queryFault(message),
          },
        );
  const isWanted = quickTests(collection, call);
  const found = table.rows(true).filter((row) => isWanted.every((each) => each(row)) && test(row));
  const order = (query.get('order') ?? '').split(',').filter((term) => term.trim() !== '');
  const terms = order.map((term) => {
    const [, name = '', word = 'ASC'] = /^\s*([\w.]+)(?:\s+(ASC|DESC))?\s*$/i.exec(term) ?? [];
    const known = field(name);
    if (known === undefined) throw queryFault(`No property or field '${name}' exists`);
    return { ...known, descending: word.toUpperCase() === 'DESC' };
  });
  const rows = sortRows(found, terms).map((row) => present(collection, row));
  if (!PAGED.has(plural) || !query.has('page')) return json({ [plural]: rows });
  const most = 1000;
  const page = takePage(rows, { kind: 'number', page: 'page', size: 'pageSize', usual: 100, most }, call);
  const pagination = {
    page: Number(query.get('page')),
    pageSize: page.size,
    pageCount: Math.ceil(page.total / page.size),
    itemCount: page.total,
  };
  return json({ pagination, [plural]: page.rows });
}

/** Returns the tests of the parameters and the header that filter beside `where`. */
function quickTests({ plural, key }: Of, { query, headers }: Call): readonly ((row: TableRow) => boolean)[] {
  const since = readSince(headers['if-modified-since']);
  const anyOf = (parameter: string, path: string) => {
    const values = query.get(parameter)?.split(',');
    return (row: TableRow) => values === undefined || values.includes(String(valueAt(row, path)));
  };
  const term = query.get('searchTerm')?.toLowerCase();
  const searched =
    plural === 'Contacts' ? 'Name FirstName LastName ContactNumber EmailAddress' : 'InvoiceNumber Reference';
  const status = plural === 'Contacts' ? 'ContactStatus' : 'Status';
  const isShown = query.get('includeArchived') === 'true' || plural === 'Accounts';
  return [
    anyOf('IDs', key),
    anyOf('Statuses', 'Status'),
    anyOf('ContactIDs', 'Contact.ContactID'),
    anyOf('InvoiceNumbers', 'InvoiceNumber'),
    (row) =>
      term === undefined ||
      searched.split(' ').some((name) =>
        String(row[name] ?? '')
          .toLowerCase()
          .includes(term),
      ),
    (row) => isShown || row[status] !== 'ARCHIVED',
    (row) => since === undefined || Date.parse(String(row.UpdatedDateUTC)) >= since,
  ];
}

/** Reads the header If-Modified-Since: `2026-01-31T00:00:00` in UTC, or a date of HTTP. */
function readSince(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = Date.parse(/^\d{4}-\d\d-\d\dT[\d:.]+$/.test(header) ? `${header}Z` : header);
  if (Number.isNaN(ms)) throw queryFault('If-Modified-Since is no date');
  // It is accurate to the second.
  return Math.floor(ms / 1000) * 1000;
}

const REPORTED: Readonly<Record<string, string>> = { contacts: 'CONTACT', invoices: 'INVOICE' };
let sequence = 0;

/** Returns the sender of the webhook for a change; undefined for objects that have none. Source: "Webhooks". */
function reporterOf(name: string, { key, before }: TableChange, nowMs: number) {
  const eventCategory = REPORTED[name];
  if (eventCategory === undefined) return undefined;
  const event = {
    resourceUrl: `https://api.xero.com${ROOT}/${eventCategory === 'CONTACT' ? 'Contacts' : 'Invoices'}/${key}`,
    resourceId: key,
    eventDateUtc: new Date(nowMs).toISOString().slice(0, -1),
    eventType: before === undefined ? 'CREATE' : 'UPDATE',
    eventCategory,
    tenantId: TENANTS[0]?.tenantId,
    tenantType: 'ORGANISATION',
  };
  sequence++;
  const body = { events: [event], firstEventSequence: sequence, lastEventSequence: sequence, entropy: `S${sequence}` };
  return ({ secret }: { readonly secret: string }) =>
    signWebhook({ secret, header: 'x-xero-signature', encoding: 'base64' }, body, { nowMs });
}
