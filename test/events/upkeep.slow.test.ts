import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createUpkeep } from '../../src/events/upkeep/upkeep.ts';
import { theRow, useDatabase } from '../support/database.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);

describe('the upkeep of events', () => {
  const database = useDatabase();
  const nothing = { ensure: async () => {}, expire: async () => {} };
  const signal = new AbortController().signal;

  function upkeep(batchRows = 5000, partitions = nothing) {
    const platform = { knex: database.knex, clock: { now: () => NOW.getTime() } };
    return createUpkeep(platform, partitions, { retentionDays: 30, batchRows });
  }

  async function insertKeys(count: number, createdAt: Date): Promise<void> {
    const rows = Array.from({ length: count }, () => ({
      account_id: 1,
      key_hash: randomBytes(32),
      created_at: createdAt,
    }));
    await database.knex('event_key').insert(rows);
  }

  it('makes partitions before it drops any', async () => {
    const steps: string[] = [];
    await upkeep(1, { ensure: async () => void steps.push('ensure'), expire: async () => void steps.push('expire') })(
      signal,
    );
    expect(steps).to.deep.equal(['ensure', 'expire']);
  });

  it('forgets the keys of events after seven days, in as many batches as it takes', async () => {
    await insertKeys(25, daysAgo(7.01));
    await insertKeys(3, daysAgo(6.99));
    await upkeep(10)(signal);
    expect(await database.knex('event_key').count('* as left').first()).to.deep.equal({ left: 3 });
  });

  it('stops between two batches when it is told to', async () => {
    await insertKeys(5, daysAgo(8));
    const stopped = AbortSignal.abort(new Error('stopping'));
    const failure = await upkeep(1)(stopped).then(() => undefined, String);
    expect(failure).to.equal('Error: stopping');
  });

  it('keeps notifications for ninety days', async () => {
    const { knex } = database;
    const organization = await theRow(knex('organization').insert({ name: 'o' }).returning('id'));
    const account = await theRow(
      knex('account').insert({ organization_id: organization.id, name: 'a', external_id: 'a' }).returning('id'),
    );
    for (const days of [89, 91]) {
      const row = { account_id: account.id, type: 'delivery.exhausted', data: { days }, created_at: daysAgo(days) };
      await database.knex('notification').insert(row);
    }
    await upkeep()(signal);
    expect(await database.knex('notification').pluck('data')).to.deep.equal([{ days: 89 }]);
  });

  it('forgets processes that have been silent for a day, unless a delivery is still theirs', async () => {
    const [silent, holding, living] = [randomUUID(), randomUUID(), randomUUID()];
    await database.knex('event_owner').insert([
      { id: silent, heartbeat_at: daysAgo(2) },
      { id: holding, heartbeat_at: daysAgo(2) },
      { id: living, heartbeat_at: daysAgo(0.5) },
    ]);
    const delivery = { account_id: 1, subscription_id: 1, event_id: randomUUID(), event_at: NOW, type: 'x.created' };
    await database.knex('delivery').insert({ ...delivery, state: 'delivering', owner: holding });
    await upkeep()(signal);
    expect(await database.knex('event_owner').pluck('id')).to.have.members([holding, living]);
  });

  it('forgets what was queued for a removed endpoint, and the endpoint when no attempt is kept', async () => {
    const { knex } = database;
    const rows = [
      { url: 'https://a.example/kept', is_endpoint: true },
      { url: 'https://a.example/removed', is_endpoint: true, deleted_at: daysAgo(0.1) },
      { url: 'https://a.example/forgotten', is_endpoint: true, deleted_at: daysAgo(32) },
      // The URL of an instance brings it back.
      { url: 'https://a.example/callback', is_endpoint: false, deleted_at: daysAgo(32) },
    ];
    const ids = await knex('subscription')
      .insert(rows.map((row) => ({ ...row, account_id: 1, secrets: 'sealed' })))
      .returning('id');
    for (const { id } of ids) await knex('endpoint_rate').insert({ account_id: 1, subscription_id: id });
    const delivery = { account_id: 1, event_id: randomUUID(), event_at: NOW, type: 'x.created' };
    await knex('delivery').where({ state: 'queued' }).delete();
    for (const { id } of ids) await knex('delivery').insert({ ...delivery, subscription_id: id, state: 'queued' });
    await upkeep()(signal);
    const left = await knex('subscription').orderBy('id').pluck('url');
    expect(left).to.deep.equal(['https://a.example/kept', 'https://a.example/removed', 'https://a.example/callback']);
    const queued = await knex('delivery').where({ state: 'queued' }).orderBy('id').pluck('subscription_id');
    expect(queued).to.deep.equal([ids[0]?.id, ids[3]?.id]);
  });
});
