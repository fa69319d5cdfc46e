import type { Knex } from 'knex';
import { change } from '../db/change.ts';
import { isStorable } from '../db/storable.ts';
import { AppError, invalidRequest, pointer } from '../errors.ts';
import type { Instance, InstanceKey } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import { readPollSettings } from '../instances/polling/poll-settings.ts';
import type { Mappings } from '../mappings/index.ts';
import type { Platform } from '../platform.ts';
import { createMissingMappings } from './missing-mappings.ts';
import { createPollMetrics } from './poll-metrics.ts';
import { createPollStore, type PollKey, type PollRow } from './poll-store.ts';
import { createPoller, POLLER_OPTIONS, type PollerOptions, type PollerPorts } from './poller.ts';
import { MOST_WAITS } from './run.ts';

export interface PollNeighbours extends Pick<PollerPorts, 'resources' | 'prepare' | 'prepareNotice' | 'openRun'> {
  readonly instances: Pick<Instances, 'get' | 'getAll'>;
  readonly mappings: Pick<Mappings, 'onChange'>;
}

export interface PollRole {
  /** Whether this process polls. If not, it only notifies the processes that do. */
  readonly polls: boolean;
  readonly options?: Partial<PollerOptions> | undefined;
}

export type Polls = ReturnType<typeof composePolls>;

const INSTANCE_TOPIC = 'instance';
const ACCOUNT_TOPIC = 'account';
const DUE_TOPIC = 'poll-due';
const SYNC_BATCH = 500;
const SYNCS_AT_ONCE = 4;

/** Builds the polls, which check providers for changes. They use instances, their resources and the event engine. */
export function composePolls(platform: Platform, neighbours: PollNeighbours, { polls, options }: PollRole) {
  const { knex, notifier, clock, log, buckets } = platform;
  const { instances, mappings, resources, prepare, prepareNotice, openRun } = neighbours;
  const store = createPollStore(knex);
  const measures = createPollMetrics(platform.metrics);
  const poller = createPoller(platform, {
    store,
    resources,
    prepare,
    prepareNotice,
    openRun,
    getInstances: instances.getAll,
    // The mapping may have come back before the poll was stopped.
    noteStopped: ({ accountId, instanceId }) => missingMappings.noteChange({ accountId, instanceId }),
    measures,
    options: { ...POLLER_OPTIONS, ...options },
  });
  const missingMappings = createMissingMappings({
    ...{ store, resources, getInstances: instances.getAll, clock, log },
    wake: poller.wake,
  });
  const ends: (() => void)[] = [];
  /** Instances whose pollers may be outdated. Messages come in bursts, and one statement handles all that have arrived. */
  let outdated: InstanceKey[] = [];
  let syncing: Promise<void> | undefined;

  /** @returns number of corrected instances; a fault of one does not affect the others */
  async function sync(keys: readonly InstanceKey[]): Promise<number> {
    if (keys.length === 0) return 0;
    // Without its secrets, the instance's settings are unknown. They become readable again, or it is configured again.
    const usable = (await instances.getAll(keys)).filter(({ fault }) => fault === undefined);
    const left = usable.values();
    let count = 0;
    const syncNext = async () => {
      for (const instance of left) if (await trySync(instance)) count++;
    };
    await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, syncNext));
    poller.wake();
    return count;
  }

  async function trySync(instance: Instance): Promise<boolean> {
    try {
      return await syncOne(instance);
    } catch (error) {
      const { accountId, id: instanceId } = instance;
      log.warn(
        { err: error, accountId, instanceId },
        'could not adjust the polls of an instance; trying again within a minute',
      );
      return false;
    }
  }

  /**
   * Sets the pollers of an instance to those that its settings require.
   * @returns false if its settings changed meanwhile
   */
  async function syncOne({ accountId, id, config, connector, settingsVersion }: Instance): Promise<boolean> {
    const settings = readPollSettings(config, connector);
    const wanted = (settings?.resources ?? []).map(({ name: resource }) => ({
      resource,
      intervalMs: settings?.intervalMs ?? 0,
    }));
    return store.sync({ accountId, instanceId: id, settingsVersion, wanted, now: new Date(clock.now()) });
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
        log.warn(
          { err: error },
          'could not read changed instances to adjust their polls; trying again within a minute',
        );
      }
    }
  }

  /** Stops polls in progress of an account that was deactivated or deleted. Those of a reactivated one continue where they were. */
  async function noteAccount(accountId: number): Promise<void> {
    try {
      if (!(await store.isActive(accountId))) return poller.breakOff(accountId);
      if ((await store.revive(new Date(clock.now()), accountId)) > 0) poller.wake();
    } catch (error) {
      log.warn({ err: error, accountId }, 'could not adjust the polls of an account; trying again within a minute');
    }
  }

  async function keep(signal: AbortSignal): Promise<number> {
    let count = 0;
    let keys: readonly InstanceKey[] = [{ accountId: 0, id: 0 }];
    for (let last = keys.at(-1); last !== undefined; last = keys.at(-1)) {
      signal.throwIfAborted();
      keys = await store.findOutdated(last, SYNC_BATCH);
      count += await sync(keys);
    }
    await store.revive(new Date(clock.now()));
    poller.wake();
    return count;
  }

  async function assertPossible(key: PollKey): Promise<void> {
    await instances.get(key.accountId, key.instanceId);
    // PostgreSQL would report an error for a text that it cannot store.
    if (!isStorable(key.resource)) throw noSuchPoll(key);
  }

  return {
    start: () => {
      if (!polls) return;
      ends.push(
        notifier.subscribe(INSTANCE_TOPIC, noteChange),
        notifier.subscribe(DUE_TOPIC, poller.wake),
        notifier.subscribe(ACCOUNT_TOPIC, (accountId) => void noteAccount(Number(accountId))),
        mappings.onChange(missingMappings.noteChange),
      );
      buckets.onGained(poller.wake);
      poller.start();
      // Changes while no process polled.
      missingMappings.noteChange();
    },
    stop: async () => {
      for (const end of ends) end();
      await Promise.all([syncing, missingMappings.stop()]);
      await poller.stop();
    },

    /**
     * Lists the polls of one instance.
     * @throws AppError NOT_FOUND
     */
    list: async (accountId: number, instanceId: number) => {
      await instances.get(accountId, instanceId);
      return store.list(accountId, instanceId);
    },

    /**
     * Makes a poll due at once.
     * @throws AppError NOT_FOUND; CONFLICT while the poll is stopped, or its account is inactive
     */
    runNow: async (key: PollKey) => {
      await assertPossible(key);
      // A caller requests it, and does not wait for others.
      await change(knex, async (via) => {
        if (await store.runNow(via, key, { now: new Date(clock.now()), waits: MOST_WAITS })) return;
        const known = await store.list(key.accountId, key.instanceId, via);
        const poll = known.find(({ resource }) => resource === key.resource);
        if (poll === undefined) throw noSuchPoll(key);
        if (poll.awaitsMapping) throw isUnmapped(poll);
        throw (await store.isActive(key.accountId, via)) ? isStopped(key) : rests(key);
      });
      await notifier.publish(DUE_TOPIC, '');
    },

    /**
     * Polls again from an earlier time, so that changes since then become events again.
     * @throws AppError NOT_FOUND; REQUEST_INVALID for a time in the future
     */
    replay: async (key: PollKey, from: Date) => {
      await assertPossible(key);
      const now = new Date(clock.now());
      if (from > now)
        throw invalidRequest([{ path: pointer('body', 'from'), message: "'from' must not be in the future." }]);
      const replay = async (via: Knex) => {
        if (!(await store.replay(via, key, from, now))) throw noSuchPoll(key);
      };
      await change(knex, replay, () => ({ changes: { from } }));
      await notifier.publish(DUE_TOPIC, '');
    },

    /**
     * Repairs the effect of lost messages: the pollers become those that the settings of instances require.
     * @returns number of corrected instances
     */
    keep,
  };
}

function isStopped({ instanceId, resource }: PollKey): AppError {
  const message = `The poll '${resource}' of instance ${instanceId} is stopped: the instance is disabled or not valid.`;
  return new AppError('CONFLICT', message);
}

function isUnmapped({ instanceId, resource, mappedObject }: PollRow): AppError {
  const object = mappedObject ?? resource;
  const message = `The poll '${resource}' of instance ${instanceId} is stopped: nothing maps '${object}' on this instance any more.`;
  return new AppError('CONFLICT', message);
}

function rests({ accountId, resource }: PollKey): AppError {
  return new AppError('CONFLICT', `The poll '${resource}' is stopped: account ${accountId} is not active.`);
}

function noSuchPoll({ instanceId, resource }: PollKey): AppError {
  return new AppError(
    'NOT_FOUND',
    `Instance ${instanceId} has no poll '${resource}'; GET /instances/${instanceId}/polls lists them.`,
  );
}
