import { expect } from 'chai';
import fc from 'fast-check';
import jsforce from 'jsforce';
import type { Connector } from '#connector';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator, DEMO_ACCESS_TOKEN } from '../../connectors/salesforce/simulator.ts';
import { getOk, listAll, type Row, startTarget, type Target } from '../../suite/target.ts';
import { changeObjects } from '../support/changed-objects.ts';
import { until } from '../support/until.ts';

const FROM_ROWS = 20;

/** Jobs for few rows, or none. */
const withIngest = (connector: Connector, isSmall: boolean) =>
  changeObjects(connector, ({ bulk, ...object }) => ({
    ...object,
    ...(isSmall &&
      bulk?.ingest && {
        bulk: { ingest: { ...bulk.ingest, fromRows: FROM_ROWS, mostRows: 60, mostBytes: 40_000 } },
      }),
  }));

const start = (isSmall: boolean) =>
  startTarget({
    connector: withIngest(salesforce, isSmall),
    configuration: CONNECTED,
    createSimulator,
    overrides: { bulkOptions: { lookMs: 50, firstBackoffMs: 50, longestBackoffMs: 100 } },
  });

type Values = Readonly<Record<string, string | number | boolean | null>>;

const HOSTILE = [
  ...['#N/A', '#n/a', '', 'a "quoted" text, with a comma', 'two\nlines', 'two\r\nlines', '=1+1', '""', "O'Brien"],
  ...['\u{1F4A5} \u00e4\u00f6\u00fc \u202e', 'null', ' spaces ', '\t', 'sf__Id'],
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
    await until(async () => (await statusOf(target, id)).bulkFinishTime !== undefined);
    return statusOf(target, id);
  }

  async function outcomesOf(target: Target, id: number, object = 'Account'): Promise<readonly Row[]> {
    const headers = { accept: 'application/json' };
    const rows: readonly Row[] = (await getOk(target, `/bulk/${id}/${object}`, { headers })).body;
    return rows.toSorted((a, b) => Number(a.row) - Number(b.row));
  }

  async function done(target: Target, rows: readonly Values[], sent: Sent) {
    const id = await send(target, rows, sent);
    const status = await ended(target, id);
    expect(status, JSON.stringify(status)).to.include({ status: 'COMPLETED', recordsCount: rows.length });
    return { id, status, outcomes: await outcomesOf(target, id, sent.object) };
  }

  const SHOWN = ['Name', 'Description', 'NumberOfEmployees', 'Tier__c', 'FoundedOn__c', 'ExternalKey__c', 'Score__c'];
  /** Ids differ, as the providers do. */
  async function recordsAt(target: Target, query: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const rows = await listAll(target, '/Account', { ...query, pageSize: 5000 });
    return rows.map((row) => JSON.stringify(SHOWN.map((name) => row[name]))).toSorted();
  }
  const told = (outcomes: readonly Row[]) =>
    outcomes.map(({ row, outcome, doubtful, code }) => ({ row, outcome, doubtful, code }));

  /** Writes the same rows by jobs and by single calls. @returns the outcomes, which are the same, as are the records */
  async function bothDone(
    rowsOf: (target: Target) => Promise<readonly Values[]> | readonly Values[],
    sent: Sent,
    query?: Readonly<Record<string, string>>,
  ): Promise<readonly Row[]> {
    const [byJobs, bySingles] = await Promise.all([
      done(native, await rowsOf(native), sent),
      done(single, await rowsOf(single), sent),
    ]);
    expect(byJobs.status.progress.way).to.equal('native');
    expect(bySingles.status.progress.way).to.equal('rows');
    expect(told(byJobs.outcomes)).to.deep.equal(told(bySingles.outcomes));
    expect(await recordsAt(native, query)).to.deep.equal(await recordsAt(single, query));
    return byJobs.outcomes;
  }
  const failuresOf = (outcomes: readonly Row[]) => outcomes.filter(({ outcome }) => outcome === 'failed');

  for (const format of ['csv', 'jsonl'] as const) {
    it(`has the outcomes and the records that single calls have, for random rows of ${format}`, async () => {
      const rows = fc.sample(ACCOUNT, { numRuns: 150, seed: 23 });
      const keyed = rows.map((row, index): Values => ({ ...row, ExternalKey__c: `K${format}${index % 140}` }));
      for (const { rows: all, ...how } of [
        { action: 'create', rows: keyed.slice(0, 70) },
        { action: 'upsert', identifierFieldName: 'ExternalKey__c', rows: keyed.toReversed() },
      ])
        expect(failuresOf(await bothDone(() => all, { format, ...how }))).to.have.length.above(2);
      const withIds = async (target: Target) => {
        const found = await listAll(target, '/Account', { where: `ExternalKey__c LIKE 'K${format}%'`, pageSize: 5000 });
        return found.toSorted((a, b) => String(a.ExternalKey__c).localeCompare(String(b.ExternalKey__c)));
      };
      const changed = async (target: Target) =>
        (await withIds(target)).map(({ Id }, index): Values => ({ Id: String(Id), ...rows.at(-1 - index) }));
      await bothDone(changed, { format, action: 'update' });
      const removed = async (target: Target) => (await withIds(target)).map(({ Id }): Values => ({ Id: String(Id) }));
      expect(failuresOf(await bothDone(removed, { format, action: 'delete' }))).to.deep.equal([]);
    }).timeout(180_000);
  }

  describe('of a mapped object', () => {
    const entry = (type: string, properties: object) => ({ configuration: [{ type, properties }] });
    const FIELDS = [
      { path: 'key', type: 'string', vendorPath: 'Id' },
      { path: 'external', type: 'string', vendorPath: 'ExternalKey__c' },
      { path: 'about.title', type: 'string', vendorPath: 'Name' },
      { path: 'about.text', type: 'string', vendorPath: 'Description' },
      { path: 'staff', type: 'number', vendorPath: 'NumberOfEmployees', ...entry('number', { multiply: 10 }) },
      { path: 'tier', type: 'string', vendorPath: 'Tier__c', ...entry('valueMap', { values: { Gold: 'best' } }) },
      { path: 'founded', type: 'date', vendorPath: 'FoundedOn__c' },
      { path: 'score', type: 'number', vendorPath: 'Score__c', ...entry('defaultValue', { value: 7 }) },
    ];
    const MAPPING = {
      vendorName: 'Account',
      fields: FIELDS,
      configuration: [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }],
    };
    const object = 'firms';
    /** Other tests write records at one of the two. */
    const MINE = { where: "ExternalKey__c LIKE 'M%'" };
    const map = (target: Target, method: 'POST' | 'PUT', body: object) =>
      getOk(target, '/instances/transformations/firms', { method, body });

    before(async () => {
      for (const target of [native, single]) {
        const fields = FIELDS.map(({ path, type }) => ({ path, type }));
        await getOk(target, '/instances/objects/firms/definitions', { method: 'POST', body: { fields } });
        await map(target, 'POST', MAPPING);
      }
    });

    const toFirm = (row: Values, index: number): Values => ({
      'about.title': row.Name ?? null,
      'about.text': row.Description ?? null,
      staff: typeof row.NumberOfEmployees === 'number' ? row.NumberOfEmployees * (index % 9 === 0 ? 3 : 10) : 'many',
      tier: row.Tier__c === 'Gold' ? 'best' : (row.Tier__c ?? null),
      founded: row.FoundedOn__c ?? null,
    });

    for (const format of ['csv', 'jsonl'] as const) {
      it(`has the outcomes and the records that single calls have, for random rows of ${format}`, async () => {
        const firms = fc.sample(ACCOUNT, { numRuns: 150, seed: 29 }).map(toFirm);
        const keyed = firms.map((row, index): Values => ({ ...row, external: `M${format}${index % 140}` }));
        const scored = keyed.map((row, index): Values => ({ ...row, score: index % 8 === 0 ? null : index }));
        for (const { rows, ...how } of [
          { action: 'create', rows: keyed.slice(0, 70) },
          { action: 'upsert', identifierFieldName: 'external', rows: scored.toReversed() },
        ]) {
          const outcomes = await bothDone(() => rows, { format, object, ...how }, MINE);
          const counts = Map.groupBy(outcomes, ({ outcome }) => outcome === 'failed');
          expect([...counts.values()].every(({ length }) => length > 2)).to.equal(true);
        }
        const found = async (target: Target) => {
          const where = `external LIKE 'M${format}%'`;
          const rows = await listAll(target, '/firms', { where, pageSize: 5000 });
          return rows.toSorted((a, b) => String(a.external).localeCompare(String(b.external)));
        };
        for (const action of ['update', 'delete']) {
          const rowsOf = async (target: Target) =>
            (await found(target)).map(
              ({ key }, index): Values => ({
                key: String(key),
                ...(action === 'update' && firms.at(-1 - index)),
              }),
            );
          await bothDone(rowsOf, { format, object, action }, MINE);
        }
      }).timeout(180_000);
    }

    const firms = (name: string) =>
      Array.from({ length: 40 }, (_, index): Values => ({ 'about.title': `${name} ${index}` }));

    it('is written by single calls where a script decides what is sent', async () => {
      const body = 'transformedObject.Name = transformedObject.Name + "!"; done(transformedObject);';
      await map(native, 'PUT', { ...MAPPING, script: { body } });
      const { status } = await done(native, firms('Scripted'), { object, action: 'create' });
      expect(status.progress.way).to.equal('rows');
      const rows = await listAll(native, '/Account', { where: "Name LIKE 'Scripted%'", pageSize: 5000 });
      expect(rows.filter(({ Name }) => String(Name).endsWith('!'))).to.have.length(40);
      await map(native, 'PUT', MAPPING);
    });

    it('does not fail rows that a job has deleted, where no job can be read by the mapping after', async () => {
      await done(native, firms('Deleted'), { object, action: 'create' });
      const rows = await listAll(native, '/firms', { where: "about.title LIKE 'Deleted%'", pageSize: 5000 });
      await native.provider?.command('/simulate/jobs', { queuedMs: 0, workMs: 60_000 });
      const id = await send(
        native,
        rows.map(({ key }) => ({ key: String(key) })),
        { object, action: 'delete' },
      );
      await until(async () => (await statusOf(native, id)).progress?.providerJobId !== undefined);
      // Salesforce is done before Causeway looks again.
      await native.provider?.command('/simulate/clock', { byMs: 60_000 });
      const { providerJobId } = (await statusOf(native, id)).progress;
      await until(async () => (await atProvider(providerJobId)).body.state === 'JobComplete');
      // What a script may write identifies no record of the provider.
      await map(native, 'PUT', {
        ...MAPPING,
        script: { body: 'transformedObject.key = "?"; done(transformedObject);' },
      });
      expect(await ended(native, id)).to.include({ status: 'COMPLETED', recordsCount: 40, recordsFailedCount: 0 });
      expect(await countOf('Deleted')).to.equal(0);
      await map(native, 'PUT', MAPPING);
    });

    it('takes rows for doubtful that a job may have written by the mapping before', async () => {
      await native.provider?.command('/simulate/jobs', { queuedMs: 0, workMs: 60_000 });
      const id = await send(native, firms('Changed'), { object, action: 'create' });
      await until(async () => (await statusOf(native, id)).progress?.providerJobId !== undefined);
      const fields = FIELDS.map((field) =>
        field.path === 'score' ? { ...field, ...entry('defaultValue', { value: 8 }) } : field,
      );
      await map(native, 'PUT', { ...MAPPING, fields });
      await native.provider?.command('/simulate/clock', { byMs: 60_000 });
      expect((await ended(native, id)).status).to.equal('COMPLETED');
      const outcomes = await outcomesOf(native, id, object);
      expect(
        outcomes.every(({ doubtful }) => doubtful === true),
        JSON.stringify(outcomes[0]),
      ).to.equal(true);
      await map(native, 'PUT', MAPPING);
    });
  });

  const atProvider = (id: string) => native.call(`/passthrough/jobs/ingest/${id}`);
  const named = (name: string, count = 40): readonly Values[] =>
    Array.from({ length: count }, (_, index) => ({ Name: `${name} ${index}`, Score__c: index }));
  const countOf = async (name: string) =>
    (await listAll(native, '/Account', { where: `Name LIKE '${name}%'`, pageSize: 5000 })).length;
  async function started(rows: readonly Values[]) {
    const id = await send(native, rows, { action: 'create' });
    await until(async () => (await statusOf(native, id)).progress?.providerJobId !== undefined);
    return { id, providerJobId: String((await statusOf(native, id)).progress.providerJobId) };
  }

  it('is told of in the status, and leaves records that jsforce sees, and nothing else', async () => {
    await native.provider?.command('/simulate/jobs', { queuedMs: 0, workMs: 60_000 });
    const { id, providerJobId } = await started(named('Seen'));
    expect((await statusOf(native, id)).progress).to.include({ way: 'native', rows: 0 });
    await until(async () => (await atProvider(providerJobId)).body.state === 'InProgress');
    await native.provider?.command('/simulate/clock', { byMs: 60_000 });
    const status = await ended(native, id);
    expect(status).to.include({ status: 'COMPLETED', recordsCount: 40, recordsFailedCount: 0 });
    expect(status.progress).to.include({ way: 'native', providerJobId });
    await until(async () => (await atProvider(providerJobId)).status === 404);
    const connection = new jsforce.Connection({
      instanceUrl: native.provider?.url ?? '',
      accessToken: DEMO_ACCESS_TOKEN,
      version: '62.0',
    });
    const { records } = await connection.query("SELECT Id, Name FROM Account WHERE Name LIKE 'Seen%'");
    const byId = new Map(records.map((record: Row) => [record.Id, record.Name]));
    const outcomes = await outcomesOf(native, id);
    expect(outcomes.map(({ id: record }) => byId.get(record))).to.deep.equal(named('Seen').map(({ Name }) => Name));
  });

  for (const [what, path, method] of [
    ['cancelled', '/cancel', 'PUT'],
    ['deleted', '', 'DELETE'],
  ] as const) {
    it(`is ended at the provider when it is ${what}`, async () => {
      await native.provider?.command('/simulate/jobs', { queuedMs: 3_600_000, workMs: 0 });
      const { id, providerJobId } = await started(named(what));
      await until(async () => (await atProvider(providerJobId)).body.state === 'UploadComplete');
      await getOk(native, `/bulk/${id}${path}`, { method });
      expect((await atProvider(providerJobId)).status).to.equal(404);
      await native.provider?.command('/simulate/clock', { byMs: 3_600_000 });
      expect(await countOf(what)).to.equal(0);
    });
  }

  it('writes each row once where a job of Salesforce fails halfway', async () => {
    await native.provider?.command('/simulate/jobs', {
      queuedMs: 0,
      workMs: 0,
      failure: 'InternalServerError : Sorry',
    });
    const { status, outcomes } = await done(native, named('Half'), { action: 'create' });
    expect(status).to.include({ recordsFailedCount: 0 });
    expect(new Set(outcomes.map(({ id }) => id)).size).to.equal(40);
    expect(await countOf('Half')).to.equal(40);
  });

  it('writes rows about one record in the order of the file', async () => {
    const keyed = named('Twice').map((row, index): Values => ({ ...row, ExternalKey__c: `T${index % 30}` }));
    const { status, outcomes } = await done(native, keyed, {
      action: 'upsert',
      identifierFieldName: 'ExternalKey__c',
    });
    expect(status.progress.way).to.equal('native');
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(
      keyed.map((_, index) => (index < 30 ? 'created' : 'updated')),
    );
    const [first] = await listAll(native, '/Account', { where: "ExternalKey__c = 'T0'" });
    expect(first).to.include({ Name: 'Twice 30', Score__c: 30 });
  });

  it('tells of rows that Salesforce refuses in its words, as single calls do', async () => {
    const rows = named('Tin').map((row, index): Values => (index % 9 === 4 ? { ...row, Tier__c: 'Tin' } : row));
    const [byJobs, bySingles] = [
      await done(native, rows, { action: 'create', format: 'jsonl' }),
      await done(single, rows, { action: 'create', format: 'jsonl' }),
    ];
    const messages = (outcomes: readonly Row[]) => outcomes.map(({ message }) => message);
    expect(messages(byJobs.outcomes)).to.deep.equal(messages(bySingles.outcomes));
    expect(byJobs.status.recordsFailedCount).to.equal(4);
  });
});
