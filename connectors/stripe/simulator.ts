import {
  type Call,
  changesOf,
  createMovableClock,
  createOfficialJudges,
  createRepeater,
  createSearchIndex,
  Fault,
  json,
  type Routes,
  readBasic,
  readBearer,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { createRecords, type Records } from './simulator/account.ts';
import { createEvents, VERSION } from './simulator/events.ts';
import { listPage, pageOf, searchPage } from './simulator/lists.ts';
import { create, remove, update } from './simulator/writes.ts';

export { signatureOf } from './simulator/events.ts';

/** A secret key, and a restricted key that may only read. */
export const DEMO_SECRET_KEY = 'sk_test_demo';
export const DEMO_RESTRICTED_KEY = 'rk_test_demo';

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { 'api.key': DEMO_SECRET_KEY, 'metadata.keys': 'order_id, tier' };

export interface StripeSimulatorOptions extends SimulatorOptions {
  /** The time until a search finds a change. Stripe's is under a minute. Default 0. */
  readonly indexLagMs?: number;
}

const createJudge = createOfficialJudges(official);

/** Returns an error as Stripe writes it. Source: "Errors". */
function print({ status, code, message, headers, fields: [param] }: Fault): SimulatedResponse {
  const type = status >= 500 ? 'api_error' : code === 'idempotency_error' ? code : 'invalid_request_error';
  const words = { UNAUTHORIZED: 'api_key_invalid', TOO_MANY_REQUESTS: 'rate_limit' }[code] ?? code;
  const named = /^[a-z_]+$/.test(words) && words !== 'idempotency_error' ? { code: words } : {};
  return json({ error: { type, ...named, message, ...(param !== undefined && { param }) } }, status, headers);
}

/** Checks the key, which is a bearer token or the user name of HTTP Basic. Source: "Authentication". */
function authenticate({ headers: { authorization, 'stripe-version': version }, method }: Call): void {
  const key = readBearer(authorization) ?? readBasic(authorization)?.username;
  if (key !== DEMO_SECRET_KEY && key !== DEMO_RESTRICTED_KEY) {
    throw new Fault(
      401,
      'api_key_invalid',
      key === undefined ? 'You did not provide an API key.' : 'Invalid API Key provided.',
    );
  }
  if (key === DEMO_RESTRICTED_KEY && method !== 'GET') {
    throw new Fault(
      403,
      'more_permissions_required',
      'The provided key does not have the required permissions for this endpoint.',
    );
  }
  if (version !== undefined && !/^\d{4}-\d{2}-\d{2}(?:\.[a-z]+)?$/.test(String(version))) {
    throw new Fault(400, 'api_version_invalid', `Invalid Stripe API version: ${version}`);
  }
}

/** Creates a simulator of one Stripe account in memory. README.md lists the sources. */
export function createSimulator(options: StripeSimulatorOptions): Simulator {
  const clock = createMovableClock();
  const events = createEvents(clock, options.send, shareMemory(options.memory, 'endpoints'));
  const index = createSearchIndex({ clock, lagMs: options.indexLagMs ?? 0 });
  const deletedCustomers = new Set<string>();
  const records = createRecords(clock, (name, change) => {
    index.note(name, change);
    if (name === 'customers' && change.after === undefined) deletedCustomers.add(change.key);
    events.report(name, change);
  });
  // Source: "Idempotent requests".
  const message = 'Keys for idempotent requests can only be used with the same parameters they were first used with.';
  const repeat = createRepeater({
    headers: { 'idempotent-replayed': 'true' },
    conflict: () => new Fault(400, 'idempotency_error', message),
  });
  const handlers = (each: Records): Routes => ({
    [`GET /v1/${each.name}/search`]: (call) => searchPage(call, each.name, index.rows(each)),
    [`GET /v1/${each.name}`]: (call) => listPage(call, each.event, rowsOf(each, call)),
    [`GET /v1/${each.name}/{id}`]: ({ params: { id = '' } }) =>
      // A deleted customer is still found, without its members.
      json(deletedCustomers.has(id) ? { id, object: 'customer', deleted: true } : each.get(id)),
    [`POST /v1/${each.name}`]: repeat((call) => create(call, each, records)),
    [`POST /v1/${each.name}/{id}`]: repeat((call) => update(call, each)),
    [`DELETE /v1/${each.name}/{id}`]: (call) => remove(call, each, records),
  });
  const all = Object.assign({}, ...Object.values(records).map(handlers)) as Routes;
  return simulate(
    {
      clock,
      print,
      authenticate,
      official: createJudge(),
      headers: { 'stripe-version': VERSION, 'request-id': 'req_Simulated' },
      routes: {
        ...Object.fromEntries(Object.entries(all).filter(([key]) => Object.hasOwn(official.operations, key))),
        'GET /v1/invoices/{id}/lines': (call) => linesOf(call, records.invoices),
        ...events.routes,
      },
      commands: changesOf(records),
    },
    options,
  );
}

/** Without a status, a list of subscriptions has those that are not canceled. Source: the operation `GET /v1/subscriptions`. */
function rowsOf({ name, table }: Records, { query }: Call) {
  const rows = table.rows();
  return name === 'subscriptions' && !query.has('status') ? rows.filter(({ status }) => status !== 'canceled') : rows;
}

function linesOf(call: Call, invoices: Records): SimulatedResponse {
  const { lines } = invoices.get(call.params.id ?? '');
  return json({ object: 'list', url: call.path, ...pageOf(call, 'line item', Object(lines).data) });
}
