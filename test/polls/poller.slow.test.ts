import { expect } from 'chai';
import { sleep } from '../../src/clock.ts';
import type { Config } from '../../src/connector/contract.ts';
import type { Instance } from '../../src/instances/instance.ts';
import { type ClaimedPoll, createPollStore, type PollScope, type PollStore } from '../../src/polls/poll-store.ts';
import {
  createPoller,
  POLLER_OPTIONS,
  type Poller,
  type PollerOptions,
  type PollerPorts,
} from '../../src/polls/poller.ts';
import { createSettingsCache } from '../../src/polls/settings-cache.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { silentLog, theRow, useDatabase } from '../support/database.ts';
import { addAccount, addUser } from '../support/event-rows.ts';
import { addPolled, NEWEST, POLLS_THINGS, THINGS } from '../support/polled-things.ts';
import { keepRuns, prepareNoNotice } from '../support/runs.ts';
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts';

const INTERVAL_MS = 900_000;
const STEP_MS = 50;
/** Turns of the event loop without a statement, after which nothing happens before the clock goes on. */
const QUIET_TURNS = 8;
const NEW = { id: 't2', changed: '2030-01-01T00:00:00.001Z' };

/** How long the provider of an account takes for a list. */
type Slowness = (accountId: number) => number;

interface TestPoller extends Poller {
  readonly lists: number[];
  /** Of the objects that events were stored of. */
  readonly accepted: string[];
  /** Goes on by so much, and lets what is due then be done. */
  readonly pass: (ms: number) => Promise<void>;
}

describe('the poller', () => {
  const database = useDatabase();
  let clock: VirtualClock;
  let statements = 0;
  const pollers: Poller[] = [];
  const { watched, settled } = createWatch();

  before(async () => {
    await addAccount(database.knex);
    await database.knex('account').insert({ organization_id: 1, name: 'Quiet', external_id: 'Quiet' });
    for (const account of [1, 2]) await addUser(database.knex, account);
    database.knex.on('query', () => void statements++);
  });

  beforeEach(async () => {
    clock = createVirtualClock();
    await database.knex('instance').delete();
  });

  afterEach(async () => {
    for (const poller of pollers.splice(0)) await poller.stop();
  });

  const addDue = (accountId: number, count: number, dueMs: number) =>
    addPolled(database.knex, { accountId, count, intervalMs: INTERVAL_MS, dueMs });

  interface Special {
    /** How many pages a list has. */
    readonly pages?: number;
    readonly records?: readonly object[];
    /** Nobody hears of it any more until then, though it goes on with what it was about to commit. */
    readonly frozen?: Promise<void>;
  }

  function start(
    slowness: Slowness,
    options: Partial<PollerOptions> = {},
    { pages = 1, records = [NEWEST], frozen }: Special = {},
  ): TestPoller {
    const whole = createPollStore(database.knex);
    const store = watched(frozen === undefined ? whole : { ...whole, ...frozenAfterClaim(whole) });
    const lists: number[] = [];
    const accepted: string[] = [];
    const poller = createPoller(
      { clock, log: silentLog, random: { bytes: Buffer.alloc, fraction: () => 0.5 }, buckets: ALL_BUCKETS },
      {
        store,
        getInstances: async (keys) =>
          keys.map((key) => ({ ...key, config: POLLS_THINGS, connector: { objects: {} } }) as unknown as Instance),
        resources: {
          getObject: async () => THINGS,
          mappingVersionOf: async () => undefined,
          rateLimitOf: () => undefined,
          listRecords: async ({ instance, signal }: { instance: Instance; signal: AbortSignal }) => {
            lists.push(instance.accountId);
            const ms = slowness(instance.accountId);
            if (ms > 0) await sleep(clock, ms, signal);
            const nextPage = lists.length < pages ? { nextPage: String(lists.length) } : {};
            return { records, pushdown: 'full', providerCalls: 1, ...nextPage };
          },
        } as unknown as PollerPorts['resources'],
        prepare: async (events) => {
          await frozen;
          return {
            insert: async () => void accepted.push(...events.map(({ objectId }) => objectId ?? '')),
            committed: () => undefined,
          };
        },
        prepareNotice: prepareNoNotice,
        openRun: keepRuns(),
        noteStopped: () => undefined,
        measures: { started: () => undefined, ended: () => undefined },
        options: { ...POLLER_OPTIONS, ...options },
      },
    );
    pollers.push(poller);
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        await clock.advance(STEP_MS, settled);
        await settled();
      }
    };
    return { ...poller, lists, accepted, pass };
  }

  const runsOf = async (accountId: number): Promise<number> => {
    const found = database.knex('poll').where({ account_id: accountId }).sum({ runs: 'runs' });
    return Number((await theRow(found)).runs);
  };

  it('does not let the due pollers of one account keep those of another', async () => {
    await addDue(1, 5_000, clock.now() - 60_000);
    await addDue(2, 100, clock.now());
    const poller = start((accountId) => (accountId === 1 ? 1_000 : 100));
    poller.start();
    await poller.pass(3_000);
    expect(await runsOf(2)).to.equal(100);
    expect(await runsOf(1)).to.be.within(50, 300);
  });

  it('does not let pollers whose provider hangs keep those of another account', async () => {
    await addDue(1, 1_000, clock.now() - 60_000);
    const poller = start((accountId) => (accountId === 1 ? 10_000_000 : 0));
    poller.start();
    await poller.pass(1_000);
    await addDue(2, 200, clock.now());
    await poller.pass(5_000);
    expect(await runsOf(2)).to.equal(200);
  });

  it('takes few statements for polls that find nothing new', async () => {
    await addDue(1, 300, clock.now());
    const poller = start(() => 0);
    statements = 0;
    poller.start();
    await poller.pass(5_000);
    const made = statements;
    expect(await runsOf(1)).to.equal(300);
    expect(made).to.be.at.most(100);
  });

  it('keeps a poll that takes longer than its lease', async () => {
    await addDue(1, 1, clock.now());
    const [one, other] = [start(() => 100_000, { leaseMs: 3_000 }), start(() => 0, { leaseMs: 3_000 })];
    one.start();
    await one.pass(500);
    other.start();
    await other.pass(60_000);
    expect([one.lists, other.lists]).to.deep.equal([[1], []]);
  });

  it('keeps a poll that reads page after page without anything new', async () => {
    await addDue(1, 1, clock.now());
    const [one, other] = [start(() => 2_000, { leaseMs: 3_000 }, { pages: 10 }), start(() => 0, { leaseMs: 3_000 })];
    one.start();
    await one.pass(500);
    other.start();
    await other.pass(30_000);
    // Its pages were followed, so the list is begun once more.
    expect([one.lists.length, other.lists]).to.deep.equal([11, []]);
    expect(await runsOf(1)).to.equal(1);
  });

  it('commits nothing when it stood still until another took its poll over', async () => {
    await addDue(1, 1, clock.now());
    const { promise: frozen, resolve: thaw } = Promise.withResolvers<void>();
    const records = [NEWEST, NEW];
    const one = start(() => 0, { leaseMs: 3_000 }, { records, frozen });
    const other = start(() => 0, { leaseMs: 3_000 }, { records });
    one.start();
    await one.pass(500);
    other.start();
    await other.pass(5_000);
    thaw();
    await other.pass(500);
    expect([one.lists, other.lists]).to.deep.equal([[1], [1]]);
    expect([one.accepted, other.accepted]).to.deep.equal([[], [NEW.id]]);
  });

  it('has no say in a poll that another took over', async () => {
    await addDue(1, 1, clock.now());
    const store = createPollStore(database.knex);
    const claimAt = async (ms: number) => {
      const now = new Date(ms);
      const leaseUntil = new Date(ms + 3_000);
      const [claimed] = (
        await store.claim({ now, leaseUntil, limit: 1, share: 1, except: [], buckets: ALL_BUCKETS.held() })
      ).claimed;
      if (claimed === undefined) throw new Error('There is nothing to claim.');
      return claimed;
    };
    const one = await claimAt(clock.now());
    const other = await claimAt(clock.now() + 3_000);
    const before = await theRow(database.knex('poll'));
    const advance = (poll: ClaimedPoll) =>
      database.knex.transaction((via) => store.advance(via, poll, { ...poll, watermark: new Date(0) }));
    expect(await advance(one)).to.equal(false);
    await store.renew([one], new Date(clock.now() + 1_000_000));
    const how = { isGivenBack: false, hasWaited: false, error: undefined, awaitsMapping: false };
    const ended = { ...how, events: 1, providerCalls: 1 };
    await store.finish([{ ...one, ...ended, startedAt: new Date(0), nextDue: new Date(0) }]);
    expect(await theRow(database.knex('poll'))).to.deep.equal(before);
    expect(await advance(other)).to.equal(true);
  });

  it('lets stopped polls take nobody’s place', async () => {
    await addDue(1, 300, clock.now() - 60_000);
    await database.knex('instance').update({ disabled: true });
    await addDue(1, 40, clock.now());
    const store = createPollStore(database.knex);
    const now = new Date(clock.now());
    const claim = {
      now,
      leaseUntil: new Date(clock.now() + 3_000),
      limit: 100,
      share: 32,
      except: [],
      buckets: ALL_BUCKETS.held(),
    };
    const { claimed, stopped } = await store.claim(claim);
    expect([claimed.length, stopped]).to.deep.equal([32, 68]);
    expect(await database.knex('poll').whereNull('due').count()).to.deep.equal([{ count: 68 }]);
  });

  it('goes on at once behind many stopped polls', async () => {
    await addDue(1, 1_000, clock.now() - 60_000);
    await database.knex('instance').update({ disabled: true });
    await addDue(2, 10, clock.now());
    const poller = start(() => 0);
    poller.start();
    await poller.pass(POLLER_OPTIONS.gatherMs);
    expect(poller.lists).to.have.length(10);
  });

  it('lets others take over what nobody renews', async () => {
    await addDue(1, 1, clock.now());
    const store = createPollStore(database.knex);
    const leaseUntil = new Date(clock.now() + 3_000);
    const { claimed } = await store.claim({
      now: new Date(clock.now()),
      leaseUntil,
      limit: 1,
      share: 1,
      except: [],
      buckets: ALL_BUCKETS.held(),
    });
    expect(claimed).to.have.length(1);
    const poller = start(() => 0);
    poller.start();
    await poller.pass(2_500);
    expect(poller.lists).to.deep.equal([]);
    await poller.pass(2_000);
    expect(poller.lists).to.deep.equal([1]);
  });

  it('goes on with a run when it is told again what it knows, and loses it to other settings', async () => {
    await addDue(1, 1, clock.now());
    const store = createPollStore(database.knex);
    const now = new Date(clock.now());
    const leaseUntil = new Date(clock.now() + 3_000);
    const [claimed] = (
      await store.claim({ now, leaseUntil, limit: 1, share: 1, except: [], buckets: ALL_BUCKETS.held() })
    ).claimed;
    if (claimed === undefined) throw new Error('There is nothing to claim.');
    const { accountId, instanceId } = claimed;
    const advance = () =>
      database.knex.transaction((via) =>
        store.advance(via, claimed, {
          kind: 'window',
          watermark: now,
          feedWatermark: null,
          feedToken: null,
          feedTokenOf: null,
          mappingVersion: null,
          mappedObject: null,
        }),
      );
    const wanted = [{ resource: 'things', intervalMs: INTERVAL_MS }];
    const sync = (settingsVersion: number) => store.sync({ accountId, instanceId, settingsVersion, wanted, now });
    expect([await sync(1), await advance()]).to.deep.equal([true, true]);
    expect([await sync(2), await advance()]).to.deep.equal([false, true]);
    await database.knex('instance').update({ settings_version: 2 });
    expect([await advance(), await sync(2), await advance()]).to.deep.equal([false, true, false]);
  });

  it('finds the polls that await a mapping where mappings changed, and resumes no others', async () => {
    const now = new Date(clock.now());
    await addDue(1, 2, clock.now());
    await addDue(2, 1, clock.now());
    await database.knex('poll').update({ due: null, awaits_mapping: true, mapped_object: 'people' });
    await addDue(1, 1, clock.now());
    await database.knex('poll').where({ awaits_mapping: false }).update({ due: null });
    const store = createPollStore(database.knex);
    const after = { accountId: 0, instanceId: 0, resource: '' };
    const accountsIn = async (scope: PollScope) =>
      (await store.findAwaiting(scope, { after, limit: 10 })).map(({ accountId }) => accountId);
    expect(await accountsIn({})).to.deep.equal([1, 1, 2]);
    expect(await accountsIn({ organizationId: 1 })).to.deep.equal([1, 1, 2]);
    expect(await accountsIn({ organizationId: 2 })).to.deep.equal([]);
    expect(await accountsIn({ organizationId: 1, accountId: 2 })).to.deep.equal([2]);
    const all = await store.findAwaiting({}, { after, limit: 10 });
    const [first, second] = all;
    if (first === undefined || second === undefined) throw new Error('There are none.');
    expect(first.mappedObject).to.equal('people');
    const { accountId, instanceId } = second;
    expect(await store.findAwaiting({ accountId, instanceId }, { after, limit: 10 })).to.deep.equal([second]);
    expect(await store.findAwaiting({}, { after: first, limit: 1 })).to.deep.equal([second]);
    // What starts other stopped polls leaves them alone.
    expect(await store.revive(now)).to.equal(1);
    const others = (await database.knex('poll').where({ awaits_mapping: false })).map((row) => ({
      ...{ accountId: row.account_id, instanceId: row.instance_id, resource: row.resource },
    }));
    expect(await store.resume([second, ...others], now)).to.equal(1);
    expect(await accountsIn({})).to.deep.equal([1, 2]);
  });

  it('gives back what it breaks off as it was', async () => {
    await addDue(1, 1, clock.now());
    await database.knex('poll').update({ failures: 3, last_error: 'Before.' });
    const poller = start(() => 0, { finishMs: 0 });
    poller.start();
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    clock.after(0, () => void poller.stop().then(resolve));
    await poller.pass(100);
    await stopped;
    const row = await theRow(database.knex('poll'));
    expect(row.lease).to.equal(null);
    expect([row.runs, row.failures, row.last_error]).to.deep.equal([0, 3, 'Before.']);
  });
});

describe('settings that pollers keep', () => {
  it('are read once for instances that are configured alike', () => {
    const keep = createSettingsCache();
    const read = (config: Config, key = 'a') => keep(config, { key, objects: {}, polls: [key] });
    const settings = read({ ...POLLS_THINGS, other: 1 });
    expect(settings?.resources.map(({ name }) => name)).to.deep.equal(['things']);
    expect(read({ ...POLLS_THINGS, other: 2 })).to.equal(settings);
    expect(read({ ...POLLS_THINGS, 'event.objects': 'orders' })?.resources[0]?.name).to.equal('orders');
    expect(read({ ...POLLS_THINGS, 'event.notification.enabled': false })).to.equal(undefined);
    expect(read({ 'event.notification.enabled': true, 'event.vendor.type': 'polling' }, 'a')).to.not.equal(
      read({ 'event.notification.enabled': true, 'event.vendor.type': 'polling' }, 'b'),
    );
  });
});

/** Of a process that stands still once it has begun. */
function frozenAfterClaim(store: PollStore): Pick<PollStore, 'claim' | 'renew'> {
  let hasClaimed = false;
  return {
    claim: async (claim) => {
      if (hasClaimed) return { claimed: [], stopped: 0 };
      hasClaimed = true;
      return store.claim(claim);
    },
    renew: async () => undefined,
  };
}

/** Stores, and what waits until nothing of any of them is under way. */
function createWatch() {
  let pending = 0;

  function counted(work: (...given: unknown[]) => Promise<unknown>) {
    return async (...given: unknown[]): Promise<unknown> => {
      pending++;
      try {
        return await work(...given);
      } finally {
        pending--;
      }
    };
  }

  return {
    watched: (store: PollStore): PollStore =>
      Object.fromEntries(
        Object.entries(store).map(([name, work]) => [name, counted(work as Parameters<typeof counted>[0])]),
      ) as PollStore,
    settled: async (): Promise<void> => {
      for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
        await new Promise((done) => setImmediate(done));
        if (pending > 0) quiet = 0;
      }
    },
  };
}
