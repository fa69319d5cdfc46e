import type { Knex } from 'knex';
import { isDistributed } from '../db/distributed.ts';
import { createDueLooks } from '../events/timers.ts';
import type { Platform } from '../platform.ts';
import { inBuckets } from '../work-buckets.ts';
import type { NewExecution, StepValue } from './executions/model.ts';
import { createRunStore } from './executions/run-store.ts';
import { createProgramStore } from './program-store.ts';
import type { Programs } from './programs.ts';
import { nextRun } from './schedule.ts';
import { resolveProperty, toExecution } from './triggers.ts';

interface SchedulerPorts {
  readonly programs: Programs;
  /** Called when executions are committed. */
  readonly wake: () => void;
}

/** An instance whose schedule is due. */
interface DueInstance {
  readonly accountId: number;
  readonly id: number;
  readonly due: Date;
}

/** Maximum number of instances that one transaction starts. */
const BATCH = 100;
/** Milliseconds between two checks of the database: at least while a due instance is locked by another process, and at most. */
const LOOKS = { gatherMs: 20, lookMs: 30_000 };
const TRIGGER: readonly StepValue[] = [[['type'], 'scheduled']];

/**
 * Starts formula instances by the clock. The time of the next start is a column of the instance, so any process starts it, and a time that
 * was missed while no process ran is made up for once.
 */
export function createScheduler(
  { knex, clock, log, buckets }: Pick<Platform, 'knex' | 'clock' | 'log' | 'buckets'>,
  { programs, wake }: SchedulerPorts,
) {
  const stopping = new AbortController();
  const looks = createDueLooks({
    clock,
    signal: stopping.signal,
    options: LOOKS,
    nextDue: async () => {
      const { rows } = await knex.raw<{ rows: { due: Date | null }[] }>(
        `select min(next_due) as due from formula_instance where next_due is not null and ${inBuckets('id')}`,
        [[...buckets.held()]],
      );
      return rows[0]?.due ?? undefined;
    },
    takeDue: async (noteQuery) => {
      const held = buckets.held();
      if (held.length === 0) return false;
      noteQuery();
      const started = await knex.transaction((via) => startSome(via, held));
      if (started > 0) wake();
      return started === BATCH;
    },
    noteFailure: (error) => log.warn({ err: error }, 'could not start formulas by their schedules; trying again'),
  });

  /** @returns the number of instances that were due */
  async function startSome(via: Knex, held: readonly number[]): Promise<number> {
    const now = new Date(clock.now());
    const isSplit = await isDistributed(via);
    const { rows } = await via.raw<{ rows: DueInstance[] }>(isSplit ? FIND_DUE : DUE, [now, [...held], BATCH]);
    const executions: NewExecution[] = [];
    let passed = 0;
    for (const { accountId, id } of rows) {
      if (isSplit && (await via.raw<{ rows: unknown[] }>(LOCK, [accountId, id, now])).rows.length === 0) {
        passed += 1;
        continue;
      }
      // Not from memory: what is a moment old there would set the next start wrongly, and nobody would look at it again.
      const instance = await createProgramStore(via).findInstance(accountId, id);
      const program = instance && (await programs.get(instance.formula, instance.version));
      const isRunning = instance?.active === true && instance.formulaActive && program?.trigger?.type === 'scheduled';
      if (instance !== undefined && program !== undefined && isRunning) {
        const cron = resolveProperty(program, instance, program.trigger?.properties.cron);
        await via('formula_instance')
          .where({ account_id: accountId, id })
          .update({ next_due: nextRun(cron, now) ?? null });
        executions.push(toExecution({ instance, program }, TRIGGER, now));
      } else {
        await via('formula_instance').where({ account_id: accountId, id }).update({ next_due: null });
      }
    }
    // At last: other starts of a single-threaded instance wait from then on until the commit.
    await createRunStore(via).start(executions);
    return rows.length - passed;
  }

  return {
    start: looks.start,
    /** A schedule may have changed. */
    wake: looks.look,
    stop: async () => {
      stopping.abort(new Error('The service is stopping.'));
      await looks.end();
    },
  };
}

const FIND_DUE = `
  select account_id as "accountId", id, next_due as due from formula_instance
  where next_due <= ? and ${inBuckets('id')} order by next_due limit ?`;

const DUE = `${FIND_DUE} for update skip locked`;

/** A distributed database locks rows of one account at a time only. */
const LOCK = 'select id from formula_instance where account_id = ? and id = ? and next_due <= ? for update skip locked';
