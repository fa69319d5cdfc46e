import type { Config, Connector } from '#connector';
import { type Clock, SYSTEM_CLOCK } from '../src/clock.ts';
import type { NewEvent } from '../src/events/model.ts';
import { readPollSettings } from '../src/instances/polling/poll-settings.ts';
import type { ClaimedPoll, MappedProgress, NewlySeen, PollStore, SeenVersion } from '../src/polls/poll-store.ts';
import type { RunPorts } from '../src/polls/run.ts';
import { runPoll } from '../src/polls/run-poll.ts';
import type { Row } from '../src/where/index.ts';
import { createSimulatedResources } from './simulated-resources.ts';
import { withDefaults } from './testing.ts';

/** The object to poll, and the settings of the poll. */
interface Followed {
  readonly connector: Connector;
  readonly config: Config;
  readonly simulatorsUrl: string;
  readonly objectName: string;
  /** Settings of polling, in addition to the name of the object. */
  readonly polling?: Config;
  readonly clock?: Clock;
}

const ONE_POLLER = {
  ...{ accountId: 1, instanceId: 1, settingsVersion: 1, intervalMs: 60_000, failures: 0, waits: 0, lease: '1' },
  mappingVersion: null,
  failingSince: null,
  lastSuccessAt: null,
};
const OPTIONS = { mostPages: 500, mostListed: 1_000, mostPasses: 4 };
/** Maximum number of runs per poll. A run that ends early is continued. */
const MOST_RUNS = 5;

/** Creates a poller of the service for a simulator. It keeps in memory what the service keeps in its database. */
export function createFollower(followed: Followed) {
  const { connector, config: given, simulatorsUrl, objectName, polling, clock = SYSTEM_CLOCK } = followed;
  const config = { ...withDefaults(connector, given), simulator: true };
  const instance = {
    ...{ accountId: 1, id: 1, settingsVersion: 1, connector, config, disabled: false, valid: true, refusedCalls: [] },
  };
  const settings = readPollSettings({
    'event.notification.enabled': true,
    'event.objects': objectName,
    ...polling,
  });
  const resource = settings?.resources[0];
  if (settings === undefined || resource === undefined) throw new Error(`'${objectName}' is not polled.`);
  const resources = createSimulatedResources({ config, simulatorsUrl, clock });
  const memory = createMemory();
  const signal = new AbortController().signal;
  const tally = { events: 0, providerCalls: 0 };

  /** Runs until the end of a poll. `store` stores events. */
  const poll = async (store: (events: readonly NewEvent[]) => void): Promise<void> => {
    const prepare: RunPorts['prepare'] = async (events) => ({
      insert: async () => store(events),
      committed: () => undefined,
    });
    for (let run = 0; run < MOST_RUNS; run++) {
      const poll: ClaimedPoll = {
        ...ONE_POLLER,
        resource: objectName,
        due: new Date(clock.now()),
        ...memory.progress(),
      };
      const end = await runPoll(
        { store: memory.store, resources, prepare, clock, options: OPTIONS },
        { poll, instance, settings, resource, signal },
        tally,
      );
      if (end === undefined) return;
    }
    throw new Error(`A poll of '${objectName}' did not end within ${MOST_RUNS} runs.`);
  };

  return {
    /** Returns the number of stored versions of records. */
    remembered: memory.count,
    /** Returns whether the poll continues from a token of the provider. */
    hasToken: () => memory.progress().feedToken !== null,
    /** Returns the number of requests to the provider so far. */
    calls: () => tally.providerCalls,
    /** Reads a record as the API shows it. */
    read: async (id: string): Promise<Row> => (await resources.getRecord({ instance, objectName, signal }, id)).record,
    /**
     * Polls once.
     * @returns the events
     */
    poll: async (): Promise<readonly NewEvent[]> => {
      const found: NewEvent[] = [];
      await poll((events) => void found.push(...events));
      return found;
    },
    /**
     * Polls once, and dies while it stores the first events.
     * @returns false if there was nothing to store
     */
    crash: async (): Promise<boolean> => {
      const death = new Error('The process dies.');
      try {
        await poll((events) => {
          if (events.length > 0) throw death;
        });
        return false;
      } catch (error) {
        if (error !== death) throw error;
        return true;
      }
    },
  };
}

/** Creates a store in memory. A transaction that fails leaves nothing behind. */
function createMemory() {
  let progress: MappedProgress = {
    mappingVersion: null,
    mappedObject: null,
    kind: null,
    watermark: null,
    feedWatermark: null,
    feedToken: null,
    feedTokenOf: null,
  };
  let versions: readonly (NewlySeen & { readonly missed: number })[] = [];
  const transaction: PollStore['transaction'] = async (work) => {
    const before = [progress, versions] as const;
    try {
      // There is no database, and the store needs none.
      return await work({} as Parameters<typeof work>[0]);
    } catch (error) {
      [progress, versions] = before;
      throw error;
    }
  };
  const isOf = (recordKeys: readonly Buffer[]) => {
    const keys = new Set(recordKeys.map((key) => key.toString('hex')));
    return ({ recordKey }: SeenVersion) => keys.has(recordKey.toString('hex'));
  };
  return {
    progress: () => progress,
    count: () => versions.length,
    store: {
      transaction,
      advance: async (_via, _key, next) => {
        progress = next;
        return true;
      },
      seen: async (_key, recordKeys) => versions.filter(isOf(recordKeys)),
      see: async (_via, _key, seen, replaces) => {
        const isReplaced = isOf(seen.map(({ recordKey }) => recordKey));
        versions = [
          ...versions.filter((version) => !(replaces && isReplaced(version))),
          ...seen.map((one) => ({ ...one, missed: 0 })),
        ];
      },
      forgetSeen: async (_key, before) => {
        versions = versions.filter(({ seenAt }) => seenAt >= before);
      },
      seenRecords: async (_key, { after, before, limit }) =>
        versions
          .filter(({ recordKey, seenAt }) => Buffer.compare(recordKey, after) > 0 && !(before && seenAt >= before))
          .toSorted((a, b) => Buffer.compare(a.recordKey, b.recordKey))
          .slice(0, limit),
      noteMissed: async (_via, _key, { shown, missed, most }) => {
        const [isShown, isMissed] = [isOf(shown), isOf(missed)];
        versions = versions
          .map((one) => ({ ...one, missed: isMissed(one) ? one.missed + 1 : isShown(one) ? 0 : one.missed }))
          .filter((one) => one.missed < most);
      },
    } satisfies RunPorts['store'],
  };
}
