import { expect } from 'chai';
import { createAcceptStore, type NewRow } from '../../src/events/accept/accept-store.ts';
import { createOutcomeStore } from '../../src/events/outcomes/outcome-store.ts';
import { theRow } from '../support/database.ts';
import { deliveries } from '../support/event-rows.ts';
import { ACCOUNT_ID, useEngines } from '../support/events.ts';
import { until } from '../support/until.ts';

const OWNER = '00000000-0000-7000-8000-000000000001';
let made = 0;

function row(subscriptionId: number, state: NewRow['state']): NewRow {
  made++;
  return {
    accountId: ACCOUNT_ID,
    eventId: `00000000-0000-7000-8000-${String(made).padStart(12, '0')}`,
    createdAt: new Date(),
    instanceId: 1,
    type: 'orders.created',
    payload: Buffer.from('{}'),
    subscriptionId,
    ordered: false,
    keyHash: undefined,
    state,
  };
}

const failure = {
  attempt: { attemptedAt: new Date(), durationMs: 1, statusCode: 500, error: 'status: 500', answer: undefined },
  next: { state: 'waiting', dueAt: new Date(Date.now() + 60_000), retries: 1, firstFailedAt: new Date() },
} as const;

describe('a subscription that changes while deliveries come and go', () => {
  const bench = useEngines();

  async function addSubscription(state: 'active' | 'deactivated'): Promise<number> {
    const row = { account_id: ACCOUNT_ID, url: 'https://example.com/', secrets: 'sealed', state };
    return (await theRow(bench.knex('subscription').insert(row).returning('id'))).id;
  }

  async function addDelivering(subscriptionId: number) {
    const wanted = row(subscriptionId, 'delivering');
    const stored = await createAcceptStore(bench.knex).insert([wanted], OWNER, new Date());
    const id = stored.get(wanted.eventId)?.deliveryId;
    if (id === undefined) throw new Error('The delivery was not stored.');
    return { accountId: ACCOUNT_ID, id, subscriptionId, owner: OWNER, attempts: 0 };
  }

  /** Until as many statements wait for a lock. */
  async function untilBlocked(): Promise<void> {
    await until(async () => {
      const { rows } = await bench.knex.raw(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
  }

  const states = async () => (await deliveries(bench.knex)).map(({ state }) => state);

  it('queues a failure that is stored while it is being deactivated', async () => {
    const id = await addSubscription('active');
    const fence = await addDelivering(id);
    const trx = await bench.knex.transaction();
    await trx('subscription').where({ id }).update({ state: 'deactivated' });
    const written = createOutcomeStore(bench.knex).write([{ kind: 'failed', lease: fence, ...failure }]);
    await untilBlocked();
    await trx.commit();
    expect(await written).to.deep.equal({ delivered: 0, waiting: 0, queued: 1 });
    expect(await states()).to.deep.equal(['queued']);
  });

  it('does not leave an event queued that is stored while it is being reactivated', async () => {
    const id = await addSubscription('deactivated');
    const trx = await bench.knex.transaction();
    await trx('subscription').where({ id }).update({ state: 'active' });
    const stored = createAcceptStore(bench.knex).insert([row(id, 'waiting')], undefined, new Date());
    await untilBlocked();
    await trx.commit();
    await stored;
    expect(await states()).to.deep.equal(['waiting']);
  });

  it('is deactivated once and without a deadlock when two schedules end at the same moment', async () => {
    const id = await addSubscription('active');
    const fences = [await addDelivering(id), await addDelivering(id)];
    await createAcceptStore(bench.knex).insert([row(id, 'waiting')], undefined, new Date());
    let deactivations = 0;
    const store = createOutcomeStore(bench.knex);
    const ended = await Promise.all(
      fences.map((fence) =>
        store.exhaust(
          { lease: fence, ...failure, next: { ...failure.next, state: 'queued', dueAt: undefined } },
          async (via) => {
            deactivations += await via('subscription').where({ id, state: 'active' }).update({ state: 'deactivated' });
          },
        ),
      ),
    );
    expect(deactivations).to.equal(1);
    expect(ended).to.deep.equal([true, true]);
    await store.queueWaiting({ accountId: ACCOUNT_ID, subscriptionId: id });
    expect(await states()).to.deep.equal(['queued', 'queued', 'queued']);
  });

  it('stays as it is when the lease of the exhausted delivery was lost', async () => {
    const id = await addSubscription('active');
    const fence = await addDelivering(id);
    const lost = { ...fence, attempts: 3 };
    let told = 0;
    const ended = await createOutcomeStore(bench.knex).exhaust({ lease: lost, ...failure }, async () => {
      told++;
    });
    expect([ended, told]).to.deep.equal([false, 0]);
    expect(await states()).to.deep.equal(['delivering']);
  });
});
