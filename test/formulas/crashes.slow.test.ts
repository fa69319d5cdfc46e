import { expect } from 'chai';
import fc from 'fast-check';
import { WORKER_OPTIONS } from '../../src/formulas/executions/worker.ts';
import { useDatabase } from '../support/database.ts';
import { addModelFormula, expectedRuns, expectSameSteps } from './against-model.ts';
import { arbitraryFormula } from './arbitrary-formulas.ts';
import { useFormulaBench } from './bench.ts';
import { createWorld, INPUT, type ModelFormula, type ModelStep, nextStatus } from './model.ts';
import { createMortalStore, type Death } from './mortal-store.ts';
import * as steps from './steps.ts';

const { FORMULA_RUNS, CONFORMANCE } = process.env;
const RUNS = Number(FORMULA_RUNS ?? (CONFORMANCE === 'full' ? 200 : 60));
const NEVER: Death = { at: Number.POSITIVE_INFINITY, when: 'before' };

const leadsTo = (...onSuccess: readonly string[]) => ({ onSuccess, onFailure: [] });
const give = { kind: 'give', shape: 'object', n: 3, sees: 's1', loop: undefined, logs: true } as const;
const request = { kind: 'request', statuses: [200], retries: 0, accepts404: false, missing: undefined } as const;

/** A formula with a step of each kind that a crash may break. */
const RICH: ModelFormula = {
  first: ['s1'],
  steps: [
    { ...give, name: 's1', ...leadsTo('s2') },
    { ...request, name: 's2', ...leadsTo('s3'), statuses: [503, 500, 200], retries: 2, sees: 's1' },
    { kind: 'loop', name: 's3', list: { input: 'two' }, onSuccess: ['s4'], onFailure: ['s6', 's9'] },
    { ...request, name: 's4', ...leadsTo('s5'), sees: 's1' },
    { ...give, name: 's5', ...leadsTo('s3'), loop: 's3' },
    {
      kind: 'formula',
      name: 's6',
      ...leadsTo('s7'),
      sub: {
        first: ['s6x1'],
        steps: [
          { ...request, name: 's6x1', ...leadsTo('s6x2'), sees: 's6x2' },
          { ...give, name: 's6x2', ...leadsTo('s6x3'), sees: 's6x1' },
          { ...request, name: 's6x3', ...leadsTo(), sees: 's6x2' },
        ],
      },
    },
    { kind: 'filter', name: 's7', onSuccess: [], onFailure: ['s8'], passes: false, loop: undefined },
    { kind: 'throw', name: 's8', ...leadsTo(), logs: true },
    { ...request, name: 's9', ...leadsTo(), statuses: [404], sees: 's8' },
  ] satisfies readonly ModelStep[],
};

describe('executions whose processes die', function crashes() {
  this.timeout(900_000);
  const bench = useFormulaBench(useDatabase());

  /** Runs a formula by processes that die one after the other, and a last one that lives. @returns whether the first one died */
  async function expectSurvival(formula: ModelFormula, deaths: readonly Death[]): Promise<boolean> {
    const { runs, world: expectedWorld } = expectedRuns(formula);
    const world = createWorld();
    await bench.knex('formula_run').delete();
    const committed = new Set<string>();
    const again: string[] = [];
    const key = await addModelFormula(bench, formula, world, (idempotencyKey) => {
      // Behind the step it names the retry.
      if (committed.has(idempotencyKey.replace(/-\d+$/, ''))) again.push(idempotencyKey);
    });
    let [id = 0] = await bench.executions.start(key, INPUT);
    const first = id;
    const toCome = [...deaths];

    /** Keeps a process alive until all is done; the next one takes over what it had. */
    const begin = () => {
      const mortal = createMortalStore(bench.knex, toCome.shift() ?? NEVER, (stored) => {
        for (const { id: executionId, rows } of stored)
          for (const { ordinal } of rows) committed.add(`formula-${executionId}-${ordinal}`);
      });
      const worker = bench.startWorker({ store: mortal.store });
      void mortal.died.then(async () => {
        begin();
        bench.pass(WORKER_OPTIONS.leaseMs + 1_000);
        await worker.stop(0);
      });
      return mortal;
    };
    const firstProcess = begin();
    for (const [at, run] of runs.entries()) {
      const { status } = await bench.untilStatus(1, id, 'success', 'failed', 'retry', 'cancelled');
      expectSameSteps(await bench.stepsShown(1, id), run.rows);
      expect(status).to.equal(run.status);
      if (status !== 'retry') break;
      const last = id;
      const minutes = [3, 7][at] ?? 0;
      bench.pass(minutes * 60_000 + 100);
      id = await bench.until(async () => {
        const { rows } = await bench.executions.list(key, { limit: 10 });
        return rows.find((each) => each.id > last)?.id;
      });
    }
    // A request of our own API has the same key when it is sent again, so that it happens once.
    expect(world.bodies).to.deep.equal(expectedWorld.bodies);
    expect(again, 'calls of steps that were committed').to.deep.equal([]);
    expect(await bench.knex('formula_run')).to.deep.equal([]);
    expect(id - first).to.be.at.least(runs.length - 1);
    const { total } = await bench.executions.list(key, { limit: 1 });
    expect(total, 'executions').to.equal(runs.length);
    await bench.stopWorkers();
    return firstProcess.isDead();
  }

  for (const when of ['before', 'after'] as const) {
    it(`end as if nothing had been, each commit in turn ${when}`, async () => {
      let at = 1;
      while (await expectSurvival(RICH, [{ at, when }])) at += 1;
      expect(at).to.be.above(10);
    });
  }

  it('continue ten seconds after their process died', async () => {
    const formula: ModelFormula = { first: ['s1'], steps: [{ ...request, name: 's1', ...leadsTo(), sees: 's1' }] };
    const key = await addModelFormula(bench, formula, createWorld());
    const mortal = createMortalStore(bench.knex, { at: 1, when: 'after' });
    const [id = 0] = await bench.executions.start(key, INPUT);
    bench.startWorker({ store: mortal.store });
    await mortal.died;
    bench.startWorker();
    bench.pass(10_500);
    await bench.untilStatus(1, id, 'success');
  });

  /**
   * Runs an execution whose first call ends after another process has taken it over, which then waits at `lastCall` until the process that
   * was taken for dead has nothing more to do.
   */
  async function overtake(
    key: Awaited<ReturnType<typeof bench.addFormula>>,
    { firstStatus, lastCall, check }: { firstStatus: number; lastCall: number; check?: (id: number) => Promise<void> },
  ): Promise<number> {
    const first = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    bench.playApi(async () => {
      const count = bench.calls.length;
      if (count === 1) await first.promise;
      if (count === lastCall) await last.promise;
      return { status: count === 1 ? firstStatus : 200, body: { call: count } };
    });
    const [id = 0] = await bench.executions.start(key, INPUT);
    // It has one slot, so it cannot claim the execution a second time itself.
    const late = bench.startWorker({ options: { concurrency: 1 } });
    await bench.until(async () => bench.calls[0]);
    // Its renewals come by the clock of the process, which has stood still.
    bench.pass(WORKER_OPTIONS.leaseMs + 1_000);
    bench.startWorker();
    await bench.until(async () => bench.calls[lastCall - 1]);
    first.resolve();
    await bench.until(async () => (late.busy() === 0 ? true : undefined));
    await check?.(id);
    last.resolve();
    await bench.untilStatus(1, id, 'success');
    return id;
  }

  it('are not changed any more by a process that was taken for dead', async () => {
    const formula: ModelFormula = {
      first: ['s1'],
      steps: [
        { ...request, name: 's1', ...leadsTo('s2'), sees: 's2' },
        { ...request, name: 's2', ...leadsTo(), sees: 's1' },
      ],
    };
    const key = await addModelFormula(bench, formula, createWorld());
    // The other one is in the second step when this one hears of the first.
    const check = async (id: number) => {
      const [run] = await bench.knex('formula_run').where({ id });
      expect(run?.lease_until?.getTime()).to.be.above(bench.clock.now());
    };
    const id = await overtake(key, { firstStatus: 200, lastCall: 3, check });
    const shown = await bench.stepsShown(1, id);
    expect(shown.map(({ name, isRestarted }) => [name, isRestarted])).to.deep.equal([
      ['trigger', false],
      ['s1', true],
      ['s2', false],
    ]);
    const calls = bench.calls.map(
      ({ path, headers }) => `${path} ${headers['idempotency-key']?.replace(String(id), 'id')}`,
    );
    expect(calls).to.deep.equal(['/model/s1 formula-id-1-0', '/model/s1 formula-id-1-0', '/model/s2 formula-id-2-0']);
    expect(bench.ended.map(({ status }) => status)).to.deep.equal(['success']);
  });

  // Here the late process stores no step, whose ordinal another one could have: only its lease keeps it from resetting the position.
  it('are not sent back by a process that was taken for dead and wants to retry', async () => {
    const retry = { retry: 'true', retryAttempts: '1', retryDelay: '1' };
    const key = await bench.addFormula({
      steps: [
        steps.request('s1', { method: 'POST', api: '/s1', ...retry }, { onSuccess: ['s2'] }),
        steps.request('s2', { method: 'POST', api: '/s2' }),
      ],
    });
    const id = await overtake(key, { firstStatus: 503, lastCall: 3 });
    expect(bench.calls.map(({ path }) => path)).to.deep.equal(['/s1', '/s1', '/s2']);
    expect(await bench.path(1, id)).to.deep.equal(['trigger success', 's1 success', 's2 success']);
  });

  it('are not ended by a process that was taken for dead', async () => {
    const key = await bench.addFormula({ steps: [steps.request('s1', { method: 'POST', api: '/s1' })] });
    const id = await overtake(key, { firstStatus: 500, lastCall: 2 });
    expect(await bench.path(1, id)).to.deep.equal(['trigger success', 's1 success']);
    expect(bench.ended.map(({ status }) => status)).to.deep.equal(['success']);
  });

  it('run in one process at a time, also with several over one database', async () => {
    const key = await addModelFormula(bench, RICH, createWorld());
    const play = createWorld();
    bench.playApi(({ path, headers }) => {
      nextStatus(play, headers['idempotency-key'] ?? path, [200], undefined);
      return { status: 200, body: {} };
    });
    for (let process = 0; process < 3; process++) bench.startWorker({ options: { concurrency: 8 } });
    const ids = await Promise.all(Array.from({ length: 60 }, () => bench.executions.start(key, INPUT)));
    for (const [id = 0] of ids) await bench.untilStatus(1, id, 'failed');
    // s2, s4 twice, s6x1, s6x3 and s9 of each.
    expect(play.calls.size).to.equal(60 * 6);
    expect([...play.calls.values()].filter((count) => count > 1)).to.deep.equal([]);
  });

  it('end as the model, random formulas with random deaths', async () => {
    const death = fc.record({
      at: fc.integer({ min: 1, max: 12 }),
      when: fc.constantFrom('before' as const, 'after' as const),
    });
    await fc.assert(
      fc.asyncProperty(arbitraryFormula, fc.array(death, { minLength: 1, maxLength: 4 }), async (formula, deaths) => {
        await expectSurvival(formula, deaths);
      }),
      { numRuns: RUNS, endOnFailure: FORMULA_RUNS === undefined },
    );
  });
});
