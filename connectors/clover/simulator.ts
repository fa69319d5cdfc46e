import type { Config } from '#connector';
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
  type PageStyle,
  type Routes,
  readBearer,
  type Simulator,
  type SimulatorOptions,
  simulate,
  sortRows,
  type TableRow,
  takePage,
} from '#connector/simulator';
import {
  badRequest,
  compileCriterion,
  FOLDS,
  readCriterion,
  restrictionOf,
  type TextRule,
  TYPES,
  windowOf,
} from './simulator/filter.ts';
import { API_HOSTS, createLogin, MERCHANT_ID } from './simulator/login.ts';
import { createResources, type Resource, wholeSecond } from './simulator/resources.ts';
import { readInput } from './simulator/writes.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, EMPLOYEE_ID, MERCHANT_ID } from './simulator/login.ts';

/** What an instance on the simulator has; `DEMO_ACCESS_TOKEN` is its access token. */
export const DEMO_CONFIGURATION: Config = { merchantId: MERCHANT_ID };

export interface CloverSimulatorOptions extends SimulatorOptions {
  /** Clover does not say how it compares texts. Default `ignoring case`, with blanks at the end and a wildcard in names of items. */
  readonly text?: TextRule;
  /** Calls in a second that a token may make; Clover's number is 16. Default: any, so that tests need not wait. */
  readonly callsPerSecond?: number;
}

/** One merchant in memory. What it does is in the README. */
export function createSimulator(options: CloverSimulatorOptions): Simulator {
  const clock = createMovableClock();
  const login = createLogin(options.memory, clock);
  const resources = createResources(clock);
  const openedMs = wholeSecond(clock.now() - 500 * DAY_MS);
  const { callsPerSecond: calls } = options;
  // Without a time to wait: only the limits of calls at the same time tell one.
  const budget = calls === undefined ? undefined : createBudget({ calls, windowMs: 1000, clock, tellsWait: false });
  const { text = 'ignoring case' } = options;
  const lists = Object.entries(resources).map(([name, resource]) =>
    routesOf(name, resource, { text, nowMs: () => clock.now() }),
  );
  return simulate(
    {
      clock,
      print,
      ...(budget && { budget }),
      authenticate: (call) => assertMerchant(call, login.accepts),
      open: login.routes,
      routes: {
        [`GET ${MERCHANT}`]: (call) => json(describeMerchant(call, openedMs)),
        ...Object.assign({}, ...lists),
        [`POST ${MERCHANT}/orders/{id}/payments`]: (call) => pay(resources, call),
      },
      commands: {
        'POST /simulate/end-sessions': () => {
          login.endSessions();
          return empty();
        },
        ...changesOf(
          Object.fromEntries(Object.entries(resources).map(([name, resource]) => [name, changeableOf(resource)])),
        ),
      },
    },
    options,
  );
}

const MERCHANT = '/v3/merchants/{merchant}';

/** Whatever is wrong about a caller is 401: Clover does not tell permissions from tokens. */
function assertMerchant({ headers, host, path }: Call, accepts: (token: string) => boolean): void {
  const isHere = host === undefined || API_HOSTS.includes(host);
  const isMerchant = path.split('/')[3] === MERCHANT_ID || !path.startsWith('/v3/merchants/');
  if (isHere && isMerchant && accepts(readBearer(headers.authorization) ?? '')) return;
  throw new Fault(401, 'UNAUTHORIZED', '401 Unauthorized');
}

const MESSAGES: Readonly<Record<number, string>> = {
  404: 'Not Found',
  405: '405 Method Not Allowed',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};

/** Clover's form: `{ message }`, with `details` for what is not there. A 429 says by a header which limit it was. */
function print({ status, code, message, headers }: Fault): Answer {
  const text = MESSAGES[status] ?? message;
  const body = code === 'NO_RECORD' ? { message: text, details: message } : { message: text };
  return json(body, status, status === 429 ? { ...limitOf(headers), ...headers } : headers);
}

function limitOf(headers: Fault['headers']): Fault['headers'] {
  return headers['retry-after'] === undefined
    ? { 'x-ratelimit-tokenlimit': '16' }
    : { 'x-ratelimit-tokenconcurrentlimit': '5' };
}

function describeMerchant({ origin }: Call, createdTime: number) {
  return { href: `${origin}/v3/merchants/${MERCHANT_ID}`, id: MERCHANT_ID, name: "Dana's Demo & Söhne", createdTime };
}

interface Place {
  readonly text: TextRule;
  readonly nowMs: () => number;
}

function routesOf(name: string, resource: Resource, place: Place): Routes {
  const { table, can } = resource;
  const all = `${MERCHANT}/${name}`;
  const one = `${all}/{id}`;
  const create: Routes = {
    [`POST ${all}`]: (call) => show(name, resource, table.insert(readInput(resource, call.body.object(), true)), call),
  };
  const update: Routes = {
    [`POST ${one}`]: (call) => {
      const { id } = find(resource, call);
      const changed = table.update(String(id), readInput(resource, call.body.object(), false));
      return show(name, resource, changed ?? {}, call);
    },
  };
  const remove: Routes = {
    [`DELETE ${one}`]: (call) => {
      table.remove(String(find(resource, call).id));
      return empty(200);
    },
  };
  return {
    [`GET ${all}`]: (call) => list(name, resource, call, place),
    [`GET ${one}`]: (call) => show(name, resource, find(resource, call), call),
    ...(can.includes('create') && create),
    ...(can.includes('update') && update),
    ...(can.includes('delete') && remove),
  };
}

/** A payment is made on its order, of what was paid elsewhere. */
function pay({ orders, payments }: Readonly<Record<string, Resource>>, call: Call): Answer {
  if (orders === undefined || payments === undefined) throw new Error('There are no orders or no payments.');
  const order = { id: find(orders, call).id };
  return show(
    'payments',
    payments,
    payments.table.insert({ ...readInput(payments, call.body.object(), true), order }),
    call,
  );
}

function find({ table, noun }: Resource, { params: { id = '' } }: Call): TableRow {
  const row = table.find(id);
  if (row === undefined) throw new Fault(404, 'NO_RECORD', `${noun} not found`);
  return row;
}

const PAGING: PageStyle = {
  kind: 'offset',
  offset: 'offset',
  size: 'limit',
  usual: 100,
  most: 1000,
  refuse: badRequest,
};

function list(name: string, resource: Resource, call: Call, { text, nowMs }: Place): Answer {
  const criteria = call.query.getAll('filter').map(readCriterion);
  const tests = criteria.map((criterion) => compileCriterion(criterion, resource, text));
  if (resource.isWindowed) tests.push(windowOf(criteria, nowMs()));
  if (name === 'orders') tests.push(restrictionOf(criteria, nowMs()));
  if (resource.isListed !== undefined) tests.push(resource.isListed);
  const found = resource.table.rows().filter((row) => tests.every((test) => test(row)));
  const { rows } = takePage(orderBy(found, resource, call.query.get('orderBy'), text), PAGING, call);
  const elements = rows.map((row) => present(name, resource, row, call));
  const allowed = Object.keys(resource.filters).join(', ');
  const href = call.origin + call.path + call.search;
  return json({ elements, href }, 200, { 'x-clover-allowed-filter-fields': allowed });
}

/** `modifiedTime DESC,price`. @throws Fault 400 for a field that is no filter either, and another grammar */
function orderBy(
  rows: readonly TableRow[],
  { filters }: Resource,
  order: string | null,
  text: TextRule,
): readonly TableRow[] {
  if (order === null) return rows;
  const terms = order.split(',').map((term) => {
    const [, field = '', direction] = /^(\w+)(?: (ASC|DESC))?$/.exec(term) ?? [];
    const kind = Object.hasOwn(filters, field) ? filters[field] : undefined;
    if (kind === undefined) throw badRequest(`Invalid orderBy: ${order}`);
    const fold = kind === 'text' && { fold: FOLDS[text] };
    return { type: TYPES[kind], read: (row: TableRow) => row[field], descending: direction === 'DESC', ...fold };
  });
  return sortRows(rows, terms);
}

function show(name: string, resource: Resource, row: TableRow, call: Call): Answer {
  return json(present(name, resource, row, call));
}

/** Without what is null. Names that cannot be expanded are passed over. */
function present(name: string, { expandable, hidden = [] }: Resource, row: TableRow, { query, origin }: Call) {
  const wanted = query.getAll('expand').flatMap((names) => names.split(','));
  const shown = Object.entries(row).filter(
    ([member, value]) =>
      value !== null && !hidden.includes(member) && (!expandable.includes(member) || wanted.includes(member)),
  );
  return { href: `${origin}/v3/merchants/${MERCHANT_ID}/${name}/${row.id}`, ...Object.fromEntries(shown) };
}

function changeableOf({ table, writable, required = [] }: Resource) {
  const label = Object.keys(writable).find((member) => writable[member] === 'text') ?? 'id';
  const basics: TableRow = { price: 100, amount: 100, tender: { id: 'N000000000000' } };
  const least = Object.fromEntries(
    required.filter((member) => member in basics).map((member) => [member, basics[member]]),
  );
  return {
    table,
    keyOf: ({ id }: TableRow) => String(id),
    // Without a state an order is in no list.
    create: (number: number) => ({ ...least, [label]: `New ${number}`, ...('state' in writable && { state: 'open' }) }),
    change: (number: number) => ({ [label]: `Changed ${number}` }),
  };
}
