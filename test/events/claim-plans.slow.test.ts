import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createOutcomeStore } from '../../src/events/outcomes/outcome-store.ts';
import { createOwnerStore } from '../../src/events/owners/owner-store.ts';
import { createClaimStore } from '../../src/events/sweep/claim-store.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { theRow, useDatabase } from '../support/database.ts';
import { explainRaw } from '../support/intercepted-knex.ts';

const ROWS = 300_000;
const SUBSCRIPTIONS = 1_000;

/** 300,000 deliveries: most wait for a retry, one subscription has a third of them, some are ordered, queued, or held by a process that is gone. */
const FILL = `
  insert into delivery
    (account_id, subscription_id, event_id, event_at, type, state, due, owner, ordered, first_failed_at)
  select 1 + n % 7, case when n % 3 = 0 then 1 else 1 + n % ${SUBSCRIPTIONS} end, gen_random_uuid(), now(), 't', state,
    case when state = 'waiting' then now() - n * interval '1 millisecond' + interval '1 minute' end,
    case when state = 'delivering' then gone.id end,
    state = 'waiting' and n % 10 = 7,
    case when n % 2 = 0 then now() end
  from (
    select n, case when n % 10 = 9 then 'queued' when n % 1000 = 8 then 'delivering' else 'waiting' end as state
    from generate_series(1, ${ROWS}) n
  ) numbered, (select gen_random_uuid() as id) gone`;

const whenAllAreDue = () => new Date(Date.now() + 2 * 60_000);

describe('claims over 300,000 deliveries', () => {
  const database = useDatabase();
  const plans: string[] = [];

  before(async function fill() {
    this.timeout(120_000);
    await database.knex.raw(FILL);
    await database.knex.raw('analyze delivery');
  });
  beforeEach(() => plans.splice(0));

  const explaining = () => explainRaw(database.knex, plans);
  const sharesOf = (count: number, first = 1) =>
    Array.from({ length: count }, (_, index) => ({
      accountId: 1,
      subscriptionId: first + index,
      isRetry: true,
      limit: 8,
    }));

  /** Nothing that grows with the table: every row of it that is read is found in an index. */
  function expectIndexedPlans(): void {
    expect(plans).not.to.deep.equal([]);
    for (const plan of plans) {
      expect(plan).not.to.match(/Seq Scan on delivery/);
      expect(plan).not.to.match(/Bitmap/);
    }
  }

  const now = () => new Date();

  /** Of the only process that lives. */
  async function addOwner(): Promise<string> {
    const id = randomUUID();
    await database.knex('event_owner').delete();
    await createOwnerStore(database.knex).add(id);
    return id;
  }

  it('gives nothing to a process that others took for dead', async () => {
    const store = createClaimStore(database.knex);
    const input = { owner: randomUUID(), now: whenAllAreDue() };
    expect(await store.claim([{ accountId: 1, subscriptionId: 5, isRetry: true, limit: 8 }], input)).to.deep.equal([]);
    const heads = await store.orderedHeads(0, SUBSCRIPTIONS);
    expect(await store.claimHeads(heads, input)).to.deep.equal([]);
  });

  it('finds due subscriptions by hopping through an index, without a sort', async () => {
    const endpoints = await createClaimStore(explaining()).endpoints(0, SUBSCRIPTIONS, {
      now: now(),
      buckets: ALL_BUCKETS.held(),
    });
    expect(endpoints.length).to.be.greaterThan(800);
    expectIndexedPlans();
    expect(plans.join()).not.to.match(/Sort/);
  });

  it('finds the few that are due by the index over due times, in its buckets', async () => {
    const { knex } = database;
    const { due: first } = await theRow(
      knex('delivery').where({ state: 'waiting', ordered: false }).orderBy('due').limit(1).select('due'),
    );
    const soon = new Date(Number(first) + 1_000);
    const buckets = [1, 2, 3];
    const due = () =>
      knex('delivery')
        .where({ state: 'waiting', ordered: false })
        .where('due', '<=', soon)
        .whereRaw('mod(subscription_id, 32) in (1, 2, 3)');
    const found = await createClaimStore(explaining()).fewDue(5_000, { now: soon, buckets });
    const idsOf = (wanted: 'dueFirsts' | 'dueRetries') =>
      new Set(found?.flatMap((endpoint) => (endpoint[wanted] ? endpoint.subscriptionId : [])));
    expect(idsOf('dueRetries')).to.deep.equal(new Set(await due().where('is_retry', true).pluck('subscription_id')));
    expect(idsOf('dueFirsts')).to.deep.equal(new Set(await due().where('is_retry', false).pluck('subscription_id')));
    expect(idsOf('dueRetries').size).to.be.greaterThan(20);
    for (const plan of plans) expect(plan).to.match(/delivery_due/);
    expect(plans.join()).not.to.match(/Seq Scan on delivery/);
  });

  it('knows that many are due without reading all of them', async () => {
    const store = createClaimStore(explaining());
    expect(await store.fewDue(5_000, { now: whenAllAreDue(), buckets: ALL_BUCKETS.held() })).to.equal(undefined);
    expect(plans).to.have.length(1);
    expectIndexedPlans();
    expect(plans.join()).not.to.match(/Sort/);
  });

  it('claims the oldest of each without a sort', async () => {
    const shares = sharesOf(500);
    const claimed = await createClaimStore(explaining()).claim(shares, { owner: await addOwner(), now: now() });
    expect(claimed.length).to.be.greaterThan(1_000);
    const countOf = (id: number) => claimed.filter(({ subscriptionId }) => subscriptionId === id).length;
    expect(Math.max(...shares.map(({ subscriptionId }) => countOf(subscriptionId)))).to.equal(8);
    expectIndexedPlans();
    expect(plans.join()).not.to.match(/Sort/);
  });

  it('looks at the heads of ordered subscriptions and claims them by their keys', async () => {
    const store = createClaimStore(explaining());
    const heads = await store.orderedHeads(0, SUBSCRIPTIONS);
    expect(heads.length).to.be.greaterThan(50);
    const due = heads.filter(({ state }) => state === 'waiting');
    const input = { owner: await addOwner(), now: whenAllAreDue() };
    const claimed = await store.claimHeads(due, input);
    expect(claimed).to.have.length(due.length);
    expect(await store.claimHeads(due, input)).to.deep.equal([]);
    expectIndexedPlans();
    expect(plans.join()).not.to.match(/Sort/);
  });

  // A batch of nothing but deliveries has a statement of its own.
  for (const [kinds, first, deliveredOf] of [
    ['of every kind', 200, 2],
    ['that are all deliveries', 100, 1],
  ] as const) {
    it(`stores 500 outcomes ${kinds} by the keys of their deliveries`, async () => {
      const owner = await addOwner();
      const claimed = await createClaimStore(database.knex).claim(sharesOf(64, first), { owner, now: now() });
      const attempt = { attemptedAt: now(), durationMs: 3, statusCode: 500, error: 'status: no', answer: undefined };
      const next = { state: 'waiting', dueAt: now(), retries: 1, firstFailedAt: now() } as const;
      const written = await createOutcomeStore(explaining()).write(
        claimed.map((row, index) => ({
          ...(index % deliveredOf === 0
            ? { kind: 'delivered' as const, attempt }
            : { kind: 'failed' as const, attempt, next }),
          lease: { ...row, owner },
        })),
      );
      expect(written.delivered + written.waiting + written.queued).to.equal(claimed.length);
      expect(written.delivered).to.equal(Math.ceil(claimed.length / deliveredOf));
      expectIndexedPlans();
    });
  }

  it('calls parked first attempts of many subscriptions back by an index', async () => {
    const lanes = Array.from({ length: 500 }, (_, index) => ({
      accountId: 1 + (index % 7),
      subscriptionId: index + 300,
    }));
    const store = createClaimStore(explaining());
    expect(await store.unpark(lanes, new Date(0))).to.be.greaterThan(100);
    // All that is found is changed, so that it does not matter in which order the table is gone through.
    expect(plans.join()).to.match(/delivery_waiting/);
    expect(plans.join()).not.to.match(/Seq Scan on delivery|Sort/);
  });

  it('knows the next due time from one entry', async () => {
    const store = createClaimStore(explaining());
    const asked = now();
    expect((await store.nextDue(asked, ALL_BUCKETS.held()))?.getTime()).to.be.at.least(asked.getTime());
    expectIndexedPlans();
  });

  it('takes over from processes that are gone without reading what the living hold', async () => {
    const owners = createOwnerStore(explaining());
    const living = await addOwner();
    await createClaimStore(database.knex).claim([{ accountId: 1, subscriptionId: 2, isRetry: true, limit: 50 }], {
      owner: living,
      now: now(),
    });
    const held = await database.knex('delivery').where({ owner: living }).count('* as count');
    const gone = await database.knex('delivery').where({ state: 'delivering' }).whereNot({ owner: living });
    expect(await owners.takeOver(now(), 100_000)).to.equal(gone.length);
    expect(await owners.takeOver(now(), 100_000)).to.equal(0);
    expect(await database.knex('delivery').where({ owner: living }).count('* as count')).to.deep.equal(held);
    for (const plan of plans) expect(plan).not.to.match(/Seq Scan on delivery/);
  });
});
