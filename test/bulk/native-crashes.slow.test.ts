import { expect } from 'chai';
import {
  json,
  type NativeQuery,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
} from '../../src/connector/index.ts';
import { AppError } from '../../src/errors.ts';
import { createObject, createService } from '../resources/fake-provider.ts';
import { useDatabase } from '../support/database.ts';
import { type DoomedJob, ROWS, useBulkBench } from './bench.ts';

const NATIVE: NativeQuery<unknown> = {
  fromRows: 50,
  pageSize: 7,
  count: { request: () => ({ path: '/count' }), read: ({ body }) => Number(body) },
  start: {
    request: () => ({ method: 'POST', path: '/jobs' }),
    read: ({ body }) => json.key(json.at(body, 'id'), 'the id of the job'),
  },
  look: {
    request: ({ id }) => ({ path: `/jobs/${id}` }),
    read: ({ body }) => {
      const [state, message] = [json.text(json.at(body, 'state'), 'its state'), json.findText(json.at(body, 'why'))];
      return state === 'broken' ? { kind: 'failed', state, message } : { kind: state === 'busy' ? 'running' : 'done' };
    },
  },
  read: {
    request: ({ id, cursor = '0', limit }) => ({ path: `/jobs/${id}/rows`, query: { cursor, limit } }),
    read: ({ body }) => ({ records: rowsOf(body), next: json.findText(json.at(body, 'next')) }),
  },
  end: ({ id, isDone }) => [
    ...(isDone ? [] : [{ method: 'PATCH', path: `/jobs/${id}` } as const]),
    { method: 'DELETE', path: `/jobs/${id}` },
  ],
};

/** That a page was cut off shows behind its rows. */
function* rowsOf(body: unknown): Generator<unknown, void> {
  const rows = json.array(json.at(body, 'rows'), 'the rows');
  yield* rows;
  if (rows.length !== json.at(body, 'count')) throw new Error('The page lacks rows.');
}

interface FakeJob {
  looks: number;
}

/** A provider with jobs in memory, each of which is done when it was looked at so often. */
function createProvider(change: Partial<NativeQuery<unknown>> = {}, looks = 3) {
  const jobs = new Map<string, FakeJob>();
  const told: string[] = [];
  const faults = { cutsPages: false, why: undefined as string | undefined, refuses: false };
  const object: ObjectSpec = { ...createObject(ROWS, { maxPageSize: 7 }), bulk: { query: { ...NATIVE, ...change } } };

  function answer({ method = 'GET', path = '', query = {} }: ProviderRequest): Partial<ProviderResponse> {
    if (path === '/count') return { body: ROWS.length };
    if (!path.startsWith('/jobs')) return {};
    const [, , id = String(jobs.size + 1), rows] = path.split('/');
    if (rows === undefined) told.push(`${method} ${id}`);
    if (method === 'POST') {
      if (faults.refuses) throw new AppError('PROVIDER_REJECTED', 'No jobs for these.');
      jobs.set(id, { looks: 0 });
      return { body: { id } };
    }
    const job = jobs.get(id);
    if (job === undefined) throw new AppError('NOT_FOUND', 'There is no such job.');
    if (method === 'DELETE') jobs.set(id, { looks: 0 });
    if (method !== 'GET') return {};
    if (rows === undefined) return { body: { id, state: stateOf(job), why: faults.why } };
    const from = Number(query.cursor);
    const found = ROWS.slice(from, from + Number(query.limit));
    const next = from + found.length < ROWS.length ? String(from + found.length) : undefined;
    return { body: { rows: faults.cutsPages ? found.slice(1) : found, next, count: found.length } };
  }

  function stateOf(job: FakeJob): string {
    if (faults.why !== undefined) return 'broken';
    return ++job.looks >= looks ? 'ready' : 'busy';
  }

  return { ...createService({ rows: object }, answer), jobs, told, faults };
}

const started = (told: readonly string[]) => told.filter((request) => request.startsWith('POST'));

describe('a bulk job whose rows a job of the provider finds', () => {
  const bench = useBulkBench(useDatabase());
  const idsOf = async (file: Promise<string>) => [...(await file).matchAll(/^(\d+),/gm)].map(([, id]) => Number(id));
  const ALL = ROWS.map(({ id }) => id);

  for (const when of ['before its commit', 'after its commit'] as const) {
    it(`goes on with the same job when its process is killed, each checkpoint in turn ${when}`, async () => {
      await bench.killAtEach(when, async () => {
        await bench.knex('bulk_chunk').delete();
        const provider = createProvider();
        const job = await bench.add({ fields: 'id,name' });
        const check: DoomedJob['check'] = async ({ at, isKilled, transactions }) => {
          const ended = await bench.find(job);
          expect(ended.recordCount, `killed at ${at}`).to.equal(ROWS.length);
          expect(await idsOf(bench.read(job)), `killed at ${at}`).to.deep.equal(ALL);
          // A second job is started only if the process died before it stored the id of the first.
          const isUntold = isKilled && at === 1 && when === 'before its commit';
          expect(started(provider.told).length, `killed at ${at}`).to.equal(isUntold ? 2 : 1);
          expect(ended.nativeJob).to.equal(String(started(provider.told).length));
          expect(at, 'checkpoints').to.be.below(40);
          if (!isKilled) expect(transactions, 'checkpoints').to.be.above(5);
        };
        return { job, input: provider, check };
      });
    }).timeout(120_000);
  }

  it('has no place while the provider is at work, and asks less and less often', async () => {
    const provider = createProvider({}, 6);
    const long = await bench.add({ fields: 'id' });
    bench.start({ ...provider, options: { concurrency: 1 } });
    await bench.pass(() => provider.told.length > 1);
    expect(await bench.find(long)).to.include({ status: 'RUNNING', nativeJob: '1' });
    const short = await bench.add({ limit: 1 });
    await bench.until(short, 'COMPLETED');
    expect((await bench.find(long)).status).to.equal('RUNNING');
    const startMs = bench.clock.now();
    await bench.until(long, 'COMPLETED');
    expect(provider.told).to.deep.equal(['POST 1', ...Array.from({ length: 6 }, () => 'GET 1'), 'DELETE 1']);
    // 2, 4, 8, 16 and 30 seconds between six looks.
    expect(bench.clock.now() - startMs).to.be.within(50_000, 70_000);
  });

  it('begins anew, with its file, when the provider has lost its job', async () => {
    const provider = createProvider();
    const job = await bench.add({ fields: 'id' });
    bench.start({ ...provider, options: { sliceMs: 0, chunkBytes: 10 } });
    await bench.pass(async () => (await bench.find(job)).recordCount > 0);
    provider.jobs.delete('1');
    const ended = await bench.until(job, 'COMPLETED');
    expect(started(provider.told)).to.have.length(2);
    expect(await idsOf(bench.read(job).then((file) => file.replaceAll('\r\n', ',\r\n')))).to.deep.equal(ALL);
    expect(ended.recordCount).to.equal(ROWS.length);
  });

  it('fails with the words of the provider when its job does, which is removed', async () => {
    const provider = createProvider();
    provider.faults.why = 'Too slow.';
    const job = await bench.add({ fields: 'id' });
    bench.start(provider);
    const ended = await bench.until(job, 'FAILED');
    expect(ended.code).to.equal('PROVIDER_REJECTED');
    expect(ended.message).to.equal('The job 1 of Fake did not find the rows: it is broken. Too slow.');
    await bench.pass(() => provider.told.includes('DELETE 1'));
    expect(provider.told).to.deep.equal(['POST 1', 'GET 1', 'PATCH 1', 'DELETE 1']);
  });

  it('reads pages when the provider refuses to begin a job', async () => {
    const provider = createProvider();
    provider.faults.refuses = true;
    const job = await bench.add({ fields: 'id,name' });
    bench.start(provider);
    expect(await bench.until(job, 'COMPLETED')).to.include({ nativeJob: null });
    expect(await idsOf(bench.read(job))).to.deep.equal(ALL);
  });

  it('reads pages when there are few rows, and when a query is none for a job', async () => {
    const few = createProvider({ fromRows: 61 });
    const job = await bench.add();
    bench.start(few);
    await bench.until(job, 'COMPLETED');
    expect(few.told).to.deep.equal([]);
    const provider = createProvider();
    const others = [await bench.add({ limit: 55 }), await bench.add({ orderBy: 'id desc' })];
    bench.start(provider);
    for (const other of others) await bench.until(other, 'COMPLETED');
    expect(provider.told).to.deep.equal([]);
  });

  it('takes no page that lacks rows', async () => {
    const provider = createProvider();
    provider.faults.cutsPages = true;
    const job = await bench.add({ fields: 'id' });
    bench.start({ ...provider, options: { bewilderedMs: 0 } });
    expect(await bench.until(job, 'FAILED')).to.include({ code: 'PROVIDER_PROTOCOL', recordCount: 0 });
  });

  it('checks the rows again where the provider finds too many', async () => {
    const provider = createProvider();
    const job = await bench.add({ where: 'score >= 3', fields: 'id,name' });
    bench.start({ ...provider, options: { chunkBytes: 40, sliceMs: 0 } });
    await bench.until(job, 'COMPLETED');
    expect(started(provider.told)).to.have.length(1);
    const asked = ROWS.filter(({ score }) => Number(score) >= 3).map(({ id }) => id);
    expect(await idsOf(bench.read(job))).to.deep.equal(asked);
  });
});
