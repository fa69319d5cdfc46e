import { expect } from 'chai';
import type { ObjectSpec, Objects } from '../../src/connector/contract.ts';
import type { NewEvent } from '../../src/events/model.ts';
import type { Instance } from '../../src/instances/instance.ts';
import type { TimedRateLimit } from '../../src/resources/rate-limits.ts';
import { type CheckPorts, checkInstance } from '../../src/schemas/check.ts';
import { NO_USES } from '../../src/schemas/uses.ts';
import { createWatchStore } from '../../src/schemas/watch-store.ts';
import { addInstances, useAccountDatabase } from '../support/event-rows.ts';
import { prepareNoNotice } from '../support/runs.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const KEY = { accountId: 1, instanceId: 1 };
const CHECK = { ...KEY, isPartial: false, waits: 0, failures: 0, lastSuccessAt: null, due: new Date(0), lease: '' };
const BEFORE: ObjectSpec = { fields: { id: { type: 'string' }, name: { type: 'string' } } };
const AFTER: ObjectSpec = { fields: { id: { type: 'string' }, name: { type: 'string' }, size: { type: 'string' } } };
const INSTANCE = { accountId: 1, id: 1, name: 'x', settingsVersion: 1, connector: { key: 'odata', name: 'OData' } };

describe('a change of an object that several processes see', () => {
  const database = useAccountDatabase();
  const clock = createVirtualClock();

  beforeEach(async () => {
    await database.knex('instance').delete();
    await database.knex('event').delete();
    await addInstances(database.knex, [1]);
    await database.knex('instance').update({ settings_version: 1 });
    await createWatchStore(database.knex).request(database.knex, { ...KEY, objectName: 'things' }, new Date());
    await check(BEFORE);
  });

  /** Stands for one process. `crash` ends it in the transaction that stores the change. */
  async function check(
    object: ObjectSpec | undefined,
    {
      crash,
      meet,
      other = {},
      low,
      waits = 0,
      names = [],
      fault,
    }: {
      readonly crash?: Error;
      readonly meet?: () => Promise<void>;
      readonly other?: Objects;
      readonly low?: TimedRateLimit;
      readonly waits?: number;
      /** Names of objects that formulas use. */
      readonly names?: readonly string[];
      /** Thrown by each description. */
      readonly fault?: Error;
    } = {},
  ): Promise<number> {
    const tally = { providerCalls: 0, changes: 0 };
    const objects: Objects = { ...(object !== undefined && { things: object }), ...other };
    const ports: CheckPorts = {
      store: createWatchStore(database.knex),
      resources: {
        inspect: async () => {
          await meet?.();
          const describe = async (_: string, described: ObjectSpec) => {
            if (fault !== undefined) throw fault;
            return described;
          };
          return { objects, describe };
        },
        rateLimitOf: () => low,
      },
      // Events are stored in the transaction of the change.
      prepare: async (events: readonly NewEvent[]) => ({
        insert: async (via) => {
          for (const { type } of events)
            await via('notification').insert({ account_id: 1, type, data: via.raw("'{}'::jsonb") });
          if (crash !== undefined) throw crash;
        },
        committed: () => undefined,
      }),
      prepareNotice: prepareNoNotice,
      findUses: async () => new Map(names.map((name) => [name, NO_USES])),
      clock,
      options: { confirmMs: 1, mostWaits: 3, resumeMs: 1 },
    };
    const { signal } = new AbortController();
    const input = { check: { ...CHECK, waits }, instance: INSTANCE as unknown as Instance, signal, wordsOf: String };
    await checkInstance(ports, input, tally);
    return tally.changes;
  }

  const stored = async () => {
    const [changes, events, watches] = await Promise.all([
      database.knex('schema_change').where({ instance_id: 1 }).select('change'),
      database.knex('notification').where({ type: 'schema.changed' }).select('id'),
      database.knex('schema_watch').where({ instance_id: 1 }).select('shape'),
    ]);
    return { changes: changes.length, events: events.length, fields: Object.keys(Object(watches[0]?.shape).fields) };
  };

  afterEach(() => database.knex('notification').delete());

  it('is reported by one of them', async () => {
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    // All of them have read the known shape before one stores another.
    const meet = async () => {
      if (++waiting === 8) all.resolve();
      await all.promise;
    };
    const found = await Promise.all(Array.from({ length: 8 }, () => check(AFTER, { meet })));
    expect(found.reduce((sum, count) => sum + count)).to.equal(1);
    expect(await stored()).to.deep.equal({ changes: 1, events: 1, fields: ['id', 'name', 'size'] });
  });

  it('is reported once after a process ended before its commit, and not again after it', async () => {
    const failed = await check(AFTER, { crash: new Error('The process ended.') }).catch(
      (error: Error) => error.message,
    );
    expect(failed).to.equal('The process ended.');
    expect(await stored()).to.deep.equal({ changes: 0, events: 0, fields: ['id', 'name'] });
    // The lease of a process that ended after its commit expires, and another one reads everything again.
    expect(await check(AFTER)).to.equal(1);
    expect(await check(AFTER)).to.equal(0);
    expect(await stored()).to.deep.equal({ changes: 1, events: 1, fields: ['id', 'name', 'size'] });
  });

  it('is not stored for settings that the instance does not have any more', async () => {
    await database.knex('instance').update({ settings_version: 2 });
    expect(await check(AFTER)).to.equal(0);
    expect(await stored()).to.deep.equal({ changes: 0, events: 0, fields: ['id', 'name'] });
  });

  it('is none if one reading lacks the object and the next has it', async () => {
    const other = { others: BEFORE };
    expect(await check(undefined, { other })).to.equal(0);
    expect(await check(BEFORE, { other })).to.equal(0);
    expect(await check(undefined, { other })).to.equal(0);
    expect(await stored()).to.deep.equal({ changes: 0, events: 0, fields: ['id', 'name'] });
    expect(await check(undefined, { other })).to.equal(1);
    expect(await stored()).to.deep.equal({ changes: 1, events: 1, fields: [] });
  });

  it('is none if the object has no fields, or the provider no objects', async () => {
    const unusable: readonly Objects[] = [{ things: { fields: {} } }, {}];
    for (const objects of unusable) {
      const failed = await check(undefined, { other: objects }).catch((error: Error) => error.message);
      expect(failed).to.be.a('string');
    }
    expect(await stored()).to.deep.equal({ changes: 0, events: 0, fields: ['id', 'name'] });
  });

  it('fails a check that cannot find out whether a child is there, so that it runs again soon', async () => {
    const names = ['things/parts'];
    const parts: ObjectSpec = { fields: { id: { type: 'string' } } };
    const above: ObjectSpec = { ...BEFORE, children: { parts } };
    const fault = new Error('The provider is down.');
    const failed = await check(above, { names, fault }).catch((error: Error) => error.message);
    expect(failed).to.equal('The provider is down.');
    const watched = () =>
      database.knex('schema_watch').where({ instance_id: 1 }).orderBy('object_name').pluck('object_name');
    expect(await watched()).to.deep.equal(['things']);
    await check(above, { names: [...names, 'things/nothing'] });
    expect(await watched()).to.deep.equal(['things', 'things/parts']);
    const without = { ...BEFORE, children: {} };
    expect(await check(without, { names })).to.equal(0);
    expect(await check(without, { names })).to.equal(1);
    expect(await watched()).to.deep.equal(['things', 'things/parts']);
  });

  it('waits for callers where the provider has little left of its rate limit, three times', async () => {
    const readings = { count: 0 };
    const meet = async () => void readings.count++;
    const low = { limit: 100, remaining: 20, resetSeconds: 90 };
    const run = (waits: number) => check(AFTER, { meet, low, waits });
    for (const waits of [0, 1, 2]) expect(await run(waits)).to.equal(0);
    expect(readings.count).to.equal(0);
    expect(await run(3)).to.equal(1);
    expect(readings.count).to.equal(1);
  });

  it('does not stop two processes that choose the objects of a changed instance at the same time', async () => {
    const { sync } = createWatchStore(database.knex);
    const now = new Date();
    for (let settingsVersion = 2; settingsVersion < 42; settingsVersion++) {
      await database.knex('instance').update({ settings_version: settingsVersion });
      const wanted = [`things${settingsVersion}`];
      const chosen = { ...KEY, settingsVersion, wanted, soon: now, later: now };
      const isSoon = await Promise.all([sync(chosen), sync(chosen), sync(chosen)]);
      expect(isSoon.filter(Boolean)).to.have.length.of.at.least(1);
    }
    const [instance] = await database.knex('instance').select('watches_version');
    expect(instance?.watches_version).to.equal(41);
  });
});
