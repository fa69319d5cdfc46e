import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { PartitionOptions, PartitionPlatform } from '../../src/db/partitions.ts';
import { createEventPartitions } from '../../src/events/upkeep/upkeep.ts';
import { createLogger } from '../../src/log.ts';
import { silentLog, useDatabase } from '../support/database.ts';

const TODAY = '2026-03-10';
const NOON = new Date(`${TODAY}T12:00:00Z`);

describe('the partitions of events', () => {
  const database = useDatabase();

  function partitions(given: Partial<PartitionPlatform & PartitionOptions> = {}) {
    const platform = { knex: database.knex, log: silentLog, clock: { now: () => NOON.getTime() }, ...given };
    return createEventPartitions(platform, { retentionDays: 30 }, given);
  }

  const at = (day: string) => partitions({ clock: { now: () => Date.parse(`${day}T12:00:00Z`) } });

  async function names(table: 'event' | 'delivery_attempt'): Promise<string[]> {
    const { rows } = await database.knex.raw(
      'select relname from pg_inherits join pg_class on oid = inhrelid where inhparent = ?::regclass order by 1',
      [table],
    );
    return rows.map(({ relname }: { relname: string }) => relname);
  }

  async function insertEvent(at: string): Promise<string> {
    const id = randomUUID();
    const row = { account_id: 1, id, created_at: new Date(at), type: 'x.created', payload: '{}' };
    await database.knex('event').insert(row);
    return id;
  }

  async function insertDelivery(state: 'queued' | 'waiting', eventId: string, eventAt: string): Promise<void> {
    const due = state === 'waiting' ? new Date() : null;
    const row = {
      account_id: 1,
      subscription_id: 1,
      event_id: eventId,
      event_at: new Date(eventAt),
      type: 'x.created',
    };
    await database.knex('delivery').insert({ ...row, state, due });
  }

  /** Which partition holds the event. */
  async function homeOf(id: string): Promise<string | undefined> {
    const { rows } = await database.knex.raw('select tableoid::regclass::text as home from event where id = ?', [id]);
    return rows[0]?.home;
  }

  afterEach(async () => {
    for (const table of ['event', 'delivery_attempt'] as const) {
      for (const name of await names(table)) {
        await database.knex.raw(name.endsWith('_default') ? `truncate ${name}` : `drop table ${name}`);
      }
    }
    await database.knex('delivery').delete();
  });

  it('are made for today and the seven days after it, in UTC', async () => {
    await partitions().ensure();
    const days = ['10', '11', '12', '13', '14', '15', '16', '17'];
    expect(await names('event')).to.deep.equal([...days.map((day) => `event_202603${day}`), 'event_default']);
    expect(await names('delivery_attempt')).to.deep.equal([
      ...days.map((day) => `delivery_attempt_202603${day}`),
      'delivery_attempt_default',
    ]);
    expect(await homeOf(await insertEvent('2026-03-10T00:00:00.000Z'))).to.equal('event_20260310');
    expect(await homeOf(await insertEvent('2026-03-10T23:59:59.999Z'))).to.equal('event_20260310');
    expect(await homeOf(await insertEvent('2026-03-17T23:59:59.999Z'))).to.equal('event_20260317');
    expect(await homeOf(await insertEvent('2026-03-18T00:00:00.000Z'))).to.equal('event_default');
  });

  it('have every index of their table', async () => {
    await partitions().ensure();
    const { rows } = await database.knex.raw(
      `select count(*) as count from pg_index where indrelid = any (array['delivery_attempt', 'delivery_attempt_20260311']::regclass[])
       group by indrelid`,
    );
    expect(rows[0]).to.deep.equal(rows[1]);
  });

  it('go on one day each day, across the end of a month', async () => {
    await at('2026-02-24').ensure();
    await at('2026-02-25').ensure();
    expect((await names('event')).slice(-3)).to.deep.equal(['event_20260303', 'event_20260304', 'event_default']);
  });

  it('lose nothing when they are missing, and take over what came meanwhile', async () => {
    const late = await insertEvent('2026-03-05T08:00:00Z');
    const todays = await insertEvent('2026-03-10T08:00:00Z');
    const future = await insertEvent('2026-04-01T08:00:00Z');
    expect(await homeOf(late)).to.equal('event_default');

    await partitions().ensure();
    expect(await homeOf(late)).to.equal('event_20260305');
    expect(await homeOf(todays)).to.equal('event_20260310');
    expect(await homeOf(future)).to.equal('event_20260401');
    const { rows } = await database.knex.raw('select count(*) as count from only event_default');
    expect(rows[0].count).to.equal(0);
  });

  it('leave a day with many rows in the default one while it comes in, and move it when it is over', async () => {
    const ids = [await insertEvent('2026-03-10T08:00:00Z'), await insertEvent('2026-03-10T09:00:00Z')];
    await partitions({ maxRowsMovedWhileWritten: 1 }).ensure();
    expect(await names('event')).not.to.include('event_20260310');
    expect(await Promise.all(ids.map(homeOf))).to.deep.equal(['event_default', 'event_default']);

    await partitions({
      maxRowsMovedWhileWritten: 1,
      clock: { now: () => Date.parse('2026-03-12T01:00:00Z') },
    }).ensure();
    expect(await Promise.all(ids.map(homeOf))).to.deep.equal(['event_20260310', 'event_20260310']);
  });

  it('lose nothing that is written while they are made', async () => {
    let writing = true;
    const ids: string[] = [];
    const write = async () => {
      while (writing) ids.push(await insertEvent('2026-03-10T08:00:00Z'));
    };
    const writers = [write(), write()];
    while (ids.length < 50) await database.knex.raw('select 1');
    await partitions().ensure();
    writing = false;
    await Promise.all(writers);
    const { rows } = await database.knex.raw('select count(*) as count from event where id = any (?::uuid[])', [ids]);
    expect(rows[0].count).to.equal(ids.length);
    expect(await homeOf(ids[0] ?? '')).to.equal('event_20260310');
  });

  it('wait for who writes a row of today, and take it along', async () => {
    const id = randomUUID();
    const writer = await database.knex.transaction();
    const row = { account_id: 1, id, created_at: NOON, type: 'x.created', payload: '{}' };
    await writer('event').insert(row);
    await insertEvent('2026-03-10T08:00:00Z');
    const ensured = partitions().ensure();
    await untilSomebodyWaits();
    await writer.commit();
    await ensured;
    expect(await homeOf(id)).to.equal('event_20260310');
  });

  async function untilSomebodyWaits(): Promise<void> {
    const waiting = () => database.knex.raw("select from pg_locks where not granted and locktype = 'relation'");
    while ((await waiting()).rows.length === 0);
  }

  it('may be looked after by several processes at once', async () => {
    await insertEvent('2026-03-05T08:00:00Z');
    await Promise.all([partitions().ensure(), partitions().ensure(), partitions().ensure()]);
    expect(await names('event')).to.have.length(10);
    const late = at('2026-05-20');
    await Promise.all([late.expire(), late.expire(), late.ensure()]);
    expect(await names('event')).to.have.length(9);
  });

  it('are dropped when they are older than the retention, and not a day before', async () => {
    await partitions().ensure();
    const kept = await insertEvent('2026-03-11T00:00:00Z');
    const gone = await insertEvent('2026-03-10T23:59:59Z');
    await at('2026-04-10').expire();
    expect(await names('event'))
      .to.include('event_20260311')
      .and.not.include('event_20260310');
    expect(await names('delivery_attempt')).not.to.include('delivery_attempt_20260310');
    expect(await homeOf(kept)).to.equal('event_20260311');
    expect(await homeOf(gone)).to.equal(undefined);
  });

  for (const state of ['queued', 'waiting'] as const) {
    it(`outlive their date while an event of theirs is ${state}`, async () => {
      await partitions().ensure();
      const id = await insertEvent('2026-03-10T10:00:00Z');
      await insertDelivery(state, id, '2026-03-10T10:00:00Z');
      await at('2026-06-01').expire();
      expect(await names('event')).to.deep.equal(['event_20260310', 'event_default']);
      expect(await homeOf(id)).to.equal('event_20260310');

      await database.knex('delivery').delete();
      await at('2026-06-01').expire();
      expect(await names('event')).to.deep.equal(['event_default']);
    });
  }

  it('are left for the next time when somebody reads the table for long, and nobody waits behind', async () => {
    const lines: string[] = [];
    const log = createLogger({
      level: 'warn',
      destination: { write: (line: string) => void lines.push(line) },
    });
    await partitions().ensure();
    const reader = await database.knex.transaction();
    await reader.raw('select count(*) from event');
    await partitions({ clock: { now: () => Date.parse('2026-04-11T12:00:00Z') }, log }).expire();
    expect(await names('event')).to.include.members(['event_20260310', 'event_20260311']);
    expect(await names('delivery_attempt')).not.to.include('delivery_attempt_20260310');
    expect(lines.filter((line) => line.includes('could not drop a partition'))).to.have.length(1);
    await reader.rollback();
    await at('2026-04-12').expire();
    expect(await names('event')).not.to.include('event_20260311');
  }).timeout(20_000);
});
