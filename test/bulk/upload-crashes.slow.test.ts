import { expect } from 'chai';
import type { ObjectSpec } from '#connector';
import type { UploadAction } from '../../src/bulk/job.ts';
import { AppError } from '../../src/errors.ts';
import { createService } from '../resources/fake-provider.ts';
import { useDatabase } from '../support/database.ts';
import { addUpload, createMortalStore, type DoomedJob, outcomesOf, useBulkBench } from './bench.ts';

const COUNT = 47;
const EVERY_ROW = Array.from({ length: COUNT }, (_, index) => index + 1);

interface Kept {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Records in memory that are written; `calls` are all writes that came to be, by the key of their row. */
function createRecords(rows: readonly Kept[] = []) {
  const records = new Map(rows.map((row) => [row.id, row]));
  const calls: string[] = [];
  let onWrite = async (_key: string, _signal: AbortSignal): Promise<void> => {};
  const text = { type: 'string', createable: true, updateable: true } as const;
  const write = async (id: string, values: object, signal: AbortSignal) => {
    const record = { ...records.get(id), ...values, id };
    records.set(id, record);
    const key = String(Object(record).key);
    calls.push(key);
    await onWrite(key, signal);
    return record;
  };
  const find = (id: string) => {
    if (!records.has(id)) throw new AppError('NOT_FOUND', 'There is none.');
  };
  const object: ObjectSpec<string> = {
    fields: {
      id: { type: 'string', nullable: false },
      key: { ...text, filter: { '=': 'exact' } },
      name: { ...text, required: true },
    },
    translator: {
      and: (parts) => parts.join(),
      compare: (_field, _operator, value) => ('text' in value ? value.text : String(value.value)),
    },
    list: {
      maxPageSize: 10,
      run: async (_context, { filter }) => ({ records: [...records.values()].filter(({ key }) => key === filter) }),
    },
    create: { run: async ({ signal }, { values }) => write(`r${records.size}`, values, signal) },
    update: {
      run: async ({ signal }, { id, values }) => {
        find(id);
        return write(id, values, signal);
      },
    },
    remove: {
      run: async ({ signal }, { id }) => {
        find(id);
        const key = String(records.get(id)?.key);
        records.delete(id);
        calls.push(key);
        await onWrite(key, signal);
      },
    },
  };
  return {
    service: createService({ rows: object as ObjectSpec }),
    records,
    calls,
    beforeAnswer: (act: typeof onWrite) => {
      onWrite = act;
    },
  };
}

const BAD = (index: number) => index % 20 === 6;

/** A twentieth of the rows has no name, which is required. */
function fileOf(action: UploadAction): string {
  const rows = Array.from({ length: COUNT }, (_, index) => {
    const name = action === 'create' && BAD(index) ? '' : `"Name, ""${index}"""`;
    return `k${index},${name}\r\n`;
  });
  return `key,name\r\n${rows.join('')}`;
}

const INITIAL = Array.from({ length: COUNT }, (_, index) => ({ id: `i${index}`, key: `k${index}`, name: 'Old' }));
const OPTIONS = { batchRows: 5, batchWidth: 2 };

const ACTIONS: Readonly<Record<UploadAction, { readonly initial: readonly Kept[]; readonly outcome: string }>> = {
  create: { initial: [], outcome: 'created' },
  update: { initial: INITIAL, outcome: 'updated' },
  upsert: { initial: INITIAL.slice(0, 20), outcome: 'updated' },
  delete: { initial: INITIAL, outcome: 'deleted' },
};

describe('an upload whose process is killed', () => {
  const bench = useBulkBench(useDatabase());

  for (const [action, { initial }] of Object.entries(ACTIONS) as [UploadAction, (typeof ACTIONS)['create']][]) {
    for (const when of ['before its commit', 'after its commit'] as const) {
      it(`is ended by another one, with an outcome for each row: ${action}, each batch in turn ${when}`, async () => {
        await bench.killAtEach(when, async () => {
          await bench.knex('bulk_row_error').delete();
          const { service, records, calls } = createRecords(initial);
          const identifier = action === 'create' ? 'id' : 'key';
          const job = await addUpload(bench, fileOf(action), { action, identifier });
          const check: DoomedJob['check'] = async ({ isKilled, transactions }) => {
            const outcomes = await outcomesOf(bench, job);
            expect(outcomes.map(({ row }) => row)).to.deep.equal(EVERY_ROW);
            const failed = outcomes.filter(({ outcome }) => outcome === 'failed').map(({ row }) => row - 1);
            const bad = Array.from({ length: COUNT }, (_, index) => index).filter(BAD);
            expect(failed).to.deep.equal(action === 'create' ? bad : []);
            expect(await bench.find(job)).to.include({ recordCount: COUNT, failedCount: failed.length });
            const doubtful = outcomes.filter((one) => one.doubtful).map(({ row }) => `k${row - 1}`);
            const twice = calls.filter((key, index) => calls.indexOf(key) !== index);
            if (action === 'create') {
              // Whatever was written twice is among those that are listed.
              expect(doubtful).to.include.members(twice);
              expect(doubtful.length).to.be.at.most(OPTIONS.batchRows);
              expect(records.size).to.equal(COUNT - bad.length + twice.length);
            } else {
              expect(doubtful).to.deep.equal([]);
              expect(records.size).to.equal(action === 'delete' ? 0 : COUNT);
            }
            const listed = await bench.store.listRowErrors(bench.knex, job, { limit: 100 });
            const rows = new Set([...failed, ...doubtful.map((key) => Number(key.slice(1)))]);
            expect(listed.length).to.equal(rows.size);
            if (!isKilled) expect(transactions).to.be.above(9);
          };
          return { job, input: { ...service, options: OPTIONS }, check };
        });
      }).timeout(120_000);
    }
  }

  it('lists exactly the rows that were sent and not answered when it is killed within a batch', async () => {
    const { service, calls, beforeAnswer } = createRecords();
    const job = await addUpload(bench, fileOf('create'));
    const hanging = Promise.withResolvers<void>();
    let held = 0;
    beforeAnswer(async (key) => {
      if (Number(key.slice(1)) < 12) return;
      held++;
      await hanging.promise;
    });
    const first = bench.start({
      ...service,
      store: createMortalStore(bench.store, { at: 1e9, when: 'after its commit' }).store,
      options: OPTIONS,
    });
    await bench.pass(() => held === OPTIONS.batchWidth);
    // Its heart stands still, and what it had in flight is answered too late.
    await bench.knex('bulk_job').update({ lease_until: new Date(0), lease: bench.knex.raw('gen_random_uuid()') });
    beforeAnswer(async () => {});
    const second = bench.start({ ...service, options: OPTIONS });
    await bench.until(job, 'COMPLETED');
    hanging.resolve();
    const outcomes = await outcomesOf(bench, job);
    expect(outcomes.filter(({ doubtful }) => doubtful).map(({ row }) => row)).to.deep.equal([11, 12, 13, 14, 15]);
    const twice = calls.filter((key, index) => calls.indexOf(key) !== index);
    expect(['k10', 'k11', 'k12', 'k13', 'k14']).to.include.members(twice);
    await Promise.all([first.stop(), second.stop()]);
  });

  it('begins no row after the lease, even before it learns that another process has the job', async () => {
    const { service, calls, beforeAnswer } = createRecords();
    const job = await addUpload(bench, fileOf('create'));
    const [frozen, renewed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let held = 0;
    beforeAnswer(async (key) => {
      if (Number(key.slice(1)) < 12) return;
      held++;
      await frozen.promise;
    });
    const renew = () => renewed.promise.then(() => new Set<string>());
    const first = bench.start({ ...service, store: { ...bench.store, renew }, options: OPTIONS });
    await bench.pass(() => held === OPTIONS.batchWidth);
    beforeAnswer(async () => {});
    const second = bench.start({ ...service, options: OPTIONS });
    await bench.until(job, 'COMPLETED');
    frozen.resolve();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const twice = calls.filter((key, index) => calls.indexOf(key) !== index);
    // Those that were under way.
    expect(twice).to.have.members(['k10', 'k11', 'k12', 'k13']);
    renewed.resolve();
    await Promise.all([first.stop(), second.stop()]);
  });
});

describe('an upload that is broken off', () => {
  const bench = useBulkBench(useDatabase());

  /** Its rows from one on hang until they are let go, or broken off. */
  async function hang(from = 12) {
    const { service, records, calls, beforeAnswer } = createRecords();
    const job = await addUpload(bench, fileOf('create'));
    const letGo = Promise.withResolvers<void>();
    const broken: string[] = [];
    let held = 0;
    beforeAnswer(async (key, signal) => {
      if (Number(key.slice(1)) < from) return;
      held++;
      const breaking = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      await Promise.race([letGo.promise, breaking]).catch((error: unknown) => {
        broken.push(key);
        throw error;
      });
    });
    const worker = bench.start({ ...service, options: OPTIONS });
    await bench.pass(() => held === Math.min(OPTIONS.batchWidth, 15 - from));
    return { service, records, calls, broken, job, worker, letGo: letGo.resolve };
  }

  it('lets rows that are being written come to their end when the service stops, and begins no more', async () => {
    const { service, records, calls, broken, job, worker, letGo } = await hang();
    const stopped = worker.stop(10_000);
    letGo();
    await stopped;
    expect(broken).to.deep.equal([]);
    expect(calls.at(-1)).to.equal('k13');
    expect((await bench.find(job)).inputPosition).to.deep.include({ last: 15, open: [15], doubtful: [] });
    bench.start({ ...service, options: OPTIONS });
    await bench.until(job, 'COMPLETED');
    const outcomes = await outcomesOf(bench, job);
    expect(outcomes.map(({ row }) => row)).to.deep.equal(EVERY_ROW);
    expect(outcomes.filter(({ doubtful }) => doubtful)).to.deep.equal([]);
    expect(new Set(calls).size).to.equal(calls.length);
    expect(records.size).to.equal(calls.length);
  });

  it('keeps what came of a batch whose last row comes to its end while the service stops', async () => {
    const { job, worker, letGo } = await hang(14);
    const stopped = worker.stop(10_000);
    letGo();
    await stopped;
    const { recordCount, inputPosition } = await bench.find(job);
    expect(recordCount).to.equal(15);
    expect(inputPosition).to.deep.include({ row: 15, open: [], doubtful: [], tries: 0 });
  });

  it('waits for them no longer than a stop may take; then exactly they are in doubt', async () => {
    const { service, broken, job, worker } = await hang();
    let hasStopped = false;
    const stopped = worker.stop(10_000).then(() => {
      hasStopped = true;
    });
    const begunMs = bench.clock.now();
    await bench.pass(() => hasStopped);
    await stopped;
    expect(bench.clock.now() - begunMs).to.be.at.least(10_000);
    expect(broken).to.deep.equal(['k12', 'k13']);
    expect((await bench.find(job)).inputPosition).to.deep.include({ open: [13, 14, 15], doubtful: [13, 14] });
    bench.start({ ...service, options: OPTIONS });
    await bench.pass(() => broken.length === 2);
  });

  it('stores no more of it when it was cancelled, and breaks the calls off', async () => {
    const { records, calls, broken, job, worker } = await hang();
    const { recordCount } = await bench.find(job);
    expect(await bench.store.cancel(bench.knex, job, new Date(bench.clock.now()))).to.equal(true);
    worker.drop(job);
    await bench.pass(() => broken.length === OPTIONS.batchWidth);
    const written = records.size;
    await worker.stop(10_000);
    expect(records.size).to.equal(written);
    expect(calls.at(-1)).to.equal('k13');
    expect(await bench.find(job)).to.include({ status: 'CANCELLED', lease: null, due: null, recordCount });
    const outcomes = await outcomesOf(bench, job);
    expect(outcomes.map(({ row }) => row)).to.deep.equal(Array.from({ length: recordCount }, (_, index) => index + 1));
    expect(bench.events).to.deep.equal([]);
  });

  it('writes a row that the provider cannot answer again, and none that has its outcome', async () => {
    const { service, calls, beforeAnswer } = createRecords(INITIAL);
    let failures = 0;
    beforeAnswer(async (key) => {
      if (key === 'k1' && failures++ < 3) throw new AppError('PROVIDER_UNAVAILABLE', 'Away.');
    });
    const job = await addUpload(bench, fileOf('update'), { action: 'update', identifier: 'key' });
    bench.start({ ...service, options: OPTIONS });
    const ended = await bench.until(job, 'COMPLETED');
    expect(ended).to.include({ recordCount: COUNT, failedCount: 0 });
    expect(calls.filter((key) => key === 'k1')).to.have.length(4);
    expect(calls).to.have.length(COUNT + 3);
    const rows = (await outcomesOf(bench, job)).map(({ row }) => row).toSorted((one, other) => one - other);
    expect(rows).to.deep.equal(EVERY_ROW);
  });
});
