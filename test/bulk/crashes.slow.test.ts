import { expect } from 'chai';
import { csvPrinter, printHeader } from '../../src/bulk/convert.ts';
import type { FileColumn } from '../../src/bulk/job.ts';
import { AppError } from '../../src/errors.ts';
import { createObject, createService, type FakeRow } from '../resources/fake-provider.ts';
import { useDatabase } from '../support/database.ts';
import { type DoomedJob, ROWS, useBulkBench } from './bench.ts';

const COLUMNS: readonly FileColumn[] = [
  { name: 'id', type: 'integer' },
  { name: 'name', type: 'string' },
  { name: 'score', type: 'integer' },
  { name: 'place', type: 'object' },
];

function fileOf(rows: readonly FakeRow[]): string {
  return printHeader(COLUMNS) + rows.map(csvPrinter(COLUMNS)).join('');
}

const PAGED = { rows: createObject(ROWS, { maxPageSize: 7 }) };
const SEVERAL_AT_ONCE = { rows: createObject(ROWS, { maxPageSize: 7, cursorAt: String, pagesAtOnce: 4 }) };

const QUERIES = {
  'that the provider answers alone': { query: {}, rows: ROWS },
  'whose pages are read several at once': { query: {}, rows: ROWS, objects: SEVERAL_AT_ONCE },
  'that is checked again here': { query: { where: "name LIKE '%x%' AND score >= 2" }, rows: ROWS.filter(isAsked) },
  'with a limit within a page': { query: { limit: 33 }, rows: ROWS.slice(0, 33) },
  'in an order of the provider': { query: { orderBy: 'id desc' }, rows: ROWS.toReversed() },
  'with a limit, several pages at once': { query: { limit: 33 }, rows: ROWS.slice(0, 33), objects: SEVERAL_AT_ONCE },
};

function isAsked({ name, score }: FakeRow): boolean {
  return String(name ?? '').includes('x') && Number(score) >= 2;
}

describe('a bulk job whose process is killed', () => {
  const bench = useBulkBench(useDatabase());

  for (const [what, { query, rows, ...more }] of Object.entries(QUERIES)) {
    const provider = createService('objects' in more ? more.objects : PAGED);
    for (const when of ['before its commit', 'after its commit'] as const) {
      it(`is ended by another one, without a gap or a double: a query ${what}, each checkpoint in turn ${when}`, async () => {
        await bench.killAtEach(when, async () => {
          await bench.knex('bulk_chunk').delete();
          const job = await bench.add(query);
          const eventsBefore = bench.events.length;
          const check: DoomedJob['check'] = async ({ at, isKilled, transactions }) => {
            expect((await bench.find(job)).recordCount, `killed at ${at}`).to.equal(rows.length);
            expect(await bench.read(job), `killed at ${at}`).to.equal(fileOf(rows));
            // It died with what it would have told in memory, or without having told; the event itself is in the transaction.
            if (!isKilled) expect(bench.events.length - eventsBefore).to.equal(1);
            else expect(at, 'checkpoints').to.be.below(30);
            if (!isKilled) expect(transactions, 'checkpoints').to.be.above(3);
          };
          return { job, input: provider, check };
        });
      }).timeout(120_000);
    }
  }

  it('goes on when its provider fails at every call but one', async () => {
    const flaky = createService({ rows: createObject(ROWS, { maxPageSize: 7 }) });
    let calls = 0;
    const resources = {
      ...flaky.resources,
      readPage: async (...given: Parameters<typeof flaky.resources.readPage>) => {
        if (calls++ % 3 !== 0) throw new AppError('PROVIDER_UNAVAILABLE', 'Away.');
        return flaky.resources.readPage(...given);
      },
    };
    const job = await bench.add();
    bench.start({ resources, instance: flaky.instance });
    await bench.until(job, 'COMPLETED');
    expect(await bench.read(job)).to.equal(fileOf(ROWS));
  });
});
