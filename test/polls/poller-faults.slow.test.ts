import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import type { Connector } from '../../src/connector/contract.ts';
import { AppError } from '../../src/errors.ts';
import type { Instance } from '../../src/instances/instance.ts';
import { createMetrics } from '../../src/metrics.ts';
import { composePolls, type PollNeighbours } from '../../src/polls/index.ts';
import { createPollMetrics } from '../../src/polls/poll-metrics.ts';
import { type ClaimedPoll, createPollStore, type PollStore, type RunResult } from '../../src/polls/poll-store.ts';
import { createPoller, POLLER_OPTIONS, type PollerPorts } from '../../src/polls/poller.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { addAccount, addInstances, addUser } from '../support/event-rows.ts';
import { keepRuns } from '../support/runs.ts';
import { until } from '../support/until.ts';
import { THINGS } from './things.ts';

const random = { bytes: () => Buffer.alloc(0), fraction: () => 0.5 };

const CLAIMED: ClaimedPoll = {
  accountId: 1,
  instanceId: 2,
  resource: 'things',
  kind: 'window',
  watermark: new Date(0),
  feedWatermark: null,
  feedToken: null,
  feedTokenOf: null,
  mappingVersion: null,
  mappedObject: null,
  settingsVersion: 1,
  intervalMs: 60_000,
  failures: 0,
  failingSince: null,
  waits: 0,
  lastSuccessAt: null,
  lease: '00000000-0000-4000-8000-000000000000',
  due: new Date(0),
};

const INSTANCE = {
  accountId: 1,
  id: 2,
  config: { 'event.notification.enabled': true, 'event.objects': 'things' },
  connector: THINGS as Connector,
  settingsVersion: 1,
  valid: true,
  disabled: false,
};

describe('a poller that something fails', () => {
  const database = useDatabase();

  /** Has one poll to run. @returns what it said came of it */
  async function runOnce(
    ports: Partial<PollerPorts>,
    claimed = CLAIMED,
    finish: (results: readonly RunResult[]) => Promise<number> = async ({ length }) => length,
  ): Promise<RunResult> {
    const finished: RunResult[] = [];
    let waiting: readonly ClaimedPoll[] = [claimed];
    const store: Partial<PollStore> = {
      claim: async () => {
        const due = waiting;
        waiting = [];
        return { claimed: due, stopped: 0 };
      },
      nextDue: async () => undefined,
      renew: async () => undefined,
      finish: (results) => {
        finished.push(...results);
        return finish(results);
      },
    };
    const poller = createPoller({ clock: SYSTEM_CLOCK, log: silentLog, random, buckets: ALL_BUCKETS }, {
      store: store as PollStore,
      openRun: keepRuns(),
      getInstances: async () => [INSTANCE as unknown as Instance],
      measures: createPollMetrics(createMetrics({ processMetrics: false })),
      options: { ...POLLER_OPTIONS, finishMs: 0 },
      ...ports,
    } as PollerPorts);
    poller.start();
    await until(() => finished.length > 0);
    await poller.stop();
    const [result] = finished;
    if (result === undefined) throw new Error('Nothing came of it.');
    return result;
  }

  const failingWith = (error: Error) =>
    runOnce({ resources: { getObject: () => Promise.reject(error) } as unknown as PollerPorts['resources'] });

  it('gives back what it claimed when it cannot get the instances', async () => {
    const result = await runOnce({ getInstances: () => Promise.reject(new Error('The database is away.')) });
    expect(result).to.include({ lease: CLAIMED.lease, isGivenBack: true });
  });

  it('gives back what this service has no room for: nobody failed', async () => {
    const result = await failingWith(new AppError('OVERLOADED', 'There is no room.', { retryAfterSeconds: 7 }));
    expect(result).to.include({ isGivenBack: true, error: undefined });
    expect(result.nextDue.getTime() - result.startedAt.getTime()).to.be.within(7_000, 30_000);
  });

  it('says what failed in the words of the API, and of others only that it did', async () => {
    expect(await failingWith(new AppError('PROVIDER_REJECTED', 'No.'))).to.include({
      isGivenBack: false,
      error: 'PROVIDER_REJECTED: No.',
    });
    expect(await failingWith(new TypeError('x is undefined'))).to.include({
      isGivenBack: false,
      error: 'INTERNAL: The poll failed because of an error in this service.',
    });
  });

  it('stops where nothing maps its object any more, and looks again once that is stored', async () => {
    const order: string[] = [];
    const finish = async (results: readonly RunResult[]) => {
      order.push('stored');
      return results.length;
    };
    const result = await runOnce(
      {
        resources: { mappingVersionOf: async () => undefined } as unknown as PollerPorts['resources'],
        noteStopped: ({ resource }) => void order.push(`looked for ${resource}`),
      },
      { ...CLAIMED, mappingVersion: 'any', mappedObject: 'things', failingSince: new Date(0) },
      finish,
    );
    expect(result).to.include({ awaitsMapping: true, isGivenBack: false });
    expect(result.error).to.match(
      /^NOT_FOUND: Nothing maps 'things' on this instance any more, so the poll is stopped\./,
    );
    expect(order).to.deep.equal(['stored', 'looked for things']);
  });

  it('is made for each instance once by what makes up for lost messages, whatever cannot be put right', async () => {
    const { knex } = database;
    await addAccount(knex);
    await addUser(knex);
    await addInstances(knex, [1, 2, 3]);
    const asked: number[] = [];
    const platform = {
      knex,
      clock: SYSTEM_CLOCK,
      log: silentLog,
      random,
      metrics: createMetrics({ processMetrics: false }),
      notifier: { publish: async () => undefined, subscribe: () => () => undefined },
    };
    const instances: PollNeighbours['instances'] = {
      get: () => Promise.reject(new Error('Nobody asks.')),
      // The first has no secrets here, the second was changed since it was read.
      getAll: async (keys) => {
        asked.push(...keys.map(({ id }) => id));
        return keys.map(
          ({ id }) =>
            ({
              ...INSTANCE,
              id,
              settingsVersion: id === 2 ? 0 : 1,
              ...(id === 1 && { fault: 'It cannot be read.' }),
            }) as unknown as Instance,
        );
      },
    };
    const polls = composePolls(
      platform as unknown as Parameters<typeof composePolls>[0],
      { instances } as PollNeighbours,
      { polls: false },
    );
    expect(await polls.keep(new AbortController().signal)).to.equal(1);
    expect(asked).to.deep.equal([1, 2, 3]);
    const store = createPollStore(knex);
    expect(await store.list(1, 3)).to.have.length(1);
    expect(await store.list(1, 1)).to.deep.equal([]);
    await polls.stop();
  });
});
