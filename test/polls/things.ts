import { createServer, type ServerResponse } from 'node:http';
import { can, defineConnector, defineObject, json, type ListOperation, path, type Translator } from '#connector';
import { listen } from '../../suite/listen.ts';
import { stopServer } from '../../suite/stop-server.ts';
import { type ApiAnswer, type AppOverrides, type TestApp, useApp } from '../support/app.ts';
import {
  type Behaviour,
  type MisbehavingServer,
  startMisbehavingServer,
  status,
} from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

/** A record of the provider. */
export interface Thing {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A list that was asked for. */
export interface ListRequested {
  readonly key: string;
  readonly object: string;
  readonly filter: string | undefined;
  readonly order: string | undefined;
  readonly limit: number;
}

export type ThingsProvider = Awaited<ReturnType<typeof startThingsProvider>>;

/** A provider of things that say when they changed, and of notes that do not; what is told of it takes effect at once. */
export async function startThingsProvider() {
  const things = new Map<string, Thing>();
  const removed: { readonly id: string; readonly at: string }[] = [];
  const requested: ListRequested[] = [];
  const refused = new Set<string>();
  const underWay = new Map<string, number>();
  let mostAtOnce = 0;
  let instead: readonly Behaviour[] = [];
  let headers: Readonly<Record<string, string>> = {};

  /** `updatedAt >= 2030-01-01T00:00:00Z and …`: texts of times compare as times. */
  function matches(thing: Thing, filter: string | null): boolean {
    return (filter ?? '').split(' and ').every((term) => {
      const [, field, operator, value = ''] = /^(\w+) (>=|<|=) (.*)$/.exec(term) ?? [];
      if (field === undefined) return true;
      const own = String(Object(thing)[field]);
      if (operator === '=') return own === value;
      const isEarlier = own < new Date(value).toISOString();
      return operator === '<' ? isEarlier : !isEarlier;
    });
  }

  function pageOf(query: URLSearchParams) {
    const [field = 'id', direction] = (query.get('order') ?? '').split(' ');
    const sign = direction === 'desc' ? -1 : 1;
    const textOf = (thing: Thing) => String(Object(thing)[field]);
    const rows = [...things.values()]
      .filter((thing) => matches(thing, query.get('filter')))
      .sort((a, b) => sign * textOf(a).localeCompare(textOf(b)) || a.id.localeCompare(b.id));
    const [offset, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit'))];
    const end = offset + limit;
    return { records: rows.slice(offset, end), ...(end < rows.length && { next: String(end) }) };
  }

  function answerOf({ pathname, searchParams: query }: URL, key: string): readonly [status: number, body: unknown] {
    if (refused.has(key)) return [401, { message: 'Who are you?' }];
    const [, object = '', id] = pathname.split('/');
    if (object === 'me') return [200, {}];
    if (object === 'removed') return [200, { changes: removed.filter(({ at }) => at >= (query.get('since') ?? '')) }];
    if (id !== undefined) return things.has(id) ? [200, things.get(id)] : [404, { message: 'There is none.' }];
    const [filter, order] = [query.get('filter') ?? undefined, query.get('order') ?? undefined];
    requested.push({ key, object, filter, order, limit: Number(query.get('limit')) });
    return [200, pageOf(query)];
  }

  function serve(url: URL, key: string, response: ServerResponse): void {
    const [code, body] = answerOf(url, key);
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }

  const server = createServer((request, response) => {
    const key = String(request.headers['x-api-key']);
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/me') return serve(url, key, response);
    const [next, ...rest] = instead;
    if (next !== undefined) {
      instead = rest;
      return next(response, request);
    }
    const place = `${key} ${url.pathname}`;
    const count = (underWay.get(place) ?? 0) + 1;
    underWay.set(place, count);
    mostAtOnce = Math.max(mostAtOnce, count);
    // So late that others could come between.
    setImmediate(() => {
      underWay.set(place, (underWay.get(place) ?? 0) - 1);
      serve(url, key, response);
    });
  });
  const port = await listen(server);

  return {
    url: `http://127.0.0.1:${port}`,
    requested,
    /** Requests for one path with one key. */
    mostAtOnce: () => mostAtOnce,
    add: (id: string, more: Partial<Thing> = {}) => {
      const now = new Date().toISOString();
      things.set(id, { id, name: `Thing ${id}`, state: 'new', createdAt: now, updatedAt: now, ...more });
    },
    /** Now, unless `updatedAt` is given. */
    change: (id: string, more: Partial<Thing> = {}) => {
      const thing = things.get(id);
      if (thing === undefined) throw new Error(`There is no thing ${id}.`);
      things.set(id, { ...thing, updatedAt: new Date().toISOString(), ...more });
    },
    remove: (id: string) => {
      things.delete(id);
      removed.push({ id, at: new Date().toISOString() });
    },
    refuse: (key: string) => void refused.add(key),
    accept: (key: string) => void refused.delete(key),
    /** Instead of the next lists. */
    answerNext: (...behaviours: readonly Behaviour[]) => {
      instead = behaviours;
    },
    /** Of every response from now on. */
    setHeaders: (given: Readonly<Record<string, string>>) => {
      headers = given;
    },
    close: () => stopServer(server),
  };
}

const time = { type: 'datetime', nullable: false, sortable: true, filter: can.order('exact') } as const;
const times = {
  createdAt: { ...time, domain: { step: 'millisecond' } },
  updatedAt: { ...time, domain: { step: 'millisecond' } },
} as const;
const texts = {
  id: { type: 'string', nullable: false },
  name: { type: 'string' },
  state: { type: 'string', filter: { '=': 'exact' } },
} as const;

const listOf = (at: string): ListOperation<string> => ({
  request: ({ filter, limit, cursor, orderBy }) => ({
    path: at,
    query: {
      filter,
      limit,
      cursor,
      order: orderBy.map(({ field, direction }) => `${field.native} ${direction}`)[0],
    },
  }),
  read: ({ body }) => {
    const next = json.findText(json.at(body, 'next'));
    return { records: json.array(json.at(body, 'records'), 'records'), ...(next !== undefined && { next }) };
  },
  maxPageSize: 100,
});

const translator: Translator<string> = {
  and: (operands) => operands.join(' and '),
  compare: ({ native }, operator, value) => `${native} ${operator} ${'text' in value ? value.text : value.value}`,
};

/** As a connector of the provider is written. */
export const THINGS = defineConnector({
  key: 'things',
  id: 990_101,
  name: 'Things',
  description: 'A provider of the tests.',
  hub: 'general',
  auth: { type: 'custom', headers: (config) => ({ 'x-api-key': String(config['api.key']) }) },
  configuration: [
    { key: 'base.url', type: 'url', required: true, description: 'Where it is.' },
    { key: 'api.key', type: 'string', required: true, secret: true, description: 'Its key.' },
  ],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  polls: ['things'],
  objects: {
    things: defineObject<string>({
      fields: { ...texts, ...times },
      translator,
      changes: { updated: 'updatedAt', created: 'createdAt', overlapSeconds: 5 },
      list: listOf('/things'),
      get: { request: ({ id }) => ({ path: path`/things/${id}` }), read: ({ body }) => body },
    }),
    notes: defineObject<string>({ fields: texts, translator, list: listOf('/notes') }),
    mortals: defineObject<string>({
      fields: { ...texts, ...times },
      translator,
      changes: {
        updated: 'updatedAt',
        created: 'createdAt',
        overlapSeconds: 5,
        feed: {
          request: ({ since }) => ({ path: '/removed', query: { since } }),
          read: ({ body }) => ({
            changes: json.array(json.at(body, 'changes'), 'changes').map((change) => ({
              id: json.text(json.at(change, 'id'), 'id'),
              action: 'deleted',
              at: json.text(json.at(change, 'at'), 'at'),
            })),
          }),
        },
      },
      list: listOf('/mortals'),
    }),
  },
});

export type Service = Pick<TestApp, 'call' | 'createInstance'>;

/** Minutes: nothing is polled but when a test says so. */
const NEVER = 600;

let nextKey = 1;

/** An instance whose events go to the URL; its first poll is at once, the next when it is asked for. */
export function createPolled(service: Service, { provider, url, more = {} }: PolledInput): Promise<ApiAnswer['body']> {
  return service.createInstance('things', {
    'base.url': provider.url,
    'api.key': `key-${nextKey++}`,
    'event.notification.enabled': true,
    'event.notification.callback.url': url,
    'event.poller.refresh_interval': NEVER,
    ...more,
  });
}

interface PolledInput {
  readonly provider: Pick<ThingsProvider, 'url'>;
  /** The callback URL. */
  readonly url: string;
  readonly more?: object;
}

export async function pollsOf(service: Service, id: number): Promise<ApiAnswer['body']> {
  return (await service.call(`/instances/${id}/polls`)).body;
}

export async function pollOf(service: Service, id: number, resource = 'things'): Promise<ApiAnswer['body']> {
  return (await pollsOf(service, id)).find((poll: { readonly resource: string }) => poll.resource === resource);
}

/** Until it ran so often, and waits. @returns the poll */
export async function untilRun(service: Service, id: number, { runs = 1, resource = 'things' } = {}) {
  await until(async () => {
    const poll = await pollOf(service, id, resource);
    return poll?.runs >= runs && poll.state !== 'running';
  });
  return pollOf(service, id, resource);
}

/** Runs it now. @returns the poll afterwards */
export async function runNow(service: Service, id: number, resource = 'things'): Promise<ApiAnswer['body']> {
  const { runs } = await pollOf(service, id, resource);
  await service.call(`/instances/${id}/polls/${resource}/run`, { method: 'POST' });
  return untilRun(service, id, { runs: runs + 1, resource });
}

/** A service, a provider and a receiver for the tests of the suite that calls this. */
export function useThings(overrides: AppOverrides = {}) {
  const service = useApp({ SIMULATORS_PORT: 'off' }, { connectors: [THINGS], ...overrides });
  let started: { readonly provider: ThingsProvider; readonly receiver: MisbehavingServer } | undefined;
  before(async () => {
    started = {
      provider: await startThingsProvider(),
      receiver: await startMisbehavingServer({ otherwise: status(204) }),
    };
  });
  after(async () => {
    await Promise.all([started?.provider.close(), started?.receiver.close()]);
  });

  const current = () => {
    if (started === undefined) throw new Error('Provider and receiver of this suite have not started yet.');
    return started;
  };
  /** Types and ids of what came to a path. */
  const received = (at: string) =>
    current()
      .receiver.requests.filter(({ url }) => url === at)
      .map(({ body }) => JSON.parse(body))
      .map(({ type, data }): readonly [string, string] => [type, data.objectId]);
  return {
    service,
    get provider() {
      return current().provider;
    },
    get receiver() {
      return current().receiver;
    },
    /** Delivers to a path of the receiver. It was polled once. */
    create: async (at: string, more: object = {}) => {
      const { provider, receiver } = current();
      const instance = await createPolled(service, { provider, url: receiver.url + at, more });
      await until(async () => (await pollsOf(service, instance.id)).length > 0);
      for (const { resource } of await pollsOf(service, instance.id))
        await untilRun(service, instance.id, { resource });
      return instance;
    },
    run: (id: number, resource?: string) => runNow(service, id, resource),
    poll: (id: number, resource?: string) => pollOf(service, id, resource),
    received,
    /** @returns them once there are so many */
    arrived: async (at: string, count: number) => {
      await until(() => received(at).length >= count);
      return received(at);
    },
  };
}
