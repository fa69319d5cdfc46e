import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createOwner } from '../../src/events/owners/owner.ts';
import { createOwnerStore } from '../../src/events/owners/owner-store.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { addAccount, deliveries } from '../support/event-rows.ts';

describe('deliveries that a process has forgotten', () => {
  const database = useDatabase();

  before(() => addAccount(database.knex));
  beforeEach(() => database.knex.raw('truncate delivery, event_owner'));

  /** @returns what becomes of a delivery that this process holds since a minute, and does not know */
  async function auditDuring(meanwhile: () => Promise<unknown>) {
    const { knex } = database;
    const store = createOwnerStore(knex);
    const heldBy: typeof store.heldBy = async (...input) => {
      const held = await store.heldBy(...input);
      await meanwhile();
      return held;
    };
    const options = { silentMs: 60_000, takeOverRows: 10, auditAgeMs: 30_000 };
    const owner = createOwner({ store: { ...store, heldBy }, clock: SYSTEM_CLOCK, log: silentLog, options });
    await owner.enter();
    await knex.raw(
      `insert into delivery (account_id, subscription_id, event_id, event_at, type, state, owner, updated_at)
       values (1, 1, gen_random_uuid(), now(), 'x.created', 'delivering', ?, now() - interval '1 minute')`,
      [owner.current() ?? null],
    );
    const count = await owner.giveBackForgotten(() => false);
    const [delivery] = await deliveries(knex);
    return { count, state: delivery?.state };
  }

  it('are released', async () => {
    expect(await auditDuring(async () => undefined)).to.deep.equal({ count: 1, state: 'waiting' });
  });

  it('are kept when they were released and claimed again meanwhile', async () => {
    const claimAgain = () =>
      database.knex('delivery').where({ account_id: 1 }).update({ updated_at: database.knex.fn.now() });
    expect(await auditDuring(async () => claimAgain())).to.deep.equal({ count: 0, state: 'delivering' });
  });
});
