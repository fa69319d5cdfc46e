import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Simulator, SimulatorOptions } from '#connector';
import { type Address, addressOf, hasKey, type Key, readAddress } from './simulator/address.ts';
import { createTables, type Row, type Tables } from './simulator/data.ts';
import type { Collation } from './simulator/evaluate.ts';
import { printMetadata } from './simulator/metadata.ts';
import { Problem } from './simulator/problem.ts';
import type { Quirks } from './simulator/quirks.ts';
import { type Options, queryRows, readOptions, selectProperties } from './simulator/read.ts';
import { type EntitySchema, SETS } from './simulator/schema.ts';
import { completeRow, readBody } from './simulator/write.ts';

/**
 * An OData 4.0 service in memory, at `/odata/v4/shop`, and the same at `/odata/v4/private` behind basic authentication
 * (`demo`, `demo-password`). It follows the specification where real services are lenient: unknown properties and options,
 * types that do not compare, and changes without If-Match are refused.
 */
export interface ODataSimulatorOptions extends SimulatorOptions {
  /** Most rows in one answer; without it only `Prefer: odata.maxpagesize` makes pages. */
  readonly maxPageSize?: number;
  readonly links?: 'absolute' | 'relative';
  readonly collation?: Collation;
  /** Answers changes without the record, as `Prefer: return=minimal` would. */
  readonly answersChanges?: 'with record' | 'without record';
  readonly quirks?: Quirks;
}

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { 'base.url': 'https://demo.example.com/odata/v4/shop' };

const ROOTS = ['/odata/v4/shop', '/odata/v4/private'] as const;
const CREDENTIALS = `Basic ${btoa('demo:demo-password')}`;

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request, taken apart. */
interface Call {
  readonly request: IncomingMessage;
  readonly tables: Tables;
  readonly settings: ODataSimulatorOptions;
  /** The service root as the client sees it. */
  readonly root: string;
  readonly path: string;
  readonly options: Options;
}

export function createSimulator(settings: ODataSimulatorOptions): Simulator {
  const tables = createTables();
  return {
    handle: (request, response) => {
      answer(request, { settings, tables }).then(
        (answered) => send(request, response, answered),
        (error: unknown) => send(request, response, describe(error)),
      );
    },
  };
}

async function answer(request: IncomingMessage, state: Pick<Call, 'settings' | 'tables'>): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const base = ROOTS.find((root) => url.pathname === root || url.pathname.startsWith(`${root}/`));
  if (base === undefined)
    throw new Problem(404, `There is no service at '${url.pathname}', but at ${ROOTS.join(' and ')}.`);
  const { quirks = {} } = state.settings;
  const isShown = base === '/odata/v4/shop' || (quirks.showsDocuments && isDocument(url.pathname.slice(base.length)));
  if (!isShown && request.headers.authorization !== CREDENTIALS) {
    return { status: 401, body: errorBody(401, 'Unauthorized'), headers: { 'www-authenticate': 'Basic realm="demo"' } };
  }
  if (quirks.refusesSlashes && /%2f|%5c/i.test(url.pathname)) throw new Problem(400, 'Bad Request');
  const root = rootOf(request, state.settings) + base;
  const call = { ...state, request, root, path: url.pathname.slice(base.length), options: readOptions(url.search) };
  return route(call, readAddress(call.path));
}

function isDocument(path: string): boolean {
  return path === '' || path === '/' || path === '/$metadata';
}

/** The host that the client meant, if it came through the platform. */
function rootOf({ headers }: IncomingMessage, { baseUrl }: SimulatorOptions): string {
  const host = /host="?([^";,]+)/.exec(headers.forwarded ?? '')?.[1];
  return host === undefined ? baseUrl : `https://${host}`;
}

async function route(call: Call, address: Address): Promise<Answer> {
  const method = call.request.method ?? 'GET';
  if (address.kind === 'service' && method === 'GET') return serviceDocument(call);
  if (address.kind === 'metadata' && method === 'GET') return { status: 200, body: printMetadata() };
  if (address.kind === 'collection' && method === 'GET') return listRelated(call, address);
  if (address.kind === 'set') return method === 'GET' ? list(call, address.set) : change(call, address.set, undefined);
  if (address.kind === 'entity') return method === 'GET' ? read(call, address) : change(call, address.set, address.key);
  throw new Problem(405, `${method} is not supported here.`);
}

function serviceDocument({ root }: Call): Answer {
  const value = Object.keys(SETS).map((name) => ({ name, kind: 'EntitySet', url: name }));
  return { status: 200, body: { '@odata.context': `${root}/$metadata`, value } };
}

function list(call: Call, set: string): Answer {
  return page(call, set, rowsOf(call, set));
}

function listRelated(call: Call, { set, key, name }: Extract<Address, { kind: 'collection' }>): Answer {
  const navigation = entityOf(set).collections?.[name];
  if (navigation === undefined) throw new Problem(404, `'${set}' has no '${name}'.`);
  const parent = find(call, set, key);
  const id = parent[entityOf(set).key[0] ?? ''];
  return page(
    call,
    navigation.set,
    rowsOf(call, navigation.set).filter((row) => row[navigation.by] === id),
  );
}

function page(call: Call, set: string, rows: readonly Row[]): Answer {
  const { options, settings, request } = call;
  const { quirks = {}, collation = 'binary' } = settings;
  const entity = entityOf(set);
  const preferred = Number(
    /odata\.maxpagesize=(\d+)/.exec(String(request.headers.prefer))?.[1] ?? Number.POSITIVE_INFINITY,
  );
  if (quirks.failsOnPageSizeBesideTop && Number.isFinite(preferred) && options.has('$top')) {
    throw new Problem(500, 'Internal Server Error');
  }
  const maxPageSize = Math.min(preferred, settings.maxPageSize ?? Number.POSITIVE_INFINITY);
  const result = queryRows(rows, { entity, options, maxPageSize, collation, quirks });
  return {
    status: 200,
    body: {
      '@odata.context': `${call.root}/$metadata#${set}`,
      ...(options.get('$count') === 'true' && { '@odata.count': result.count }),
      ...(result.skipToken !== undefined && { '@odata.nextLink': nextLink(call, result.skipToken) }),
      value: result.rows.map((row) => printRow(call, set, row)),
    },
  };
}

function nextLink({ options, path, root, settings }: Call, skipToken: number): string {
  const query = [...options]
    .filter(([name]) => name !== '$skiptoken')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}&`);
  const link = `${path}?${query.join('')}$skiptoken=${skipToken}`;
  return settings.links === 'relative' ? link.slice(1) : `${root}${link}`;
}

function read(call: Call, { set, key }: Extract<Address, { kind: 'entity' }>): Answer {
  return { status: 200, body: printEntity(call, set, find(call, set, key)) };
}

async function change(call: Call, set: string, key: Key | undefined): Promise<Answer> {
  const { request, settings } = call;
  const { upserts } = settings.quirks ?? {};
  const entity = entityOf(set);
  if (entity.readOnly === true) throw new Problem(405, `'${set}' cannot be changed.`);
  if (key === undefined && request.method === 'POST') return create(call, set, await bodyOf(call, entity));
  if (key === undefined) throw new Problem(405, `${request.method} is not supported for a set.`);
  const rows = rowsOf(call, set);
  const index = rows.findIndex((row) => hasKey(row, key));
  const condition = request.headers['if-match'];
  if (entity.guarded === true && condition === undefined) throw new Problem(428, 'If-Match is required.');
  if (index === -1 && request.method === 'DELETE') throw new Problem(404, 'There is no such entity.');
  if (index === -1 && condition !== undefined && upserts === undefined)
    throw new Problem(412, 'There is no entity that matches If-Match.');
  if (request.method === 'DELETE') {
    rows.splice(index, 1);
    return { status: 204 };
  }
  const body = await bodyOf(call, entity);
  const given = { ...body, ...keyValues(entity, key) };
  // A change of what does not exist creates it. Source: OData Protocol 4.01, section 11.4.4.
  if (index === -1) return create(call, set, upserts === 'under a key of its own' ? body : given);
  const changed = request.method === 'PUT' ? completeRow(entity, given, rows) : { ...rows[index], ...given };
  rows[index] = changed;
  return changeAnswer(call, set, changed, 200);
}

function keyValues(entity: EntitySchema, key: Key): Row {
  const isText = (name: string) => !entity.properties[name]?.type.startsWith('Edm.Int');
  return Object.fromEntries([...key].map(([name, value]) => [name, isText(name) ? value : Number(value)]));
}

async function bodyOf({ request }: Call, entity: EntitySchema): Promise<Row> {
  const type = String(request.headers['content-type']);
  if (!type.startsWith('application/json')) throw new Problem(415, `'${type}' is not supported.`);
  return readBody(entity, await json(request), /IEEE754Compatible=true/i.test(type));
}

function create(call: Call, set: string, given: Row): Answer {
  const entity = entityOf(set);
  const rows = rowsOf(call, set);
  const row = completeRow(entity, given, rows);
  if (rows.some((known) => entity.key.every((name) => known[name] === row[name]))) {
    throw new Problem(409, 'There is an entity with this key already.');
  }
  if (call.settings.quirks?.hidesCreated !== true) rows.push(row);
  return changeAnswer(call, set, row, 201);
}

function changeAnswer(call: Call, set: string, row: Row, status: 200 | 201): Answer {
  const location = `${call.root}/${addressOf(set, entityOf(set), row)}`;
  const headers: Answer['headers'] = status === 201 ? { location, 'odata-entityid': location } : {};
  const prefers = /return=(\w+)/.exec(String(call.request.headers.prefer))?.[1];
  const isMinimal = call.settings.answersChanges === 'without record' || prefers === 'minimal';
  return isMinimal ? { status: 204, headers } : { status, headers, body: printEntity(call, set, row) };
}

function printEntity(call: Call, set: string, row: Row): Row {
  return { '@odata.context': `${call.root}/$metadata#${set}/$entity`, ...printRow(call, set, row) };
}

function printRow({ request, options, settings }: Call, set: string, row: Row): Row {
  const entity = entityOf(set);
  const asText = /IEEE754Compatible=true/i.test(String(request.headers.accept));
  const isKeptAsDouble = settings.quirks?.keepsDoubles === true;
  const selected = selectProperties(entity, row, options);
  const printed = Object.entries(selected).map(([name, value]) => {
    const { type = '' } = entity.properties[name] ?? {};
    const isNumber = !asText && /^Edm\.(Decimal|Int64)$/.test(type);
    const kept = isKeptAsDouble && value !== null && /^Edm\.(Decimal|Double)$/.test(type) ? inDouble(value) : value;
    return [name, isNumber && kept !== null ? Number(kept) : kept];
  });
  const etag = entity.guarded === true ? { '@odata.etag': `W/"${JSON.stringify(row).length}"` } : {};
  return { ...etag, ...Object.fromEntries(printed) };
}

function inDouble(value: unknown): unknown {
  const printed = Number(Number(value).toPrecision(15));
  return typeof value === 'number' ? printed : String(printed);
}

function entityOf(set: string): EntitySchema {
  const entity = SETS[set];
  if (entity === undefined) throw new Problem(404, `Resource not found for the segment '${set}'.`);
  return entity;
}

function rowsOf({ tables }: Call, set: string): Row[] {
  return tables.get(set) ?? [];
}

function find(call: Call, set: string, key: Key): Row {
  const row = rowsOf(call, set).find((candidate) => hasKey(candidate, key));
  if (row === undefined) throw new Problem(404, 'There is no such entity.');
  return row;
}

function describe(error: unknown): Answer {
  if (error instanceof Problem) return { status: error.status, body: errorBody(error.status, error.message) };
  if (error instanceof SyntaxError || error instanceof URIError)
    return { status: 400, body: errorBody(400, error.message) };
  return { status: 500, body: errorBody(500, error instanceof Error ? error.message : String(error)) };
}

function errorBody(status: number, message: string) {
  return { error: { code: String(status), message } };
}

function send(request: IncomingMessage, response: ServerResponse, { status, body, headers }: Answer): void {
  // A body that nobody read would keep the connection from being used again.
  request.resume();
  const isXml = typeof body === 'string';
  const type = isXml ? 'application/xml' : 'application/json;odata.metadata=minimal';
  response.writeHead(status, {
    'odata-version': '4.0',
    ...(body !== undefined && { 'content-type': type }),
    ...headers,
  });
  response.end(isXml || body === undefined ? body : JSON.stringify(body));
}
