import { once } from 'node:events';
import {
  API,
  asTenant,
  connectBamboo,
  connectOData,
  createInstance,
  flood,
  type Inputs,
  JSON_TYPE,
  listing,
  onInstance,
  post,
  type Stage,
} from './stage.ts';

const URL_BYTES = 60_000;
const FILTER_BYTES = 16_000;
const DELIVERIES = 200_000;
const PLATFORM_PATHS = ['/instances', '/elements', '/hubs', '/notifications/subscriptions'] as const;
const DOCUMENTS = ['/openapi.json', '/openapi.yaml', '/docs', '/docs/where', '/metrics', '/health/ready'] as const;

/** Bodies that cost the service more to parse or to validate than they cost to send. */
const BODIES: Readonly<Record<string, (stage: Stage) => string>> = {
  nested: ({ random }) => `${'['.repeat(random.between(1, 4) * 1_000_000)}`,
  'nested to the end': ({ random }) => {
    const depth = random.between(1, 4) * 1_000_000;
    return '['.repeat(depth) + ']'.repeat(depth);
  },
  'a million members': ({ random }) =>
    `{${Array.from({ length: random.between(300_000, 600_000) }, (_, n) => `"a${n}":1`).join()}}`,
  'a million values': ({ random }) => `{"name":[${'1,'.repeat(random.between(1_000_000, 3_900_000))}1]}`,
  'one long text': ({ random }) => {
    const piece = random.pick(['\\\\', 'é', '\\u0000', 'x']);
    return `{"name":"${piece.repeat(7_000_000 / piece.length)}"}`;
  },
  'a number of a million digits': ({ random }) => `{"name":${'9'.repeat(random.between(1_000_000, 7_900_000))}}`,
  'the same name again': () => `{${'"name":1,'.repeat(800_000)}"name":1}`,
  prototypes: () => `{"__proto__":${'{"__proto__":'.repeat(50)}1${'}'.repeat(50)},"constructor":{"prototype":{"a":1}}}`,
};

export const CALLERS: Inputs = {
  'guesses in one request': {
    kind: 'caller',
    finding: 'A1',
    arm:
      ({ tenant, random }) =>
      (stage) => {
        const guesses = Array.from({ length: 4_000 }, () => random.word(8)).join('&');
        return flood(stage, { most: 60, parallel: 10 }, () => ({
          path: `${API}/elements?${guesses}`,
          headers: asTenant(tenant),
        }));
      },
  },
  'words as secrets': {
    kind: 'caller',
    finding: 'A1',
    arm:
      ({ tenant, random }) =>
      (stage) =>
        flood(stage, { most: 300, parallel: 10 }, () => {
          const apiSecret = random.pick(['There is no', 'request"}', 'e', 'id', '":"', 'x'.repeat(4_000)]);
          const query = new URLSearchParams({ apiKey: 'k', apiSecret, callbackUrl: 'https://a.example', state: 's' });
          return { path: `${API}/elements/salesforce/oauth/url?${query}`, headers: asTenant(tenant) };
        }),
  },
  'backslashes as a secret': {
    kind: 'caller',
    finding: 'A1',
    arm:
      ({ tenant, random }) =>
      (stage) =>
        flood(stage, { most: 12, parallel: 3 }, () => {
          const username = '\\'.repeat(random.pick([3_900_000, 125_000, 4_096, 1_000_000]));
          const configuration = { username, 'company.name': 'acme', simulator: true };
          const body = JSON.stringify({ element: { key: 'bamboohr' }, name: 'n', configuration });
          return { ...post('/instances', tenant), body };
        }),
  },
  'heavy listings': {
    kind: 'caller',
    finding: 'A5',
    arm: async ({ tenant, knex }) => {
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
      return (stage) =>
        flood(stage, { most: 2_000, parallel: 40 }, () => {
          const query = new URLSearchParams({ where: stage.random.pick(filters) });
          const path = stage.random.pick([`${base}/counts`, base]);
          return { path: `${API}${path}?${query}`, headers: asTenant(tenant) };
        });
    },
  },
  'a token nobody has looked up': {
    kind: 'caller',
    finding: 'A5',
    arm: async (ground) => {
      const { id, token } = await connectBamboo(ground);
      const { tenant } = ground;
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
  'tokens that are none': {
    kind: 'caller',
    finding: 'A6',
    arm:
      ({ tenant, random }) =>
      (stage) =>
        flood(stage, { most: 6_000, parallel: 300 }, () => ({
          path: `${API}/objects`,
          headers: onInstance(tenant, random.word(random.between(1, 200))),
        })),
  },
  'wrong secrets': {
    kind: 'caller',
    finding: 'A6',
    arm:
      ({ random }) =>
      (stage) =>
        flood(stage, { most: 6_000, parallel: 300 }, () => ({
          path: `${API}/instances`,
          headers: { authorization: `User ${random.word(20)}, Organization ${random.word(20)}` },
        })),
  },
  'long authorization': {
    kind: 'caller',
    arm:
      ({ random }) =>
      (stage) =>
        flood(stage, { most: 400, parallel: 10 }, () => ({
          path: `${API}/instances`,
          headers: {
            authorization: random.pick(['User ', 'User x, ', ',', ' ', 'Organization a,User b,']).repeat(2_500),
          },
        })),
  },
  'documents without authorization': {
    kind: 'caller',
    finding: 'A6',
    arm:
      ({ random }) =>
      (stage) =>
        flood(stage, { most: 5_000, parallel: 50 }, () => ({ path: random.pick(DOCUMENTS) })),
  },
  'filters of 16 kB': {
    kind: 'caller',
    finding: 'B11',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const { tenant, random } = ground;
      const pieces = ["status='x' OR ", "lastName LIKE '%a%b%' AND ", 'NOT (', 'hireDate>2020-01-01 OR '] as const;
      return (stage) =>
        flood(stage, { most: 400, parallel: 4 }, () => {
          const piece = random.pick(pieces);
          const where = `${piece.repeat(FILTER_BYTES / piece.length)}id='${random.word(5)}'`.slice(0, FILTER_BYTES);
          return listing(tenant, token, { where }, 'employees');
        });
    },
  },
  'filters that are understood': {
    kind: 'caller',
    finding: 'B11',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const { tenant, random } = ground;
      return (stage) =>
        flood(stage, { most: 300, parallel: 4 }, () => {
          const values = Array.from({ length: 400 }, () => `'${random.word(8)}'`);
          const names = Array.from({ length: 200 }, () => `lastName LIKE '%${random.word(3)}%'`);
          const where = random.pick([`lastName IN (${values})`, names.join(' OR ')]).slice(0, FILTER_BYTES);
          return listing(tenant, token, { where, pageSize: '5' }, 'employees');
        });
    },
  },
  'filters that are none': {
    kind: 'caller',
    finding: 'B12',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const { tenant, random } = ground;
      const pieces = [
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
      return (stage) =>
        flood(stage, { most: 400, parallel: 4 }, () => {
          const piece = random.pick(pieces);
          const where = piece.repeat(FILTER_BYTES).slice(0, random.between(1_000, FILTER_BYTES));
          return listing(tenant, token, { where }, 'employees');
        });
    },
  },
  'a filter in a body': {
    kind: 'caller',
    finding: 'B12',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const headers = { ...onInstance(ground.tenant, token), ...JSON_TYPE };
      const { random } = ground;
      return (stage) =>
        flood(stage, { most: 60, parallel: 4 }, () => {
          const piece = random.pick(["status='x' OR ", '(', 'NOT ', "'", "lastName LIKE '%a", 'x ']);
          const where = piece.repeat(random.pick([200_000, 2_000_000, 7_000_000]) / piece.length);
          const body = JSON.stringify({ objectName: 'employees', where });
          return { method: 'POST', path: `${API}/query/explain`, headers, body };
        });
    },
  },
  'names without end': {
    kind: 'caller',
    finding: 'B12',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const { tenant, random } = ground;
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
      return (stage) =>
        flood(stage, { most: 400, parallel: 4 }, () => listing(tenant, token, random.pick(names)(), 'employees'));
    },
  },
  'query strings': {
    kind: 'caller',
    finding: 'B12',
    arm:
      ({ tenant, random }) =>
      (stage) => {
        const pieces = [
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
        return flood(stage, { most: 400, parallel: 4 }, () => {
          const piece = random.pick(pieces);
          const query = piece.repeat(random.between(1, URL_BYTES / piece.length));
          return { path: `${API}${random.pick(PLATFORM_PATHS)}?a${query}`, headers: asTenant(tenant) };
        });
      },
  },
  'long paths': {
    kind: 'caller',
    finding: 'B12',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const { tenant, random } = ground;
      return (stage) =>
        flood(stage, { most: 600, parallel: 8 }, () => {
          const piece = random.pick(['/', '/a', '%2f', '%', '/..', ';', '//', '%00', 'a', '%F0%9F%92%A3']);
          const path = piece.repeat(random.between(1, URL_BYTES / piece.length));
          const headers = random.next() < 0.5 ? asTenant(tenant) : onInstance(tenant, token);
          return { path: `${API}${random.pick(['/objects/', '/elements/', '/', '/hubs/'])}${path}`, headers };
        });
    },
  },
  'long headers': {
    kind: 'caller',
    arm:
      ({ tenant, random }) =>
      (stage) => {
        const names = [
          'accept',
          'idempotency-key',
          'elements-version',
          'cookie',
          'x-forwarded-for',
          'if-none-match',
          'accept-encoding',
        ] as const;
        const pieces = ['a/b;q=0.1,', ',', ' ', 'x', '*/*,', ';', '127.0.0.1, ', 'gzip;q=0,'] as const;
        return flood(stage, { most: 600, parallel: 8 }, () => {
          const piece = random.pick(pieces);
          const value = piece.repeat(random.between(1, 58_000 / piece.length)).trim();
          return { path: `${API}/elements`, headers: { ...asTenant(tenant), [random.pick(names)]: value } };
        });
      },
  },
  'cookies of blanks': {
    kind: 'caller',
    finding: '26 B1',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const { tenant } = ground;
      const blanks = ' '.repeat(58_000);
      const headers = [
        { ...asTenant(tenant), cookie: `causeway-session=a${blanks}x` },
        { cookie: `causeway-session=a${blanks}x` },
        { ...onInstance(tenant, token), connection: `close,a${blanks}b` },
      ] as const;
      const paths = ['/elements', '/instances', '/passthrough/api/v1/meta/fields'] as const;
      return (stage) =>
        flood(stage, { most: 30, parallel: 3 }, (n) => ({
          path: `${API}${paths[n % paths.length]}`,
          headers: headers[n % headers.length] ?? {},
        }));
    },
  },
  'parameters without end': {
    kind: 'caller',
    finding: '26 B1',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const { tenant } = ground;
      const many = Array.from({ length: 9_000 }, (_, n) => `n${n}=`).join('&');
      const same = 'a&'.repeat(29_000);
      const paths = [
        ...[`${API}/employees?`, `${API}/instances?`, '/oauth/callback?', '/connect/return?', '/console?', '/docs?'],
        ...['/connect/x?', '/oauth/proxies/x?', '/events/twilio/x?'],
      ];
      return (stage) =>
        flood(stage, { most: 300, parallel: 4 }, (n) => ({
          path: `${paths[n % paths.length]}${n % 2 === 0 ? many : same}`,
          headers: n % paths.length === 0 ? onInstance(tenant, token) : asTenant(tenant),
        }));
    },
  },
  'bodies for the platform': {
    kind: 'caller',
    finding: 'B12',
    arm:
      ({ tenant }) =>
      (stage) => {
        const bodies = Object.values(BODIES).map((build) => build(stage));
        return flood(stage, { most: 40, parallel: 2 }, (n) => ({
          ...post('/instances', tenant),
          body: bodies[n % bodies.length] ?? '',
        }));
      },
  },
  'bodies of records': {
    kind: 'caller',
    finding: 'B12',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const headers = { ...onInstance(ground.tenant, token), ...JSON_TYPE };
      return (stage) => {
        const bodies = Object.values(BODIES).map((build) => build(stage));
        return flood(stage, { most: 40, parallel: 2 }, (n) => ({
          method: 'POST',
          path: `${API}/employees`,
          headers,
          body: bodies[n % bodies.length] ?? '',
        }));
      };
    },
  },
  'bodies of events': {
    kind: 'caller',
    finding: 'B12',
    arm: async (ground) => {
      const callback = ground.site.receive(ground.name, (response) => void response.writeHead(204).end());
      const { id } = await connectBamboo(ground, eventsTo(callback));
      return (stage) => {
        const bodies = [1, 2, 4].map((megabytes) => eventOf(id, { x: 'é"\\'.repeat(megabytes * 150_000) }));
        const members = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`m${n}`, n]));
        const all = [...bodies, eventOf(id, members)];
        return flood(stage, { most: 24, parallel: 2 }, (n) => ({
          ...post('/events/test', ground.tenant),
          body: all[n % all.length] ?? '',
        }));
      };
    },
  },
  'large bodies at the same time': {
    kind: 'caller',
    finding: 'B12',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const headers = { ...onInstance(ground.tenant, token), ...JSON_TYPE };
      const body = Buffer.from(`{"firstName":"${'x'.repeat(8_000_000)}"}`);
      return (stage) =>
        flood(stage, { most: 120, parallel: 60 }, () => ({ method: 'POST', path: `${API}/employees`, headers, body }));
    },
  },
  'idempotency keys': {
    kind: 'caller',
    arm:
      ({ tenant, random }) =>
      (stage) => {
        const configuration = { username: 'demo-key', 'company.name': 'acme', simulator: true };
        return flood(stage, { most: 400, parallel: 40 }, () => {
          const what = post('/instances', tenant);
          const body = JSON.stringify({ element: { key: 'bamboohr' }, name: random.word(5), configuration });
          return { ...what, headers: { ...what.headers, 'idempotency-key': random.word(1) }, body };
        });
      },
  },
  'changes without end': {
    kind: 'caller',
    arm: async (ground) => {
      const { id } = await connectBamboo(ground);
      const { tenant, random } = ground;
      return (stage) =>
        flood(stage, { most: 1_500, parallel: 60 }, () => ({
          ...post(`/instances/${id}`, tenant),
          method: 'PATCH',
          body: JSON.stringify({ name: random.word(200), tags: Array.from({ length: 50 }, () => random.word(20)) }),
        }));
    },
  },
  'instances without end': {
    kind: 'caller',
    arm:
      ({ tenant, random }) =>
      (stage) => {
        const configuration = { username: 'demo-key', 'company.name': 'acme', simulator: true };
        return flood(stage, { most: 600, parallel: 40 }, () => ({
          ...post('/instances', tenant),
          body: JSON.stringify({ element: { key: 'bamboohr' }, name: random.word(100), configuration }),
        }));
      },
  },
  'calls that hang up': {
    kind: 'caller',
    finding: 'B8',
    arm: async (ground) => {
      const { token } = await connectBamboo(ground);
      const { authorization } = onInstance(ground.tenant, token);
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
    arm: async (ground) => {
      const row = `{"id":1,"name":"${'x'.repeat(10_000)}"}`;
      const page = Buffer.from(`{"value":[${`${row},`.repeat(900)}${row}]}`);
      const { token } = await connectOData(ground, {
        rows: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(page),
      });
      const { authorization } = onInstance(ground.tenant, token);
      return async ({ attacker, tally, signal }) => {
        for (let n = 0; n < 40; n++) {
          const socket = attacker.open().pause();
          socket.write(`GET ${API}/items?pageSize=900 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
          tally.note('unread');
        }
        await once(signal, 'abort');
      };
    },
  },
  'a LIKE over a megabyte': {
    kind: 'caller',
    finding: 'B7',
    arm: async (ground) => {
      const { random, tenant } = ground;
      const rows = Buffer.from(`{"value":[{"id":1,"name":"${'a'.repeat(1_000_000)}"}]}`);
      const { token } = await connectOData(ground, {
        rows: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(rows),
      });
      return (stage) =>
        flood(stage, { most: 60, parallel: 2 }, () => {
          const piece = random.pick(['a%', '_%', '%a_', 'aa%', '_', `${'a'.repeat(200)}b%`]);
          const pattern = `%${piece.repeat(random.between(1, 4_000 / piece.length))}b`;
          return listing(tenant, token, { where: `name LIKE '${pattern}'` });
        });
    },
  },
  'OAuth URLs and proxies': {
    kind: 'caller',
    finding: 'A2',
    arm:
      ({ tenant, random }) =>
      (stage) =>
        flood(stage, { most: 600, parallel: 20 }, (n) => {
          const body = JSON.stringify({
            name: `p${n}`,
            apiKey: random.word(2_000),
            apiSecret: random.word(4_000),
            applicationUrls: Array.from({ length: 50 }, () => `https://${random.word(20)}.example/`),
          });
          return { ...post('/elements/oauthProxies', tenant), body };
        }),
  },
  "an address of one's own for secrets that are stored": {
    kind: 'caller',
    finding: 'A3',
    arm: async (ground) => {
      const { tenant, site, name } = ground;
      const base = site.serve(name, {});
      const { id } = await createInstance(ground, 'odata', { 'base.url': base, username: 'u', password: 'p' });
      const elsewhere = site.serve(`${name}-elsewhere`, {});
      const body = JSON.stringify({ configuration: { 'base.url': elsewhere } });
      return (stage) =>
        flood(stage, { most: 60, parallel: 4 }, () => ({ ...post(`/instances/${id}`, tenant), method: 'PATCH', body }));
    },
  },
};

export function eventsTo(callbackUrl: string): object {
  return { 'event.notification.enabled': true, 'event.notification.callback.url': callbackUrl };
}

export function eventOf(instanceId: number, data: object): string {
  return JSON.stringify({ instanceId, data });
}
