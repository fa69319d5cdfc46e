import { gzipSync } from 'node:zlib';
import type { HostileRequest } from './attacker.ts';
import * as csdl from './metadata.ts';
import { answer, type Behaviour, endless, type HostileService, hang, json, trickle, xml } from './provider.ts';
import {
  API,
  connectOData,
  createInstance,
  type Flood,
  flood,
  flooding,
  type HostileInput,
  type Inputs,
  JSON_TYPE,
  listing,
  onInstance,
  untilEnd,
} from './stage.ts';

const MEGABYTE = 1_000_000;

interface Reading extends Partial<Flood> {
  readonly service: () => HostileService;
  /** Query parameters of the listing. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  /** Body of a request by POST. Undefined: the request is a GET. */
  readonly body?: object;
}

/** Lists the records of a hostile service several times. */
function reading({ service, query, headers, path, body, most = 20, parallel = 2, finding }: Reading): HostileInput {
  return flooding('provider', { most, parallel, finding }, async (armed) => {
    const { token } = await connectOData(armed, service());
    const listed = listing(armed.tenant, token, query);
    const what: HostileRequest = {
      ...listed,
      ...(path !== undefined && { path: API + path }),
      headers: { ...listed.headers, ...headers, ...(body !== undefined && JSON_TYPE) },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    };
    return () => what;
  });
}

function metadata(build: () => string): HostileInput {
  return reading({ finding: 'B9', service: () => ({ metadata: xml(build()) }), most: 12, parallel: 3 });
}

/** Returns a page with a number of rows of a given length. */
function page(rows: number, characters: number, more = ''): Buffer {
  const row = `{"id":1,"name":"${'b'.repeat(characters)}","price":1.5,"stock":"3"}`;
  return Buffer.from(`{"value":[${`${row},`.repeat(rows - 1)}${row}]${more}}`);
}

function rowsOf(body: Buffer | string, headers = {}): HostileService {
  return { rows: json(body, headers) };
}

const helpless = (rows: Behaviour): HostileService => ({ metadata: xml(csdl.HELPLESS), rows });

/** Sends pages that all name a next page. */
function pagesForEver(rows: number, characters: number): Behaviour {
  let next = 0;
  const before = page(rows, characters).subarray(0, -1);
  return (response, request) => {
    const link = Buffer.from(
      `,"@odata.nextLink":"${String(request.url).split('?')[0]?.split('/').pop()}?x=${next++}"}`,
    );
    response.writeHead(200, JSON_TYPE).end(Buffer.concat([before, link]));
  };
}

/** Returns one untyped member with a number of values. */
function untyped(count: number): string {
  return `{"id":1,"name":"x","data":{"a":1${members(count)}}}`;
}

const untypedService = (body: string): HostileService => ({ metadata: xml(csdl.UNTYPED), rows: json(body) });

/** Lists of bulk jobs, which continue while other clients send requests. */
function bulk(service: () => HostileService): HostileInput {
  return {
    kind: 'provider',
    finding: '26 B2',
    arm: async (ground) => {
      const { tenant } = ground;
      const { token } = await connectOData(ground, service());
      const headers = onInstance(tenant, token);
      const query = encodeURIComponent('select * from items');
      return async (stage) => {
        await flood(stage, { most: 4, parallel: 2 }, () => ({
          method: 'POST',
          path: `${API}/bulk/query?q=${query}`,
          headers,
        }));
        await untilEnd(stage);
      };
    },
  };
}

/** Returns a provider with a base URL of its own that sends the same response to every request. */
function serving(
  key: string,
  configuration: object,
  { path, body }: { readonly path: string; readonly body: string },
): HostileInput {
  return flooding('provider', { finding: '26 B2', most: 6, parallel: 2 }, async (armed) => {
    const url = armed.site.serve(armed.name, { rows: json('{"user":{"id":1}}') });
    const { token } = await createInstance(armed, key, { url, ...configuration });
    armed.site.serve(armed.name, { rows: json(body) });
    const what = { path: API + path, headers: onInstance(armed.tenant, token) };
    return () => what;
  });
}

const REDMINE = { 'api.key': 'a key' };
const REQUEST_TRACKER = { username: 'u', password: 'p' };

const HELD_BACK = { where: "name LIKE '%q%z%'" };
const SORTED = { orderBy: 'name desc' };

export const PROVIDERS: Inputs = {
  'pages of 30 MB, filtered here': reading({
    finding: 'B8',
    service: () => rowsOf(page(1_000, 30_000)),
    query: HELD_BACK,
    most: 6,
  }),
  '300,000 rows in a page, filtered here': reading({
    finding: 'B8',
    service: () => helpless(json(page(300_000, 20))),
    query: { where: "name LIKE '%q%z%' OR price > 9 OR stock < 0" },
    most: 6,
  }),
  'pages of 32 MB, many at the same time': reading({
    finding: 'B10',
    service: () => rowsOf(page(1_000, 31_000)),
    query: { pageSize: '900' },
    most: 40,
    parallel: 20,
  }),
  'pages without end, sorted here': reading({
    finding: 'B10',
    service: () => helpless(pagesForEver(1_000, 5_000)),
    query: SORTED,
    most: 8,
    parallel: 4,
  }),
  'pages without end, small, sorted here': reading({
    finding: 'B10',
    service: () => helpless(pagesForEver(1_000, 10)),
    query: SORTED,
    headers: { 'elements-max-provider-calls': '200' },
    most: 8,
    parallel: 4,
  }),
  'pages without end, empty': reading({
    finding: 'B10',
    service: () => ({ rows: pagesForEver(1, 1) }),
    query: HELD_BACK,
    headers: { 'elements-max-provider-calls': '200' },
    most: 20,
    parallel: 4,
  }),
  'more calls than anybody may have': reading({
    finding: 'B10',
    service: () => ({ rows: pagesForEver(100, 10) }),
    query: HELD_BACK,
    headers: { 'elements-max-provider-calls': '1000' },
    most: 20,
    parallel: 4,
  }),
  'a gzip bomb': reading({
    finding: 'B10',
    service: () => rowsOf(gzipSync(Buffer.alloc(500 * MEGABYTE, '[')), { 'content-encoding': 'gzip' }),
    most: 20,
    parallel: 4,
  }),
  'a body without end': reading({
    finding: 'B10',
    service: () => ({ rows: endless(Buffer.alloc(65_536, '[1,'), 400 * MEGABYTE, JSON_TYPE) }),
    most: 20,
    parallel: 4,
  }),
  'a body in bytes': reading({ service: () => ({ rows: crumbs(300_000) }), most: 6 }),
  'a long body in bytes': reading({ service: () => ({ rows: crumbs(5_000_000) }), most: 4 }),
  'a page nested a million deep': reading({
    service: () => rowsOf(`{"value":${'['.repeat(MEGABYTE)}${']'.repeat(MEGABYTE)}}`),
    most: 10,
  }),
  'a row nested deep': reading({
    service: () => rowsOf(`{"value":[{"id":1,"name":${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}}]}`),
    query: HELD_BACK,
    most: 10,
  }),
  'a row of 400,000 fields': reading({
    service: () => rowsOf(`{"value":[{"id":1${members(400_000)}}]}`),
    query: HELD_BACK,
    most: 6,
  }),
  'a row of 500,000 fields': reading({
    finding: '26 B2',
    service: () => rowsOf(`{"value":[{"id":1${members(500_000)}}]}`),
    most: 6,
  }),
  'a member of 1,000,000 members': reading({
    finding: '26 B2',
    service: () => untypedService(`{"value":[${untyped(1_000_000)}]}`),
    most: 6,
  }),
  'a member of 1,500,000 members': reading({
    finding: '26 B2',
    service: () => untypedService(`{"value":[${untyped(1_500_000)}]}`),
    most: 4,
  }),
  'a member of 3,000,000 values': reading({
    finding: '26 B2',
    service: () => untypedService(`{"value":[{"id":1,"data":[${'1,'.repeat(3_000_000)}1]}]}`),
    most: 6,
  }),
  'members inside members': reading({
    finding: '26 B2',
    service: () => untypedService(`{"value":[{"id":1,"data":[${'{"a":{"b":[]}},'.repeat(900_000)}1]}]}`),
    most: 6,
  }),
  'many rows of 90,000 members': reading({
    finding: '26 B2',
    service: () => untypedService(`{"value":[${Array.from({ length: 20 }, () => untyped(90_000)).join()}]}`),
    most: 6,
  }),
  'a record of 1,000,000 members': reading({
    finding: '26 B2',
    service: () => helpless(json(untyped(1_000_000))),
    path: '/items/1',
    most: 6,
  }),
  'a record with a member of 1,000,000 members': reading({
    finding: '26 B2',
    service: () => ({ ...untypedService(untyped(1_000_000)), metadata: xml(csdl.UNTYPED_HELPLESS) }),
    path: '/items/1',
    most: 6,
  }),
  'the answer of a POST of 1,000,000 members': reading({
    finding: '26 B2',
    service: () => untypedService(untyped(1_000_000)),
    path: '/items',
    body: { name: 'x' },
    most: 6,
  }),
  'the answer of a POST of 3,000,000 values': reading({
    finding: '26 B2',
    service: () => untypedService(`{"id":1,"data":[${'1,'.repeat(3_000_000)}1]}`),
    path: '/items',
    body: { name: 'x' },
    most: 6,
  }),
  'a bulk download of 1,000,000 members': bulk(() => untypedService(`{"value":[${untyped(1_000_000)}]}`)),
  'a bulk download of rows of 90,000 members': bulk(() =>
    untypedService(`{"value":[${Array.from({ length: 20 }, () => untyped(90_000)).join()}]}`),
  ),
  'an issue of Redmine of 1,000,000 members': serving('redmine', REDMINE, {
    path: '/issues',
    body: `{"issues":[${untyped(1_000_000)}],"total_count":1}`,
  }),
  'an issue of Redmine with 1,000,000 fields of its own': serving('redmine', REDMINE, {
    path: '/issues/1',
    body: `{"issue":{"id":1,"custom_fields":[${'{"id":1},'.repeat(1_000_000)}{"id":2}]}}`,
  }),
  'issues of Redmine without end': serving('redmine', REDMINE, {
    path: '/issues',
    body: `{"issues":[${'{},'.repeat(1_900_000)}{}],"total_count":1}`,
  }),
  'a ticket of Request Tracker of 1,000,000 members': serving('requesttracker', REQUEST_TRACKER, {
    path: '/tickets',
    body: `{"items":[${untyped(1_000_000)}],"total":1,"page":1,"pages":1}`,
  }),
  'a ticket of Request Tracker with 1,000,000 values': serving('requesttracker', REQUEST_TRACKER, {
    path: '/tickets/1',
    body: `{"id":1,"Requestor":[${'{"id":"a"},'.repeat(900_000)}{}],"CustomFields":[${'{},'.repeat(90_000)}{}]}`,
  }),
  '2 kB that become 27 MB': reading({
    finding: '26 B2',
    service: () => ({
      metadata: xml(csdl.wide(4_900)),
      rows: json(gzipSync(Buffer.from(`{"value":[${'{"id":1},'.repeat(999)}{"id":1}]}`)), {
        'content-encoding': 'gzip',
      }),
    }),
    query: { pageSize: '999' },
    most: 12,
    parallel: 4,
  }),
  'links that never end': reading({
    finding: '26 B1',
    service: () => rowsOf('{"value":[]}', { link: '<'.repeat(15_000) }),
    most: 20,
  }),
  'a decimal of a million digits': reading({
    service: () =>
      helpless(
        json(`{"value":[{"id":1,"name":"x","price":"${'9'.repeat(MEGABYTE)}.5","stock":"${'8'.repeat(MEGABYTE)}"}]}`),
      ),
    query: { where: 'price > 1.25 AND stock > 5' },
    most: 10,
  }),
  'decimals with great exponents': reading({
    service: () =>
      helpless(
        json(
          `{"value":[${Array.from({ length: 1000 }, (_, n) => `{"id":${n},"name":"x","price":"1e${n}99999","stock":"-0"}`).join()}]}`,
        ),
      ),
    query: { where: 'price > 1.25 OR price < 0.00001', orderBy: 'price' },
    most: 10,
  }),
  'times that are none': reading({
    service: () =>
      helpless(
        json(
          `{"value":[${Array.from({ length: 900 }, (_, n) => `{"id":${n},"at":"2020-01-01T00:00:00.${'0'.repeat(20_000)}Z"}`).join()}]}`,
        ),
      ),
    query: { where: 'at > 2020-01-01', orderBy: 'at' },
    most: 6,
  }),
  'long text to compare': reading({
    service: () => helpless(json(page(60, 400_000))),
    query: { where: `name != '${'b'.repeat(4_000)}' AND name LIKE '%${'b'.repeat(1_000)}c%'`, orderBy: 'name' },
    most: 6,
  }),
  'text that folds': reading({
    service: () => helpless(json(page(60, 100_000).toString().replaceAll('b', 'ß'))),
    query: { where: "name = 'ẞ' OR name LIKE '%ẞ%z'", orderBy: 'name' },
    most: 6,
  }),
  'metadata that doubles': metadata(() => csdl.exponential(30, 2)),
  'metadata that multiplies': metadata(() => csdl.exponential(6, 40)),
  'metadata of 8 MB': metadata(() => csdl.wide(120_000)),
  'metadata of 60 MB': metadata(() => csdl.wide(900_000)),
  'metadata with a deep base type': metadata(() => csdl.deepBaseType(20_000)),
  'metadata in a circle': metadata(() => csdl.circle(1_000)),
  'metadata of many sets': metadata(() => csdl.manySets(50_000, 200)),
  'metadata of a deep collection': metadata(() => csdl.deepCollection(400_000)),
  'metadata with a DOCTYPE': metadata(csdl.laughs),
  'metadata of deep elements': metadata(() => csdl.deepElements(500_000)),
  'metadata of many attributes': metadata(() => csdl.manyAttributes(300_000)),
  'metadata of many annotations': metadata(() => csdl.manyAnnotations(70_000)),
  'metadata of a long comment': metadata(() => csdl.stuffed('<!--', '-->', 7 * MEGABYTE)),
  'metadata of a long CDATA': metadata(() => csdl.stuffed('<![CDATA[', ']]>', 7 * MEGABYTE)),
  'metadata of long names': metadata(() => csdl.longNames(1_000, 5_000)),
  'metadata of many members': metadata(() => csdl.manyMembers(150_000)),
  'metadata that never comes': reading({ finding: 'B9', service: () => ({ metadata: hang }), most: 60, parallel: 60 }),
  'metadata of many instances': flooding('provider', { finding: 'B9', most: 80, parallel: 8 }, async (armed) => {
    const metadata = xml(csdl.manySets(1_900, 40));
    const names = Array.from({ length: 40 }, (_, n) => `${armed.name}-${n}`);
    const made = await Promise.all(names.map((name) => connectOData({ ...armed, name }, { metadata })));
    return (n) => listing(armed.tenant, made[n % made.length]?.token ?? '');
  }),
  'objects of a large service': reading({
    finding: 'B9',
    service: () => ({ metadata: xml(csdl.manySets(1_900, 100)) }),
    path: '/objects',
    most: 60,
    parallel: 6,
  }),
  'fields of a wide object': reading({
    finding: 'B9',
    service: () => ({ metadata: xml(csdl.wide(4_900)) }),
    path: '/objects/items/metadata',
    most: 60,
    parallel: 6,
  }),
  'a Retry-After beyond all numbers': numbersIn({ 'retry-after': '1e30' }, 429),
  'a Retry-After below zero': numbersIn({ 'retry-after': `-${'9'.repeat(300)}` }, 503),
  'a limit without limit': numbersIn({
    'ratelimit-limit': 'Infinity',
    'ratelimit-remaining': '-1e308',
    'ratelimit-reset': '1e400',
    'x-ratelimit-limit': 'NaN',
    'content-length': '12',
  }),
  'a total below zero': reading({
    finding: 'B14',
    service: () => rowsOf(`{"@odata.count":-1e308,"value":[]}`),
    most: 40,
  }),
  'a total beyond all numbers': reading({
    finding: 'B14',
    service: () => rowsOf(`{"@odata.count":${'9'.repeat(100_000)},"value":[]}`),
    most: 40,
  }),
  'a failure of 30 MB': reading({
    service: () => ({ rows: json({ error: { message: 'x"\\<'.repeat(7_000_000) } }, {}, 400) }),
    most: 10,
    parallel: 5,
  }),
  'a failure page of 30 MB': reading({
    service: () => ({ rows: answer(Buffer.alloc(30 * MEGABYTE, '<p'), { 'content-type': 'text/html' }, 500) }),
    most: 10,
    parallel: 5,
  }),
  'headers without end': reading({
    service: () => ({
      rows: (response) => {
        response.socket?.write(`HTTP/1.1 200 OK\r\n${`x-a: ${'b'.repeat(1_000)}\r\n`.repeat(20_000)}\r\n`);
      },
    }),
    most: 20,
    parallel: 4,
  }),
  'interim answers without end': reading({
    service: () => ({ rows: interim }),
    most: 6,
    parallel: 3,
  }),
  'a circle of redirects': reading({
    service: () => ({
      rows: (response, request) => void response.writeHead(302, { location: `${request.url}x` }).end(),
    }),
    most: 100,
    parallel: 10,
  }),
  'links that are long': reading({
    service: () =>
      rowsOf(`{"value":[{"id":1,"name":"x"}],"@odata.nextLink":"${'items?x='.padEnd(2 * MEGABYTE, 'y')}"}`),
    query: HELD_BACK,
    most: 20,
  }),
  'answers that trickle': reading({
    service: () => ({ rows: trickle(' '.repeat(10_000), 10, JSON_TYPE) }),
    most: 200,
    parallel: 200,
  }),
  'answers that never come': reading({ service: () => ({ rows: hang }), most: 500, parallel: 500 }),
};

function numbersIn(headers: Readonly<Record<string, string>>, status = 200): HostileInput {
  return reading({
    finding: 'B14',
    service: () => ({ rows: json('{"value":[]}', headers, status) }),
    most: 40,
    parallel: 2,
  });
}

function members(count: number): string {
  return Array.from({ length: count }, (_, n) => `,"f${n}":${n}`).join('');
}

/** Sends each byte in a chunk of its own. */
function crumbs(count: number): Behaviour {
  const body = Buffer.from('1\r\n \r\n'.repeat(count));
  return (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
    response.socket?.write(body);
    response.socket?.write('c\r\n{"value":[]}\r\n0\r\n\r\n');
  };
}

const interim: Behaviour = (response) => {
  const { socket } = response;
  if (socket === null) return;
  const piece = Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n'.repeat(1_000));
  let left = 300;
  const pump = () => {
    while (left-- > 0 && !socket.destroyed) if (!socket.write(piece)) return void socket.once('drain', pump);
    socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"value":[]}');
  };
  pump();
};
