import { expect } from 'chai';
import { createPollStore } from '../../src/polls/poll-store.ts';
import { theRow } from '../support/database.ts';
import { useAccountDatabase } from '../support/event-rows.ts';
import { until } from '../support/until.ts';
import { countWaiting } from '../support/waiting.ts';

describe('the polls of an instance', () => {
  const database = useAccountDatabase(1);
  const now = new Date('2026-01-01T00:00:00Z');

  it('run when it is enabled in the moment in which they are adjusted to it', async () => {
    const { knex } = database;
    const instance = (via = knex) => via('instance').where({ account_id: 1, id: 1 });
    await instance().update({ disabled: true });
    const { settings_version: settingsVersion } = await theRow(instance());
    const wanted = [{ resource: 'things', intervalMs: 1_000 }];
    const sync = () => createPollStore(knex).sync({ accountId: 1, instanceId: 1, settingsVersion, wanted, now });
    const dueOf = async () => (await theRow(knex('poll').where({ account_id: 1 }))).due;
    await sync();
    expect(await dueOf()).to.equal(null);
    const enabling = await knex.transaction();
    await instance(enabling).update({ disabled: false });
    const synced = sync();
    await until(async () => (await countWaiting(knex, 'transactionid')) > 0);
    await enabling.commit();
    await synced;
    expect(await dueOf()).to.deep.equal(now);
  });
});
