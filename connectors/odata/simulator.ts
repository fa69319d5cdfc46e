import {
  basic,
  type Call,
  type Changeable,
  changesOf,
  createMovableClock,
  empty,
  Fault,
  fault,
  json,
  type Routes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableRow,
  xml,
} from '#connector/simulator';
import type { Collation } from './simulator/condition.ts';
import { createBroker } from './simulator/events.ts';
import type { Quirks } from './simulator/quirks.ts';
import { type Options, queryRows, readCount, readOptions, readSelect } from './simulator/read.ts';
import { createShelves, type Shelf } from './simulator/rows.ts';
import { addressOf, hasBigAsText, isBig, keyOf, METADATA, readKey } from './simulator/schema.ts';
import { completeRow, readBody } from './simulator/write.ts';

/**
 * Options of an OData 4.0 service in memory at `/odata/v4/shop`, and of the same one with basic authentication (`demo`, `demo-password`) at
 * `/odata/v4/private`. It follows the specification where real services are lenient: it rejects unknown properties and options, types that
 * do not compare, and changes without If-Match.
 */
export interface ODataSimulatorOptions extends SimulatorOptions {
  /** Maximum number of rows per response. Without it only `Prefer: odata.maxpagesize` limits pages. */
  readonly maxPageSize?: number;
  readonly links?: 'absolute' | 'relative';
  readonly collation?: Collation;
  /** Whether the response to a change contains the record. `without record` has the effect of `Prefer: return=minimal`. */
  readonly answersChanges?: 'with record' | 'without record';
  readonly quirks?: Quirks;
}

/** Configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { 'base.url': 'https://demo.example.com/odata/v4/shop' };

const ROOT = '/odata/v4/{service}';
const rootOf = ({ origin, params: { service } }: Call) => `${origin}/odata/v4/${service}`;

export function createSimulator(settings: ODataSimulatorOptions): Simulator {
  const { quirks = {} } = settings;
  const clock = createMovableClock();
  const broker = createBroker(settings.send, clock);
  const shelves = createShelves(broker.notify).map((shelf): Served => ({ ...shelf, settings }));
  const isDemo = basic('demo', ({ username, password }) => username === 'demo' && password === 'demo-password');
  const stamp = () => ({ ChangedAt: new Date(clock.now()).toISOString() });
  const changeable = (shelf: Shelf): Changeable => ({
    table: shelf.table,
    keyOf: ({ Id }) => String(Id),
    create: () => completeRow(shelf, { Name: 'New', ...stamp() }),
    change: (number) => ({ Description: `Changed ${number}`, ...stamp() }),
  });
  const products = shelves.filter(({ name }) => name === 'Products');
  return simulate(
    {
      print: ({ status, message, headers }) =>
        json({ error: { code: String(status), message } }, status, { ...headers, ...TYPE }),
      headers: { 'odata-version': '4.0' },
      authenticate: (call) => {
        const [, service, rest = ''] = /^\/odata\/v4\/(shop|private)(?:\/(.*))?$/s.exec(call.path) ?? [];
        if (service === undefined) throw fault(404, `There is no service at '${call.path}', but at /odata/v4/shop.`);
        const isShown = service === 'shop' || (quirks.showsDocuments && /^(?:\$metadata)?$/.test(rest));
        if (!isShown) isDemo(call);
        if (quirks.refusesSlashes && /%2f|%5c/i.test(call.path)) throw fault(400, 'Bad Request');
      },
      routes: {
        [`GET ${ROOT}`]: (call) => {
          const value = shelves.map(({ name }) => ({ name, kind: 'EntitySet', url: name }));
          return json({ '@odata.context': `${rootOf(call)}/$metadata`, value }, 200, TYPE);
        },
        [`GET ${ROOT}/$metadata`]: () => xml(METADATA),
        ...Object.assign({}, ...shelves.map((shelf) => routesOf(shelf, shelves))),
      },
      clock,
      commands: {
        ...broker.commands,
        ...changesOf(Object.fromEntries(products.map((shelf) => [shelf.name, changeable(shelf)]))),
      },
    },
    settings,
  );
}

const TYPE = { 'content-type': 'application/json;odata.metadata=minimal' };

interface Served extends Shelf {
  readonly settings: ODataSimulatorOptions;
}

function routesOf(shelf: Served, shelves: readonly Served[]): Routes {
  const path = `${ROOT}/${shelf.name}`;
  const one = `${path}({key})`;
  const related = shelf.collections.map(({ path: name, target, by }): Routes => {
    const other = shelves.find((each) => each.name === target) ?? shelf;
    return {
      [`GET ${one}/${name}`]: (call) => {
        const { [shelf.key[0] ?? '']: id } = getRow(shelf, call);
        return list(other, call, (row) => row[by] === id);
      },
    };
  });
  const writing: Routes = {
    [`POST ${path}`]: (call) => create(shelf, readBody(shelf, call), call),
    [`PUT ${one}`]: (call) => change(shelf, call),
    [`PATCH ${one}`]: (call) => change(shelf, call),
    [`DELETE ${one}`]: (call) => remove(shelf, call),
  };
  return {
    [`GET ${path}`]: (call) => list(shelf, call),
    [`GET ${one}`]: (call) => showEntity(shelf, getRow(shelf, call), call),
    ...Object.assign({}, ...related),
    ...(shelf.isReadOnly ? {} : writing),
  };
}

function getRow(shelf: Served, { params: { key = '' } }: Call): TableRow {
  const row = shelf.table.find(keyOf(shelf, readKey(shelf, key)));
  if (row === undefined) throw fault(404, 'There is no such entity.');
  return row;
}

function list(shelf: Served, call: Call, belongs: (row: TableRow) => boolean = () => true): SimulatedResponse {
  const { name, properties, table, settings } = shelf;
  const { quirks = {}, collation = 'binary', maxPageSize: most = Number.POSITIVE_INFINITY } = settings;
  const options = readOptions(call);
  const preferred = /odata\.maxpagesize=(\d+)/.exec(String(call.headers.prefer))?.[1];
  if (quirks.failsOnPageSizeBesideTop && preferred !== undefined && options.has('$top')) {
    throw fault(500, 'Internal Server Error');
  }
  const { rows, count } = queryRows(table.rows().filter(belongs), options, { properties, collation, quirks });
  const start = readCount(options, '$skiptoken') ?? 0;
  const end = start + Math.min(Number(preferred ?? most), most);
  const body = {
    '@odata.context': `${rootOf(call)}/$metadata#${name}`,
    ...(options.get('$count') === 'true' && { '@odata.count': count }),
    ...((call.isStuck || end < rows.length) && {
      '@odata.nextLink': nextLink(call, options, settings, call.isStuck ? start : end),
    }),
    value: rows.slice(start, end).map(printerOf(shelf, call, options)),
  };
  return json(body, 200, TYPE);
}

function nextLink(call: Call, options: Options, { links }: ODataSimulatorOptions, skipToken: number): string {
  const others = [...options].filter(([name]) => name !== '$skiptoken');
  const query = others.map(([name, value]) => `${name}=${encodeURIComponent(value)}&`);
  const [, address = ''] = /^\/odata\/v4\/\w+\/(.*)$/s.exec(call.path) ?? [];
  const link = `${address}?${query.join('')}$skiptoken=${skipToken}`;
  return links === 'relative' ? link : `${rootOf(call)}/${link}`;
}

function assertGuard({ isGuarded }: Served, { headers }: Call): void {
  if (isGuarded && headers['if-match'] === undefined) throw new Fault(428, '428', 'If-Match is required.');
}

function remove(shelf: Served, call: Call): SimulatedResponse {
  assertGuard(shelf, call);
  shelf.table.remove(keyOf(shelf, getRow(shelf, call)));
  return empty();
}

function change(shelf: Served, call: Call): SimulatedResponse {
  assertGuard(shelf, call);
  const { upserts } = shelf.settings.quirks ?? {};
  const key = readKey(shelf, call.params.key ?? '');
  const id = keyOf(shelf, key);
  const row = shelf.table.find(id);
  if (row === undefined && call.headers['if-match'] !== undefined && upserts === undefined)
    throw new Fault(412, '412', 'There is no entity that matches If-Match.');
  const body = readBody(shelf, call);
  const given = { ...body, ...key };
  // A change of a record that does not exist creates it. Source: OData Protocol 4.01, section 11.4.4.
  if (row === undefined) return create(shelf, upserts === 'under a key of its own' ? body : given, call);
  const values = call.method === 'PUT' ? completeRow(shelf, given) : given;
  return respondToChange(shelf, shelf.table.update(id, values) ?? row, call);
}

function create(shelf: Served, given: TableRow, call: Call): SimulatedResponse {
  const row = completeRow(shelf, given);
  if (shelf.table.find(keyOf(shelf, row)) !== undefined) {
    throw new Fault(409, '409', 'There is an entity with this key already.');
  }
  if (shelf.settings.quirks?.hidesCreated !== true) shelf.table.insert(row);
  const location = `${rootOf(call)}/${addressOf(shelf, row)}`;
  const { headers, ...response } = respondToChange(shelf, row, call);
  const status = response.status === 204 ? 204 : 201;
  return { ...response, status, headers: { ...headers, location, 'odata-entityid': location } };
}

function respondToChange(shelf: Served, row: TableRow, call: Call): SimulatedResponse {
  const isMinimal =
    shelf.settings.answersChanges === 'without record' || /return=minimal/.test(String(call.headers.prefer));
  return isMinimal ? empty() : showEntity(shelf, row, call);
}

function showEntity(shelf: Served, row: TableRow, call: Call): SimulatedResponse {
  const context = `${rootOf(call)}/$metadata#${shelf.name}/$entity`;
  return json({ '@odata.context': context, ...printerOf(shelf, call, readOptions(call))(row) }, 200, TYPE);
}

/** Returns a function that prints rows in the requested format. */
function printerOf(shelf: Served, call: Call, options: Options): (row: TableRow) => TableRow {
  const { properties, isGuarded, settings } = shelf;
  const isAsText = hasBigAsText(call.headers.accept);
  return (row) => {
    const printed = readSelect(options, shelf).map((name) => {
      const { [name]: value } = row;
      const { type = '' } = properties[name] ?? {};
      if (value === null || !(isBig(type) || type === 'Edm.Double')) return [name, value];
      const isKept = settings.quirks?.keepsDoubles === true && type !== 'Edm.Int64';
      const shown = isKept ? Number(Number(value).toPrecision(15)) : value;
      return [name, isBig(type) && isAsText ? String(shown) : Number(shown)];
    });
    const etag = isGuarded ? { '@odata.etag': `W/"${JSON.stringify(row).length}"` } : {};
    return { ...etag, ...Object.fromEntries(printed) };
  };
}
