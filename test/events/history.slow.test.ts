import { expect } from 'chai';
import { createPoolShares } from '../../src/db/pool-shares.ts';
import { createEventHistory } from '../../src/events/history/history.ts';
import { createHistoryStore } from '../../src/events/history/history-store.ts';
import { useDatabase } from '../support/database.ts';
import { explainRaw } from '../support/intercepted-knex.ts';

const ROWS = 200_000;
const INSTANCES = 100;
const INSTANCE = { accountId: 1, id: 7 };
const DAYS = ['2026-01-01', '2026-01-02', '2026-01-03'];

/** Ids ascend with time, as those of accepted events do. Three days have a partition, the rest is in the default one. */
const FILL = `
  insert into event (account_id, id, created_at, instance_id, type, payload)
  select 1, lpad(to_hex(n), 32, '0')::uuid, '2026-01-01'::timestamptz + n * interval '2 seconds', 1 + n % ${INSTANCES}, 't', '{}'
  from generate_series(1, ${ROWS}) n`;

describe('the events of an instance among 200,000', () => {
  const database = useDatabase();

  before(async function fill() {
    this.timeout(120_000);
    for (const day of DAYS) {
      await database.knex.raw(
        `create table event_${day.replaceAll('-', '')} partition of event for values from ('${day}') to ('${day}'::date + 1)`,
      );
    }
    await database.knex.raw(FILL);
    await database.knex.raw('analyze event');
  });

  it('are found by index in every partition, from the newest on, without reading more than a page', async () => {
    const plans: string[] = [];
    const explaining = explainRaw(database.knex, plans, '(analyze, timing off)');
    const page = { limit: 50, maxBytes: 1_000_000 };
    const first = await createHistoryStore(explaining).list(INSTANCE, page);
    const second = await createHistoryStore(explaining).list(INSTANCE, { ...page, before: first.at(-1)?.id });
    expect([first.length, second.length]).to.deep.equal([50, 50]);
    expect(plans).to.have.length(2);
    for (const plan of plans) {
      expect(plan).not.to.match(/Seq Scan|Bitmap/);
      // Of each partition a few rows are looked at before the page is full.
      const read = [...plan.matchAll(/Index Scan.*actual rows=(\d+)/g)].map(([, rows]) => Number(rows));
      expect(read.length).to.be.at.least(4);
      expect(read.reduce((sum, rows) => sum + rows, 0)).to.be.at.most(60);
    }
  });

  it('come all, and each once', async () => {
    const history = createEventHistory({ shares: createPoolShares({ knex: database.knex, poolSize: 5 }) });
    const ids: string[] = [];
    for (let before: string | undefined, isMore = true; isMore; ) {
      const page = await history.list(INSTANCE, { limit: 700, before });
      ids.push(...page.events.map(({ id }) => id));
      before = page.nextBefore;
      isMore = before !== undefined;
    }
    expect(ids).to.have.length(ROWS / INSTANCES);
    expect(ids).to.deep.equal([...new Set(ids)].toSorted().toReversed());
  });

  it('come in shorter pages where they are large', async () => {
    const payload = `{"id":"${'x'.repeat(999_991)}"}`;
    await database.knex.raw(
      `insert into event (account_id, id, created_at, instance_id, type, payload)
       select 2, lpad(to_hex(n), 32, '0')::uuid, now(), 1, 't', ? from generate_series(1, 40) n`,
      [payload],
    );
    const history = createEventHistory({ shares: createPoolShares({ knex: database.knex, poolSize: 5 }) });
    const first = await history.list({ accountId: 2, id: 1 }, { limit: 200 });
    expect(first.events).to.have.length(34);
    const rest = await history.list({ accountId: 2, id: 1 }, { limit: 200, before: first.nextBefore });
    expect([rest.events.length, rest.nextBefore]).to.deep.equal([6, undefined]);
  });
});
