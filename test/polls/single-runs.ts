import type { Knex } from 'knex';
import type { NewEvent } from '../../src/events/model.ts';
import { readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import { type ClaimedPoll, createPollStore, type PollStore } from '../../src/polls/poll-store.ts';
import type { EarlyEnd, RunInput, RunPorts, RunTally } from '../../src/polls/run.ts';
import { runPoll } from '../../src/polls/run-poll.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { addInstances, useAccountDatabase } from '../support/event-rows.ts';

/** Limits of a run. */
export const RUN_OPTIONS = { mostPages: 100, mostListed: 1000, mostPasses: 4 };

/** The death of a process in a transaction. */
export class Crash extends Error {}

/** When a process dies: before or after the commit of a transaction. */
export interface Death {
  readonly crash: 'before' | 'after' | undefined;
  /** Number of commits before that one. */
  readonly atCommit: number;
}

/** The input of a run: its poll, its time, and how it calls the provider and stores events. */
export interface SingleRun {
  readonly poll: ClaimedPoll;
  readonly nowMs: number;
  /** Functions of the resources that the run calls, in place of calls to a provider. */
  readonly resources: object;
  /** Stores events in the transaction of a run. */
  readonly insert: (via: Knex, events: readonly NewEvent[]) => Promise<void>;
  readonly committed?: (events: readonly NewEvent[]) => void;
  readonly death?: Death;
  /** Members of the instance that differ from a plain one. */
  readonly instance?: object;
  readonly pageSize?: number;
  readonly options?: RunPorts['options'];
}

/** Polls of instances of one account, which a test runs without a poller. */
export function usePolls() {
  const database = useAccountDatabase();
  let nextInstance = 1;

  /** Adds an instance that polls an object. Nothing has run yet. */
  async function add(objectName: string, nowMs: number, configuration: object = {}) {
    const { knex } = database;
    const store = createPollStore(knex);
    const instanceId = nextInstance++;
    await addInstances(knex, [instanceId]);
    const settings = readPollSettings({
      ...{ 'event.notification.enabled': true, 'event.objects': objectName },
      ...configuration,
    });
    const [resource] = settings?.resources ?? [];
    if (settings === undefined || resource === undefined) throw new Error('It is not polled.');
    const wanted = [{ resource: objectName, intervalMs: 60_000 }];
    await store.sync({ accountId: 1, instanceId, settingsVersion: 1, wanted, now: new Date(nowMs) });

    return {
      instanceId,
      store,
      /** Claims the poll, whether it is due or not. */
      claim: async (nowMs: number): Promise<ClaimedPoll> => {
        const { claimed } = await store.claim({
          ...{ now: new Date(nowMs + 10 * 86_400_000), leaseUntil: new Date(nowMs + 100_000) },
          ...{ limit: 1000, share: 1000, except: [], buckets: ALL_BUCKETS.held() },
        });
        const poll = claimed.find((each) => each.instanceId === instanceId);
        if (poll === undefined) throw new Error('There is nothing to claim.');
        return poll;
      },
      /** Runs the claimed poll once, and gives it back. @returns the end, unless the process died, and the counts */
      run: async (given: SingleRun): Promise<RunTally & { readonly end?: EarlyEnd | undefined }> => {
        const { poll, nowMs, resources, insert, committed = () => undefined, instance, options = RUN_OPTIONS } = given;
        const ports = {
          store: given.death === undefined ? store : { ...store, transaction: dyingTransaction(knex, given.death) },
          resources: { mappingVersionOf: async () => undefined, rateLimitOf: () => undefined, ...resources },
          prepare: async (events: readonly NewEvent[]) => ({
            insert: (via: Knex) => insert(via, events),
            committed: () => committed(events),
          }),
          clock: { now: () => nowMs },
          options,
        } as unknown as RunPorts;
        const { pageSize = resource.pageSize } = given;
        const plain = { accountId: 1, id: instanceId, connector: { hub: 'general', configuration: [] }, config: {} };
        const input = {
          ...{ poll, instance: { ...plain, ...instance }, settings, resource: { ...resource, pageSize } },
          signal: new AbortController().signal,
        } as unknown as RunInput;
        const tally = { events: 0, providerCalls: 0 };
        try {
          const end = await runPoll(ports, input, tally);
          return { ...tally, end };
        } catch (error) {
          if (!(error instanceof Crash)) throw error;
          return tally;
        } finally {
          await knex('poll').where({ instance_id: instanceId }).update({ lease: null, lease_until: null });
        }
      },
      remove: () => knex('instance').where({ account_id: 1, id: instanceId }).delete(),
    };
  }

  return {
    get knex() {
      return database.knex;
    },
    add,
  };
}

function dyingTransaction(knex: Knex, { crash, atCommit }: Death): PollStore['transaction'] {
  let commits = 0;
  return async (work) => {
    const isLast = commits++ === atCommit;
    const result = await knex.transaction(async (via) => {
      const done = await work(via);
      if (isLast && crash === 'before') throw new Crash();
      return done;
    });
    if (isLast && crash === 'after') throw new Crash();
    return result;
  };
}
