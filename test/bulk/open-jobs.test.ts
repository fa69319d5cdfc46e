import { expect } from 'chai';
import { createBulkStore } from '../../src/bulk/bulk-store.ts';
import { useAccountDatabase } from '../support/event-rows.ts';
import { until } from '../support/until.ts';
import { countWaiting } from '../support/waiting.ts';

describe('the open bulk jobs of an account', () => {
  const database = useAccountDatabase(1);

  it('are counted with those that begin at the same time', async () => {
    const { knex } = database;
    const store = createBulkStore(knex);
    const job = { accountId: 1, instanceId: 1, userId: 1, direction: 'DOWNLOAD', objectName: 'things' } as const;
    const first = await knex.transaction();
    const counts = [await store.countOpenInTurn(first, 1)];
    await store.insert(first, { ...job, format: 'csv', callbackUrl: null, createdAt: new Date() });
    const second = knex.transaction((via) => store.countOpenInTurn(via, 1));
    await until(async () => (await countWaiting(knex, 'advisory')) > 0);
    await first.commit();
    expect([...counts, await second]).to.deep.equal([0, 1]);
  });
});
