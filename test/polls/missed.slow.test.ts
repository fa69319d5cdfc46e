import { expect } from 'chai';
import type { NewEvent } from '../../src/events/model.ts';
import type { RecordList } from '../../src/resources/index.ts';
import { usePolls } from './single-runs.ts';
import { THINGS } from './things.ts';

const START_MS = Date.UTC(2030, 0, 1);
const HOUR_MS = 3_600_000;
const LISTS = 6;

describe('a poll that compares whole lists', () => {
  const polls = usePolls();
  let nowMs = START_MS;

  /** A poller whose provider shows what it is told to; it ran once. */
  async function createPoll(objectName: 'notes' | 'mortals', more: object = {}) {
    const poll = await polls.add(objectName, nowMs, more);
    let shown: readonly string[] = [];
    let deletions: readonly { readonly id: string; readonly at: string }[] = [];
    let cutBy: RecordList['cutBy'];
    let lastSuccessAt: Date | null = null;
    const resources = {
      getObject: async () => Object(THINGS.objects)[objectName],
      listChanges: async () => ({
        changes: deletions.map((deletion) => ({ ...deletion, action: 'deleted' })),
        providerCalls: 1,
      }),
      listRecords: async () => ({ records: shown.map((id) => ({ id })), providerCalls: 1, ...(cutBy && { cutBy }) }),
    };

    async function run(): Promise<readonly (readonly [type: string, id: string | undefined])[]> {
      const found: NewEvent[] = [];
      await poll.run({
        poll: { ...(await poll.claim(nowMs)), lastSuccessAt },
        instance: { connector: THINGS },
        ...{ nowMs, resources },
        insert: async (_, events) => void found.push(...events),
      });
      lastSuccessAt = new Date(nowMs);
      return found.map(({ type, objectId }) => [type, objectId]);
    }

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
      remembered: async () => (await polls.knex('poll_seen').where({ instance_id: poll.instanceId })).length,
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
  });

  it('counts one of them an hour', async () => {
    const poll = await createPoll('notes');
    poll.show('a', 'b');
    await poll.run();
    poll.show('a');
    await poll.runHours(1);
    for (let times = 0; times < 2 * LISTS; times++) await poll.run();
    expect(await poll.remembered()).to.equal(2);
  });

  it('counts none that the provider has cut', async () => {
    const poll = await createPoll('notes');
    poll.show('a', 'b');
    await poll.run();
    poll.show('a');
    poll.cut('result-window');
    await poll.runHours(2 * LISTS);
    expect(await poll.remembered()).to.equal(2);
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
  });
});
