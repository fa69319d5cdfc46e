import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { firstOf } from '../../src/db/row.ts';
import { createOutcomeStore } from '../../src/events/outcomes/outcome-store.ts';
import { theRow, useDatabase } from '../support/database.ts';
import { isDistributedRun } from '../support/nodes.ts';

const HEADERS = { 'content-type': 'application/json' };

describe('the outcomes of deliveries', () => {
  const database = useDatabase();
  it('are stored at once, or on a distributed database those of each account apart', async () => {
    expect(await createOutcomeStore(database.knex).isPerAccount()).to.equal(isDistributedRun);
  });

  it('that are delivered leave their attempts, and those whose lease was lost leave nothing', async () => {
    const { knex } = database;
    const { id: organizationId } = await theRow(knex('organization').insert({ name: 'o' }).returning('id'));
    const account = { organization_id: organizationId, name: 'a', external_id: 'a' };
    const { id: accountId } = await theRow(knex('account').insert(account).returning('id'));
    const [owner, other, eventId] = [randomUUID(), randomUUID(), randomUUID()];
    const { rows } = await knex.raw<{ rows: { readonly id: number }[] }>(
      `insert into delivery (account_id, subscription_id, event_id, event_at, instance_id, type, state, owner, attempts)
        select ?, 7, ?, '2026-01-02T03:04:05.678901Z', 9, 'a.created', 'delivering', owner, attempts
        from unnest(?::uuid[], ?::int[]) as d(owner, attempts) returning id`,
      [accountId, eventId, [owner, owner, other, owner], [0, 2, 0, 1]],
    );
    const ids = rows.map(({ id }) => id).sort((one, next) => one - next);
    const attemptedAt = new Date();
    const attempts = [
      { attemptedAt, durationMs: 3.4, statusCode: 204, error: undefined, answer: undefined },
      {
        ...{ attemptedAt, durationMs: 5, statusCode: 200, error: undefined, answer: '\\x "ü"' },
        requestHeaders: HEADERS,
      },
    ];
    const outcomes = ids.map((id, index) => {
      const lease = { accountId, id, subscriptionId: 7, owner, attempts: index === 1 ? 2 : 0 };
      return { kind: 'delivered', lease, attempt: attempts[index] ?? firstOf(attempts) } as const;
    });
    const written = await createOutcomeStore(knex).write(outcomes);
    expect(written).to.deep.equal({ delivered: 2, waiting: 0, queued: 0 });
    expect(await knex('delivery').where({ account_id: accountId }).pluck('id')).to.have.members(ids.slice(2));
    const stored = await knex('delivery_attempt')
      .where({ account_id: accountId })
      .orderBy('delivery_id')
      .select('*', knex.raw('event_at::text'));
    const common = {
      ...{ account_id: accountId, attempted_at: attemptedAt, delivered: true, error: null, subscription_id: 7 },
      ...{ event_id: eventId, event_at: '2026-01-02 03:04:05.678901+00', instance_id: 9, type: 'a.created' },
    };
    const [first, second] = stored;
    expect(stored).to.have.length(2);
    const told = { attempt: 1, delivery_id: ids[0], duration_ms: 3, status_code: 204, answer: null };
    expect(first).to.deep.include({ ...common, ...told, request_headers: null });
    const others = { attempt: 3, delivery_id: ids[1], duration_ms: 5, status_code: 200, answer: '\\x "ü"' };
    expect(second).to.deep.include({ ...common, ...others, request_headers: HEADERS });
  });
});
