import {
  type Answer,
  type Call,
  changesOf,
  createBudget,
  createMovableClock,
  DAY_MS,
  empty,
  Fault,
  json,
  type MovableClock,
  type PageStyle,
  type Routes,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  sortRows,
  type TableRow,
  takePage,
  typed,
} from '#connector/simulator';
import { badRequest, compileAll, type TextRule, typeOf } from './simulator/filter.ts';
import { createHooks } from './simulator/hooks.ts';
import { createLogin, TENANT } from './simulator/login.ts';
import { createResources, type Resource, type Resources } from './simulator/resources.ts';
import { basicContact, CUSTOM_FIELDS, contentOf, opportunityContact, STAGES, USER_ID } from './simulator/rows.ts';
import { createFirstVersion } from './simulator/v1.ts';
import { readInput, readUpload, type Written } from './simulator/writes.ts';

export { CLIENTS, DEMO_ACCESS_KEY, DEMO_ACCESS_TOKEN } from './simulator/login.ts';

/** What an instance on the simulator has; `DEMO_ACCESS_TOKEN` is its access token. */
export const DEMO_CONFIGURATION = {};

export interface KeapSimulatorOptions extends SimulatorOptions {
  /** Keap does not say how it compares texts, but for prefixes, which ignore cases. Default `ignoring case`. */
  readonly text?: TextRule;
  /** Calls in a minute; Keap's number is 1500. Default: any, so that tests need not wait. */
  readonly callsPerMinute?: number;
}

/** One application of Keap in memory, with both versions of its API. */
export function createSimulator(options: KeapSimulatorOptions): Simulator {
  const { memory, send, text: rule = 'ignoring case' } = options;
  const clock = createMovableClock();
  const login = createLogin(shareMemory(memory, 'login'), clock);
  const hooks = createHooks({ memory: shareMemory(memory, 'hooks'), clock, ...(send && { send }) });
  const resources = createResources(clock, { onChange: hooks.tell });
  return simulate(
    {
      clock,
      print,
      budget: createRates(clock, options.callsPerMinute),
      authenticate: login.authenticate,
      open: login.routes,
      routes: {
        ...createSecondVersion(resources, rule),
        ...createFirstVersion(resources),
        ...hooks.routes,
      },
      commands: {
        'POST /simulate/end-sessions': () => {
          login.endSessions();
          return empty();
        },
        ...hooks.commands,
        ...changesOf(changeablesOf(resources)),
      },
    },
    options,
  );
}

const ROOT = '/crm/rest/v2';
const WRITTEN: readonly Written[] = ['contacts', 'tags', 'tasks', 'opportunities', 'orders', 'emails'];

function createSecondVersion(resources: Resources, rule: TextRule): Routes {
  const { files, appointments, transactions, commissions } = resources;
  const get = (resource: Resource) => (call: Call) =>
    json(present(resource, find(resource, call), readFields(resource, call)));
  const routesOf = (name: Written): Routes => {
    const resource: Resource = resources[name];
    const update: Routes = {
      [`PATCH ${ROOT}/${name}/{id}`]: (call) => {
        const { id } = find(resource, call);
        const changed = resource.table.update(String(id), readInput(name, call, resources, false));
        return json(present(resource, changed ?? {}, readFields(resource, call)));
      },
    };
    return {
      [`GET ${ROOT}/${name}`]: (call) => list(resource, call, rule),
      [`POST ${ROOT}/${name}`]: (call) => {
        const made = resource.table.insert(readInput(name, call, resources, true));
        return name === 'emails'
          ? showEmail(resource, made, 201)
          : json(present(resource, made, readFields(resource, call)), 201);
      },
      [`GET ${ROOT}/${name}/{id}`]:
        name === 'emails' ? (call) => showEmail(resource, find(resource, call)) : get(resource),
      // A record of an e-mail is not changed.
      ...(name !== 'emails' && update),
      [`DELETE ${ROOT}/${name}/{id}`]: (call) => {
        const { id } = find(resource, call);
        if (name === 'orders') assertUnpaid(resources, String(id));
        resource.table.remove(String(id));
        return empty();
      },
    };
  };
  const models = ['contacts', 'tasks', 'opportunities', 'orders'] as const;
  return {
    [`GET ${ROOT}/oauth/connect/userinfo`]: () => json(USER),
    ...Object.fromEntries(models.map((name) => [`GET ${ROOT}/${name}/model`, () => json(modelOf(resources[name]))])),
    [`GET ${ROOT}/opportunities/stages`]: () => json({ stages: STAGES, next_page_token: '' }),
    ...Object.assign({}, ...WRITTEN.map(routesOf)),
    ...fileRoutes(files, rule),
    [`GET ${ROOT}/sales/transactions`]: (call) => list(transactions, call, rule),
    [`GET ${ROOT}/taskAppointments`]: (call) => list(appointments, call, rule),
    [`GET ${ROOT}/affiliates/{affiliate}:commissions`]: (call) =>
      list(commissions, call, rule, (row) => row._affiliate_id === call.params.affiliate),
  };
}

const USER = {
  ...{ email: 'integration@example.com', sub: USER_ID, id: '123456', keap_id: 'integration@example.com' },
  ...{ family_name: 'User', given_name: 'Integration', middle_name: null, preferred_name: null, is_admin: true },
  tenant_id: TENANT,
};

function modelOf({ optional = [] }: Resource) {
  const nothing = { options: null, record_type: null, default_value: null, group_id: null, group_name: null };
  return { custom_fields: CUSTOM_FIELDS.map((field) => ({ ...field, ...nothing })), optional_properties: optional };
}

/** @throws Fault 404 */
function find({ table, noun }: Resource, { params: { id = '' } }: Call): TableRow {
  const row = table.find(id);
  if (row === undefined) throw new Fault(404, 'NO_RECORD', `Unable to find this ${noun}`);
  return row;
}

/** An order that was paid for stays. @throws Fault 409 */
function assertUnpaid({ transactions }: Resources, id: string): void {
  if (!transactions.table.rows().some(({ order_ids }) => [order_ids ?? []].flat().includes(id))) return;
  throw new Fault(409, 'FAILED_PRECONDITION', 'The Order has transactions');
}

const SIZES = { size: 'page_size', usual: 1000, most: 1000, beyond: 'refused', refuse: badRequest } as const;
const WORDS: PageStyle = { ...SIZES, kind: 'cursor', cursor: 'page_token' };
/** As a recorded answer has it: the token of tags is a whole address. */
const ADDRESSES: PageStyle = { ...SIZES, kind: 'link', token: 'page_token' };

function list(resource: Resource, call: Call, rule: TextRule, isListed = (_: TableRow): boolean => true): Answer {
  const { table, filters, list: name } = resource;
  const query = new URLSearchParams(call.query);
  if (query.get('page_size') === '0') query.delete('page_size');
  const test = compileAll(query.get('filter'), { specs: filters, rule });
  const found = table.rows().filter((row) => isListed(row) && test(row));
  const sorted = orderBy(found, resource, query.get('order_by'), rule);
  const { rows, next } = takePage(sorted, name === 'tags' ? ADDRESSES : WORDS, { ...call, query });
  const fields = readFields(resource, call);
  const shown = rows.map((row) => present(resource, row, fields));
  return json({ [name]: shown, ...totalsOf(name, rows), next_page_token: next ?? '' });
}

/** Of the commissions of a page. */
function totalsOf(name: string, rows: readonly TableRow[]) {
  if (name !== 'affiliate_commissions') return {};
  const earned = rows.reduce((sum, { amount_earned }) => sum + Number(amount_earned), 0);
  const amount = Number(earned.toFixed(2));
  return { clawbacks: 0, commission_total: amount, amount_earned: amount };
}

/** `create_time desc`. @throws Fault 400 for other fields, and another grammar */
function orderBy(rows: readonly TableRow[], { orders }: Resource, order: string | null, rule: TextRule) {
  if (order === null) return rows;
  const [, name = '', direction] = /^(\w+)(?: (asc|desc))?$/.exec(order) ?? [];
  const by = Object.hasOwn(orders, name) ? orders[name] : undefined;
  if (by === undefined) throw badRequest(`Invalid order_by: ${order}`, 'order_by');
  return sortRows(rows, [{ ...typeOf(by, rule), read: by.read, descending: direction === 'desc' }]);
}

/** @throws Fault 400 for what nobody may ask for */
function readFields({ optional = [], isSparse = false }: Resource, { query }: Call): readonly string[] | undefined {
  if (!query.has('fields')) return undefined;
  const names = query
    .getAll('fields')
    .flatMap((each) => each.split(','))
    .map((name) => name.trim());
  const allowed = isSparse ? [...optional, 'id', 'given_name', 'family_name'] : optional;
  const wrong = names.find((name) => !allowed.includes(name));
  if (wrong !== undefined) throw badRequest(`Invalid fields: ${wrong}`, 'fields');
  return names;
}

function present({ optional = [], isSparse = false }: Resource, row: TableRow, fields: readonly string[] | undefined) {
  const isShown = (name: string) =>
    isSparse && fields !== undefined
      ? fields.includes(name)
      : !optional.includes(name) || fields?.includes(name) === true;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_') && isShown(name)));
}

function showEmail(resource: Resource, row: TableRow, status = 200): Answer {
  const content = { plain_content: row._plain_content, html_content: row._html_content };
  return json({ ...present(resource, row, undefined), ...content }, status);
}

/** What they hold is kept apart. */
function fileRoutes(files: Resource, rule: TextRule): Routes {
  const contents = new Map<string, Uint8Array>();
  const put = (row: TableRow, bytes: Uint8Array | undefined) => {
    if (bytes !== undefined) contents.set(String(row.id), bytes);
    return present(files, row, undefined);
  };
  return {
    [`GET ${ROOT}/files`]: (call) => list(files, call, rule),
    [`POST ${ROOT}/files`]: async (call) => {
      const { values, bytes } = await readUpload(call, true);
      return json(put(files.table.insert(values), bytes), 201);
    },
    [`GET ${ROOT}/files/{id}:data`]: (call) => {
      const id = String(find(files, call).id);
      return typed('application/octet-stream', contents.get(id) ?? contentOf(id));
    },
    [`GET ${ROOT}/files/{id}`]: (call) => json(present(files, find(files, call), undefined)),
    [`POST ${ROOT}/files/{id}`]: async (call) => {
      const id = String(find(files, call).id);
      const { values, bytes } = await readUpload(call, false);
      return json(put(files.table.update(id, values) ?? {}, bytes));
    },
    [`DELETE ${ROOT}/files/{id}`]: (call) => {
      files.table.remove(String(find(files, call).id));
      return empty();
    },
  };
}

const STATUSES: Readonly<Record<number, string>> = {
  ...{ 400: 'INVALID_ARGUMENT', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND', 405: 'UNIMPLEMENTED', 409: 'ABORTED' },
  ...{ 500: 'INTERNAL', 503: 'UNAVAILABLE' },
};

/** What the gateway refuses says it in another form than what the versions of the API refuse. */
function print({ status, code, message, headers, fields }: Fault, { path }: Pick<Call, 'path'>): Answer {
  if (status === 401) return json(gatewayFault(code, message), status, { ...BLANK, ...headers });
  if (status === 429) return json(gatewayFault(QUOTA, 'Rate limit quota violation'), status, headers);
  if (path.startsWith('/crm/rest/v1/')) return json({ message }, status, headers);
  const details = fields.map((resource) => ({ domain: 'rest', resource }));
  return json({ code: status, message, status: STATUSES[status] ?? 'UNKNOWN', details }, status, headers);
}

const QUOTA = 'policies.ratelimit.QuotaViolation';

function gatewayFault(errorcode: string, faultstring: string) {
  return { fault: { faultstring, detail: { errorcode } } };
}

const RATES = ['limit', 'time-unit', 'interval', 'available', 'used'];

/** Nobody's calls have no rates. */
const BLANK = Object.fromEntries([
  ...['product-throttle', 'product-quota', 'tenant-throttle'].flatMap((kind) =>
    RATES.map((rate) => [`x-keap-${kind}-${rate}`, '']),
  ),
  ...['x-keap-product-quota-expiry-time', 'x-keap-tenant-id'].map((name) => [name, '']),
]);

const [PER_MINUTE, PER_DAY] = [1500, 150_000];

function createRates(clock: MovableClock, callsPerMinute: number | undefined) {
  const limit = callsPerMinute ?? PER_MINUTE;
  return createBudget({
    ...{ calls: callsPerMinute ?? Number.MAX_SAFE_INTEGER, windowMs: 60_000, clock, tellsWait: false },
    headers: ({ calls, left }) => {
      const used = Math.min(calls - left, limit);
      const tomorrow = Math.ceil((clock.now() + 1) / DAY_MS) * DAY_MS;
      return {
        ...ratesOf('product-throttle', [limit, 'minute', 1, limit - used, used]),
        ...ratesOf('product-quota', [PER_DAY, 'day', 1, PER_DAY - used, used]),
        'x-keap-product-quota-expiry-time': String(tomorrow),
        'x-keap-tenant-id': TENANT,
        ...ratesOf('tenant-throttle', [
          '10000|250000',
          'minute|day',
          '1|1',
          `${10_000 - used}|${250_000 - used}`,
          `${used}|${used}`,
        ]),
      };
    },
  });
}

function ratesOf(kind: string, values: readonly (string | number)[]) {
  return Object.fromEntries(RATES.map((rate, index) => [`x-keap-${kind}-${rate}`, String(values[index])]));
}

/** Values by which others make and change the rows of a table. */
function changeablesOf(resources: Resources) {
  const [stage] = STAGES;
  const [first = {}] = resources.contacts.table.rows();
  const made = new Map<string, readonly [text: string, values?: TableRow]>(
    Object.entries({
      contacts: ['given_name'],
      tags: ['name'],
      tasks: ['title', { assigned_to_user_id: USER_ID }],
      opportunities: ['opportunity_title', { stage, contact: opportunityContact(first) }],
      orders: ['title', { contact: basicContact(first), order_type: 'ONLINE' }],
      transactions: [
        'description',
        { contact: basicContact(first), contact_id: first.id, amount: 1, status: 'APPROVED' },
      ],
      emails: ['subject', { sent_to_address: 'new@example.com' }],
      files: ['file_name', { file_size: 0 }],
      appointments: ['title'],
      commissions: ['description', { _affiliate_id: '3', sales_affiliate_id: '3', amount_earned: 1 }],
    } satisfies Record<keyof Resources, readonly [text: string, values?: TableRow]>),
  );
  return Object.fromEntries(
    Object.entries(resources).map(([name, { table }]) => {
      const [text = '', values] = made.get(name) ?? [];
      const create = (number: number) => ({ ...values, [text]: `New ${number}` });
      const change = (number: number) => ({ [text]: `Changed ${number}` });
      return [name, { table, keyOf: table.keyOf, create, change }];
    }),
  );
}
