import { expect } from 'chai';
import { createPartitions, type KeptTable } from '../../src/db/partitions.ts';
import { silentLog, useDatabase } from '../support/database.ts';

const MONTHLY: KeptTable = {
  table: 'diary',
  column: 'at',
  by: 'month',
  retentionDays: 365,
  storage: 'fillfactor = 70',
};

describe('the partitions of a table by month', () => {
  const database = useDatabase();

  const at = (day: string) =>
    createPartitions({ knex: database.knex, log: silentLog, clock: { now: () => Date.parse(`${day}T12:00:00Z`) } }, [
      MONTHLY,
    ]);

  async function names(): Promise<string[]> {
    const { rows } = await database.knex.raw(
      "select relname from pg_inherits join pg_class on oid = inhrelid where inhparent = 'diary'::regclass order by 1",
    );
    return rows.map(({ relname }: { relname: string }) => relname);
  }

  async function insert(time: string): Promise<string> {
    const { rows } = await database.knex.raw(
      'insert into diary (at) values (?::timestamptz) returning tableoid::regclass::text as home',
      [time],
    );
    return rows[0].home;
  }

  beforeEach(async () => {
    await database.knex.raw('create table diary (at timestamptz not null) partition by range (at)');
    await database.knex.raw('create table diary_default partition of diary default');
  });

  afterEach(() => database.knex.raw('drop table diary'));

  it('are made for this month, and a week before it comes for the next, in UTC', async () => {
    await at('2026-03-10').ensure();
    expect(await names()).to.deep.equal(['diary_202603', 'diary_default']);
    await at('2026-03-25').ensure();
    expect(await names()).to.deep.equal(['diary_202603', 'diary_202604', 'diary_default']);
    expect(await insert('2026-03-01T00:00:00.000Z')).to.equal('diary_202603');
    expect(await insert('2026-03-31T23:59:59.999Z')).to.equal('diary_202603');
    expect(await insert('2026-04-01T00:00:00.000Z')).to.equal('diary_202604');
    expect(await insert('2026-05-01T00:00:00.000Z')).to.equal('diary_default');
  });

  it('end where the next begins, in February and over the end of a year', async () => {
    for (const day of ['2026-01-31', '2026-02-28', '2026-12-31']) await at(day).ensure();
    expect(await insert('2026-02-28T23:59:59.999Z')).to.equal('diary_202602');
    expect(await insert('2026-12-31T23:59:59.999Z')).to.equal('diary_202612');
    expect(await insert('2027-01-01T00:00:00.000Z')).to.equal('diary_202701');
  });

  it('take over the rows of months that had none, this one included', async () => {
    for (const time of ['2026-01-05T00:00:00Z', '2026-01-25T00:00:00Z', '2026-03-09T00:00:00Z']) await insert(time);
    await at('2026-03-10').ensure();
    expect(await names()).to.deep.equal(['diary_202601', 'diary_202603', 'diary_default']);
    const { rows } = await database.knex.raw('select count(*) as count from diary_default');
    expect(rows[0].count).to.equal(0);
  });

  it('are dropped when their last day is older than the retention, and not before', async () => {
    await at('2026-03-10').ensure();
    await at('2027-03-31').expire();
    expect(await names()).to.include('diary_202603');
    await at('2027-04-01').expire();
    expect(await names()).to.deep.equal(['diary_default']);
  });

  it('have the storage parameters of their table', async () => {
    await at('2026-03-10').ensure();
    const { rows } = await database.knex.raw("select reloptions from pg_class where relname = 'diary_202603'");
    expect(rows[0].reloptions).to.deep.equal(['fillfactor=70']);
  });
});
