import { DEMO } from '../../bench/running-service.ts';
import { json } from './provider.ts';
import type { Random } from './random.ts';
import {
  API,
  type Armed,
  asTenant,
  connectBamboo,
  connectOData,
  createInstance,
  type Flood,
  flood,
  flooding,
  type HostileInput,
  type Inputs,
  listing,
  onInstance,
  post,
  type Requests,
  type StagedInstance,
  untilEnd,
} from './stage.ts';

const URL_BYTES = 60_000;
const FILTER_BYTES = 16_000;
const DELIVERIES = 200_000;
const PLATFORM_PATHS = ['/instances', '/elements', '/hubs', '/notifications/subscriptions'] as const;
const DOCUMENTS = ['/openapi.json', '/openapi.yaml', '/docs', '/docs/where', '/metrics', '/health/ready'] as const;
const FAULTY_PIECES = [
  ')',
  '(',
  "'",
  'a.',
  '%',
  '= = ',
  'statu = 1 OR ',
  '\u{1F4A3}',
  '-',
  '1e',
  '2020-',
  '/*',
] as const;
const QUERY_PIECES = [
  '&',
  'a&',
  'a[&',
  '%5b',
  '[',
  'a=b&',
  '%',
  '%2525',
  '=',
  ';',
  'tags%5B%5D=x&',
  '__proto__[x]=1&',
] as const;
const PATH_PIECES = ['/', '/a', '%2f', '%', '/..', ';', '//', '%00', 'a', '%F0%9F%92%A3'] as const;
const HEADER_PIECES = ['a/b;q=0.1,', ',', ' ', 'x', '*/*,', ';', '127.0.0.1, ', 'gzip;q=0,'] as const;
const HEADERS = [
  'accept',
  'idempotency-key',
  'elements-version',
  'cookie',
  'x-forwarded-for',
  'if-none-match',
  'accept-encoding',
] as const;

/** Bodies that cost the service more to parse or to validate than they cost to send. */
const BODIES: Readonly<Record<string, (random: Random) => string>> = {
  nested: (random) => `${'['.repeat(random.between(1, 4) * 1_000_000)}`,
  'nested to the end': (random) => {
    const depth = random.between(1, 4) * 1_000_000;
    return '['.repeat(depth) + ']'.repeat(depth);
  },
  'a million members': (random) =>
    `{${Array.from({ length: random.between(300_000, 600_000) }, (_, n) => `"a${n}":1`).join()}}`,
  'a million values': (random) => `{"name":[${'1,'.repeat(random.between(1_000_000, 3_900_000))}1]}`,
  'one long text': (random) => {
    const piece = random.pick(['\\\\', 'é', '\\u0000', 'x']);
    return `{"name":"${piece.repeat(7_000_000 / piece.length)}"}`;
  },
  'a number of a million digits': (random) => `{"name":${'9'.repeat(random.between(1_000_000, 7_900_000))}}`,
  'the same name again': () => `{${'"name":1,'.repeat(800_000)}"name":1}`,
  prototypes: () => `{"__proto__":${'{"__proto__":'.repeat(50)}1${'}'.repeat(50)},"constructor":{"prototype":{"a":1}}}`,
};

/** Floods the service with requests of a caller. */
function calling(flood: Flood, prepare: (armed: Armed) => Requests | Promise<Requests>): HostileInput {
  return flooding('caller', flood, prepare);
}

/** Floods the service with requests of a caller who has an instance of BambooHR. */
function onBamboo(flood: Flood, prepare: (armed: Armed & StagedInstance) => Requests): HostileInput {
  return calling(flood, async (armed) => prepare({ ...armed, ...(await connectBamboo(armed)) }));
}

/** Sends each of the bodies in turn. */
function inTurn(bodies: readonly string[], request: ReturnType<typeof post>): Requests {
  return (n) => ({ ...request, body: bodies[n % bodies.length] ?? '' });
}

function bodiesOf(random: Random): readonly string[] {
  return Object.values(BODIES).map((build) => build(random));
}

/** Returns one of the pieces, repeated up to a length. */
function repeated(random: Random, pieces: readonly [string, ...string[]], mostCharacters: number): string {
  const piece = random.pick(pieces);
  return piece.repeat(random.between(1, mostCharacters / piece.length));
}

/** Returns the body that creates an instance of BambooHR. */
function bambooOf(name: string, more: object = {}): string {
  return JSON.stringify({ element: { key: 'bamboohr' }, name, configuration: { ...DEMO, ...more } });
}

export const CALLERS: Inputs = {
  'guesses in one request': calling({ finding: 'A1', most: 60, parallel: 10 }, ({ tenant, random }) => {
    const guesses = Array.from({ length: 4_000 }, () => random.word(8)).join('&');
    return () => ({ path: `${API}/elements?${guesses}`, headers: asTenant(tenant) });
  }),
  'words as secrets': calling({ finding: 'A1', most: 300, parallel: 10 }, ({ tenant, random }) => () => {
    const apiSecret = random.pick(['There is no', 'request"}', 'e', 'id', '":"', 'x'.repeat(4_000)]);
    const query = new URLSearchParams({ apiKey: 'k', apiSecret, callbackUrl: 'https://a.example', state: 's' });
    return { path: `${API}/elements/salesforce/oauth/url?${query}`, headers: asTenant(tenant) };
  }),
  'backslashes as a secret': calling({ finding: 'A1', most: 12, parallel: 3 }, ({ tenant, random }) => () => {
    const username = '\\'.repeat(random.pick([3_900_000, 125_000, 4_096, 1_000_000]));
    return { ...post('/instances', tenant), body: bambooOf('n', { username }) };
  }),
  'heavy listings': calling({ finding: 'A5', most: 2_000, parallel: 40 }, async ({ tenant, knex, random }) => {
    const { accountId } = tenant;
    await knex.raw(`insert into subscription (account_id, url, secrets) values (?, 'https://a.example/', 'x')`, [
      accountId,
    ]);
    await knex.raw(
      `insert into delivery (account_id, subscription_id, event_id, event_at, type, state)
       select ?, 1, gen_random_uuid(), now(), 'a.created', 'queued' from generate_series(1, ?)`,
      [accountId, DELIVERIES],
    );
    const filters = ["event.type LIKE '%a%e%'", 'attempts >= 0', "status = 'queued'", 'id > 0 OR id < 0'] as const;
    const base = '/notifications/subscriptions/deliveries';
    return () => {
      const query = new URLSearchParams({ where: random.pick(filters) });
      return { path: `${API}${random.pick([`${base}/counts`, base])}?${query}`, headers: asTenant(tenant) };
    };
  }),
  'a token nobody has looked up': {
    kind: 'caller',
    finding: 'A5',
    arm: async (armed) => {
      const { id, token } = await connectBamboo(armed);
      const { tenant } = armed;
      const body = JSON.stringify({ name: 'changed' });
      return async (stage) => {
        await stage.attacker.send({ ...post(`/instances/${id}`, tenant), method: 'PATCH', body });
        await flood(stage, { most: 2_400, parallel: 2_400 }, () => ({
          path: `${API}/objects`,
          headers: onInstance(tenant, token),
        }));
      };
    },
  },
  'tokens that are none': calling({ finding: 'A6', most: 6_000, parallel: 300 }, ({ tenant, random }) => () => ({
    path: `${API}/objects`,
    headers: onInstance(tenant, random.word(random.between(1, 200))),
  })),
  'wrong secrets': calling({ finding: 'A6', most: 6_000, parallel: 300 }, ({ random }) => () => ({
    path: `${API}/instances`,
    headers: { authorization: `User ${random.word(20)}, Organization ${random.word(20)}` },
  })),
  'long authorization': calling({ most: 400, parallel: 10 }, ({ random }) => () => ({
    path: `${API}/instances`,
    headers: { authorization: random.pick(['User ', 'User x, ', ',', ' ', 'Organization a,User b,']).repeat(2_500) },
  })),
  'documents without authorization': calling({ finding: 'A6', most: 5_000, parallel: 50 }, ({ random }) => () => ({
    path: random.pick(DOCUMENTS),
  })),
  'filters of 16 kB': onBamboo({ finding: 'B11', most: 400, parallel: 4 }, ({ tenant, random, token }) => () => {
    const piece = random.pick(["status='x' OR ", "lastName LIKE '%a%b%' AND ", 'NOT (', 'hireDate>2020-01-01 OR ']);
    const where = `${piece.repeat(FILTER_BYTES / piece.length)}id='${random.word(5)}'`.slice(0, FILTER_BYTES);
    return listing(tenant, token, { where }, 'employees');
  }),
  'filters that are understood': onBamboo({ finding: 'B11', most: 300, parallel: 4 }, (armed) => () => {
    const { tenant, random, token } = armed;
    const values = Array.from({ length: 400 }, () => `'${random.word(8)}'`);
    const names = Array.from({ length: 200 }, () => `lastName LIKE '%${random.word(3)}%'`);
    const where = random.pick([`lastName IN (${values})`, names.join(' OR ')]).slice(0, FILTER_BYTES);
    return listing(tenant, token, { where, pageSize: '5' }, 'employees');
  }),
  'filters that are none': onBamboo({ finding: 'B12', most: 400, parallel: 4 }, ({ tenant, random, token }) => () => {
    const piece = random.pick(FAULTY_PIECES);
    const where = piece.repeat(FILTER_BYTES).slice(0, random.between(1_000, FILTER_BYTES));
    return listing(tenant, token, { where }, 'employees');
  }),
  'a filter in a body': onBamboo({ finding: 'B12', most: 60, parallel: 4 }, ({ tenant, random, token }) => () => {
    const piece = random.pick(["status='x' OR ", '(', 'NOT ', "'", "lastName LIKE '%a", 'x ']);
    const where = piece.repeat(random.pick([200_000, 2_000_000, 7_000_000]) / piece.length);
    return { ...post('/query/explain', tenant, token), body: JSON.stringify({ objectName: 'employees', where }) };
  }),
  'names without end': onBamboo({ finding: 'B12', most: 400, parallel: 4 }, ({ tenant, random, token }) => {
    const near = () => `${random.word(random.between(1, 90))}Name`;
    const names: readonly [() => Readonly<Record<string, string>>, ...(() => Readonly<Record<string, string>>)[]] = [
      () => ({ fields: Array.from({ length: 4_000 }, () => random.word(1)).join() }),
      () => ({ fields: Array.from({ length: 400 }, near).join() }),
      () => ({ fields: random.word(8_000) }),
      () => ({ orderBy: random.word(8_000) }),
      () => ({ orderBy: Array.from({ length: 400 }, near).join() }),
      () => ({ where: Array.from({ length: 250 }, () => `${near()} = 1`).join(' OR ') }),
      () => ({ fields: 'a.'.repeat(4_000) }),
    ];
    return () => listing(tenant, token, random.pick(names)(), 'employees');
  }),
  'query strings': calling({ finding: 'B12', most: 400, parallel: 4 }, ({ tenant, random }) => () => ({
    path: `${API}${random.pick(PLATFORM_PATHS)}?a${repeated(random, QUERY_PIECES, URL_BYTES)}`,
    headers: asTenant(tenant),
  })),
  'long paths': onBamboo({ finding: 'B12', most: 600, parallel: 8 }, ({ tenant, random, token }) => () => ({
    path: `${API}${random.pick(['/objects/', '/elements/', '/', '/hubs/'])}${repeated(random, PATH_PIECES, URL_BYTES)}`,
    headers: random.next() < 0.5 ? asTenant(tenant) : onInstance(tenant, token),
  })),
  'long headers': calling({ most: 600, parallel: 8 }, ({ tenant, random }) => () => {
    const value = repeated(random, HEADER_PIECES, 58_000).trim();
    return { path: `${API}/elements`, headers: { ...asTenant(tenant), [random.pick(HEADERS)]: value } };
  }),
  'cookies of blanks': onBamboo({ finding: '26 B1', most: 30, parallel: 3 }, ({ tenant, token }) => {
    const blanks = ' '.repeat(58_000);
    const headers = [
      { ...asTenant(tenant), cookie: `causeway-session=a${blanks}x` },
      { cookie: `causeway-session=a${blanks}x` },
      { ...onInstance(tenant, token), connection: `close,a${blanks}b` },
    ] as const;
    const paths = ['/elements', '/instances', '/passthrough/api/v1/meta/fields'] as const;
    return (n) => ({ path: `${API}${paths[n % paths.length]}`, headers: headers[n % headers.length] ?? {} });
  }),
  'parameters without end': onBamboo({ finding: '26 B1', most: 300, parallel: 4 }, ({ tenant, token }) => {
    const many = Array.from({ length: 9_000 }, (_, n) => `n${n}=`).join('&');
    const same = 'a&'.repeat(29_000);
    const paths = [
      ...[`${API}/employees?`, `${API}/instances?`, '/oauth/callback?', '/connect/return?', '/console?', '/docs?'],
      ...['/connect/x?', '/oauth/proxies/x?', '/events/twilio/x?'],
    ];
    return (n) => ({
      path: `${paths[n % paths.length]}${n % 2 === 0 ? many : same}`,
      headers: n % paths.length === 0 ? onInstance(tenant, token) : asTenant(tenant),
    });
  }),
  'bodies for the platform': calling({ finding: 'B12', most: 40, parallel: 2 }, ({ tenant, random }) =>
    inTurn(bodiesOf(random), post('/instances', tenant)),
  ),
  'bodies of records': onBamboo({ finding: 'B12', most: 40, parallel: 2 }, ({ tenant, random, token }) =>
    inTurn(bodiesOf(random), post('/employees', tenant, token)),
  ),
  'bodies of events': calling({ finding: 'B12', most: 24, parallel: 2 }, async (armed) => {
    const callback = armed.site.receive(armed.name, (response) => void response.writeHead(204).end());
    const { id } = await connectBamboo(armed, eventsTo(callback));
    const bodies = [1, 2, 4].map((megabytes) => eventOf(id, { x: 'é"\\'.repeat(megabytes * 150_000) }));
    const members = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`m${n}`, n]));
    return inTurn([...bodies, eventOf(id, members)], post('/events/test', armed.tenant));
  }),
  'large bodies at the same time': onBamboo({ finding: 'B12', most: 120, parallel: 60 }, ({ tenant, token }) => {
    const body = Buffer.from(`{"firstName":"${'x'.repeat(8_000_000)}"}`);
    return () => ({ ...post('/employees', tenant, token), body });
  }),
  'idempotency keys': calling({ most: 400, parallel: 40 }, ({ tenant, random }) => () => {
    const what = post('/instances', tenant);
    const body = bambooOf(random.word(5));
    return { ...what, headers: { ...what.headers, 'idempotency-key': random.word(1) }, body };
  }),
  'changes without end': onBamboo({ most: 1_500, parallel: 60 }, ({ tenant, random, id }) => () => ({
    ...post(`/instances/${id}`, tenant),
    method: 'PATCH',
    body: JSON.stringify({ name: random.word(200), tags: Array.from({ length: 50 }, () => random.word(20)) }),
  })),
  'instances without end': calling({ most: 600, parallel: 40 }, ({ tenant, random }) => () => ({
    ...post('/instances', tenant),
    body: bambooOf(random.word(100)),
  })),
  'calls that hang up': {
    kind: 'caller',
    finding: 'B8',
    arm: async (armed) => {
      const { token } = await connectBamboo(armed);
      const { authorization } = onInstance(armed.tenant, token);
      const where = encodeURIComponent("lastName LIKE '%q%z%x%'");
      return async ({ attacker, signal, tally }) => {
        for (let n = 0; n < 1_000 && !signal.aborted; n++) {
          const socket = attacker.open();
          await new Promise((connected) => socket.once('connect', connected).once('error', connected));
          socket.write(
            `GET ${API}/employees?where=${where} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
          );
          setTimeout(() => socket.resetAndDestroy(), 5);
          tally.note('hung up');
        }
      };
    },
  },
  'answers nobody reads': {
    kind: 'caller',
    arm: async (armed) => {
      const row = `{"id":1,"name":"${'x'.repeat(10_000)}"}`;
      const { token } = await connectOData(armed, { rows: json(`{"value":[${`${row},`.repeat(900)}${row}]}`) });
      const { authorization } = onInstance(armed.tenant, token);
      return async ({ attacker, tally, signal }) => {
        for (let n = 0; n < 40; n++) {
          const socket = attacker.open().pause();
          socket.write(`GET ${API}/items?pageSize=900 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
          tally.note('unread');
        }
        await untilEnd({ signal });
      };
    },
  },
  'a LIKE over a megabyte': calling({ finding: 'B7', most: 60, parallel: 2 }, async (armed) => {
    const { random, tenant } = armed;
    const rows = json(`{"value":[{"id":1,"name":"${'a'.repeat(1_000_000)}"}]}`);
    const { token } = await connectOData(armed, { rows });
    return () => {
      const pattern = `%${repeated(random, ['a%', '_%', '%a_', 'aa%', '_', `${'a'.repeat(200)}b%`], 4_000)}b`;
      return listing(tenant, token, { where: `name LIKE '${pattern}'` });
    };
  }),
  'OAuth URLs and proxies': calling({ finding: 'A2', most: 600, parallel: 20 }, ({ tenant, random }) => (n) => {
    const body = JSON.stringify({
      name: `p${n}`,
      apiKey: random.word(2_000),
      apiSecret: random.word(4_000),
      applicationUrls: Array.from({ length: 50 }, () => `https://${random.word(20)}.example/`),
    });
    return { ...post('/elements/oauthProxies', tenant), body };
  }),
  "an address of one's own for secrets that are stored": calling(
    { finding: 'A3', most: 60, parallel: 4 },
    async (armed) => {
      const { tenant, site, name } = armed;
      const base = site.serve(name, {});
      const { id } = await createInstance(armed, 'odata', { 'base.url': base, username: 'u', password: 'p' });
      const elsewhere = site.serve(`${name}-elsewhere`, {});
      const body = JSON.stringify({ configuration: { 'base.url': elsewhere } });
      return () => ({ ...post(`/instances/${id}`, tenant), method: 'PATCH', body });
    },
  ),
};

export function eventsTo(callbackUrl: string): object {
  return { 'event.notification.enabled': true, 'event.notification.callback.url': callbackUrl };
}

export function eventOf(instanceId: number, data: object): string {
  return JSON.stringify({ instanceId, data });
}
