import { expect } from 'chai';
import { takeTurns } from '../../src/db/transaction.ts';
import { createRunStore, insertNew, turnsOf } from '../../src/formulas/executions/run-store.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { useDatabase } from '../support/database.ts';
import { addAccount } from '../support/event-rows.ts';
import { until } from '../support/until.ts';
import { countWaiting } from '../support/waiting.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

describe('executions of a single-threaded instance', () => {
  const database = useDatabase();

  const execution = (formulaInstanceId: number) => ({
    accountId: 1,
    formulaInstanceId,
    formula: { accountId: 1, id: 1 },
    version: 1,
    serial: true,
    trigger: [],
    createdAt: NOW,
  });

  before(() => addAccount(database.knex));
  afterEach(() => database.knex('formula_run').delete());

  function claim() {
    const leaseUntil = new Date(NOW.getTime() + 60_000);
    const lease = { now: NOW, leaseUntil, limit: 10, share: 10, except: [], buckets: ALL_BUCKETS.held() };
    return createRunStore(database.knex).claim(lease);
  }

  it('never run beside each other, whichever of their transactions ends first', async () => {
    const { knex } = database;
    const slow = await knex.transaction();
    const [older] = await createRunStore(slow).start([execution(1)]);
    let isStarted = false;
    const quick = createRunStore(knex).start([execution(1)]);
    void quick.then(() => (isStarted = true));
    await until(async () => isStarted || (await countWaiting(knex, 'advisory')) > 0);
    const claimed = [...(await claim())];
    await slow.commit();
    await quick;
    claimed.push(...(await claim()), ...(await claim()));
    expect(claimed.map(({ id }) => id)).to.deep.equal([older]);
  });

  it('are started by events of transactions that do not block each other', async () => {
    const { knex } = database;
    const events = [[execution(1)], [execution(2)]];
    const startAll = (ofEvents: typeof events) =>
      knex.transaction(async (via) => {
        await takeTurns(via, 'new executions of a formula instance', ofEvents.flatMap(turnsOf));
        for (const executions of ofEvents) await insertNew(via, executions);
      });
    const all = Array.from({ length: 20 }, (_, n) => startAll(n % 2 === 0 ? events : events.toReversed()));
    await Promise.all(all);
    expect((await claim()).length).to.equal(2);
  });
});
