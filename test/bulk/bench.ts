import type { Knex } from 'knex';
import { createBulkMetrics } from '../../src/bulk/bulk-metrics.ts';
import { type BulkStore, createBulkStore, type NewJob } from '../../src/bulk/bulk-store.ts';
import { packChunks } from '../../src/bulk/chunks.ts';
import { openFile } from '../../src/bulk/file.ts';
import { readHeader } from '../../src/bulk/input-file.ts';
import type { BulkJob, BulkQuery, BulkUpload } from '../../src/bulk/job.ts';
import { createBulkWorker, WORKER_OPTIONS, type WorkerOptions, type WorkerPorts } from '../../src/bulk/worker.ts';
import type { NewEvent } from '../../src/events/model.ts';
import type { Instance } from '../../src/instances/instance.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { FakeRow } from '../resources/fake-provider.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { silentLog, type TestDatabase } from '../support/database.ts';
import { addAccount, addInstances, addUser } from '../support/event-rows.ts';
import { keepRuns } from '../support/runs.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

/** The records of a provider of the tests. */
export const ROWS: readonly FakeRow[] = Array.from({ length: 60 }, (_, index) => ({
  id: index + 1,
  name: index % 7 === 0 ? null : `Name ${index},"${'x'.repeat(index % 11)}"\n`,
  score: index % 5,
  place: { city: `Ulm ${index}` },
}));

/** Nothing is gathered for long, so that there are many checkpoints. */
export const SMALL: WorkerOptions = { ...WORKER_OPTIONS, chunkBytes: 400 };

export interface WorkerInput {
  readonly resources: WorkerPorts['resources'];
  readonly instance: object;
  readonly store?: BulkStore;
  readonly options?: Partial<WorkerOptions>;
  /** Everybody may unless it says otherwise. */
  readonly mayAct?: WorkerPorts['mayAct'];
}

/** A job whose worker is killed. */
export interface DoomedJob {
  readonly job: BulkJob;
  readonly input: WorkerInput;
  /** The input of the worker that is killed. Default: that of the one after it. */
  readonly dying?: (isDead: () => boolean) => WorkerInput;
  /** Checks what the job left, while its workers run. */
  readonly check: (death: {
    readonly at: number;
    readonly isKilled: boolean;
    readonly transactions: number;
  }) => Promise<void>;
  /** Checks what is left after the workers have stopped. */
  readonly checkStopped?: (at: number) => void;
}

export type BulkBench = ReturnType<typeof useBulkBench>;

/** Every one has all. */
const SHARES = { lookUp: <Result>(_: unknown, query: () => Promise<Result>) => query() };
const STEP_MS = 200;
const INSTANCE_ID = 7;

/** Jobs in a database, workers on a clock that the test drives, and what they tell of the ends. */
export function useBulkBench(database: TestDatabase) {
  let clock = createVirtualClock();
  let events: NewEvent[] = [];
  /** Number of calls of the store that have not ended. */
  let underWay = 0;
  const workers: { readonly stop: () => Promise<void> }[] = [];

  before(async () => {
    const { knex } = database;
    await addAccount(knex);
    await knex('account').insert({ organization_id: 1, name: 'Other', external_id: 'Other' });
    for (const account of [1, 2]) {
      await addUser(knex, account);
      await addInstances(knex, [INSTANCE_ID], account);
    }
  });
  beforeEach(async () => {
    clock = createVirtualClock();
    events = [];
    await database.knex('bulk_job').delete();
    await database.knex('bulk_chunk').delete();
    await database.knex('bulk_row_error').delete();
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.stop();
  });

  const storeOf = () => counted(createBulkStore(database.knex));

  /** The time stands still while the database works, so that a slow one makes no job late. */
  async function pass(isSo: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isSo())) {
      await clock.advance(STEP_MS);
      do await new Promise((resolve) => setTimeout(resolve, 2));
      while (underWay > 0);
    }
  }

  function counted(store: BulkStore): BulkStore {
    const functions = Object.entries(store).map(([name, run]) => [
      name,
      async (...given: readonly unknown[]) => {
        underWay++;
        try {
          return await Reflect.apply(run, store, given);
        } finally {
          underWay--;
        }
      },
    ]);
    return Object.fromEntries(functions);
  }

  async function find(job: Pick<BulkJob, 'accountId' | 'instanceId' | 'id'>): Promise<BulkJob> {
    const found = await storeOf().find(job);
    if (found === undefined) throw new Error('The job is gone.');
    return found;
  }

  function start({ resources, instance, store = storeOf(), options = {}, mayAct = async () => true }: WorkerInput) {
    const worker = createBulkWorker(
      {
        clock,
        log: silentLog,
        random: { bytes: (size) => Buffer.alloc(size), fraction: () => 0.5 },
        buckets: ALL_BUCKETS,
      },
      {
        store,
        resources,
        shares: SHARES,
        // A worker hands it on to calls, which are those of the tests.
        getInstance: async (accountId) => ({ ...(instance as Instance), accountId }),
        prepare: async (prepared) => ({
          insert: async () => {},
          committed: () => void events.push(...prepared),
        }),
        noteEnded: () => {},
        openRun: keepRuns(),
        mayAct,
        measures: createBulkMetrics(createMetrics()),
        retentionMs: 3 * 86_400_000,
        options: { ...SMALL, ...options },
      },
    );
    /** Without a time nothing is waited for. */
    const stop = (timeoutMs = 0) => worker.stop(timeoutMs);
    const stoppable = { ...worker, stop };
    workers.push(stoppable);
    worker.start();
    return stoppable;
  }

  return {
    get knex() {
      return database.knex;
    },
    get store() {
      return storeOf();
    },
    get clock() {
      return clock;
    },
    /** Of the ends of jobs that were committed. */
    get events(): readonly NewEvent[] {
      return events;
    },
    add: (query: BulkQuery = {}, more: Partial<NewJob> = {}) => {
      const createdAt = new Date(clock.now());
      return storeOf().insert(database.knex, {
        accountId: 1,
        instanceId: INSTANCE_ID,
        userId: null,
        direction: 'DOWNLOAD',
        objectName: 'rows',
        query,
        format: 'csv',
        callbackUrl: null,
        createdAt,
        ...more,
      });
    },
    start,
    /**
     * Kills the worker of a job at its first transaction, that of another job at its second, and so on, until a job ends before its
     * worker dies. Each job is ended by another worker, and then checked.
     */
    killAtEach: async (when: Death['when'], begin: () => Promise<DoomedJob>): Promise<void> => {
      for (let at = 1, isKilled = true; isKilled; at++) {
        const { job, input, dying = () => input, check, checkStopped } = await begin();
        const hasEnded = async () => ['COMPLETED', 'FAILED'].includes((await find(job)).status);
        const mortal = createMortalStore(storeOf(), { at, when });
        const first = start({ ...dying(mortal.isDead), store: mortal.store });
        await pass(async () => mortal.isDead() || (await hasEnded()));
        isKilled = mortal.isDead();
        const second = start(input);
        await pass(hasEnded);
        const { status, message } = await find(job);
        if (status === 'FAILED') throw new Error(`The job failed: ${message}`);
        await check({ at, isKilled, transactions: mortal.transactions() });
        await Promise.all([first.stop(), second.stop()]);
        checkStopped?.(at);
      }
    },
    find,
    /** The time goes on until the job has one of these. */
    until: async (job: BulkJob, ...statuses: readonly BulkJob['status'][]) => {
      await pass(async () => statuses.includes((await find(job)).status));
      return find(job);
    },
    /** The time goes on until it is so. */
    pass,
    read: async (job: BulkJob) => {
      const parts: Buffer[] = [];
      const ended = await find(job);
      for await (const part of openFile({ store: storeOf(), shares: SHARES }, ended).bytes(0, ended.byteCount))
        parts.push(part);
      return Buffer.concat(parts).toString();
    },
  };
}

export interface Death {
  /** Which transaction it dies at, from 1. */
  readonly at: number;
  readonly when: 'before its commit' | 'after its commit';
}

/** The store of a process that is killed at a transaction: from then on nothing of it reaches the database. `deaths`: how often, 0 or 1. */
export function createMortalStore(store: BulkStore, { at, when }: Death) {
  let transactions = 0;
  let isDead = false;
  const killed = () => new Error('killed');
  const refuse = () => {
    if (isDead) throw killed();
  };
  const mortal = Object.fromEntries(
    Object.entries(store).map(([name, run]) => [
      name,
      async (...given: readonly unknown[]) => {
        refuse();
        const result = await Reflect.apply(run, store, given);
        refuse();
        return result;
      },
    ]),
  ) as unknown as BulkStore;
  return {
    store: {
      ...mortal,
      transaction: async <Result>(work: (via: Knex) => Promise<Result>): Promise<Result> => {
        refuse();
        transactions++;
        const isLast = transactions === at;
        const result = await store.transaction(async (via) => {
          const done = await work(via);
          if (isLast && when === 'before its commit') isDead = true;
          refuse();
          return done;
        });
        if (isLast) isDead = true;
        refuse();
        return result;
      },
    } satisfies BulkStore,
    isDead: () => isDead,
    transactions: () => transactions,
  };
}

/** An upload of this text. */
export async function addUpload(bench: BulkBench, text: string, more: Partial<BulkUpload> = {}): Promise<BulkJob> {
  const input = Buffer.from(text);
  const header = await readHeader(input, 0);
  const id = await bench.store.nextJobId();
  const createdAt = new Date(bench.clock.now());
  // In several parts, cut where they please.
  for (let at = 0; at < input.length; at += 100)
    for (const chunk of await packChunks(input.subarray(at, at + 100), at))
      await bench.store.addInput({ accountId: 1, id, createdAt }, chunk);
  return bench.add(
    {},
    {
      id,
      direction: 'UPLOAD',
      createdAt,
      upload: {
        action: 'create',
        identifier: 'id',
        columns: (header?.names ?? []).map(String),
        beginByte: header?.endByte ?? 0,
        byteCount: input.length,
        ...more,
      },
    },
  );
}

/** As its file tells them. */
export async function outcomesOf(bench: BulkBench, job: BulkJob) {
  const [, ...lines] = (await bench.read(job)).trimEnd().split('\r\n');
  return lines
    .map((line) => line.split(','))
    .map(([row, id, outcome, doubtful, code]) => ({
      row: Number(row),
      id,
      outcome,
      doubtful: doubtful === 'true',
      code,
    }));
}
