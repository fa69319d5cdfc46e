import type { Config } from '#connector';
import {
  changesOf,
  createBudget,
  createMovableClock,
  empty,
  Fault,
  type Routes,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableRow,
} from '#connector/simulator';
import { print } from './simulator/faults.ts';
import { list } from './simulator/lists.ts';
import { ACCESS_TOKEN, CLIENT_SECRET, createLogin, createOAuthLogin } from './simulator/login.ts';
import { createResources, type Resource } from './simulator/resources.ts';
import { swedishTime } from './simulator/searches.ts';
import { bookkeep, cancel, create, find, type Place, show, update } from './simulator/writes.ts';

export { ACCESS_TOKEN, CLIENT_SECRET, CLIENTS, DEMO_AUTHORIZATION_CODE } from './simulator/login.ts';

/** What an instance on the simulator has, its code already exchanged. */
export const DEMO_CONFIGURATION: Config = { 'client.secret': CLIENT_SECRET, 'access.token': ACCESS_TOKEN };

export interface FortnoxSimulatorOptions extends SimulatorOptions {
  /** Fortnox's number is 25. Default: any, so that tests need not wait. */
  readonly callsPerFiveSeconds?: number;
  /** Whether a code that is shown twice also ends the token that it was exchanged for. Default false. */
  readonly deactivatesOnReuse?: boolean;
}

/** A company in api.fortnox.se/3, in memory, by OAuth and by the flow of fixed access tokens. */
export function createSimulator(options: FortnoxSimulatorOptions): Simulator {
  const { callsPerFiveSeconds: calls, deactivatesOnReuse = false, memory } = options;
  const clock = createMovableClock();
  const resources = createResources(clock);
  const oauth = createOAuthLogin(memory, clock);
  const login = createLogin({ memory, deactivatesOnReuse, acceptsBearer: oauth.accepts });
  const place: Place = { resources, today: () => swedishTime(clock.now()).slice(0, 10) };
  const routes: Routes[] = Object.values(resources).map((resource) => routesOf(resource, place));
  const nothing: Routes = { 'GET /3{rest*}': () => missing() };
  return simulate(
    {
      clock,
      print,
      // Without a time to wait: Fortnox documents none.
      ...(calls !== undefined && { budget: createBudget({ calls, windowMs: WINDOW_MS, clock, tellsWait: false }) }),
      authenticate: login.authenticate,
      open: oauth.routes,
      routes: login.exchanging(Object.assign({}, ...routes, nothing)),
      commands: {
        'POST /simulate/deactivate': () => {
          login.deactivate();
          return empty();
        },
        'POST /simulate/end-sessions': () => {
          oauth.endSessions();
          return empty();
        },
        ...changesOf({
          customers: changeable(resources.customers, 'Name'),
          articles: changeable(resources.articles, 'Description'),
          suppliers: changeable(resources.suppliers, 'Name'),
          orders: changeable(resources.orders, 'Comments'),
          invoices: changeable(resources.invoices, 'Comments'),
        }),
      },
    },
    options,
  );
}

function missing(): never {
  throw new Fault(404, 'NOT_FOUND', 'Not Found');
}

const WINDOW_MS = 5000;

function routesOf(resource: Resource, place: Place): Routes {
  const { can, key, table } = resource;
  const all = `/3/${resource.path}`;
  const one = `${all}/{number}`;
  const remove: Routes = {
    [`DELETE ${one}`]: (call) => {
      table.remove(String(find(resource, call)[key]));
      return empty();
    },
  };
  return {
    [`GET ${all}`]: (call) => list(resource, call, place.today()),
    [`POST ${all}`]: (call) => create(resource, call, place),
    [`GET ${one}`]: (call) => show(resource, find(resource, call)),
    [`PUT ${one}`]: (call) => update(resource, call, place),
    ...(can.includes('delete') && remove),
    ...(can.includes('cancel') && { [`PUT ${one}/cancel`]: (call) => cancel(resource, call) }),
    ...(can.includes('bookkeep') && { [`PUT ${one}/bookkeep`]: (call) => bookkeep(resource, call) }),
  };
}

function changeable({ table, key }: Resource, label: string) {
  return {
    table,
    keyOf: (row: TableRow) => String(row[key]),
    create: (number: number) => ({ [label]: `New ${number}` }),
    change: (number: number) => ({ [label]: `Changed ${number}` }),
  };
}
