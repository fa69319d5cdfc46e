import { expect } from 'chai';
import type { ObjectSpec } from '#connector';
import type { UploadAction } from '../../src/bulk/job.ts';
import { AppError } from '../../src/errors.ts';
import { createService } from '../resources/fake-provider.ts';
import { useDatabase } from '../support/database.ts';
import { addUpload, createMortalStore, outcomesOf, useBulkBench } from './bench.ts';

const COUNT = 47;

interface Kept {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Records in memory that are written; `calls` are all writes that came to be, by the key of their row. */
function createRecords(rows: readonly Kept[] = []) {
  const records = new Map(rows.map((row) => [row.id, row]));
  const calls: string[] = [];
  let onWrite = async (_key: string): Promise<void> => {};
  const text = { type: 'string', createable: true, updateable: true } as const;
  const write = async (id: string, values: object) => {
    const record = { ...records.get(id), ...values, id };
    records.set(id, record);
    const key = String(Object(record).key);
    calls.push(key);
    await onWrite(key);
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
    create: { run: async (_context, { values }) => write(`r${records.size}`, values) },
    update: {
      run: async (_context, { id, values }) => {
        find(id);
        return write(id, values);
      },
    },
    remove: {
      run: async (_context, { id }) => {
        find(id);
        const key = String(records.get(id)?.key);
        records.delete(id);
        calls.push(key);
        await onWrite(key);
      },
    },
  };
  return {
    service: createService({ rows: object as ObjectSpec }),
    records,
    calls,
    beforeAnswer: (act: (key: string) => Promise<void>) => {
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
        for (let at = 1, isKilled = true; isKilled; at++) {
          await bench.knex('bulk_row_error').delete();
          const { service, records, calls } = createRecords(initial);
          const job = await addUpload(bench, fileOf(action), {
            action,
            identifier: action === 'create' ? 'id' : 'key',
          });
          const mortal = createMortalStore(bench.store, { at, when });
          const first = bench.start({ ...service, store: mortal.store, options: OPTIONS });
          await bench.pass(async () => mortal.isDead() || (await bench.find(job)).status === 'COMPLETED');
          isKilled = mortal.isDead();
          const second = bench.start({ ...service, options: OPTIONS });
          const ended = await bench.until(job, 'COMPLETED');
          const outcomes = await outcomesOf(bench, job);
          expect(outcomes.map(({ row }) => row)).to.deep.equal(Array.from({ length: COUNT }, (_, index) => index + 1));
          const failed = outcomes.filter(({ outcome }) => outcome === 'failed').map(({ row }) => row - 1);
          const bad = Array.from({ length: COUNT }, (_, index) => index).filter(BAD);
          expect(failed).to.deep.equal(action === 'create' ? bad : []);
          expect(ended).to.include({ recordCount: COUNT, failedCount: failed.length });
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
          expect(listed.length).to.equal(new Set([...failed, ...doubtful.map((key) => Number(key.slice(1)))]).size);
          if (!isKilled) expect(mortal.transactions()).to.be.above(9);
          await Promise.all([first.stop(), second.stop()]);
        }
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
});
