import { createHmac, randomBytes } from 'node:crypto';
import type { EgressRequest, EgressResponse } from '../../../src/egress/index.ts';
import { EgressError } from '../../../src/egress/index.ts';
import { createEngine, type Engine, type EngineNeighbours, type EnginePlatform } from '../../../src/events/engine.ts';
import { parseEventId } from '../../../src/events/event-id.ts';
import type { FailurePolicy } from '../../../src/events/model.ts';
import type { EngineOptions } from '../../../src/events/options.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { createWorkBuckets, type WorkBuckets } from '../../../src/work-buckets.ts';
import { ALL_BUCKETS } from '../buckets.ts';
import { silentLog } from '../database.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import type { ModelDatabase } from './stored.ts';

/** Small limits, so that runs reach them. Periodic work is rare, so that nothing can rely on it. */
export const LIMITS = {
  concurrency: 16,
  laneConcurrency: 2,
  maxLaneConcurrency: 4,
  maxLaneDeliveries: 6,
  maxSwept: 12,
  maxLaneSwept: 4,
  maxIdleLanes: 2,
  acceptBatchRows: 5,
  outcomeBatchRows: 4,
  maxPendingOutcomes: 20,
  claimRows: 4,
  minClaimShare: 2,
  fewDue: 3,
  visits: 2,
  maxVisits: 4,
  takeOverRows: 3,
  heartbeatMs: 60_000,
  silentMs: 240_000,
  sweepBackstopMs: 300_000,
  auditMs: 120_000,
  auditAgeMs: 240_000,
} satisfies Partial<EngineOptions>;

const ATTEMPT_TIMEOUT_MS = 15_000;

/** An instance with its callback URL. */
export interface Receiver {
  readonly instanceId: number;
  readonly accountId: number;
  readonly url: string;
  readonly ordered: boolean;
}

export const RECEIVERS: readonly Receiver[] = [
  { instanceId: 1, accountId: 1, url: 'https://shared.example.com/1', ordered: false },
  { instanceId: 2, accountId: 1, url: 'https://shared.example.com/2', ordered: false },
  { instanceId: 3, accountId: 1, url: 'https://ordered.example.com/3', ordered: true },
  { instanceId: 4, accountId: 1, url: 'https://shared.example.com/4', ordered: true },
  { instanceId: 5, accountId: 2, url: 'https://other.example.com/5', ordered: false },
];
/** Id of the account whose policy can change. */
export const POLICY_ACCOUNT = 2;

interface Behaviour {
  readonly afterMs: number;
  readonly end: { readonly status: number; readonly retryAfter?: string } | EgressError;
  /** Whether the receiver never gets the request. */
  readonly isUnreached?: boolean;
}

const timedOut = new EgressError('timeout', 'No answer.');
export const BEHAVIOURS = {
  ok: { afterMs: 5, end: { status: 204 } },
  slow: { afterMs: 2_000, end: { status: 200 } },
  fails: { afterMs: 5, end: { status: 500 } },
  refuses: { afterMs: 1, end: { status: 410 } },
  busy: { afterMs: 5, end: { status: 503, retryAfter: '90' } },
  hangs: { afterMs: ATTEMPT_TIMEOUT_MS, end: timedOut },
  resets: { afterMs: 20, end: new EgressError('reset', 'Reset.') },
  away: { afterMs: 10, end: new EgressError('connect', 'No connection.'), isUnreached: true },
} satisfies Readonly<Record<string, Behaviour>>;
export type BehaviourName = keyof typeof BEHAVIOURS;

/** A request that reached its receiver. */
export interface Receipt {
  readonly receiver: Receiver;
  /** UUID of the event. */
  readonly eventId: string;
  readonly atMs: number;
  readonly process: ModelProcess;
  readonly isOk: boolean;
  isOpen: boolean;
}

/** A period in which an outcome may have been lost. */
export interface Disturbance {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Acknowledged {
  readonly receiver: Receiver;
  /** UUID of the event. */
  readonly eventId: string;
  readonly calledAtMs: number;
  readonly atMs: number;
}

export interface ModelProcess {
  readonly engine: Engine;
  readonly buckets: WorkBuckets;
  isDead: boolean;
  /** Calls that wait for a frozen process. Undefined while it runs. */
  backlog: (() => void)[] | undefined;
  readonly hear: (call: () => void) => void;
}

/** State of the database during an outage. `down`: statements are not executed. `deaf`: they are executed, but their responses are lost. */
export type Outage = 'down' | 'deaf';

/** Processes over one database, receivers, and the time, with everything that is observed from outside. */
export interface World {
  readonly clock: VirtualClock;
  readonly database: ModelDatabase;
  readonly processes: ModelProcess[];
  readonly behaviours: Map<Receiver, BehaviourName>;
  readonly policies: Map<number, FailurePolicy>;
  readonly receipts: Receipt[];
  readonly acknowledged: Acknowledged[];
  readonly disturbances: Disturbance[];
  /** Violations that were found while the model ran. */
  readonly faults: string[];
  readonly told: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];
  outage: Outage | undefined;
  /** Ids of redelivered events, once for each redelivery. */
  readonly redelivered: string[];
  readonly releases: { readonly deliveryIds: ReadonlySet<number>; readonly atMs: number }[];
  /** Ids of subscriptions that were deactivated by a command. */
  readonly steered: Set<number>;
  /** Start of the oldest process that still runs, in milliseconds. */
  aliveSinceMs: number;
  readonly pass: (ms: number) => Promise<void>;
  readonly start: () => Promise<void>;
  /** Hands the buckets out again, as pg-boss does when a process comes, goes or is silent. A frozen process keeps those that it had. */
  readonly handOut: () => void;
  readonly accept: (process: ModelProcess, receiver: Receiver, count: number) => void;
  readonly publish: (topic: string, payload: string) => void;
}

export const subscriptionIdOf = async ({ database }: World, { accountId, url }: Receiver): Promise<number> =>
  (await database.subscriptions.ensure(accountId, url)).id;

export function createWorld(clock: VirtualClock, database: ModelDatabase): World {
  const fraction = createFractions();
  const handlers = new Map<string, Set<(payload: string) => void>>();
  let handOuts = 0;
  const world: World = {
    clock,
    database,
    processes: [],
    behaviours: new Map(),
    policies: new Map(),
    receipts: [],
    acknowledged: [],
    disturbances: [],
    faults: [],
    told: [],
    outage: undefined,
    redelivered: [],
    releases: [],
    steered: new Set(),
    aliveSinceMs: clock.now(),
    pass: async (ms) => {
      await database.settle();
      await clock.advance(ms, database.settle);
    },
    start,
    handOut,
    accept,
    publish,
  };

  function publish(topic: string, payload: string): void {
    clock.after(1, () => handlers.get(topic)?.forEach((handler) => void handler(payload)));
  }

  async function start(): Promise<void> {
    const buckets = createWorkBuckets();
    const process: ModelProcess = {
      buckets,
      engine: createEngine(
        platformOf(() => process, buckets),
        storesOf(() => process),
        neighbours,
        {
          delivers: true,
          options: { ...LIMITS, attemptTimeoutMs: ATTEMPT_TIMEOUT_MS },
        },
      ),
      isDead: false,
      backlog: undefined,
      hear: (call) => {
        if (process.isDead) return;
        if (process.backlog === undefined) call();
        else process.backlog.push(call);
      },
    };
    let hasEnded = false;
    const started = process.engine.start().then(
      () => {
        if (world.processes.length === 0) world.aliveSinceMs = clock.now();
        world.processes.push(process);
        handOut();
      },
      () => {
        process.isDead = true;
      },
    );
    void started.then(() => {
      hasEnded = true;
    });
    // A process that takes over many deliveries needs time for it.
    while (!hasEnded) await world.pass(20);
  }

  function handOut(): void {
    const awake = world.processes.filter(({ backlog }) => backlog === undefined);
    // Each time another process gets a bucket.
    handOuts++;
    for (const [place, { buckets }] of awake.entries())
      buckets.set(new Set(ALL_BUCKETS.held().filter((bucket) => (bucket + handOuts) % awake.length === place)));
  }

  function accept(process: ModelProcess, receiver: Receiver, count: number): void {
    const calledAtMs = clock.now();
    const { accountId, instanceId } = receiver;
    const events = Array.from({ length: count }, () => ({ accountId, instanceId, type: 'orders.created' }) as const);
    process.engine.accept(events).then(
      ({ eventIds }) => {
        for (const shown of eventIds) {
          const eventId = parseEventId(shown ?? '');
          if (eventId === undefined) world.faults.push('an event was accepted without an id');
          else world.acknowledged.push({ receiver, eventId, calledAtMs, atMs: clock.now() });
        }
      },
      // The events were not acknowledged, so nothing is promised.
      () => undefined,
    );
  }

  const neighbours: EngineNeighbours = {
    findSource: async (accountId, instanceId) => {
      const receiver = RECEIVERS.find((one) => one.instanceId === instanceId);
      if (receiver === undefined) return undefined;
      const plain = {
        instanceName: 'i',
        tags: [],
        elementKey: 'odata',
        hub: 'general',
        signatureKey: undefined,
        isEnabled: true,
      };
      return { ...plain, accountId, instanceId, callbackUrl: receiver.url, ordered: receiver.ordered };
    },
    subscriptions: database.subscriptions,
    noteEvent: () => {},
    settings: async (accountId) => ({ failurePolicy: world.policies.get(accountId) ?? 'retry', retryCount: 5 }),
    notifications: {
      prepare: async () => async (_via, type, data) => void world.told.push({ type, data: { ...data } }),
    },
  };

  function platformOf(process: () => ModelProcess, buckets: WorkBuckets): EnginePlatform {
    return {
      egress: { request: (request) => send(process(), request) },
      buckets,
      notifier: {
        publish: async (topic, payload) => publish(topic, payload),
        subscribe: (topic, handler) => {
          const hear = (payload: string) => process().hear(() => handler(payload));
          handlers.set(topic, (handlers.get(topic) ?? new Set()).add(hear));
          return () => handlers.get(topic)?.delete(hear);
        },
        onGap: () => () => undefined,
      },
      log: silentLog,
      metrics: createMetrics({ processMetrics: false }),
      clock: { ...clock, after: (ms, call) => clock.after(ms, () => process().hear(call)) },
      random: { bytes: randomBytes, fraction },
    };
  }

  function storesOf(process: () => ModelProcess): ModelDatabase['stores'] {
    const { accepted, claims, outcomes, owners, rates } = database.stores;
    const remote = <Store extends object>(store: Store): Store => overNetwork(store, process);
    return {
      ...{ accepted: remote(accepted), claims: remote(claims), outcomes: remote(outcomes) },
      ...{ owners: remote(owners), rates: remote(rates) },
    };
  }

  /** Delays the calls of a store by a millisecond in each direction. Meanwhile a process may die and a connection may break. */
  function overNetwork<Store extends object>(store: Store, process: () => ModelProcess): Store {
    const call = (work: () => Promise<unknown>) =>
      new Promise((resolve, reject) => {
        const response = (say: () => void) => clock.after(1, () => process().hear(say));
        const lost = () => reject(new Error('Connection terminated unexpectedly'));
        clock.after(1, () => {
          if (process().isDead) return;
          if (world.outage === 'down') return void response(lost);
          const isDeaf = world.outage === 'deaf';
          work().then(
            (value) => void response(() => (isDeaf ? lost() : resolve(value))),
            (error) => void response(() => reject(error)),
          );
        });
      });
    return new Proxy(store, {
      get:
        (target, name) =>
        (...input: unknown[]) =>
          call(() => Reflect.apply(methodOf(target, name), target, input)),
    });
  }

  function send(process: ModelProcess, request: EgressRequest): Promise<EgressResponse> {
    return new Promise((resolve, reject) => {
      request.signal?.addEventListener('abort', () => reject(new EgressError('aborted', 'Broken off.')), {
        once: true,
      });
      clock.after(1, () => {
        if (process.isDead) return;
        const receiver = RECEIVERS.find(({ url }) => url === String(request.url));
        if (receiver === undefined) throw new Error(`Nobody is at ${request.url}.`);
        const { afterMs, end, isUnreached }: Behaviour = BEHAVIOURS[world.behaviours.get(receiver) ?? 'ok'];
        const receipt = isUnreached ? undefined : receive(process, receiver, request, end);
        clock.after(afterMs, () => {
          if (receipt !== undefined) receipt.isOpen = false;
          process.hear(() => (end instanceof EgressError ? reject(end) : resolve(toResponse(end))));
        });
      });
    });
  }

  function receive(
    process: ModelProcess,
    receiver: Receiver,
    { headers, body }: EgressRequest,
    end: Behaviour['end'],
  ): Receipt {
    const { 'webhook-id': shown = '', ...signed } = headers ?? {};
    const eventId = parseEventId(String(shown));
    if (eventId === undefined) throw new Error(`${shown} is no id of an event.`);
    const isOk = !(end instanceof EgressError) && end.status < 300;
    const receipt = { receiver, eventId, atMs: clock.now(), process, isOk, isOpen: true };
    world.receipts.push(receipt);
    void assertSigned(receiver, String(shown), signed, Buffer.from(body ?? ''));
    return receipt;
  }

  /** Checks that a request is signed with each secret that was valid when it was sent, a moment ago. */
  async function assertSigned(
    receiver: Receiver,
    id: string,
    headers: Readonly<Record<string, unknown>>,
    body: Buffer,
  ): Promise<void> {
    const { secrets } = await database.subscription(await subscriptionIdOf(world, receiver));
    const given = String(headers['webhook-signature']).split(' ');
    const signatureBy = (secret: string) =>
      `v1,${createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
        .update(`${id}.${headers['webhook-timestamp']}.`)
        .update(body)
        .digest('base64')}`;
    if (!secrets.some((secret) => given.includes(signatureBy(secret))))
      world.faults.push(`${id} came without a valid signature`);
  }

  return world;
}

/** Returns a generator of fractions from 0 to 1. They are the same in each world, so that a failure can be repeated. */
function createFractions(): () => number {
  let fraction = 0;
  return () => {
    fraction = (fraction + 0.618034) % 1;
    return fraction;
  };
}

function methodOf(store: object, name: string | symbol): Parameters<typeof Reflect.apply>[0] {
  return Reflect.get(store, name);
}

function toResponse({ status, retryAfter }: { readonly status: number; readonly retryAfter?: string }): EgressResponse {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  return { status, headers, body: Buffer.alloc(0), quotable: true };
}
