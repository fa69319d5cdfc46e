import type { Config } from '#connector';
import {
  type Call,
  type Collection,
  changesOf,
  createBudget,
  createMovableClock,
  empty,
  Fault,
  json,
  type PageStyle,
  type Routes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { type Company, createCompany, datesOf, type Resource, sumUp } from './simulator/company.ts';
import { badData, badParameter, print, refused } from './simulator/faults.ts';
import { ACCESS_TOKEN, CLIENT_SECRET, createLogin, createOAuthLogin } from './simulator/login.ts';
import { changedSince, swedishTime, type Test } from './simulator/searches.ts';

export { ACCESS_TOKEN, CLIENT_SECRET, CLIENTS, DEMO_AUTHORIZATION_CODE } from './simulator/login.ts';

/** Configuration of an instance on this simulator, whose code is already exchanged. */
export const DEMO_CONFIGURATION: Config = { 'client.secret': CLIENT_SECRET, 'access.token': ACCESS_TOKEN };

interface FortnoxSimulatorOptions extends SimulatorOptions {
  /** Maximum number of calls per five seconds. Fortnox allows 25. Default: no limit, so that tests need not wait. */
  readonly callsPerFiveSeconds?: number;
  /** Whether the second use of a code revokes the token of its first use. Default false. */
  readonly deactivatesOnReuse?: boolean;
}

const WINDOW_MS = 5000;

/** Creates a simulator of a company in api.fortnox.se/3 in memory, with OAuth and with the flow of fixed access tokens. */
export function createSimulator(options: FortnoxSimulatorOptions): Simulator {
  const { callsPerFiveSeconds: calls = Infinity, deactivatesOnReuse = false, memory } = options;
  const clock = createMovableClock();
  const company = createCompany(clock);
  const oauth = createOAuthLogin(memory, clock);
  const login = createLogin({ memory, deactivatesOnReuse, acceptsBearer: oauth.accepts });
  const context = { company, today: () => swedishTime(clock.now()).slice(0, 10) };
  const nothing: Routes = {
    'GET /3{rest*}': () => {
      throw new Fault(404, 'NOT_FOUND', 'Not Found');
    },
  };
  return simulate(
    {
      clock,
      print,
      // Fortnox documents no time to wait.
      budget: createBudget({ calls, windowMs: WINDOW_MS, clock, sendsRetryAfter: false }),
      authenticate: login.authenticate,
      open: oauth.routes,
      routes: login.exchanging(
        Object.assign({}, ...Object.values(company).map((collection) => routesOf(collection, context)), nothing),
      ),
      commands: {
        ...oauth.commands,
        'POST /simulate/deactivate': () => {
          login.deactivate();
          return empty();
        },
        ...changesOf(company),
      },
    },
    options,
  );
}

interface Context {
  readonly company: Company;
  /** Returns the current day in Sweden. */
  readonly today: () => string;
}

function routesOf(collection: Collection<Resource>, context: Context): Routes {
  const { name, key, table, can, required, taken, lines, initial } = collection;
  const isDocument = lines !== undefined;
  const [all, one] = [`/3/${name}`, `/3/${name}/{number}`];
  const find = ({ params: { number = '' } }: Call) => {
    const row = collection.get(number);
    // The number of a deleted record cannot be used again.
    if (row.removed === true) throw new Fault(404, String(collection.missing[0]), collection.missing[1]);
    return row;
  };
  const change = (row: TableRow, values: TableRow) => table.update(String(row[key]), values) ?? row;
  const complete = (row: TableRow) => (isDocument ? change(row, sumUp(collection, row)) : row);

  const create = ({ body }: Call) => {
    const input = collection.read(unwrap(collection, body));
    const { [key]: number } = input;
    if (number !== undefined && table.find(String(number)) !== undefined) throw refused(...taken(String(number)));
    if ((input[required] ?? '') === '') throw badData();
    const given = isDocument && { ...datesOf(collection, input, context.today()), ...customerOf(input, context) };
    return show(collection, complete(table.insert({ ...given, ...input })), 201);
  };
  const update = (call: Call) => {
    const row = find(call);
    const { [key]: _, ...input } = collection.read(unwrap(collection, call.body), row);
    if (input[required] === '') throw badData();
    return show(collection, complete(change(row, { ...input, ...(isDocument && customerOf(input, context)) })));
  };
  const actions: Readonly<Record<Resource['can'][number], Routes>> = {
    delete: {
      [`DELETE ${one}`]: (call) => {
        table.remove(String(find(call)[key]));
        return empty();
      },
    },
    cancel: {
      [`PUT ${one}/cancel`]: (call) =>
        show(collection, change(find(call), { Cancelled: true, ...('Balance' in initial && { Balance: 0 }) })),
    },
    bookkeep: {
      [`PUT ${one}/bookkeep`]: (call) => {
        const row = find(call);
        const voucher = { VoucherNumber: Number(row.DocumentNumber), VoucherSeries: 'B', VoucherYear: 1 };
        return show(collection, change(row, { Booked: true, ...voucher }));
      },
    },
  };
  return {
    [`GET ${all}`]: (call) => list(collection, call, context.today()),
    [`POST ${all}`]: create,
    [`GET ${one}`]: (call) => show(collection, find(call)),
    [`PUT ${one}`]: update,
    ...Object.assign({}, ...can.map((action) => actions[action])),
  };
}

/** The value that empties a member. An empty text leaves it unchanged. */
const BLANK = 'API_BLANK';

/**
 * Returns the values of a record in a body of the form `{ "Customer": {…} }`.
 * @throws Fault 400
 */
function unwrap({ singular, members, initial, key }: Resource, body: Call['body']): TableRow {
  if (body.type !== '' && body.type !== 'application/json') throw refused(1_000_031, 'Invalid content type');
  const { [singular]: wrapped } = body.object();
  if (typeof wrapped !== 'object' || wrapped === null || Array.isArray(wrapped)) throw badData();
  const read = (name: string, value: unknown) => {
    if (value === BLANK) return initial[name];
    return members[name]?.type === 'object' ? { ...Object(initial[name]), ...Object(value) } : value;
  };
  const said = Object.entries<unknown>({ ...wrapped }).filter(
    ([name, value]) => !name.startsWith('@') && members[name]?.isReadOnly !== true && value !== null && value !== '',
  );
  const [, number = 'none'] = said.find(([name]) => name === key) ?? [];
  if (!/^[\p{L}\d–+/_-]+$/u.test(String(number)))
    throw refused(2_000_106, `Värdet måste vara alfanumeriskt (${number})`);
  return Object.fromEntries(said.map(([name, value]) => [name, read(name, value)]));
}

/**
 * Returns the values that a document copies from its customer.
 * @throws Fault 400 for an unknown customer
 */
function customerOf({ CustomerNumber }: TableRow, { company: { customers } }: Context): TableRow {
  if (CustomerNumber === undefined) return {};
  const customer = customers.table.find(String(CustomerNumber));
  if (customer === undefined || customer.removed === true) throw refused(...customers.missing);
  const { Name, City, ZipCode, OrganisationNumber } = customer;
  return { CustomerName: Name, City: City ?? '', ZipCode: ZipCode ?? '', OrganisationNumber };
}

/** Returns the URL of a record. Fortnox always prints its own host. */
function addressOf({ name, key }: Collection<Resource>, row: TableRow): string {
  return `https://api.fortnox.se/3/${name}/${encodeURIComponent(String(row[key]))}`;
}

/** Responds with a record in the long form. */
function show(collection: Collection<Resource>, row: TableRow, status = 200): SimulatedResponse {
  const { name, singular, key, lines } = collection;
  const { modified: _, removed: __, ...members } = row;
  const reductions = `https://api.fortnox.se/3/taxreductions?filter=${name}&referencenumber=${row[key]}`;
  const urls = { '@url': addressOf(collection, row), ...(lines && { '@urlTaxReductionList': reductions }) };
  return json({ [singular]: { ...urls, ...members } }, status, status === 201 ? { location: name } : {});
}

const SIZE = { size: 'limit', usual: 100, most: 500, beyond: 'refused', refuse: badParameter } as const;
const PAGING: PageStyle = { kind: 'number', page: 'page', ...SIZE };
const OTHERS: readonly string[] = ['page', 'limit', 'offset', 'sortby', 'sortorder'];

/**
 * Responds with a list. Several tests are joined with AND: a recorded search for a city and a postal code returned fewer rows than a search
 * for the city.
 */
function list(collection: Collection<Resource>, call: Call, today: string): SimulatedResponse {
  const { query } = call;
  const tests = [...query]
    .filter(([name]) => !OTHERS.includes(name))
    .map(([name, text]) => readTest(collection, name, text, today));
  const found = collection.table.rows().filter((row) => tests.every((test) => test(row)));
  const offset = query.get('offset') || '0';
  if (!/^\d+$/.test(offset)) throw badParameter();
  const { rows, total, size } = takePage(inOrder(found, collection, query).slice(Number(offset)), PAGING, call);
  return json({
    MetaInformation: {
      '@TotalResources': found.length,
      '@TotalPages': Math.ceil(total / size),
      '@CurrentPage': Number(query.get('page') || 1),
    },
    [`${collection.singular}s`]: rows.map((row) => ({ '@url': addressOf(collection, row), ...collection.short(row) })),
  });
}

/**
 * Reads a parameter into a test.
 * @throws Fault 400 for a parameter that this list does not have
 */
function readTest({ searches, filters }: Resource, name: string, text: string, today: string): Test {
  if (name === 'lastmodified') return changedSince(text);
  if (name !== 'filter') {
    const search = Object.hasOwn(searches, name) ? searches[name] : undefined;
    if (search === undefined) throw badParameter();
    return search(text);
  }
  const filter = Object.hasOwn(filters, text) ? filters[text] : undefined;
  if (filter === undefined) throw refused(2_000_587, 'Ett ogiltigt filter har använts.');
  return (row) => filter(row, today);
}

/**
 * Sorts rows by the order of a query.
 * @throws Fault 400
 */
function inOrder(rows: readonly TableRow[], { key, sorts }: Resource, query: URLSearchParams): readonly TableRow[] {
  const [by, order] = [query.get('sortby'), query.get('sortorder') || 'ascending'];
  const column = by ? (Object.hasOwn(sorts, by) ? sorts[by] : undefined) : key;
  if (column === undefined || !['ascending', 'descending'].includes(order)) throw badParameter();
  const sign = order === 'ascending' ? 1 : -1;
  return rows.toSorted((a, b) => sign * compare(a[column], b[column]));
}

const SWEDISH = new Intl.Collator('sv');

/** Compares values. Numbers compare by their size, even if they are texts, and come before words, which have the Swedish order. */
function compare(a: unknown, b: unknown): number {
  const [first, second] = [asNumber(a), asNumber(b)];
  if (first === undefined && second === undefined) return SWEDISH.compare(String(a ?? ''), String(b ?? ''));
  if (first === undefined || second === undefined) return first === undefined ? 1 : -1;
  return first - second;
}

function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined;
}
