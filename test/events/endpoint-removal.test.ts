import { expect } from 'chai';
import { createEndpointStore } from '../../src/events/endpoints/endpoint-store.ts';
import { createSubscriptionStore } from '../../src/events/subscriptions/subscription-store.ts';
import { theRow, useDatabase } from '../support/database.ts';
import { addAccount } from '../support/event-rows.ts';
import { until } from '../support/until.ts';
import { countWaiting } from '../support/waiting.ts';

describe('the removal of an endpoint', () => {
  const database = useDatabase();

  it('waits for a change of the endpoint, which does not wait for the removal', async () => {
    const { knex } = database;
    await addAccount(knex);
    const row = { accountId: 1, id: 1, url: 'https://a.example/', eventTypes: ['*'], maxPerSecond: null };
    await createSubscriptionStore(knex).insertEndpoint({ ...row, secrets: '' });
    const choice = { format: 'standard', ordered: false, active: true } as const;
    await createEndpointStore(knex).insert({ accountId: 1, subscriptionId: 1, name: null, choice, secrets: null });
    const change = await knex.transaction();
    await createEndpointStore(change).lock(1, 1);
    const removed = knex.transaction((via) => createSubscriptionStore(via).remove(via, 1, 1));
    await until(async () => (await countWaiting(knex, 'transactionid')) > 0);
    await createSubscriptionStore(change).updateEndpoint({ ...row, eventTypes: ['x.created'] });
    await change.commit();
    await removed;
    const stored = await theRow(knex('subscription').where({ account_id: 1 }));
    expect(stored).to.deep.include({ state: 'deactivated', event_types: ['x.created'] });
  });
});
