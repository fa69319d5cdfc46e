import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import type { Objects } from '../../src/connector/contract.ts';
import type { NewEvent } from '../../src/events/model.ts';
import type { Instance } from '../../src/instances/instance.ts';
import { SYSTEM_RANDOM } from '../../src/platform.ts';
import { CHECKER_OPTIONS, type Checker, createChecker } from '../../src/schemas/checker.ts';
import { createWatchStore, type WatchStore } from '../../src/schemas/watch-store.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { silentLog } from '../support/database.ts';
import { addInstances, useAccountDatabase } from '../support/event-rows.ts';
import { keepRuns, prepareNoNotice } from '../support/runs.ts';
import { until } from '../support/until.ts';
import { createMortalStore, type Death } from './mortal-store.ts';

const KEY = { accountId: 1, instanceId: 1 };
const TEXT = { type: 'string' } as const;
const BEFORE: Objects = {
  orders: { fields: { id: TEXT, name: TEXT } },
  notes: { fields: { id: TEXT, text: TEXT } },
  things: { fields: { id: TEXT } },
};
/** Every kind of end of a reading: a change, the same again, and an object that two readings must miss. */
const AFTER: Objects = { orders: { fields: { id: TEXT, name: TEXT, size: TEXT } }, things: { fields: { id: TEXT } } };
const INSTANCE = { accountId: 1, id: 1, name: 'x', settingsVersion: 1, connector: { key: 'odata', name: 'OData' } };
const HOUR_MS = 3_600_000;

/**
 * The process that checks dies before or after each of its calls to the database, as by SIGKILL. Another process takes over when the lease
 * has expired.
 */
describe('a process that dies in the middle of a check', function crashes() {
  this.timeout(120_000);
  const database = useAccountDatabase();
  let objects = BEFORE;

  beforeEach(async () => {
    await database.knex('instance').delete();
    await database.knex('notification').delete();
    await addInstances(database.knex, [1]);
    await database.knex('instance').update({ settings_version: 1, valid: true });
    objects = BEFORE;
    for (const objectName of Object.keys(BEFORE))
      await createWatchStore(database.knex).request(database.knex, { ...KEY, objectName }, new Date());
    const first = start(createWatchStore(database.knex));
    await untilRead();
    await first.stop();
    objects = AFTER;
    await database.knex('schema_check').update({ due: database.knex.fn.now() });
  });

  function start(store: WatchStore): Checker {
    const checker = createChecker(
      { clock: SYSTEM_CLOCK, log: silentLog, random: { ...SYSTEM_RANDOM, fraction: () => 0.5 }, buckets: ALL_BUCKETS },
      {
        store,
        resources: {
          inspect: async () => ({ objects, describe: async (_, described) => described }),
          rateLimitOf: () => undefined,
        },
        // Events are stored in the transaction of the change.
        prepare: async (events: readonly NewEvent[]) => ({
          insert: async (via) => {
            for (const { type } of events)
              await via('notification').insert({ account_id: 1, type, data: via.raw("'{}'::jsonb") });
          },
          committed: () => undefined,
        }),
        prepareNotice: prepareNoNotice,
        findUses: async () => new Map(),
        getInstances: async () => [INSTANCE as unknown as Instance],
        openRun: keepRuns(),
        noteChanged: async () => undefined,
        measures: { ended: () => undefined },
        clock: SYSTEM_CLOCK,
        options: {
          ...CHECKER_OPTIONS,
          lookMs: 20,
          gatherMs: 5,
          leaseMs: 200,
          confirmMs: 1,
          retryMs: 20,
          intervalMs: HOUR_MS,
        },
      },
    );
    checker.start();
    return checker;
  }

  /** Until a process has read all and waits for the next day. */
  const untilRead = () =>
    until(async () => {
      const row = await database.knex('schema_check').first();
      return row?.lease === null && row.last_error === null && row.due.getTime() > Date.now() + HOUR_MS / 4;
    });

  async function die(death: Death): Promise<boolean> {
    const { store, isDead } = createMortalStore(database.knex, death);
    const doomed = start(store);
    let isDone = false;
    const done = untilRead().then(() => {
      isDone = true;
    });
    await until(async () => isDead() || isDone);
    const heir = isDead() ? start(createWatchStore(database.knex)) : undefined;
    await done;
    await Promise.all([doomed.stop(), heir?.stop()]);
    return isDead();
  }

  async function reported() {
    const changes = await database.knex('schema_change').select('object_name', 'change').orderBy('object_name');
    const events = await database.knex('notification').where({ type: 'schema.changed' }).select('id');
    return {
      changes: changes.map(({ object_name, change }) => [object_name, Object(change).added, Object(change).removed]),
      events: events.length,
    };
  }

  const EACH_ONCE = {
    changes: [
      ['notes', [], ['id', 'text']],
      ['orders', ['size'], []],
    ],
    events: 2,
  };

  const DEATHS: readonly (readonly [Death['at'], count: number])[] = [
    ...([1, 2] as const).map((count) => ['claim', count] as const),
    ...([1, 2, 3, 4] as const).map((count) => ['list', count] as const),
    ...([1, 2] as const).map((count) => ['setNames', count] as const),
    ...([1, 2, 3] as const).map((count) => ['findShape', count] as const),
    ['notePending', 1],
    ...([1, 2] as const).flatMap((count) =>
      (['transaction', 'drift', 'insertChange'] as const).map((at) => [at, count] as const),
    ),
    ...(['noteSame', 'finish'] as const).flatMap((at) => ([1, 2] as const).map((count) => [at, count] as const)),
  ];

  for (const [at, count] of DEATHS)
    for (const when of ['before', 'after'] as const)
      it(`${when} call ${count} of ${at} loses no change and reports none twice`, async () => {
        const hasDied = await die({ at, count, when });
        expect(hasDied).to.equal(true);
        expect(await reported()).to.deep.equal(EACH_ONCE);
      });
});
