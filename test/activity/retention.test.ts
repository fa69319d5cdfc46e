import { expect } from 'chai';
import { composeActivity } from '../../src/activity/index.ts';
import { createPoolShares } from '../../src/db/pool-shares.ts';
import { createMetrics } from '../../src/metrics.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-10T12:00:00Z');

describe('the retention of activity', () => {
  const database = useDatabase();

  function activityAt(days: number) {
    const { knex } = database;
    const clock = createVirtualClock(START + days * DAY_MS);
    const metrics = createMetrics({ processMetrics: false });
    const platform = {
      knex,
      behind: knex,
      shares: createPoolShares({ knex, poolSize: 5 }),
      log: silentLog,
      clock,
      metrics,
    };
    return composeActivity(platform, { retentionDays: 7, basePath: '' });
  }

  async function partitionsOf(table: string): Promise<string[]> {
    const { rows } = await database.knex.raw(
      'select relname from pg_inherits join pg_class on oid = inhrelid where inhparent = ?::regclass order by 1',
      [table],
    );
    return rows.map(({ relname }: { relname: string }) => relname.slice(table.length + 1));
  }

  it('has days of requests and of minutes, and months of hours and of days', async () => {
    await activityAt(0).start();
    for (const table of ['activity', 'activity_wire', 'usage_minute'])
      expect(await partitionsOf(table)).to.deep.equal(['20260310', '20260311', '20260312', 'default']);
    for (const table of ['usage_hour', 'usage_day'])
      expect(await partitionsOf(table)).to.deep.equal(['202603', 'default']);
  });

  it('ends minutes after 2 days, requests after those of the operator, hours after 60, days after 800', async () => {
    const isThere = async (table: string, partition: string) => (await partitionsOf(table)).includes(partition);
    await activityAt(2).keep();
    expect(await isThere('usage_minute', '20260310')).to.equal(true);
    await activityAt(3).keep();
    expect(await isThere('usage_minute', '20260310')).to.equal(false);
    await activityAt(7).keep();
    expect(await isThere('activity', '20260310')).to.equal(true);
    await activityAt(8).keep();
    for (const table of ['activity', 'activity_wire']) expect(await isThere(table, '20260310')).to.equal(false);
    await activityAt(81).keep();
    expect(await isThere('usage_hour', '202603')).to.equal(true);
    await activityAt(82).keep();
    expect(await isThere('usage_hour', '202603')).to.equal(false);
    await activityAt(821).keep();
    expect(await isThere('usage_day', '202603')).to.equal(true);
    await activityAt(822).keep();
    expect(await isThere('usage_day', '202603')).to.equal(false);
  });
});
