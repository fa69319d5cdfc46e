import { expect } from 'chai';
import type { BulkJob } from '../../src/bulk/job.ts';
import { AppError } from '../../src/errors.ts';
import type { Resources } from '../../src/resources/index.ts';
import { inForceOf } from '../mappings/simulated.ts';
import { createObject, createService, type FakeRow } from '../resources/fake-provider.ts';
import { useDatabase } from '../support/database.ts';
import { useBulkBench } from './bench.ts';

const ROWS: readonly FakeRow[] = Array.from({ length: 40 }, (_, index) => ({
  id: index + 1,
  name: `Name of ${index}`,
  score: index % 5,
  place: null,
}));

type ReadPage = Resources['readPage'];

describe('the workers of bulk jobs', () => {
  const bench = useBulkBench(useDatabase());
  const provider = createService({ rows: createObject(ROWS, { maxPageSize: 7 }) });

  /** As the provider, but for the pages. */
  const reading = (
    readPage: (...given: Parameters<ReadPage>) => ReturnType<ReadPage>,
    more: Partial<Resources> = {},
  ) => ({ instance: provider.instance, resources: { ...provider.resources, ...more, readPage } });
  const idsOf = async (file: Promise<string>) =>
    (await file)
      .split('\r\n')
      .slice(1, -1)
      .map((line) => Number(line.split(',')[0]));
  const ALL = ROWS.map(({ id }) => id);

  it('fail a job for good when another try would be of no use, and tell so once', async () => {
    const job = await bench.add({ where: 'nmae = 1' });
    bench.start(provider);
    const ended = await bench.until(job, 'FAILED');
    expect(ended).to.include({ code: 'WHERE_INVALID', message: "Unknown field 'nmae'. Did you mean 'name'?" });
    expect(ended.finishedAt?.getTime()).to.equal(bench.events[0]?.timestamp?.getTime());
    await bench.pass(() => true);
    expect(bench.events).to.have.length(1);
    const [event] = bench.events;
    expect(event).to.include({ type: 'bulk.failed', objectName: 'rows', objectId: String(job.id), instanceId: 7 });
    expect(event?.object).to.deep.include({ id: job.id, status: 'FAILED', code: 'WHERE_INVALID', recordsCount: 0 });
  });

  it('try again for a time while the provider is away, and then give up', async () => {
    let calls = 0;
    const job = await bench.add();
    bench.start({
      ...reading(async () => {
        calls++;
        throw new AppError('PROVIDER_UNAVAILABLE', 'The provider is away.', { providerMessage: 'Closed.' });
      }),
      options: { firstBackoffMs: 1_000, longestBackoffMs: 8_000, patienceMs: 30_000 },
    });
    const startMs = bench.clock.now();
    const ended = await bench.until(job, 'FAILED');
    expect(ended).to.include({ code: 'PROVIDER_UNAVAILABLE', message: 'The provider is away. Closed.' });
    expect(bench.clock.now() - startMs).to.be.within(30_000, 42_000);
    // After 1, 2, 4, 8, 8 and 8 seconds, and the last one.
    expect(calls).to.equal(7);
  });

  it('do not count it as a failure that this service has no room', async () => {
    let calls = 0;
    const job = await bench.add();
    bench.start(
      reading(async (...given) => {
        if (calls++ < 5) throw new AppError('OVERLOADED', 'No room.', { retryAfterSeconds: 2 });
        return provider.resources.readPage(...given);
      }),
    );
    await bench.until(job, 'COMPLETED');
    expect(await idsOf(bench.read(job))).to.deep.equal(ALL);
  });

  it('take a job over when the process that had it is silent, which can store nothing any more', async () => {
    const silent = Promise.withResolvers<void>();
    const job = await bench.add();
    let pages = 0;
    const store = bench.store;
    const first = bench.start({
      ...reading(async (...given) => {
        if (pages++ === 3) await silent.promise;
        return provider.resources.readPage(...given);
      }),
      // Its heart stands still; what it has begun goes on.
      store: { ...store, renew: async (jobs) => new Set(jobs.map(({ lease }) => lease)) },
    });
    await bench.pass(() => pages > 3);
    const { lease } = await bench.find(job);
    const second = bench.start(provider);
    await bench.until(job, 'COMPLETED');
    const before = await bench.read(job);
    silent.resolve();
    await first.stop();
    expect(await bench.read(job)).to.equal(before);
    expect(await idsOf(bench.read(job))).to.deep.equal(ALL);
    expect(bench.events).to.have.length(1);
    expect(lease).not.to.equal(null);
    await second.stop();
  });

  it('break a job off that was cancelled, and store nothing of it after that', async () => {
    const hanging = Promise.withResolvers<void>();
    const job = await bench.add();
    let hasBroken = false;
    let pages = 0;
    const worker = bench.start(
      reading(async (target, ...given) => {
        if (pages++ < 3) return provider.resources.readPage(target, ...given);
        target.signal.addEventListener('abort', () => {
          hasBroken = true;
          hanging.reject(target.signal.reason);
        });
        await hanging.promise;
        return provider.resources.readPage(target, ...given);
      }),
    );
    await bench.pass(() => pages > 3);
    expect(await bench.store.cancel(bench.knex, job, new Date(bench.clock.now()))).to.equal(true);
    worker.drop(job);
    expect(hasBroken).to.equal(true);
    await worker.stop();
    expect(await bench.find(job)).to.include({ status: 'CANCELLED', lease: null, due: null });
    expect(bench.events).to.deep.equal([]);
    expect(await bench.store.cancel(bench.knex, job, new Date())).to.equal(false);
  });

  it('break off all pages that are under way for a job that was cancelled, and ask for no more', async () => {
    const several = createService({ rows: createObject(ROWS, { maxPageSize: 5, cursorAt: String, pagesAtOnce: 4 }) });
    const signals: AbortSignal[] = [];
    const job = await bench.add();
    const worker = bench.start({
      ...several,
      resources: {
        ...several.resources,
        readPage: async (target, ...given) => {
          signals.push(target.signal);
          if (signals.length > 4) await new Promise((_, reject) => target.signal.addEventListener('abort', reject));
          return several.resources.readPage(target, ...given);
        },
      },
    });
    await bench.pass(() => signals.length > 5);
    const underWay = signals.filter(({ aborted }) => !aborted);
    expect(underWay.length, 'pages under way').to.be.above(1);
    expect(await bench.store.cancel(bench.knex, job, new Date(bench.clock.now()))).to.equal(true);
    const asked = signals.length;
    worker.drop(job);
    expect(underWay.every(({ aborted }) => aborted)).to.equal(true);
    await worker.stop();
    expect(signals).to.have.length(asked);
  });

  it('notice by themselves that a job was cancelled, if no message came', async () => {
    const job = await bench.add();
    let pages = 0;
    let hasBroken = false;
    bench.start(
      reading(async (target, ...given) => {
        if (pages++ < 3) return provider.resources.readPage(target, ...given);
        return new Promise((_, reject) => {
          target.signal.addEventListener('abort', () => {
            hasBroken = true;
            reject(target.signal.reason);
          });
        });
      }),
    );
    await bench.pass(() => pages > 3);
    await bench.store.cancel(bench.knex, job, new Date(bench.clock.now()));
    await bench.pass(() => hasBroken);
    expect((await bench.find(job)).status).to.equal('CANCELLED');
  });

  it('give a job back when its time is over, so that others have their turn', async () => {
    const [long, short] = [await bench.add(), await bench.add({ limit: 1 })];
    const turns: number[] = [];
    bench.start({
      ...provider,
      options: { concurrency: 1, sliceMs: 0, chunkBytes: 100 },
      store: {
        ...bench.store,
        claim: async (claim) => {
          const claimed = await bench.store.claim(claim);
          turns.push(...claimed.map(({ id }) => id));
          return claimed;
        },
      },
    });
    for (const job of [short, long]) await bench.until(job, 'COMPLETED');
    expect(turns.length).to.be.above(3);
    expect(turns.lastIndexOf(long.id)).to.be.above(turns.indexOf(short.id));
    expect(await idsOf(bench.read(long))).to.deep.equal(ALL);
  });

  it('let one account keep no other one waiting', async () => {
    for (let count = 0; count < 10; count++) await bench.add();
    const other = await bench.add({}, { accountId: 2 });
    const hanging = Promise.withResolvers<never>();
    hanging.promise.catch(() => undefined);
    const worker = bench.start(
      reading(async (target, ...given) => {
        if (target.instance.accountId === 1) await hanging.promise;
        return provider.resources.readPage(target, ...given);
      }),
    );
    await bench.until(other, 'COMPLETED');
    hanging.reject(new Error('The test is over.'));
    await worker.stop();
  });

  it('let slow jobs of an account keep neither its fast ones nor those of another account waiting, over two processes', async () => {
    const isSlow = ({ limit }: { readonly limit?: number | undefined }) => limit === 39;
    const slow = [await bench.add({ limit: 39 }), await bench.add({ limit: 39 }), await bench.add({ limit: 39 })];
    const fast: BulkJob[] = [];
    for (let count = 0; count < 12; count++)
      fast.push(await bench.add(), await bench.add({}, { accountId: 2 }), await bench.add({}, { accountId: 2 }));
    const there = Promise.withResolvers<void>();
    const taken: [number, number] = [0, 0];
    const start = (place: 0 | 1) =>
      bench.start({
        ...reading(async (target, request, ...given) => {
          if (isSlow(request)) await there.promise;
          return provider.resources.readPage(target, request, ...given);
        }),
        options: { lookMs: 500 },
        store: {
          ...bench.store,
          claim: async (claim) => {
            const claimed = await bench.store.claim(claim);
            taken[place] += claimed.length;
            return claimed;
          },
        },
      });
    const workers = [start(0), start(1)];
    const statusesOf = async (jobs: readonly BulkJob[]) =>
      new Set(await Promise.all(jobs.map(async (job) => (await bench.find(job)).status)));
    const has = async (jobs: readonly BulkJob[], status: BulkJob['status']) => {
      const statuses = await statusesOf(jobs);
      return statuses.size === 1 && statuses.has(status);
    };
    await bench.pass(() => has(fast, 'COMPLETED'));
    expect([...(await statusesOf(slow))], 'the slow ones').to.deep.equal(['RUNNING']);
    expect(
      taken.every((count) => count > 0),
      'both processes',
    ).to.equal(true);
    there.resolve();
    await bench.pass(() => has(slow, 'COMPLETED'));
    for (const job of fast) expect(await idsOf(bench.read(job))).to.deep.equal(ALL);
    for (const worker of workers) await worker.stop();
  });

  it('leave what is left of the limit of the provider to callers, but not for ever', async () => {
    const job = await bench.add();
    let asked = 0;
    bench.start(
      reading(provider.resources.readPage, {
        rateLimitOf: () => {
          asked++;
          return { limit: 100, remaining: 25, resetSeconds: 5 };
        },
      }),
    );
    await bench.pass(async () => (await bench.find(job)).waits === 2);
    expect((await bench.find(job)).recordCount).to.equal(0);
    const startMs = bench.clock.now();
    await bench.until(job, 'COMPLETED');
    expect(asked).to.be.above(3);
    expect(bench.clock.now() - startMs).to.be.above(5_000);
    expect(await idsOf(bench.read(job))).to.deep.equal(ALL);
  });

  it('begin anew when the settings of the instance changed, as the place may be of other records', async () => {
    const job = await bench.add();
    const more = createService({ rows: createObject(ROWS.slice(5), { maxPageSize: 7 }) });
    let pages = 0;
    const first = bench.start(
      reading(async (...given) => {
        if (++pages > 4) return new Promise((_, reject) => given[0].signal.addEventListener('abort', reject));
        return provider.resources.readPage(...given);
      }),
    );
    await bench.pass(async () => pages > 4 && (await bench.find(job)).recordCount > 0);
    await first.stop();
    bench.start({ ...more, instance: { ...more.instance, settingsVersion: 2 } });
    await bench.until(job, 'COMPLETED');
    expect(await idsOf(bench.read(job))).to.deep.equal(ALL.slice(5));
  });

  it('begin the file of a mapped object anew when its mapping changes between two pages', async () => {
    const versions = [1, 2].map((value) =>
      inForceOf({
        objectName: 'rows',
        vendorName: 'items',
        fields: [
          { path: 'key', type: 'number', vendorPath: 'id' },
          { path: 'version', type: 'number', configuration: [{ type: 'constant', properties: { value } }] },
        ],
        configuration: [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }],
      }),
    );
    let mapping = versions[0];
    const items = { items: createObject(ROWS, { maxPageSize: 7 }) };
    const { instance, resources } = createService(items, undefined, {
      inForce: async () => ({
        version: mapping?.version ?? '',
        byName: new Map(mapping === undefined ? [] : [['rows', mapping]]),
        unmapped: [],
      }),
      sandbox: { run: async () => [] },
    });
    let pages = 0;
    const job = await bench.add();
    bench.start({
      instance,
      resources: {
        ...resources,
        readPage: async (...given) => {
          if (++pages === 4) mapping = versions[1];
          return resources.readPage(...given);
        },
      },
    });
    await bench.until(job, 'COMPLETED');
    const file = await bench.read(job);
    expect(await idsOf(Promise.resolve(file))).to.deep.equal(ALL);
    expect(
      new Set(
        file
          .split('\r\n')
          .slice(1, -1)
          .map((line) => line.split(',')[1]),
      ),
    ).to.deep.equal(new Set(['2']));
  });

  it('store no chunk larger than 4 MB, whatever rows are', async () => {
    const large = Array.from({ length: 8 }, (_, index) => ({
      id: index,
      name: String(index).repeat(5_000_000 + index),
    }));
    const wide = createService({ rows: createObject(large, { maxPageSize: 2 }) });
    const job = await bench.add({ fields: 'id,name' });
    bench.start({ ...wide, options: { chunkBytes: 2 * 1024 * 1024 } });
    await bench.until(job, 'COMPLETED');
    const chunks = await bench.knex('bulk_chunk').where({ job_id: job.id }).orderBy('start_byte').select('byte_count');
    expect(Math.max(...chunks.map(({ byte_count }) => byte_count))).to.equal(4 * 1024 * 1024);
    const lines = (await bench.read(job)).split('\r\n');
    expect(lines.slice(1, -1)).to.deep.equal(large.map(({ id, name }) => `${id},${name}`));
  });

  it('fail a job for which the provider hides rows', async () => {
    const windowed = createService({
      rows: { ...createObject(ROWS, { maxPageSize: 7 }), limits: { resultWindow: 21 } },
    });
    const job = await bench.add({ where: 'score >= 0', orderBy: 'id desc' });
    bench.start(windowed);
    const ended = await bench.until(job, 'FAILED', 'COMPLETED');
    expect(ended.code).to.equal('WHERE_UNSUPPORTED');
    expect(ended.message).to.include('The provider returns at most 21 rows for one query');
  });

  it('end a job whose user may not work in the account any more, before its provider has answered', async () => {
    let mayAct = true;
    let pages = 0;
    const job = await bench.add({}, { userId: 5 });
    const asked: object[] = [];
    bench.start({
      ...reading(async (target, ...given) => {
        if (++pages === 1) return provider.resources.readPage(target, ...given);
        return new Promise((_, reject) =>
          target.signal?.addEventListener('abort', () => reject(target.signal?.reason)),
        );
      }),
      mayAct: async (user) => {
        asked.push(user);
        return mayAct;
      },
    });
    await bench.pass(() => pages === 2);
    mayAct = false;
    const ended = await bench.until(job, 'FAILED');
    expect(ended).to.include({
      code: 'FORBIDDEN',
      message: 'User 5, who started the job, may no longer work in account 1. Another user can start a new job.',
    });
    expect(pages).to.equal(2);
    expect(asked[0]).to.deep.equal({ accountId: 1, userId: 5 });
  });

  it('fail a job that is older than files are kept', async () => {
    const job = await bench.add({}, { createdAt: new Date(bench.clock.now() - 3 * 86_400_000) });
    bench.start(provider);
    expect((await bench.until(job, 'FAILED')).message).to.include('BULK_RETENTION_DAYS');
  });
});
