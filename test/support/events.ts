import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { type Clock, SYSTEM_CLOCK } from '../../src/clock.ts';
import { createEgress } from '../../src/egress/index.ts';
import { createAcceptStore } from '../../src/events/accept/accept-store.ts';
import { createRateStore } from '../../src/events/dispatch/rate-store.ts';
import { createEngine, type EngineNeighbours, type EnginePlatform, type EngineRole } from '../../src/events/engine.ts';
import { hostOf } from '../../src/events/lease.ts';
import type { DeliverySettings, EventSource, NewEvent, ReadySubscription } from '../../src/events/model.ts';
import type { EngineOptions } from '../../src/events/options.ts';
import { createOutcomeStore } from '../../src/events/outcomes/outcome-store.ts';
import { createOwnerStore } from '../../src/events/owners/owner-store.ts';
import { createClaimStore } from '../../src/events/sweep/claim-store.ts';
import { createMetrics } from '../../src/metrics.ts';
import { ALL_BUCKETS } from './buckets.ts';
import { silentLog, theRow, useDatabase } from './database.ts';
import { addAccount, emptyTables } from './event-rows.ts';
import { type MisbehavingServer, startMisbehavingServer } from './misbehaving-server.ts';
import { createLocalNotifier } from './notifier.ts';

export const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
export const ACCOUNT_ID = 1;

/** A notification that the engine has sent in a transaction. */
export interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type TestEngine = ReturnType<typeof createTestEngine>;

interface TestEngineInput extends Partial<EngineRole> {
  readonly knex: Knex;
  readonly clock?: Clock;
  readonly egress?: EnginePlatform['egress'];
  readonly findEndpoints?: EngineNeighbours['findEndpoints'];
  readonly subscriptions?: EngineNeighbours['subscriptions'];
}

/** Creates the stores of the service. */
export function createStores(knex: Knex) {
  return {
    accepted: createAcceptStore(knex),
    claims: createClaimStore(knex),
    outcomes: createOutcomeStore(knex),
    owners: createOwnerStore(knex),
    rates: createRateStore(knex),
  };
}

/** Creates an engine with minimal neighbours: instance n delivers to `urls[n]`. */
function createTestEngine(input: TestEngineInput) {
  const { knex, clock = SYSTEM_CLOCK, delivers = true, options } = input;
  const metrics = createMetrics({ processMetrics: false });
  const egress = createEgress({ allow: ['127.0.0.0/8'], connectTimeoutMs: 1_000 });
  const urls = new Map<number, string>();
  const sources = new Map<number, Partial<EventSource>>();
  const told: Told[] = [];
  const { subscriptions = createTestSubscriptions(knex) } = input;
  let settings: DeliverySettings = { failurePolicy: 'retry', retryCount: 5 };

  const platform: EnginePlatform = {
    egress: input.egress ?? egress,
    notifier: createLocalNotifier(),
    buckets: ALL_BUCKETS,
    log: silentLog,
    metrics,
    clock,
    random: { bytes: randomBytes, fraction: Math.random },
  };
  const neighbours: EngineNeighbours = {
    findSource: async (accountId, instanceId) => {
      const callbackUrl = urls.get(instanceId);
      return { ...plainSource(accountId, instanceId), callbackUrl, ...sources.get(instanceId) };
    },
    subscriptions,
    findEndpoints: input.findEndpoints,
    settings: async () => settings,
    noteEvent: () => {},
    notifications: {
      prepare: async () => async (_via, type, data) => void told.push({ type, data: { ...data } }),
    },
  };
  const events = createEngine(platform, createStores(knex), neighbours, { delivers, options });

  return {
    events,
    metrics,
    urls,
    /** Sources that differ from a plain one, by instance. */
    sources,
    told,
    set settings(given: DeliverySettings) {
      settings = given;
    },
    /** Returns the value of a counter or gauge, summed over all labels unless some are given. */
    measure: async (name: string, labels: Readonly<Record<string, string>> = {}) => {
      const found = await metrics.registry.getSingleMetric(name)?.get();
      const values = found?.values.filter(({ labels: own }) =>
        Object.entries(labels).every(([label, value]) =>
          Object.entries(own).some(([l, v]) => l === label && v === value),
        ),
      );
      return values?.reduce((sum, { value }) => sum + value, 0) ?? Number.NaN;
    },
    close: () => egress.close(),
  };
}

/** Creates engines over one database, and a receiver. Everything is stopped and emptied after each test. */
export function useEngines() {
  const database = useDatabase();
  let receiver: MisbehavingServer | undefined;
  let engines: TestEngine[] = [];

  before(async () => {
    receiver = await startMisbehavingServer();
    await addAccount(database.knex);
  });
  afterEach(async () => {
    const stopping = engines;
    engines = [];
    // An engine whose process died in the test cannot stop gracefully.
    await Promise.allSettled(stopping.map(({ events }) => events.stop(200)));
    await emptyTables(database.knex);
    // Requests that hang end when the receiver closes their connections.
    receiver?.dropConnections();
    await Promise.all(stopping.map(({ close }) => close()));
  });
  after(() => receiver?.close());

  const current = (): MisbehavingServer => {
    if (receiver === undefined) throw new Error('The receiver of this suite has not started yet.');
    return receiver;
  };
  async function start(input: Partial<TestEngineInput> = {}): Promise<TestEngine> {
    const engine = createTestEngine({ knex: database.knex, ...input });
    engines.push(engine);
    await engine.events.start();
    return engine;
  }
  return {
    get knex() {
      return database.knex;
    },
    get databaseUrl() {
      return database.url;
    },
    get receiver() {
      return current();
    },
    start,
    /** Starts an engine in which instance 1 delivers to this path of the receiver. */
    startFor: async (path: string, input?: Partial<TestEngineInput>) => {
      const engine = await start(input);
      engine.urls.set(1, current().url + path);
      return engine;
    },
    received: (path: string) => current().requests.filter(({ url }) => url === path),
  };
}

/** Returns schedules with this number of retries, each at this interval after the one before. */
export function quickSchedules(retries: number, intervalMs = 30): EngineOptions['schedules'] {
  const offsetsMs = Array.from({ length: retries }, (_, index) => (index + 1) * intervalMs);
  return { 5: { offsetsMs, shortestIntervalMs: intervalMs }, 9: { offsetsMs, shortestIntervalMs: intervalMs } };
}

export function newEvent(instanceId: number, more: Partial<NewEvent> = {}): NewEvent {
  return { accountId: ACCOUNT_ID, instanceId, type: 'orders.created', objectName: 'orders', objectId: '7', ...more };
}

/** Returns a source that delivers nowhere. */
export function plainSource(accountId: number, instanceId: number): EventSource {
  return {
    accountId,
    instanceId,
    instanceName: `Instance ${instanceId}`,
    tags: ['test'],
    elementKey: 'odata',
    hub: 'general',
    callbackUrl: undefined,
    isEnabled: true,
    signatureKey: undefined,
    ordered: false,
  };
}

const PLAIN_ENDPOINT = { format: 'standard', companyId: 0, headers: {}, authentication: undefined } as const;

/** Creates subscriptions on the table. They read it for each call, except for the id of a URL. */
function createTestSubscriptions(knex: Knex): EngineNeighbours['subscriptions'] {
  const cached = new Map<string, Promise<ReadySubscription | undefined>>();

  async function read(accountId: number, id: number): Promise<ReadySubscription | undefined> {
    const [row] = await knex('subscription').where({ account_id: accountId, id });
    return (
      row && {
        accountId,
        id,
        url: row.url,
        host: hostOf(row.url),
        state: row.state,
        eventTypes: row.event_types,
        secrets: [SECRET],
        endpoint: row.is_endpoint ? PLAIN_ENDPOINT : undefined,
      }
    );
  }

  function find(accountId: number, id: number): Promise<ReadySubscription | undefined> {
    const key = `${accountId}:${id}`;
    const known = cached.get(key) ?? read(accountId, id);
    cached.set(key, known);
    return known;
  }

  const ids = new Map<string, Promise<number>>();

  async function insert(accountId: number, url: string): Promise<number> {
    await knex('subscription').insert({ account_id: accountId, url, secrets: 'sealed' }).onConflict().ignore();
    return (await theRow(knex('subscription').where({ account_id: accountId, url }))).id;
  }

  return {
    ensure: async (accountId, url) => {
      const key = `${accountId}:${url}`;
      const id = ids.get(key) ?? insert(accountId, url);
      ids.set(key, id);
      const found = await find(accountId, await id);
      if (found === undefined) throw new Error('A subscription vanished.');
      return found;
    },
    find,
    deactivate: async (via, accountId, id, reason) => {
      const count = await via('subscription')
        .where({ account_id: accountId, id, state: 'active' })
        .update({ state: 'deactivated', reason });
      cached.delete(`${accountId}:${id}`);
      return count > 0;
    },
  };
}
