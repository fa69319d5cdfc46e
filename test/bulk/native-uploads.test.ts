import { expect } from 'chai';
import fc from 'fast-check';

import type { Connector, ObjectSpec, Objects } from '#connector';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator, DEMO_ACCESS_TOKEN } from '../../connectors/salesforce/simulator.ts';
import { getOk, listAll, type Row, startTarget, type Target } from '../../suite/target.ts';
import { waitUntil } from '../api/support/wait-until.ts';

const FROM_ROWS = 20;

/** The same, with jobs for few rows, or with none. */
function withIngest(connector: Connector, isSmall: boolean): Connector {
  const { objects } = connector;
  const change = (object: ObjectSpec): ObjectSpec => {
    const { bulk, describe, ...rest } = object;
    const ingest = bulk?.ingest && { ...bulk.ingest, fromRows: FROM_ROWS, mostRows: 60, mostBytes: 40_000 };
    return {
      ...rest,
      ...(isSmall && ingest !== undefined && { bulk: { ingest } }),
      ...(describe !== undefined && { describe: async (context) => change(await describe(context)) }),
    };
  };
  const changeAll = (all: Objects) =>
    Object.fromEntries(Object.entries(all).map(([name, object]) => [name, change(object)]));
  return {
    ...connector,
    objects: typeof objects === 'function' ? async (context) => changeAll(await objects(context)) : changeAll(objects),
  };
}

const start = (isSmall: boolean) =>
  startTarget({
    connector: withIngest(salesforce, isSmall),
    configuration: CONNECTED,
    createSimulator,
    overrides: { bulkOptions: { lookMs: 50, firstBackoffMs: 50, longestBackoffMs: 100 } },
  });

type Values = Readonly<Record<string, string | number | boolean | null>>;

const HOSTILE = [
  '#N/A',
  '#n/a',
  '',
  'a "quoted" text, with a comma',
  'two\nlines',
  'two\r\nlines',
  '=1+1',
  '""',
  "O'Brien",
  '\u{1F4A5} \u00e4\u00f6\u00fc \u202e',
  'null',
  ' spaces ',
  '\t',
  'sf__Id',
];

/** A twentieth of the rows is bad, each in its own way. */
const ACCOUNT = fc.record({
  Name: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom('Ada', 'Bob', 'Cy') },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  Description: fc.oneof(fc.constantFrom(...HOSTILE), fc.constant(null)),
  NumberOfEmployees: fc.oneof(
    { weight: 40, arbitrary: fc.integer({ min: 0, max: 9 }) },
    { weight: 1, arbitrary: fc.constantFrom('many', 2 ** 40) },
    { weight: 5, arbitrary: fc.constant(null) },
  ),
  Tier__c: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom('Gold', null) },
    { weight: 1, arbitrary: fc.constant('Tin') },
  ),
  FoundedOn__c: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom('2001-02-03', null) },
    { weight: 1, arbitrary: fc.constant('soon') },
  ),
});

function printCsv(rows: readonly Values[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: unknown) =>
    value === null || value === undefined ? '' : `"${String(value).replaceAll('"', '""')}"`;
  return [names.join(','), ...rows.map((row) => names.map((name) => cell(row[name])).join(','))].join('\r\n');
}

const FORMATS = {
  csv: printCsv,
  jsonl: (rows: readonly Values[]) => rows.map((row) => JSON.stringify(row)).join('\n'),
} as const;

interface Sent {
  readonly format?: keyof typeof FORMATS;
  readonly action: string;
  readonly identifierFieldName?: string;
  readonly object?: string;
}

describe('an upload whose rows jobs of Salesforce write', () => {
  let native: Target;
  let single: Target;
  before(async function startAll() {
    this.timeout(60_000);
    [native, single] = await Promise.all([start(true), start(false)]);
  });
  after(() => Promise.all([native.stop(), single.stop()]));
  afterEach(() => native.provider?.command('/simulate/jobs', {}));

  const statusOf = async (target: Target, id: number) => (await getOk(target, `/bulk/${id}/status`)).body;

  async function send(target: Target, rows: readonly Values[], sent: Sent): Promise<number> {
    const { format = 'csv', object = 'Account', ...metaData } = sent;
    const form = new FormData();
    form.append('metaData', JSON.stringify({ format, ...metaData }));
    form.append('file', new Blob([FORMATS[format](rows)]), 'rows');
    return (await getOk(target, `/bulk/${object}`, { method: 'POST', body: form })).body.id;
  }

  async function ended(target: Target, id: number) {
    await waitUntil(async () => (await statusOf(target, id)).bulkFinishTime !== undefined);
    return statusOf(target, id);
  }

  async function outcomesOf(target: Target, id: number): Promise<readonly Row[]> {
    const headers = { accept: 'application/json' };
    const rows: readonly Row[] = (await getOk(target, `/bulk/${id}/Account`, { headers })).body;
    return rows.toSorted((a, b) => Number(a.row) - Number(b.row));
  }

  async function done(target: Target, rows: readonly Values[], sent: Sent) {
    const id = await send(target, rows, sent);
    const status = await ended(target, id);
    expect(status, JSON.stringify(status)).to.include({ status: 'COMPLETED', recordsCount: rows.length });
    return { id, status, outcomes: await outcomesOf(target, id) };
  }

  const SHOWN = ['Name', 'Description', 'NumberOfEmployees', 'Tier__c', 'FoundedOn__c', 'ExternalKey__c', 'Score__c'];
  /** Ids differ, as the providers do. */
  async function recordsAt(target: Target): Promise<readonly string[]> {
    const rows = await listAll(target, '/Account', { pageSize: 5000 });
    return rows.map((row) => JSON.stringify(SHOWN.map((name) => row[name]))).toSorted();
  }
  const told = (outcomes: readonly Row[]) =>
    outcomes.map(({ row, outcome, doubtful, code }) => ({ row, outcome, doubtful, code }));

  for (const format of ['csv', 'jsonl'] as const) {
    it(`has the outcomes and the records that single calls have, for random rows of ${format}`, async () => {
      const rows = fc.sample(ACCOUNT, { numRuns: 150, seed: 23 });
      const keyed = rows.map((row, index): Values => ({ ...row, ExternalKey__c: `K${format}${index % 140}` }));
      for (const sent of [
        { action: 'create', rows: keyed.slice(0, 70) },
        { action: 'upsert', identifierFieldName: 'ExternalKey__c', rows: keyed.toReversed() },
      ]) {
        const { rows: all, ...how } = sent;
        const [byJobs, bySingles] = await Promise.all([
          done(native, all, { format, ...how }),
          done(single, all, { format, ...how }),
        ]);
        expect(byJobs.status.progress.way).to.equal('native');
        expect(bySingles.status.progress.way).to.equal('rows');
        expect(told(byJobs.outcomes)).to.deep.equal(told(bySingles.outcomes));
        expect(byJobs.outcomes.filter(({ outcome }) => outcome === 'failed')).to.have.length.above(2);
        expect(await recordsAt(native)).to.deep.equal(await recordsAt(single));
      }
      const withIds = async (target: Target) => {
        const found = await listAll(target, '/Account', { where: `ExternalKey__c LIKE 'K${format}%'`, pageSize: 5000 });
        return found.toSorted((a, b) => String(a.ExternalKey__c).localeCompare(String(b.ExternalKey__c)));
      };
      const update = async (target: Target) =>
        (await withIds(target)).map(({ Id }, index): Values => ({ Id: String(Id), ...rows.at(-1 - index) }));
      const [byJobs, bySingles] = [
        await done(native, await update(native), { format, action: 'update' }),
        await done(single, await update(single), { format, action: 'update' }),
      ];
      expect(byJobs.status.progress.way).to.equal('native');
      expect(told(byJobs.outcomes)).to.deep.equal(told(bySingles.outcomes));
      expect(await recordsAt(native)).to.deep.equal(await recordsAt(single));
      const remove = async (target: Target) => (await withIds(target)).map(({ Id }): Values => ({ Id: String(Id) }));
      for (const target of [native, single])
        expect((await done(target, await remove(target), { format, action: 'delete' })).status).to.include({
          recordsFailedCount: 0,
        });
      expect(await recordsAt(native)).to.deep.equal(await recordsAt(single));
    }).timeout(180_000);
  }
});
