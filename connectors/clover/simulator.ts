import type { Config } from '#connector';
import {
  type Call,
  type Collection,
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
  recordRoutes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  sortRows,
  type TableRow,
  type TextRule,
  takePage,
} from '#connector/simulator';
import { compileCriterion, fieldOf, readCriterion, restrictionOf, windowOf } from './simulator/filter.ts';
import { API_HOSTS, createLogin, MERCHANT_ID } from './simulator/login.ts';
import { badRequest, createMerchant, type Resource, wholeSecond } from './simulator/merchant.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, EMPLOYEE_ID, MERCHANT_ID } from './simulator/login.ts';

/** What an instance on the simulator has; `DEMO_ACCESS_TOKEN` is its access token. */
export const DEMO_CONFIGURATION: Config = { merchantId: MERCHANT_ID };

export interface CloverSimulatorOptions extends SimulatorOptions {
  /** Clover does not say how it compares texts. Default `ignoring case`, with blanks at the end and a wildcard in names of items. */
  readonly text?: TextRule;
  /** Calls in a second that a token may make; Clover's number is 16. Default: any, so that tests need not wait. */
  readonly callsPerSecond?: number;
}

const MERCHANT = '/v3/merchants/{merchant}';

/** One merchant in memory. What it does is in the README. */
export function createSimulator(options: CloverSimulatorOptions): Simulator {
  const { text = 'ignoring case', callsPerSecond: calls } = options;
  const clock = createMovableClock();
  const login = createLogin(options.memory, clock);
  const merchant = createMerchant(clock);
  const createdTime = wholeSecond(clock.now() - 500 * DAY_MS);
  const routesOf = (collection: Collection<Resource>): Routes =>
    recordRoutes(`${MERCHANT}/${collection.name}`, collection, {
      list: (call) => list(collection, call, { text, nowMs: clock.now() }),
      show: (row, call) => json(present(collection, row, call)),
      // Payments are made on their orders.
      can: collection.name === 'payments' ? ['get'] : ['get', 'create', 'update', 'remove'],
      update: 'POST',
      createdStatus: 200,
      removed: () => empty(200),
    });
  return simulate(
    {
      clock,
      print,
      // Without a time to wait: only the limits of calls at the same time tell one.
      budget: calls === undefined ? undefined : createBudget({ calls, windowMs: 1000, clock, sendsRetryAfter: false }),
      authenticate: (call) => assertMerchant(call, login.accepts),
      open: login.routes,
      routes: {
        [`GET ${MERCHANT}`]: ({ origin }) =>
          json({
            href: `${origin}/v3/merchants/${MERCHANT_ID}`,
            id: MERCHANT_ID,
            name: "Dana's Demo & Söhne",
            createdTime,
          }),
        ...Object.assign({}, ...Object.values(merchant).map(routesOf)),
      },
      commands: { ...login.commands, ...changesOf(merchant) },
    },
    options,
  );
}

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
function print({ status, code, message, headers }: Fault): SimulatedResponse {
  const text = MESSAGES[status] ?? message;
  const body = code === 'NO_RECORD' ? { message: text, details: message } : { message: text };
  return json(body, status, status === 429 ? { ...limitOf(headers), ...headers } : headers);
}

function limitOf(headers: Fault['headers']): Fault['headers'] {
  return headers['retry-after'] === undefined
    ? { 'x-ratelimit-tokenlimit': '16' }
    : { 'x-ratelimit-tokenconcurrentlimit': '5' };
}

const PAGING: PageStyle = {
  kind: 'offset',
  offset: 'offset',
  size: 'limit',
  usual: 100,
  most: 1000,
  refuse: badRequest,
};

interface ListContext {
  readonly text: TextRule;
  readonly nowMs: number;
}

function list(collection: Collection<Resource>, call: Call, { text, nowMs }: ListContext): SimulatedResponse {
  const { name, filters, table } = collection;
  const criteria = call.query.getAll('filter').map(readCriterion);
  const tests = criteria.map((criterion) => compileCriterion(criterion, collection, text));
  if (name === 'orders' || name === 'payments') tests.push(windowOf(criteria, nowMs));
  // Orders without a state are in no list ("Create custom orders").
  if (name === 'orders') tests.push(restrictionOf(criteria, nowMs), ({ state = null }) => state !== null);
  const found = table.rows().filter((row) => tests.every((test) => test(row)));
  const { rows } = takePage(orderBy(found, collection, call.query.get('orderBy'), text), PAGING, call);
  const elements = rows.map((row) => present(collection, row, call));
  const href = call.origin + call.path + call.search;
  return json({ elements, href }, 200, { 'x-clover-allowed-filter-fields': filters.join(', ') });
}

/** `modifiedTime DESC,price`. @throws Fault 400 for a field that is no filter either, and another grammar */
function orderBy(rows: readonly TableRow[], resource: Resource, order: string | null, rule: TextRule) {
  const terms = order?.split(',').map((term) => {
    const [, field = '', direction] = /^(\w+)(?: (ASC|DESC))?$/.exec(term) ?? [];
    return { ...fieldOf(resource, field, rule), descending: direction === 'DESC' };
  });
  return sortRows(rows, terms ?? []);
}

/** Without what is null. Names that cannot be expanded are passed over. */
function present({ name, expandable }: Collection<Resource>, row: TableRow, { query, origin }: Call) {
  const wanted = query.getAll('expand').flatMap((names) => names.split(','));
  const shown = Object.entries(row).filter(
    ([member, value]) => value !== null && (!expandable.includes(member) || wanted.includes(member)),
  );
  return { href: `${origin}/v3/merchants/${MERCHANT_ID}/${name}/${row.id}`, ...Object.fromEntries(shown) };
}
