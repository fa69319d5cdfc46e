import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { array, assert, asyncProperty, constantFrom, date, integer, option, record as recordOf } from 'fast-check';
import { createActivityStore } from '../../src/activity/activity-store.ts';
import { countDuration } from '../../src/activity/durations.ts';
import type { ActivityEntry } from '../../src/activity/entry.ts';
import { INTERVALS, type Interval, readPeriod, startOf } from '../../src/activity/intervals.ts';
import { type ActivityBatch, createRecorder, type RecorderOptions } from '../../src/activity/recorder.ts';
import { createUsageStore } from '../../src/activity/usage-store.ts';
import { createWriteActivity } from '../../src/activity/write-store.ts';
import { DatabaseUnavailableError } from '../../src/db/unavailable.ts';
import { createLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createRedactor, NO_SECRETS } from '../../src/redaction.ts';
import { createTrace, currentTrace, withTrace } from '../../src/trace.ts';
import { runs } from '../../suite/effort.ts';
import { useDatabase } from '../support/database.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const AT_MS = Date.parse('2026-03-10T12:00:00Z');

function recordWith(changes: Partial<ActivityEntry> = {}): ActivityEntry {
  const requestId = randomUUID();
  return {
    accountId: 1,
    userId: 1,
    atMs: AT_MS,
    requestId,
    instanceId: undefined,
    elementKey: undefined,
    method: 'GET',
    path: '/elements/api-v2/elements',
    operation: 'listElements',
    isOfConsole: false,
    status: 200,
    code: undefined,
    reason: undefined,
    durationMs: 1.5,
    cut: false,
    address: '127.0.0.1',
    rows: undefined,
    pushdown: undefined,
    trace: createTrace(requestId),
    redactor: NO_SECRETS,
    ...changes,
  };
}

/** A recorder whose database does what the test says. */
function recorderWith(options: Partial<RecorderOptions> = {}) {
  const clock = createVirtualClock(AT_MS);
  const metrics = createMetrics({ processMetrics: false });
  const lines: string[] = [];
  /** The request that each write is done for. */
  const within: (string | undefined)[] = [];
  const log = createLogger({ level: 'warn', destination: { write: (line: string) => void lines.push(line) }, clock });
  const written: { readonly batch: ActivityBatch; readonly isRetry: boolean }[] = [];
  const database: { fail: Error | undefined; wait: Promise<void> | undefined } = { fail: undefined, wait: undefined };
  const recorder = createRecorder({
    write: async (batch, isRetry) => {
      within.push(currentTrace()?.requestId);
      await database.wait;
      if (database.fail !== undefined) throw database.fail;
      written.push({ batch, isRetry });
    },
    clock,
    log,
    metrics,
    options,
  });
  const rows = () => written.reduce((sum, { batch }) => sum + batch.rows.length, 0);
  const measured = async (name: string) =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values.reduce((sum, { value }) => sum + value, 0);
  return {
    clock,
    recorder,
    written,
    rows,
    within,
    lines,
    database,
    dropped: () => measured('causeway_activity_dropped_total'),
  };
}

const AWAY = new DatabaseUnavailableError('No connection to the database could be had');

describe('the recorder of activity', () => {
  it('writes what came within a second together, and nothing when nothing came', async () => {
    const { clock, recorder, written } = recorderWith();
    await clock.advance(5_000);
    expect(clock.untilNext()).to.equal(undefined);
    recorder.record(recordWith());
    await clock.advance(400);
    recorder.record(recordWith());
    recorder.count('event', 1, 'odata');
    expect(written).to.have.length(0);
    await clock.advance(600);
    expect(written.map(({ batch }) => batch.rows.length)).to.deep.equal([2]);
    expect(written[0]?.batch.tallies.of('day').map(({ metric, count }) => [metric, count])).to.deep.equal([
      ['call', 2],
      ['event', 1],
    ]);
  });

  it('does not wait for more when there is enough for a batch, and writes one at a time', async () => {
    const { clock, recorder, written, database } = recorderWith({ batchRows: 10 });
    const slow = Promise.withResolvers<void>();
    database.wait = slow.promise;
    for (let index = 0; index < 35; index++) recorder.record(recordWith());
    await clock.advance(10_000);
    expect(written).to.have.length(0);
    database.wait = undefined;
    slow.resolve();
    // Full batches follow each other at once; the rest waits for its second.
    await setImmediate();
    await clock.advance(1_000);
    expect(written.map(({ batch }) => batch.rows.length)).to.deep.equal([10, 10, 10, 5]);
  });

  it('keeps what cannot be written while there is room, counts what it drops, and says so once a minute', async () => {
    const { clock, recorder, rows, lines, database, dropped } = recorderWith({ mostRows: 100, batchRows: 10 });
    database.fail = AWAY;
    for (let index = 0; index < 250; index++) recorder.record(recordWith());
    await clock.advance(1_000);
    for (let index = 0; index < 50; index++) recorder.record(recordWith());
    expect(await dropped()).to.equal(200);
    expect(lines.filter((line) => line.includes('memory for it is full'))).to.have.length(1);
    await clock.advance(60_000);
    recorder.record(recordWith());
    expect(
      lines.filter((line) => line.includes('memory for it is full')).map((line) => JSON.parse(line).requests),
    ).to.deep.equal([1, 200]);
    database.fail = undefined;
    await clock.advance(60_000);
    expect(rows()).to.equal(100);
    recorder.record(recordWith());
    await clock.advance(1_000);
    expect(rows()).to.equal(101);
  });

  it('writes for nobody in particular, whoever began to wait', async () => {
    const { clock, recorder, within } = recorderWith();
    withTrace({ trace: createTrace('request-1'), span: undefined }, () => recorder.count('event', 1, 'odata'));
    await withTrace({ trace: createTrace('request-2'), span: undefined }, () => clock.advance(1_000));
    expect(within).to.deep.equal([undefined]);
  });

  it('bounds the bytes of what waits', async () => {
    const { recorder, dropped } = recorderWith({ mostBytes: 100_000 });
    for (let index = 0; index < 20; index++) recorder.record(recordWith({ path: `/${'x'.repeat(9_000)}` }));
    expect(await dropped()).to.equal(10);
  });

  it('tries a batch again as it was, and says that it is again', async () => {
    const { clock, recorder, written, database } = recorderWith();
    const first = recordWith();
    recorder.record(first);
    database.fail = AWAY;
    await clock.advance(1_000);
    recorder.record(recordWith());
    database.fail = undefined;
    await clock.advance(5_000);
    expect(written.map(({ batch, isRetry }) => [batch.rows.length, isRetry])).to.deep.equal([
      [1, true],
      [1, false],
    ]);
    expect(written[0]?.batch.rows[0]?.requestId).to.equal(first.requestId);
  });

  it('does not try again what the database refuses', async () => {
    const { clock, recorder, rows, database, dropped } = recorderWith();
    recorder.record(recordWith());
    database.fail = Object.assign(new Error('invalid byte sequence'), { code: '22021' });
    await clock.advance(1_000);
    database.fail = undefined;
    recorder.record(recordWith());
    await clock.advance(1_000);
    expect([rows(), await dropped()]).to.deep.equal([1, 1]);
  });

  it('writes what is left when it stops, and does not wait for a database that is away', async () => {
    const one = recorderWith();
    one.recorder.record(recordWith());
    await one.recorder.stop(5_000);
    expect(one.rows()).to.equal(1);
    const other = recorderWith();
    other.database.wait = new Promise(() => {});
    other.recorder.record(recordWith());
    const stopped = other.recorder.stop(5_000);
    await other.clock.advance(5_000);
    await stopped;
    expect(other.lines.join()).to.include('could not write the activity of all requests before the stop');
  });
});

describe('what the recorder wrote', () => {
  const database = useDatabase();
  const knex = () => database.knex;

  afterEach(async () => {
    for (const table of ['activity', 'usage_minute', 'usage_hour', 'usage_day']) await knex().raw(`truncate ${table}`);
  });

  const call = recordOf({
    accountId: integer({ min: 1, max: 3 }),
    elementKey: option(constantFrom('odata', 'bamboohr'), { nil: undefined }),
    atMs: date({
      min: new Date('2026-03-09T22:00:00Z'),
      max: new Date('2026-03-10T02:00:00Z'),
      noInvalidDate: true,
    }).map((at) => at.getTime()),
    status: constantFrom(200, 200, 404, 429, 500, 502),
    durationMs: integer({ min: 0, max: 3_000_000 }).map((us) => us / 1000),
  });

  it('is counted as the rows are, by minute, hour and day, whoever writes when', async () => {
    await assert(
      asyncProperty(
        array(array(call, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 4 }),
        async (batches) => {
          await knex().raw('truncate activity, usage_minute, usage_hour, usage_day');
          const records = batches.map((batch) => batch.map((one) => recordWith(one)));
          // Each is a process of its own: they write at the same time.
          await Promise.all(records.map(writeAll));
          const all = records.flat();
          for (const accountId of [1, 2, 3])
            for (const interval of Object.keys(INTERVALS) as Interval[])
              expect(await counted(interval, accountId)).to.deep.equal(expected(interval, accountId, all));
          const { rows } = await knex().raw('select count(*) as count from activity');
          expect(rows[0].count).to.equal(all.length);
        },
      ),
      { numRuns: runs(15) },
    );
  });

  it('is counted apart where the console read it for itself, and got it', async () => {
    const read = { isOfConsole: true };
    await writeAll([
      recordWith(read),
      recordWith({ ...read, cut: true, status: 499 }),
      recordWith({ ...read, status: 404 }),
      recordWith({ ...read, method: 'POST' }),
      recordWith(),
    ]);
    const asked = { from: '2026-03-10', to: '2026-03-10', interval: 'day' } as const;
    const counts = await createUsageStore(knex()).list(
      { accountId: 1 },
      ['call', 'console_read'],
      readPeriod(asked, AT_MS),
    );
    expect(counts.map(({ metric, count }) => [metric, count])).to.have.deep.members([
      ['call', 3],
      ['console_read', 2],
    ]);
  });

  it('has what scripts wrote and why they failed, without secrets', async () => {
    const secret = 'a secret of the instance';
    const one = recordWith({ redactor: createRedactor([secret]) });
    one.trace.scripts = {
      console: [`token ${secret}\0`, 'x'.repeat(1064)],
      lineCount: 7,
      failures: 3,
      reasons: [{ reason: `no ${secret}`, count: 3, recordIds: ['1', secret] }],
    };
    await writeAll([one, recordWith()]);
    const [found, other] = await Promise.all(
      [one, recordWith()].map(({ requestId }) => createActivityStore(knex()).find(1, requestId)),
    );
    expect(other).to.equal(undefined);
    expect(found?.scripts).to.deep.equal({
      console: ['token [redacted]', `${'x'.repeat(1000)}…`],
      lineCount: 7,
      failures: 3,
      reasons: [{ reason: 'no [redacted]', count: 3, recordIds: ['1', '[redacted]'] }],
    });
  });

  it('is there once when it is written again after its commit', async () => {
    const { batch } = await batchOf([recordWith(), recordWith()]);
    const write = createWriteActivity({ behind: knex() });
    await write(batch, false);
    await write(batch, true);
    const [usage] = await counted('day', 1);
    expect(usage?.count).to.equal(2);
  });

  async function batchOf(records: readonly ActivityEntry[]) {
    const { recorder, written } = recorderWith();
    for (const one of records) recorder.record(one);
    await recorder.stop(1_000);
    const [first] = written;
    if (first === undefined) throw new Error('Nothing was written');
    return first;
  }

  async function writeAll(records: readonly ActivityEntry[]): Promise<void> {
    const { batch } = await batchOf(records);
    await createWriteActivity({ behind: knex() })(batch, false);
  }

  async function counted(interval: Interval, accountId: number) {
    const asked = { from: '2026-03-09T14:00:00Z', to: '2026-03-10T03:00:00Z', interval };
    return createUsageStore(knex()).list({ accountId }, ['call'], readPeriod(asked, AT_MS));
  }

  /** From the records themselves. */
  function expected(interval: Interval, accountId: number, records: readonly ActivityEntry[]) {
    const own = records.filter((one) => one.accountId === accountId);
    const groups = Map.groupBy(own, ({ atMs, elementKey = '' }) => `${startOf(interval, atMs)} ${elementKey}`);
    return [...groups]
      .map(([key, group]) => {
        const [atMs, elementKey = ''] = key.split(' ');
        const us = group.map(({ durationMs }) => Math.round(durationMs * 1000));
        const durations: number[] = [];
        for (const one of us) countDuration(durations, one);
        return {
          accountId,
          metric: 'call' as const,
          elementKey,
          atMs: Number(atMs),
          count: group.length,
          clientErrors: group.filter(({ status }) => status >= 400 && status < 500).length,
          serverErrors: group.filter(({ status }) => status >= 500).length,
          totalUs: us.reduce((sum, one) => sum + one, 0),
          minUs: Math.min(...us),
          maxUs: Math.max(...us),
          durations,
        };
      })
      .sort((one, other) => one.atMs - other.atMs || (one.elementKey < other.elementKey ? -1 : 1));
  }
});
