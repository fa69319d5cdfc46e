import { AppError, invalidRequest, pointer } from '../errors.ts';
import type { Instance, InstanceKey } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import { readPollSettings } from '../instances/polling/poll-settings.ts';
import type { Platform } from '../platform.ts';
import { createPollMetrics } from './poll-metrics.ts';
import { createPollStore, type PollKey, type PollRow } from './poll-store.ts';
import { createPoller, POLLER_OPTIONS, type PollerOptions, type PollerPorts } from './poller.ts';

export interface PollNeighbours extends Pick<PollerPorts, 'resources' | 'prepare'> {
  readonly instances: Pick<Instances, 'get' | 'getAll'>;
}

export interface PollRole {
  /** This process polls; one that does not only tells those that do. */
  readonly polls: boolean;
  readonly options?: Partial<PollerOptions> | undefined;
}

export interface Polls {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Of one instance. @throws AppError NOT_FOUND */
  readonly list: (accountId: number, instanceId: number) => Promise<readonly PollRow[]>;
  /** Now instead of when it is due. @throws AppError NOT_FOUND, CONFLICT while it is stopped */
  readonly runNow: (key: PollKey) => Promise<void>;
  /** Once more from that time on: what changed since becomes events again. @throws AppError NOT_FOUND, REQUEST_INVALID for a time to come */
  readonly replay: (key: PollKey, from: Date) => Promise<void>;
  /** Makes up for messages that were lost: pollers are those that the settings of instances want. @returns how many instances were put right */
  readonly keep: (signal: AbortSignal) => Promise<number>;
}

const INSTANCE_TOPIC = 'instance';
const DUE_TOPIC = 'poll-due';
const SYNC_BATCH = 500;

/** Changes at providers that are asked for again and again. It stands on instances, their resources and the engine of events. */
export function composePolls(platform: Platform, neighbours: PollNeighbours, { polls, options }: PollRole): Polls {
  const { knex, notifier, clock, log } = platform;
  const { instances, resources, prepare } = neighbours;
  const store = createPollStore(knex);
  const lateSeconds = async () => {
    const nowMs = clock.now();
    const due = await store.nextDue(new Date(nowMs));
    return due === undefined ? 0 : Math.max(0, (nowMs - due.getTime()) / 1000);
  };
  const measures = createPollMetrics(platform.metrics, lateSeconds);
  const poller = createPoller(platform, {
    store,
    resources,
    prepare,
    getInstances: instances.getAll,
    measures,
    options: { ...POLLER_OPTIONS, ...options },
  });
  const ends: (() => void)[] = [];
  /** Messages come in bursts: all that are here are one statement. */
  let outdated: InstanceKey[] = [];
  let syncing: Promise<void> | undefined;

  async function sync(keys: readonly InstanceKey[]): Promise<void> {
    for (const instance of await instances.getAll(keys)) await syncOne(instance);
    poller.wake();
  }

  /** @returns whether its pollers are now those of its settings */
  async function syncOne({ accountId, id, config, connector, settingsVersion, ...state }: Instance): Promise<boolean> {
    // Without its secrets nobody knows what it is to be; they come back, or it is configured anew.
    if (state.fault !== undefined) return false;
    const settings = readPollSettings(config, connector.polls);
    const wanted = (settings?.resources ?? []).map(({ name: resource }) => ({
      resource,
      intervalMs: settings?.intervalMs ?? 0,
    }));
    const isRunning = state.valid && !state.disabled;
    return store.sync({ accountId, instanceId: id, settingsVersion, wanted, isRunning, now: new Date(clock.now()) });
  }

  function noteChange(payload: string): void {
    const [accountId = 0, id = 0] = payload.split(':').map(Number);
    outdated.push({ accountId, id });
    syncing ??= syncOutdated().finally(() => {
      syncing = undefined;
    });
  }

  async function syncOutdated(): Promise<void> {
    while (outdated.length > 0) {
      const keys = outdated;
      outdated = [];
      try {
        await sync(keys);
      } catch (error) {
        log.warn({ err: error }, 'could not adjust pollers to changed instances; it is made up for within a minute');
      }
    }
  }

  async function keep(signal: AbortSignal): Promise<number> {
    let count = 0;
    // Each once: one that cannot be put right now is not asked for again until the next time.
    let after: InstanceKey | undefined = { accountId: 0, id: 0 };
    while (after !== undefined) {
      signal.throwIfAborted();
      const keys: readonly InstanceKey[] = await store.findOutdated(after, SYNC_BATCH);
      for (const instance of await instances.getAll(keys)) if (await syncOne(instance)) count++;
      after = keys.at(-1);
    }
    await store.revive(new Date(clock.now()));
    poller.wake();
    return count;
  }

  return {
    start: () => {
      if (!polls) return;
      ends.push(notifier.subscribe(INSTANCE_TOPIC, noteChange), notifier.subscribe(DUE_TOPIC, poller.wake));
      poller.start();
    },
    stop: async () => {
      for (const end of ends) end();
      await syncing;
      await poller.stop();
    },

    list: async (accountId, instanceId) => {
      await instances.get(accountId, instanceId);
      return store.list(accountId, instanceId);
    },

    runNow: async (key) => {
      await instances.get(key.accountId, key.instanceId);
      if (await store.runNow(key, new Date(clock.now()))) return notifier.publish(DUE_TOPIC, '');
      const known = await store.list(key.accountId, key.instanceId);
      if (known.every(({ resource }) => resource !== key.resource)) throw noSuchPoll(key);
      const message = `The poll '${key.resource}' of instance ${key.instanceId} is stopped: the instance is disabled or not valid.`;
      throw new AppError('CONFLICT', message);
    },

    replay: async (key, from) => {
      await instances.get(key.accountId, key.instanceId);
      const now = new Date(clock.now());
      if (from > now)
        throw invalidRequest([{ path: pointer('body', 'from'), message: "'from' must not be in the future." }]);
      if (!(await store.replay(key, from, now))) throw noSuchPoll(key);
      await notifier.publish(DUE_TOPIC, '');
    },

    keep,
  };
}

function noSuchPoll({ instanceId, resource }: PollKey): AppError {
  return new AppError(
    'NOT_FOUND',
    `Instance ${instanceId} has no poll '${resource}'; GET /instances/${instanceId}/polls lists them.`,
  );
}
