import { expect } from 'chai';
import {
  type IngestResult,
  type Json,
  json,
  type NativeIngest,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
} from '../../src/connector/index.ts';
import { AppError } from '../../src/errors.ts';
import { createService } from '../resources/fake-provider.ts';
import { useDatabase } from '../support/database.ts';
import { addUpload, type DoomedJob, outcomesOf, useBulkBench } from './bench.ts';

const COUNT = 47;
/** Without a name, which is required; and such as the provider refuses. */
const BAD = (index: number) => index % 20 === 6;
const REFUSED = (index: number) => index % 20 === 9;
const ALL = Array.from({ length: COUNT }, (_, index) => index);

function printFile(): string {
  const nameOf = (index: number) => (BAD(index) ? '' : REFUSED(index) ? 'refused' : `"Name, ""${index % 3}"""`);
  return `key,name\r\n${ALL.map((index) => `k${index},${nameOf(index)}\r\n`).join('')}`;
}

const KINDS = { open: 'open', busy: 'running', ready: 'done' } as const;

const INGEST: NativeIngest = {
  fromRows: 5,
  mostRows: 12,
  mostBytes: 10_000,
  actions: { create: [], update: ['id'] },
  start: {
    run: async ({ send }, { rows, keep }) => {
      const id = json.key(json.at((await send({ method: 'POST', path: '/jobs' })).body, 'id'), 'the id of the job');
      await keep(id);
      await send({ method: 'PUT', path: `/jobs/${id}/rows`, json: rows });
      await send({ method: 'POST', path: `/jobs/${id}/close` });
    },
  },
  look: {
    request: ({ id }) => ({ path: `/jobs/${id}` }),
    read: ({ body }) => {
      const state = json.at(body, 'state');
      return isState(state) && state !== 'broken' ? { kind: KINDS[state] } : { kind: 'failed', state: String(state) };
    },
  },
  read: {
    request: ({ id }) => ({ path: `/jobs/${id}/results` }),
    read: ({ body }) => body as readonly IngestResult[],
  },
  end: ({ id, isDone, isKept }) => [
    ...(isDone ? [] : [{ method: 'POST', path: `/jobs/${id}/abort` } as const]),
    ...(isKept ? [] : [{ method: 'DELETE', path: `/jobs/${id}` } as const]),
  ],
};

interface FakeJob {
  state: 'open' | 'busy' | 'ready' | 'broken';
  looks: number;
  rows: readonly Json[];
  /** So many are done. */
  done: number;
}

function isState(value: unknown): value is FakeJob['state'] {
  return value === 'open' || value === 'busy' || value === 'ready' || value === 'broken';
}

/** A provider with jobs in memory, each of which is done when it was looked at twice. `written` are the keys of all records that came to be. */
function createProvider() {
  const jobs = new Map<string, FakeJob>();
  const written: string[] = [];
  const told: string[] = [];
  /** As they were written last, by key. */
  const names = new Map<string, unknown>();
  /** Says what goes wrong: after the request was done, or in its place. */
  const faults = {
    before: (_request: string): void => {},
    after: (_request: string): void => {},
    /** Of a job. */
    breaksAt: Number.POSITIVE_INFINITY,
    lies: false,
  };
  const text = { type: 'string', createable: true, updateable: true } as const;
  const write = (key: string, name: unknown) => {
    written.push(key);
    names.set(key, name);
    return { id: `r${written.length}`, key };
  };
  const object: ObjectSpec = {
    fields: { id: { type: 'string' }, key: text, name: { ...text, required: true } },
    create: { run: async (_context, { values }) => write(String(values.key), values.name) },
    update: { run: async (_context, { id, values }) => write(id, values.name) },
    bulk: { ingest: INGEST },
  };

  function work(job: FakeJob): void {
    job.done = Math.min(job.rows.length, faults.breaksAt);
    // The last come first: a job works in any order.
    for (const { id, key = id, name } of job.rows.slice(0, job.done).toReversed())
      if (name !== 'refused') write(String(key), name);
    job.state = faults.breaksAt < Number.POSITIVE_INFINITY ? 'broken' : 'ready';
  }

  // In another order than they came.
  function results({ rows, done }: FakeJob): readonly IngestResult[] {
    const all = rows.map(({ key, name }, index): IngestResult => {
      if (index >= done) return { row: index, kind: 'unprocessed' };
      if (name === 'refused') return { row: index, kind: 'failed', response: { status: 400, body: 'No!' } };
      return { row: faults.lies ? undefined : index, kind: 'written', id: `p${key}`, isNew: true };
    });
    return all.toReversed();
  }

  function act({ method = 'GET', path = '', json: sent }: ProviderRequest): Partial<ProviderResponse> {
    const [, , id = String(jobs.size + 1), what] = path.split('/');
    if (method === 'POST' && what === undefined) {
      jobs.set(id, { state: 'open', looks: 0, rows: [], done: 0 });
      return { body: { id } };
    }
    const job = jobs.get(id);
    if (job === undefined) throw new AppError('NOT_FOUND', 'There is no such job.');
    if (method === 'DELETE') jobs.delete(id);
    if (method === 'PUT') {
      if (job.state !== 'open' || job.rows.length > 0) throw new AppError('PROVIDER_REJECTED', 'It has its rows.');
      job.rows = json.objects(sent, 'the rows');
    }
    if (what === 'close') {
      if (job.state !== 'open') throw new AppError('PROVIDER_REJECTED', 'It is not open.');
      job.state = 'busy';
    }
    if (what === 'abort') job.state = 'broken';
    if (method !== 'GET') return {};
    if (what !== undefined) return { body: results(job) };
    if (job.state === 'busy' && ++job.looks >= 2) work(job);
    return { body: { id, state: job.state } };
  }

  const service = createService({ rows: object }, (request) => {
    const name = `${request.method ?? 'GET'} ${request.path}`;
    faults.before(name);
    told.push(name);
    const response = act(request);
    faults.after(name);
    return response;
  });
  return { service, written, names, told, faults, jobs };
}

/** Nobody hears of a dead process any more. */
function mortalResources<Calls extends object>(resources: Calls, isDead: () => boolean): Calls {
  return new Proxy(resources, {
    get: (calls, name) => {
      if (isDead()) throw new Error('killed');
      return Reflect.get(calls, name);
    },
  });
}

const away = () => new AppError('PROVIDER_UNAVAILABLE', 'It is away.');
const failed = (index: number) => BAD(index) || REFUSED(index);
const OPTIONS = { batchRows: 5, batchWidth: 2 };
const GOOD = ALL.filter((index) => !failed(index)).map((index) => `k${index}`);

describe('an upload whose rows jobs of a provider write', () => {
  const bench = useBulkBench(useDatabase());

  async function expectAll(job: Awaited<ReturnType<typeof addUpload>>, written: readonly string[], what = '') {
    const ended = await bench.until(job, 'COMPLETED', 'FAILED');
    expect(ended, what).to.include({ status: 'COMPLETED', recordCount: COUNT, failedCount: ALL.filter(failed).length });
    const outcomes = (await outcomesOf(bench, job)).toSorted((a, b) => a.row - b.row);
    expect(
      outcomes.map(({ row }) => row - 1),
      what,
    ).to.deep.equal(ALL);
    expect(
      outcomes.filter(({ outcome }) => outcome === 'failed').map(({ row }) => row - 1),
      what,
    ).to.deep.equal(ALL.filter(failed));
    expect(written.toSorted(), what).to.deep.equal(GOOD.toSorted());
    return outcomes;
  }

  for (const when of ['before its commit', 'after its commit'] as const) {
    it(`writes each row once when its process is killed, each checkpoint in turn ${when}`, async () => {
      await bench.killAtEach(when, async () => {
        await bench.knex('bulk_row_error').delete();
        const { service, written, jobs } = createProvider();
        const job = await addUpload(bench, printFile());
        const input = { ...service, options: OPTIONS };
        const dying = (isDead: () => boolean) => ({ ...input, resources: mortalResources(service.resources, isDead) });
        const check: DoomedJob['check'] = async ({ at, isKilled, transactions }) => {
          const outcomes = await expectAll(job, written, `killed at ${at}`);
          // Of a batch that was broken off nobody knows that its rows were at fault before they were sent.
          const doubtful = outcomes.filter((one) => one.doubtful).map(({ row }) => row - 1);
          expect(
            doubtful.filter((index) => !BAD(index)),
            `killed at ${at}`,
          ).to.deep.equal([]);
          for (const { row, id } of outcomes.filter(({ outcome }) => outcome === 'created'))
            expect(id === `pk${row - 1}` || row > 44, `killed at ${at}: row ${row}`).to.equal(true);
          if (!isKilled) expect(transactions).to.be.above(15);
        };
        const checkLeft = (at: number) => {
          // What was begun and not stored has nothing to do.
          const left = [...jobs.values()].filter(({ state, rows }) => state !== 'ready' && rows.length > 0);
          expect(left, `killed at ${at}`).to.deep.equal([]);
        };
        return { job, input, dying, check, checkStopped: checkLeft };
      });
    }).timeout(240_000);
  }

  for (const [what, request] of [
    ['that got its rows and was not closed', 'PUT /jobs/1/rows'],
    ['whose close was not answered', 'POST /jobs/1/close'],
  ] as const) {
    it(`goes on from a job ${what}`, async () => {
      const { service, written, told, faults } = createProvider();
      faults.after = (name) => {
        if (name !== request || told.filter((one) => one === name).length > 1) return;
        throw away();
      };
      const job = await addUpload(bench, printFile());
      bench.start({ ...service, options: OPTIONS });
      await expectAll(job, written);
      expect(told.includes('POST /jobs/1/abort')).to.equal(request.startsWith('PUT'));
    });
  }

  it('lists rows as doubtful whose job the provider has lost', async () => {
    const { service, told, jobs } = createProvider();
    const job = await addUpload(bench, printFile());
    bench.start({ ...service, options: OPTIONS });
    await bench.pass(() => told.includes('GET /jobs/1'));
    jobs.delete('1');
    await bench.until(job, 'COMPLETED');
    const doubtful = (await outcomesOf(bench, job)).filter((one) => one.doubtful).map(({ row }) => row);
    expect(doubtful).to.deep.equal(Array.from({ length: 12 }, (_, index) => index + 1));
  });

  it('writes by single calls what a job did not process that failed', async () => {
    const { service, written, faults } = createProvider();
    faults.breaksAt = 4;
    const job = await addUpload(bench, printFile().replaceAll('refused', 'fine'));
    bench.start({ ...service, options: OPTIONS });
    const ended = await bench.until(job, 'COMPLETED', 'FAILED');
    expect(ended).to.include({ status: 'COMPLETED', recordCount: COUNT, failedCount: ALL.filter(BAD).length });
    expect(written.toSorted()).to.deep.equal(
      ALL.filter((index) => !BAD(index))
        .map((index) => `k${index}`)
        .toSorted(),
    );
  });

  for (const request of ['POST /jobs', 'PUT /jobs/1/rows', 'POST /jobs/1/close']) {
    it(`writes all by single calls where the provider refuses ${request}`, async () => {
      const { service, written, faults } = createProvider();
      const [method, path = ''] = request.replace('/1', '/').split(' ');
      const last = path.split('/').at(-1) ?? '';
      faults.before = (name) => {
        if (name.startsWith(`${method} `) && name.endsWith(last)) throw new AppError('PROVIDER_REJECTED', 'No.');
      };
      const job = await addUpload(bench, printFile().replaceAll('refused', 'fine'));
      bench.start({ ...service, options: OPTIONS });
      expect(await bench.until(job, 'COMPLETED', 'FAILED')).to.include({ status: 'COMPLETED', recordCount: COUNT });
      expect(written).to.have.length(ALL.filter((index) => !BAD(index)).length);
    });
  }

  it('takes no results of other rows than were sent', async () => {
    const { service, faults, told } = createProvider();
    faults.lies = true;
    const job = await addUpload(bench, printFile());
    bench.start({ ...service, options: { ...OPTIONS, bewilderedMs: 0 } });
    const ended = await bench.until(job, 'FAILED');
    expect(ended).to.include({ code: 'PROVIDER_PROTOCOL', recordCount: 0 });
    expect(ended.message).to.equal('Fake returned outcomes for other rows than Causeway sent.');
    await bench.pass(() => told.includes('DELETE /jobs/1'));
  });

  it('writes rows about one record in the order of the file, in whatever order a job works', async () => {
    const { service, names, told } = createProvider();
    const idOf = (index: number) => `x${index % 7}`;
    const rows = Array.from({ length: 28 }, (_, index) => `${idOf(index)},name ${index}\r\n`);
    const job = await addUpload(bench, `id,name\r\n${rows.join('')}`, { action: 'update' });
    bench.start({ ...service, options: OPTIONS });
    await bench.until(job, 'COMPLETED');
    expect(told.filter((request) => request === 'POST /jobs')).to.have.length(4);
    const last = [21, 22, 23, 24, 25, 26, 27].map((index) => [idOf(index), `name ${index}`]);
    expect([...names].toSorted()).to.deep.equal(last);
  });

  it('has no place while the provider is at work', async () => {
    const { service, told } = createProvider();
    const job = await addUpload(bench, printFile());
    bench.start({ ...service, options: { ...OPTIONS, concurrency: 1 } });
    await bench.pass(() => told.includes('GET /jobs/1'));
    const short = await addUpload(bench, 'key,name\r\nx,y\r\n');
    await bench.until(short, 'COMPLETED');
    expect(await bench.find(job)).to.include({ status: 'RUNNING', nativeJob: '1' });
    await bench.until(job, 'COMPLETED');
  });
});
