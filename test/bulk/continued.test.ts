import { expect } from 'chai';
import fc from 'fast-check';
import type { ConnectorContext, ListInput, ObjectSpec, Translator } from '#connector';
import { type DownloadRequest, planDownload } from '../../src/bulk/create-job.ts';
import type { BulkJob } from '../../src/bulk/job.ts';
import type { BulkWorker } from '../../src/bulk/worker.ts';
import { MOST_SKEW_MS, sleep } from '../../src/clock.ts';
import type { Instance } from '../../src/instances/instance.ts';
import { runs, seedOr } from '../../suite/effort.ts';
import { createService } from '../resources/fake-provider.ts';
import { useDatabase } from '../support/database.ts';
import { useBulkBench } from './bench.ts';

type Term = readonly [operator: string, ms: number];

/** A record as it is from a time on, by the clock of the provider; others see it a little later, by ours. */
interface Version {
  readonly changedMs: number;
  readonly visibleMs: number;
}

const OVERLAP_SECONDS = 60;
const OVERLAP_MS = OVERLAP_SECONDS * 1000;
const PAGE = 4;
const PAGE_MS = 500;
const IDS = 12;

const translator: Translator<readonly Term[]> = {
  and: (operands) => operands.flat(),
  compare: (_field, operator, value) => [[operator, Date.parse('text' in value ? value.text : String(value.value))]],
};

describe('bulk jobs that continue others', () => {
  const bench = useBulkBench(useDatabase());
  let versions: Map<number, Version[]>;
  let duringPages: () => void;
  /** By how much the clock of the provider is ahead. */
  let skewMs = 0;

  const object: ObjectSpec<readonly Term[]> = {
    fields: {
      id: { type: 'integer', nullable: false, sortable: true },
      changed: { type: 'datetime', nullable: false, filter: { '>=': 'exact', '<': 'exact' } },
    },
    translator,
    changes: { updated: 'changed', overlapSeconds: OVERLAP_SECONDS },
    list: {
      maxPageSize: PAGE,
      run: async (_context: ConnectorContext, { filter = [], cursor = '0' }: ListInput<readonly Term[]>) => {
        const found = visibleNow().filter(({ changedMs }) => filter.every((term) => keeps(changedMs, term)));
        const end = Number(cursor) + PAGE;
        const records = found
          .slice(Number(cursor), end)
          .map(({ id, changedMs }) => ({ id, changed: new Date(changedMs).toISOString() }));
        duringPages();
        await sleep(bench.clock, PAGE_MS);
        return { records, ...(end < found.length && { next: String(end) }) };
      },
    },
  };
  const provider = createService({ rows: object as ObjectSpec });

  function keeps(changedMs: number, [operator, ms]: Term): boolean {
    return operator === '<' ? changedMs < ms : changedMs >= ms;
  }

  function visibleNow() {
    return [...versions].flatMap(([id, all]) => {
      const last = all.findLast(({ visibleMs }) => visibleMs < bench.clock.now());
      return last === undefined ? [] : [{ id, ...last }];
    });
  }

  function change(ids: readonly number[], lagMs: number): void {
    const nowMs = bench.clock.now();
    for (const id of ids) {
      const all = versions.get(id) ?? [];
      versions.set(id, [...all, { changedMs: nowMs + skewMs, visibleMs: nowMs + lagMs }]);
    }
  }

  async function runJob(worker: BulkWorker, request: Partial<DownloadRequest>): Promise<BulkJob> {
    const instance = { ...provider.instance, accountId: 1, id: 7 } as Instance;
    const { resources } = provider;
    const ports = { store: bench.store, resources, egress: { check: async () => {} }, clock: bench.clock };
    const signal = new AbortController().signal;
    const asked = { objectName: 'rows', format: 'jsonl', ...request } as const;
    const job = await bench.store.insert(
      bench.knex,
      await planDownload(ports, { instance, userId: 1, request: asked, signal }),
    );
    // It begins at this very time.
    worker.wake();
    return bench.until(job, 'COMPLETED', 'FAILED');
  }

  const ids = fc.uniqueArray(fc.integer({ min: 1, max: IDS }), { maxLength: 6 });
  const step = fc.record({
    ids,
    lagMs: fc.oneof(fc.constantFrom(0, OVERLAP_MS), fc.integer({ min: 0, max: OVERLAP_MS })),
    during: ids,
    passMs: fc.constantFrom(0, 1_000, OVERLAP_MS - 1, OVERLAP_MS, OVERLAP_MS + 1, 300_000, 3_600_000),
    /** Of the job before: it left out what changed last. */
    toIsEarlier: fc.boolean(),
  });

  const skews = fc.constantFrom(0, -MOST_SKEW_MS, MOST_SKEW_MS, -OVERLAP_MS);

  it('have every change between them, whenever it shows', async () => {
    await fc.assert(
      fc.asyncProperty(skews, fc.array(step, { minLength: 2, maxLength: 4 }), async (skew, steps) => {
        skewMs = skew;
        versions = new Map();
        duringPages = () => {};
        const worker = bench.start(provider);
        const replica = new Map<number, number>();
        change(
          Array.from({ length: IDS }, (_, index) => index),
          0,
        );
        let last: BulkJob | undefined;
        for (const { ids: changed, lagMs, during, passMs, toIsEarlier } of [...steps, LAST]) {
          change(changed, lagMs);
          await bench.clock.advance(passMs);
          const before = visibleNow();
          const to = toIsEarlier ? new Date(bench.clock.now() - 2 * MOST_SKEW_MS) : undefined;
          const since: Partial<DownloadRequest> = last === undefined ? {} : { continueFromJobId: last.id };
          const wanted =
            to !== undefined && (last?.startedAt?.getTime() ?? 0) < to.getTime() ? { ...since, to } : since;
          // With an upper bound, a change takes a record out of the result. This provider pages by position, so another one would slip past the
          // edge of a page, as the reference says.
          let left = 'to' in wanted ? [] : [...during];
          duringPages = () => change(left.splice(0, 1), lagMs);
          last = await runJob(worker, wanted);
          duringPages = () => {};
          expect(last.status, String(last.message)).to.equal('COMPLETED');
          for (const line of (await bench.read(last)).split('\n').slice(0, -1)) {
            const { id, changed: at } = JSON.parse(line);
            replica.set(id, Math.max(replica.get(id) ?? 0, Date.parse(at)));
          }
          left = [];
          if ('to' in wanted) continue;
          for (const { id, changedMs } of before) expect(replica.get(id), `record ${id}`).to.be.at.least(changedMs);
        }
        await worker.stop();
      }),
      { numRuns: runs(30), seed: seedOr(16), examples: [[-MOST_SKEW_MS, [LAST, AT_THE_BOUND]]] },
    );
  }).timeout(120_000);
});

/** A change that shows right after the job read it, as late as it can, by a clock that is behind as far as it can be. */
const AT_THE_BOUND = { ids: [1], lagMs: OVERLAP_MS, during: [], passMs: OVERLAP_MS, toIsEarlier: false };
/** By then everything shows. */
const LAST = { ids: [], lagMs: 0, during: [], passMs: 120_000, toIsEarlier: false };
