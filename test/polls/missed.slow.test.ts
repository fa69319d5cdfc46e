import { expect } from 'chai';
import type { NewEvent } from '../../src/events/model.ts';
import { readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import { type ClaimedPoll, createPollStore } from '../../src/polls/poll-store.ts';
import type { RunPorts } from '../../src/polls/run.ts';
import { runPoll } from '../../src/polls/run-poll.ts';
import type { RecordList } from '../../src/resources/index.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { useDatabase } from '../support/database.ts';
import { addAccount, addInstances, addUser } from '../support/event-rows.ts';
import { THINGS } from './things.ts';

const START_MS = Date.UTC(2030, 0, 1);
const HOUR_MS = 3_600_000;
const LISTS = 6;

describe('a poll that compares whole lists', () => {
  const database = useDatabase();
  let nowMs = START_MS;
  let nextInstance = 1;

  before(async () => {
    await addAccount(database.knex);
    await addUser(database.knex);
  });

  /** A poller whose provider shows what it is told to; it ran once. */
  async function createPoll(objectName: 'notes' | 'mortals', more: object = {}) {
    const store = createPollStore(database.knex);
    const instanceId = nextInstance++;
    await addInstances(database.knex, [instanceId]);
    const settings = readPollSettings({ 'event.notification.enabled': true, 'event.objects': objectName, ...more });
    const [resource] = settings?.resources ?? [];
    if (settings === undefined || resource === undefined) throw new Error('It is not polled.');
    const wanted = [{ resource: objectName, intervalMs: 60_000 }];
    await store.sync({ accountId: 1, instanceId, settingsVersion: 1, wanted, now: new Date(nowMs) });
    let shown: readonly string[] = [];
    let deletions: readonly { readonly id: string; readonly at: string }[] = [];
    let cutBy: RecordList['cutBy'];
    let lastSuccessAt: Date | null = null;

    async function run(): Promise<readonly (readonly [type: string, id: string | undefined])[]> {
      const found: NewEvent[] = [];
      const now = new Date(nowMs);
      const { claimed } = await store.claim({
        now,
        leaseUntil: new Date(nowMs + 1),
        limit: 1,
        share: 1,
        except: [],
        buckets: ALL_BUCKETS.held(),
      });
      const [poll] = claimed;
      if (poll === undefined) throw new Error('There is nothing to claim.');
      const ports = {
        store,
        resources: {
          getObject: async () => Object(THINGS.objects)[objectName],
          mappingVersionOf: async () => undefined,
          rateLimitOf: () => undefined,
          listChanges: async () => ({
            changes: deletions.map((deletion) => ({ ...deletion, action: 'deleted' })),
            providerCalls: 1,
          }),
          listRecords: async () => ({
            records: shown.map((id) => ({ id })),
            providerCalls: 1,
            ...(cutBy && { cutBy }),
          }),
        },
        prepare: async (events: readonly NewEvent[]) => ({
          insert: async () => void found.push(...events),
          committed: () => undefined,
        }),
        clock: { now: () => nowMs },
        options: { mostPages: 100, mostListed: 1000, mostPasses: 4 },
      } as unknown as RunPorts;
      const claimedThen: ClaimedPoll = { ...poll, lastSuccessAt };
      await runPoll(
        ports,
        {
          poll: claimedThen,
          instance: { connector: THINGS, config: {} },
          settings,
          resource,
          signal: new AbortController().signal,
        } as never,
        { events: 0, providerCalls: 0 },
      );
      lastSuccessAt = now;
      await database.knex('poll').where({ instance_id: instanceId }).update({ lease: null, lease_until: null });
      return found.map(({ type, objectId }) => [type, objectId]);
    }

    await database.knex('poll').where({ instance_id: instanceId });
    return {
      run,
      /** Runs in as many hours. @returns what was found in all of them */
      runHours: async (hours: number) => {
        const found: (readonly [string, string | undefined])[] = [];
        for (let hour = 0; hour < hours; hour++) {
          nowMs += HOUR_MS;
          found.push(...(await run()));
        }
        return found;
      },
      show: (...ids: readonly string[]) => {
        shown = ids;
      },
      cut: (by: RecordList['cutBy']) => {
        cutBy = by;
      },
      tell: (...told: typeof deletions) => {
        deletions = told;
      },
      remembered: async () => (await database.knex('poll_seen').where({ instance_id: instanceId })).length,
      end: () => database.knex('instance').where({ id: instanceId }).delete(),
    };
  }

  it('forgets what six of them in six hours did not show, and takes it for new when it comes again', async () => {
    const poll = await createPoll('notes');
    poll.show('a', 'b', 'c');
    expect(await poll.run()).to.deep.equal([]);
    poll.show('a', 'c');
    expect(await poll.runHours(LISTS - 1)).to.deep.equal([]);
    expect(await poll.remembered()).to.equal(3);
    expect(await poll.runHours(1)).to.deep.equal([]);
    expect(await poll.remembered()).to.equal(2);
    poll.show('a', 'b', 'c');
    expect(await poll.runHours(1)).to.deep.equal([['notes.created', 'b']]);
    await poll.end();
  });

  it('does not take for new what some of them did not show', async () => {
    const poll = await createPoll('notes');
    poll.show('a', 'b');
    await poll.run();
    for (let times = 0; times < 3; times++) {
      poll.show();
      expect(await poll.runHours(LISTS - 1)).to.deep.equal([]);
      poll.show('a', 'b');
      expect(await poll.runHours(1)).to.deep.equal([]);
    }
    await poll.end();
  });

  it('counts one of them an hour', async () => {
    const poll = await createPoll('notes');
    poll.show('a', 'b');
    await poll.run();
    poll.show('a');
    await poll.runHours(1);
    for (let times = 0; times < 2 * LISTS; times++) await poll.run();
    expect(await poll.remembered()).to.equal(2);
    await poll.end();
  });

  it('counts none that the provider has cut', async () => {
    const poll = await createPoll('notes');
    poll.show('a', 'b');
    await poll.run();
    poll.show('a');
    poll.cut('result-window');
    await poll.runHours(2 * LISTS);
    expect(await poll.remembered()).to.equal(2);
    await poll.end();
  });

  it('does not tell of a deletion again that the provider goes on telling of', async () => {
    const dates = { mortals: { datesConfiguration: { updatedDateField: 'name' } } };
    const poll = await createPoll('mortals', { 'event.poller.configuration': dates });
    poll.show('a', 'b');
    await poll.run();
    poll.show('a');
    poll.tell({ id: 'b', at: new Date(nowMs).toISOString() });
    expect(await poll.runHours(1)).to.deep.equal([['mortals.deleted', 'b']]);
    expect(await poll.runHours(3 * LISTS)).to.deep.equal([]);
    await poll.end();
  });
});
