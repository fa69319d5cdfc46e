import { expect } from 'chai';
import type { Instance } from '../../src/instances/instance.ts';
import { findPollFaults, readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import { createMetrics } from '../../src/metrics.ts';
import { parseJson } from '../../src/numbers/exact-json.ts';
import type { Platform } from '../../src/platform.ts';
import { composePolls, type PollNeighbours, type Polls } from '../../src/polls/index.ts';
import { silentLog } from '../support/database.ts';
import { addInstances, useAccountDatabase } from '../support/event-rows.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

/** More than are put right at a time. */
const MANY = 510;
const POLLED = { 'event.notification.enabled': true, 'event.objects': 'things' };

describe('pollers that are made for instances', () => {
  const database = useAccountDatabase();
  /** What instances are beside polled. */
  let special: ReadonlyMap<number, Partial<Instance>>;

  beforeEach(async () => {
    special = new Map();
    await database.knex('instance').delete();
    await addInstances(
      database.knex,
      Array.from({ length: MANY }, (_, index) => index + 1),
    );
  });

  function compose(): Polls {
    const getAll = async (keys: readonly { readonly accountId: number; readonly id: number }[]) =>
      keys.map(({ accountId, id }) => {
        const one = {
          accountId,
          id,
          config: POLLED,
          connector: { objects: {} },
          settingsVersion: 1,
          valid: true,
          disabled: false,
        };
        return { ...one, ...special.get(id) } as Instance;
      });
    const platform = {
      knex: database.knex,
      clock: createVirtualClock(),
      log: silentLog,
      metrics: createMetrics({ processMetrics: false }),
    } as unknown as Platform;
    const neighbours = { instances: { getAll }, resources: {}, prepare: undefined } as unknown as PollNeighbours;
    return composePolls(platform, neighbours, { polls: false });
  }

  const polled = async (): Promise<readonly number[]> =>
    (await database.knex('poll').select('instance_id').orderBy('instance_id')).map((row) => row.instance_id);

  it('are made for all, whatever comes of one', async () => {
    // PostgreSQL takes no text with this character.
    special = new Map([[3, { config: { ...POLLED, 'event.objects': 'a\u0000b' } }]]);
    const polls = compose();
    expect(await polls.keep(new AbortController().signal)).to.equal(MANY - 1);
    expect(await polled())
      .to.have.length(MANY - 1)
      .and.to.not.include(3);
    expect(await polls.keep(new AbortController().signal)).to.equal(0);
  });

  it('are made for those behind many that cannot be read', async () => {
    const fault = { kind: 'secrets', code: 'INSTANCE_CREDENTIALS_FAILED', message: 'Unreadable.' } as const;
    special = new Map(Array.from({ length: MANY - 1 }, (_, index) => [index + 1, { fault }]));
    expect(await compose().keep(new AbortController().signal)).to.equal(1);
    expect(await polled()).to.deep.equal([MANY]);
  });

  it('have names that there is room for', () => {
    const config = { ...POLLED, 'event.objects': `things,${'x'.repeat(201)}` };
    expect(readPollSettings(config)?.resources.map(({ name }) => name)).to.deep.equal(['things']);
    expect(findPollFaults(config, { objects: {} })).to.deep.equal([
      { path: '/body/configuration/event.objects', message: "'event.objects' must hold names of 1 to 200 characters." },
    ]);
  });

  it('have members, which a number is not that no double holds', () => {
    for (const text of [
      '{ "things": 12345678901234567890 }',
      '{ "things": { "datesConfiguration": 12345678901234567890 } }',
    ]) {
      const faults = findPollFaults({ ...POLLED, 'event.poller.configuration': parseJson(text) }, { objects: {} });
      expect(faults.map(({ message }) => message)).to.have.length(1);
      expect(faults[0]?.message).to.match(/must be an object\.$/);
    }
  });

  it('take an interval that is no whole number of milliseconds', async () => {
    await database.knex('instance').where('id', '>', 1).delete();
    special = new Map([[1, { config: { ...POLLED, 'event.poller.refresh_interval': 4.1 } }]]);
    await compose().keep(new AbortController().signal);
    expect(await database.knex('poll').where({ instance_id: 1 }).first('interval_ms')).to.deep.equal({
      interval_ms: 246_000,
    });
  });
});
