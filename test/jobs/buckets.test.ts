import { expect } from 'chai';
import { createBulkStore } from '../../src/bulk/bulk-store.ts';
import { measureBacklog } from '../../src/db/backlog.ts';
import { createRunStore } from '../../src/formulas/executions/run-store.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createPollStore } from '../../src/polls/poll-store.ts';
import { createWatchStore } from '../../src/schemas/watch-store.ts';
import { BUCKETS, bucketOf, createWorkBuckets, inBuckets } from '../../src/work-buckets.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { useAccountDatabase } from '../support/event-rows.ts';

type Held = readonly number[];

const IDS = Array.from({ length: 3 * BUCKETS }, (_, index) => index + 1);
const DUE = new Date('2026-01-01T00:00:00Z');
const NOW = new Date(DUE.getTime() + 1_000);
const CLAIM = {
  now: NOW,
  leaseUntil: new Date(NOW.getTime() + 60_000),
  later: NOW,
  limit: 1_000,
  share: 1_000,
  except: [],
};

describe('the buckets of due work', () => {
  const database = useAccountDatabase(...IDS);

  before(async () => {
    const { knex } = database;
    await knex.raw(`insert into poll (account_id, instance_id, resource, settings_version, interval_ms, due, kind, watermark)
      select account_id, id, 'things', settings_version, 1000, '${DUE.toISOString()}', 'window', now() from instance where account_id = 1`);
    await knex.raw(
      `insert into schema_check (account_id, instance_id, due) select account_id, id, '${DUE.toISOString()}' from instance where account_id = 1`,
    );
    await knex.raw(`insert into bulk_job (account_id, id, instance_id, direction, object_name, query, format, due)
      overriding system value
      select account_id, id, id, 'DOWNLOAD', 'things', '{}', 'csv', '${DUE.toISOString()}' from instance where account_id = 1`);
    // Those of single-threaded instances fall into the bucket of the instance, which is not that of their own id.
    await knex.raw(`insert into formula_run (account_id, id, execution_at, formula_instance_id, serial, due)
      select account_id, case when id > ${BUCKETS} then id else 1000 + id end, now(), id, id <= ${BUCKETS}, '${DUE.toISOString()}' from instance where account_id = 1`);
  });

  /** The claims of each kind of work. They return the ids by which the claimed rows fall into buckets. */
  const kinds = {
    polls: () => {
      const { claim, nextDue } = createPollStore(database.knex);
      const claimIn = async (buckets: Held) => (await claim({ ...CLAIM, buckets })).claimed;
      return { nextDue, claim: async (buckets: Held) => (await claimIn(buckets)).map((poll) => poll.instanceId) };
    },
    'checks of watched objects': () => {
      const { claim, nextDue } = createWatchStore(database.knex);
      const claimIn = async (buckets: Held) => (await claim({ ...CLAIM, buckets })).claimed;
      return { nextDue, claim: async (buckets: Held) => (await claimIn(buckets)).map((check) => check.instanceId) };
    },
    'bulk jobs': () => {
      const { claim, nextDue } = createBulkStore(database.knex);
      return { nextDue, claim: async (buckets: Held) => (await claim({ ...CLAIM, buckets })).map(({ id }) => id) };
    },
    'executions of formulas': () => {
      const { claim, nextDue } = createRunStore(database.knex);
      const claimIn = (buckets: Held) => claim({ ...CLAIM, buckets });
      return { nextDue, claim: async (buckets: Held) => (await claimIn(buckets)).map((run) => run.formulaInstanceId) };
    },
  };

  it('are counted before anybody works on them, with the age of the oldest', async () => {
    const metrics = createMetrics({ processMetrics: false });
    measureBacklog({ knex: database.knex, metrics, clock: { now: () => NOW.getTime() } });
    const valuesOf = async (name: string) => {
      const { values = [] } = (await metrics.registry.getSingleMetric(name)?.get()) ?? {};
      return Object.fromEntries(values.map(({ labels, value }) => [labels.kind, value]));
    };
    const each = { polls: 1, schemas: 1, formulas: 1, bulk: 1 };
    expect(await valuesOf('causeway_work_oldest_due_seconds')).to.deep.equal({ deliveries: 0, ...each });
    const counts = Object.fromEntries(Object.keys(each).map((kind) => [kind, IDS.length]));
    expect(await valuesOf('causeway_work_due')).to.deep.equal({ deliveries: 0, ...counts });
  });

  for (const [kind, open] of Object.entries(kinds)) {
    it(`restrict what a process claims of ${kind}, and all together have everything`, async () => {
      const { claim } = open();
      const ours = [1, 5, BUCKETS - 1];
      const claimed = await claim(ours);
      expect(claimed.toSorted((one, other) => one - other)).to.deep.equal(
        IDS.filter((id) => ours.includes(bucketOf(id))),
      );
      const rest = await claim(ALL_BUCKETS.held().filter((bucket) => !ours.includes(bucket)));
      expect([...claimed, ...rest].toSorted((one, other) => one - other)).to.deep.equal(IDS);
    });
  }

  it('restrict what a process waits for', async () => {
    const [soon, later] = [new Date(NOW.getTime() + 10_000), new Date(NOW.getTime() + 20_000)];
    for (const [table, id] of Object.entries({
      poll: 'instance_id',
      schema_check: 'instance_id',
      bulk_job: 'id',
      formula_run: 'formula_instance_id',
    })) {
      await database.knex.raw(
        `update ${table} set lease = null, lease_until = null, due = case when ${inBuckets(id)} then ?::timestamptz else ?::timestamptz end
         where account_id = 1`,
        [[7], soon, later],
      );
    }
    for (const open of Object.values(kinds)) {
      const { nextDue } = open();
      expect(await nextDue(NOW, [7, 8])).to.deep.equal(soon);
      expect(await nextDue(NOW, [8])).to.deep.equal(later);
      expect(await nextDue(NOW, [])).to.equal(undefined);
    }
  });

  it('call their listeners only when the process gets more of them', () => {
    const buckets = createWorkBuckets();
    let gains = 0;
    buckets.onGained(() => gains++);
    for (const held of [[1, 2], [2], [2], [2, 3], []]) buckets.set(new Set(held));
    expect([gains, buckets.held()]).to.deep.equal([2, []]);
  });
});
