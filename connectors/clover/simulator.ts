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

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION: Config = { merchantId: MERCHANT_ID };

interface CloverSimulatorOptions extends SimulatorOptions {
  /**
   * The rule for comparing texts, which Clover does not document. Default `ignoring case`, which also ignores blanks at the end and reads a
   * wildcard in names of items.
   */
  readonly text?: TextRule;
  /** The currency of the merchant. Default `USD`. */
  readonly currency?: string;
  /** Maximum number of calls per token and second. Clover allows 16. Default: no limit, so that tests need not wait. */
  readonly callsPerSecond?: number;
}

const MERCHANT = '/v3/merchants/{merchant}';

/** Creates a simulator of one merchant in memory. The README lists what it simulates. */
export function createSimulator(options: CloverSimulatorOptions): Simulator {
  const { text = 'ignoring case', callsPerSecond: calls = Infinity } = options;
  const clock = createMovableClock();
  const login = createLogin(options.memory, clock);
  const merchant = createMerchant(clock);
  const createdTime = wholeSecond(clock.now() - 500 * DAY_MS);
  const routesOf = (collection: Collection<Resource>): Routes =>
    recordRoutes(`${MERCHANT}/${collection.name}`, collection, {
      list: (call) => list(collection, call, { text, nowMs: clock.now() }),
      show: (row, call) => json(present(collection, row, call)),
      // Payments are created through their orders.
      can: collection.name === 'payments' ? ['get'] : ['get', 'create', 'update', 'remove'],
      update: 'POST',
      createdStatus: 200,
      removed: () => empty(200),
    });
  return simulate(
    {
      clock,
      print,
      // Clover sends no time to wait here, only with the limits of concurrent calls.
      budget: createBudget({ calls, windowMs: 1000, clock, sendsRetryAfter: false }),
      authenticate: (call) => assertMerchant(call, login.accepts),
      open: login.routes,
      routes: {
        [`GET ${MERCHANT}`]: ({ origin }) => {
          const href = `${origin}/v3/merchants/${MERCHANT_ID}`;
          return json({ href, id: MERCHANT_ID, name: "Dana's Demo & Söhne", createdTime });
        },
        [`GET ${MERCHANT}/properties`]: () => json({ defaultCurrency: options.currency ?? 'USD', locale: 'en-US' }),
        ...Object.assign({}, ...Object.values(merchant).map(routesOf)),
      },
      commands: { ...login.commands, ...changesOf(merchant) },
    },
    options,
  );
}

/**
 * Asserts that the caller may access the merchant. Every refusal is 401, because Clover's status does not distinguish permissions from
 * tokens.
 */
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

/** Prints an error in Clover's form: `{ message }`, with `details` for a missing record. A header of a 429 names the exceeded limit. */
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
  ...{ kind: 'offset', offset: 'offset', size: 'limit', usual: 100, most: 1000, refuse: badRequest },
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
  // No list contains an order without a state ("Create custom orders").
  if (name === 'orders') tests.push(restrictionOf(criteria, nowMs), ({ state = null }) => state !== null);
  const found = table.rows().filter((row) => tests.every((test) => test(row)));
  const { rows } = takePage(orderBy(found, collection, call.query.get('orderBy'), text), PAGING, call);
  const elements = rows.map((row) => present(collection, row, call));
  const href = call.origin + call.path + call.search;
  return json({ elements, href }, 200, { 'x-clover-allowed-filter-fields': filters.join(', ') });
}

/**
 * Sorts rows by an order such as `modifiedTime DESC,price`.
 * @throws Fault 400 for a field that cannot be filtered either, and for another grammar
 */
function orderBy(rows: readonly TableRow[], resource: Resource, order: string | null, rule: TextRule) {
  const terms = order?.split(',').map((term) => {
    const [, field = '', direction] = /^(\w+)(?: (ASC|DESC))?$/.exec(term) ?? [];
    return { ...fieldOf(resource, field, rule), descending: direction === 'DESC' };
  });
  return sortRows(rows, terms ?? []);
}

/** Prints a record without its null values. Names that cannot be expanded are ignored. */
function present({ name, expandable }: Collection<Resource>, row: TableRow, { query, origin }: Call) {
  const wanted = query.getAll('expand').flatMap((names) => names.split(','));
  const shown = Object.entries(row).filter(
    ([member, value]) => value !== null && (!expandable.includes(member) || wanted.includes(member)),
  );
  return { href: `${origin}/v3/merchants/${MERCHANT_ID}/${name}/${row.id}`, ...Object.fromEntries(shown) };
}
