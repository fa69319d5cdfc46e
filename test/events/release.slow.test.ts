import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { createPoolShares } from '../../src/db/pool-shares.ts';
import { createAcceptStore } from '../../src/events/accept/accept-store.ts';
import { createDeliveries, type Deliveries } from '../../src/events/deliveries/deliveries.ts';
import { createOutcomeStore, queueWaiting } from '../../src/events/outcomes/outcome-store.ts';
import { createSubscriptions, type Subscriptions } from '../../src/events/subscriptions/subscriptions.ts';
import { DUE_TOPIC } from '../../src/events/sweep/announcement.ts';
import { silentLog, theRow, useDatabase } from '../support/database.ts';
import { interceptRaw } from '../support/intercepted-knex.ts';
import { createLocalNotifier } from '../support/notifier.ts';
import { until } from '../support/until.ts';

const QUEUED = `channel = 'webhook' AND status = 'queued'`;
const URL = 'https://receiver.example.com/';

describe('releasing a queue', () => {
  const database = useDatabase();
  let subscriptions: Subscriptions;
  let deliveries: Deliveries;
  let told: string[];

  beforeEach(async () => {
    const { knex } = database;
    await knex.raw('truncate organization, account, subscription, delivery, event restart identity cascade');
    await knex.raw(`insert into organization (name) values ('o')`);
    await knex.raw(`insert into account (organization_id, name, external_id) values (1, 'a', 'a')`);
    told = [];
    const notifier = createLocalNotifier();
    subscriptions = createSubscriptions({
      knex,
      shares: createPoolShares({ knex, poolSize: 4 }),
      log: silentLog,
      notifier,
      keyring: createKeyring(`test:${randomBytes(32).toString('base64')}`),
      random: { bytes: randomBytes },
      clock: SYSTEM_CLOCK,
    });
    deliveries = deliveriesWith();
    await subscriptions.ensure(1, URL);
    await subscriptions.deactivate(knex, 1, 1, 'test');
  });

  interface Ports {
    readonly knex?: Knex;
    readonly publish?: (topic: string) => Promise<void>;
    readonly tell?: (type: string) => Promise<void>;
    readonly batchRows?: number;
  }
  function deliveriesWith({ knex = database.knex, publish = async () => {}, ...more }: Ports = {}): Deliveries {
    const { tell = async (type) => void told.push(type), batchRows } = more;
    return createDeliveries(
      { knex, shares: createPoolShares({ knex, poolSize: 4 }), notifier: { publish }, clock: SYSTEM_CLOCK },
      { subscriptions, notifications: { prepare: async () => async (_via: Knex, type: string) => tell(type) } },
      batchRows,
    );
  }

  const accept = (via: Knex) =>
    createAcceptStore(via).insert(
      [
        {
          accountId: 1,
          eventId: randomUUID(),
          createdAt: new Date(),
          instanceId: 1,
          type: 'a.created',
          payload: Buffer.from('{}'),
          subscriptionId: 1,
          ordered: false,
          keyHash: undefined,
          state: 'waiting',
        },
      ],
      undefined,
      new Date(),
    );

  const statesOf = async () =>
    (await database.knex('delivery').orderBy('id').select('state')).map(({ state }) => state);

  /** The rows that each statement changed, in order. */
  async function rowsOf(work: () => Promise<unknown>): Promise<readonly number[]> {
    const counts: number[] = [];
    const note = ({ rowCount }: { readonly rowCount: number }, { sql }: { readonly sql: string }) => {
      if (/(update|delete from) "?delivery\b/.test(sql)) counts.push(rowCount);
    };
    database.knex.on('query-response', note);
    try {
      await work();
    } finally {
      database.knex.off('query-response', note);
    }
    return counts;
  }

  it('waits for events that are being accepted as queued, so that none stays behind', async () => {
    const trx = await database.knex.transaction();
    const [stored] = (await accept(trx)).values();
    expect(stored?.state).to.equal('queued');
    const released = deliveries.release(1, QUEUED);
    await until(async () => (await database.knex('pg_locks').where({ granted: false })).length > 0);
    await trx.commit();
    expect(await released).to.deep.equal({ reactivated: 1, released: 1 });
    expect(await statesOf()).to.deep.equal(['waiting']);
    expect(told).to.deep.equal(['subscription.reactivated']);
  });

  it('goes from old to new, batch by batch', async () => {
    for (let count = 0; count < 5; count++) await accept(database.knex);
    const states: string[][] = [];
    const publish = async (topic: string) => void (topic === DUE_TOPIC && states.push(await statesOf()));
    expect(await deliveriesWith({ publish, batchRows: 2 }).release(1, QUEUED)).to.deep.equal({
      reactivated: 1,
      released: 5,
    });
    expect(states).to.deep.equal([
      ['waiting', 'waiting', 'queued', 'queued', 'queued'],
      ['waiting', 'waiting', 'waiting', 'waiting', 'queued'],
      ['waiting', 'waiting', 'waiting', 'waiting', 'waiting'],
    ]);
  });

  it('leaves what was queued after it began to the next release', async () => {
    await accept(database.knex);
    let added = 0;
    /** Called between two batches. */
    const publish = async () => {
      if (added++ > 0) return;
      await database.knex.raw(`insert into delivery (account_id, subscription_id, event_id, event_at, type, state)
        values (1, 1, gen_random_uuid(), now(), 'a.created', 'queued')`);
    };
    expect(await deliveriesWith({ publish }).release(1, QUEUED)).to.deep.equal({ reactivated: 1, released: 1 });
    expect(await statesOf()).to.deep.equal(['waiting', 'queued']);
  });

  it('does each delivery once when two release at the same time', async () => {
    for (let count = 0; count < 20; count++) await accept(database.knex);
    const results = await Promise.all([1, 2, 3].map(() => deliveries.release(1, QUEUED)));
    const sum = (pick: (result: (typeof results)[number]) => number) =>
      results.reduce((total, result) => total + pick(result), 0);
    expect(sum(({ released }) => released)).to.equal(20);
    expect(sum(({ reactivated }) => reactivated)).to.equal(1);
    expect(told).to.deep.equal(['subscription.reactivated']);
  });

  it('acknowledges batch by batch what was queued when it began, and no more', async () => {
    for (let count = 0; count < 5; count++) await accept(database.knex);
    let acknowledged: number | undefined;
    const counts = await rowsOf(async () => {
      acknowledged = await deliveriesWith({ batchRows: 2 }).acknowledge(1, QUEUED);
    });
    expect(acknowledged).to.equal(5);
    expect(counts).to.deep.equal([2, 2, 1, 0]);
    expect(await statesOf()).to.deep.equal([]);
  });

  it('acknowledges or releases each delivery, not both, when both happen at the same time', async () => {
    for (let count = 0; count < 20; count++) await accept(database.knex);
    const [acknowledged, { released }] = await Promise.all([
      deliveries.acknowledge(1, QUEUED),
      deliveries.release(1, QUEUED),
    ]);
    expect(acknowledged + released).to.equal(20);
    expect(await statesOf()).to.deep.equal(Array.from({ length: released }, () => 'waiting'));
  });

  it('begins a new schedule and keeps the number of attempts', async () => {
    await accept(database.knex);
    await database.knex('delivery').update({ attempts: 6, retries: 5, first_failed_at: new Date(0), last_error: 'x' });
    await deliveries.release(1, QUEUED);
    const row = await theRow(database.knex('delivery'));
    expect(row).to.include({ state: 'waiting', attempts: 6, retries: 0, first_failed_at: null, last_error: 'x' });
    expect(row.due?.getTime()).to.be.closeTo(Date.now(), 5000);
  });

  it('keeps nothing of a reactivation that could not be told', async () => {
    const failing = deliveriesWith({ tell: () => Promise.reject(new Error('disk full')) });
    const error = await failing.release(1, QUEUED).catch((reason: unknown) => reason);
    expect(error).to.have.property('message', 'disk full');
    expect(await subscriptions.get(1, 1)).to.include({ state: 'deactivated', reason: 'test' });
  });

  describe('of what waits for a next attempt', () => {
    beforeEach(async () => {
      await subscriptions.reactivate(database.knex, 1, {});
      for (let count = 0; count < 5; count++) await accept(database.knex);
    });

    const inBatches = (knex = database.knex) => deliveriesWith({ knex, batchRows: 2 });

    it('queues it batch by batch when the subscription is deactivated, which is told once', async () => {
      expect(await rowsOf(() => inBatches().suspend(1, 1, 'test'))).to.deep.equal([2, 2, 1, 0]);
      expect(await statesOf()).to.deep.equal(['queued', 'queued', 'queued', 'queued', 'queued']);
      expect(told).to.deep.equal(['subscription.deactivated']);
    });

    it('removes it batch by batch with the subscription', async () => {
      const counts = await rowsOf(() => inBatches().discard(1, 1));
      expect(counts).to.deep.equal([2, 2, 1, 0, 2, 2, 1, 0]);
      expect(await statesOf()).to.deep.equal([]);
      expect(await database.knex('subscription').first('state', 'deleted_at'))
        .to.have.property('deleted_at')
        .instanceOf(Date);
    });

    for (const statement of [/^with asleep/, /^with chosen.*delete/s]) {
      it(`keeps the subscription when a removal ends half-way, so that it can be repeated: ${statement.source}`, async () => {
        let statements = 0;
        const broken = interceptRaw(database.knex, async (run, sql) => {
          if (statement.test(sql) && ++statements === 2) throw new Error('connection lost');
          return run();
        });
        const error = await inBatches(broken)
          .discard(1, 1)
          .catch((reason: unknown) => reason);
        expect(error).to.have.property('message', 'connection lost');
        expect(await statesOf()).to.have.length.within(1, 5);
        expect(await subscriptions.get(1, 1)).to.include({ state: 'deactivated', reason: 'It is being removed.' });
        await inBatches().discard(1, 1);
        expect(await statesOf()).to.deep.equal([]);
      });
    }

    it('takes what is queued at the last moment along', async () => {
      const { remove } = subscriptions;
      const late = async (...input: Parameters<typeof remove>) => {
        await accept(database.knex);
        return remove(...input);
      };
      subscriptions = { ...subscriptions, remove: late };
      await inBatches().discard(1, 1);
      expect(await statesOf()).to.deep.equal([]);
    });

    it('leaves what comes for the subscription when its URL is used again before the removal ends', async () => {
      let looks = 0;
      const { knex } = database;
      const slow = interceptRaw(knex, async (run, sql) => {
        if (/max\(d\.id\)/.test(sql) && ++looks === 2) {
          await subscriptions.ensure(1, URL);
          await accept(knex);
          await knex('delivery').where({ account_id: 1 }).update({ state: 'queued', due: null });
        }
        return run();
      });
      await inBatches(slow).discard(1, 1);
      expect(await statesOf()).to.deep.equal(['queued']);
    });

    it('leaves it alone when the subscription was reactivated meanwhile', async () => {
      expect(await queueWaiting(database.knex, { accountId: 1, subscriptionId: 1 }, 10)).to.equal(0);
      expect(new Set(await statesOf())).to.deep.equal(new Set(['waiting']));
    });

    it('queues it batch by batch when a schedule ends', async () => {
      await subscriptions.deactivate(database.knex, 1, 1, 'test');
      const counts = await rowsOf(() =>
        createOutcomeStore(database.knex, 2).queueWaiting({ accountId: 1, subscriptionId: 1 }),
      );
      expect(counts).to.deep.equal([2, 2, 1, 0]);
    });
  });
});
