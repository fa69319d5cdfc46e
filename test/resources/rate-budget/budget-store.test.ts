import { expect } from 'chai';
import { createBudgetStore } from '../../../src/resources/rate-budget/budget-store.ts';
import { useDatabase } from '../../support/database.ts';

const KEY = { accountId: 1, id: 7 };
const OTHER = { accountId: 2, id: 7 };
const STATE = { report: { limit: 10, remaining: 9, at: 1_000.5, resetsAt: 2_000 }, debt: 1, holders: {} };

describe('the store of shared rate limits', () => {
  const database = useDatabase();
  const store = () => createBudgetStore(database.knex);
  const expiresAt = Date.UTC(2030, 0, 1);

  beforeEach(() => database.knex('rate_budget').delete());

  it("returns the database's time, even if it knows none of the budgets", async () => {
    const { now, budgets } = await store().read([KEY]);
    expect(now).to.be.closeTo(Date.now(), 60_000);
    expect(budgets).to.deep.equal([]);
  });

  it('returns what was stored of the account and the instance', async () => {
    const first = { ...KEY, version: 1, state: STATE, expiresAt };
    expect(await store().write([{ ...first, ...OTHER }, first])).to.deep.equal([KEY, OTHER]);
    const { budgets } = await store().read([KEY, { accountId: 3, id: 7 }]);
    expect(budgets).to.deep.equal([{ ...KEY, version: 1, state: STATE }]);
  });

  it('stores only the first of two changes of the same state', async () => {
    const change = { ...KEY, version: 1, state: STATE, expiresAt };
    await store().write([change]);
    const next = { ...change, version: 2, state: { ...STATE, debt: 2 } };
    const written = await Promise.all([store().write([next]), store().write([next]), store().write([change])]);
    expect(written.flat()).to.deep.equal([KEY]);
    expect((await store().read([KEY])).budgets).to.deep.equal([{ ...KEY, version: 2, state: next.state }]);
  });

  it('deletes what has no more meaning', async () => {
    await store().write([
      { ...KEY, version: 1, state: STATE, expiresAt },
      { ...OTHER, version: 1, state: STATE, expiresAt: expiresAt + 1_000 },
    ]);
    expect(await store().purge(new Date(expiresAt + 500))).to.equal(1);
    expect((await store().read([KEY, OTHER])).budgets.map(({ accountId }) => accountId)).to.deep.equal([2]);
  });
});
