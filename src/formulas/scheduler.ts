import type { Knex } from 'knex';
import { isDistributed } from '../db/distributed.ts';
import { createAlarm } from '../events/timers.ts';
import type { Platform } from '../platform.ts';
import type { StepValue } from './executions/model.ts';
import { createRunStore } from './executions/run-store.ts';
import type { Programs } from './programs.ts';
import { nextRun } from './schedule.ts';
import { resolveProperty, toExecution } from './triggers.ts';

export interface SchedulerPorts {
  readonly programs: Pick<Programs, 'get' | 'findInstance'>;
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
/** Maximum time in milliseconds between two checks of the database. */
const LOOK_MS = 30_000;
const TRIGGER: readonly StepValue[] = [[['type'], 'scheduled']];

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Starts formula instances by the clock. The time of the next start is a column of the instance, so any process starts it, and a time that
 * was missed while no process ran is made up for once.
 */
export function createScheduler(
  { knex, clock, log }: Pick<Platform, 'knex' | 'clock' | 'log'>,
  { programs, wake }: SchedulerPorts,
) {
  const alarm = createAlarm(clock, () => void look());
  let looking: Promise<void> = Promise.resolve();
  let isStopped = true;

  function look(): Promise<void> {
    looking = looking.then(startDue);
    return looking;
  }

  async function startDue(): Promise<void> {
    if (isStopped) return;
    try {
      let started: number;
      do started = await knex.transaction(startSome);
      while (started === BATCH);
      if (started > 0) wake();
      const { rows } = await knex.raw<{ rows: { due: Date | null }[] }>(
        'select min(next_due) as due from formula_instance where next_due is not null',
      );
      const inMs = (rows[0]?.due?.getTime() ?? Number.POSITIVE_INFINITY) - clock.now();
      alarm.ringIn(Math.min(LOOK_MS, Math.max(0, inMs)));
    } catch (error) {
      log.warn({ err: error }, 'could not start formulas by their schedules; trying again');
      alarm.ringIn(LOOK_MS);
    }
  }

  /** @returns the number of instances that were due */
  async function startSome(via: Knex): Promise<number> {
    const now = new Date(clock.now());
    const isSplit = await isDistributed(via);
    const { rows } = await via.raw<{ rows: DueInstance[] }>(isSplit ? FIND_DUE : DUE, [now, BATCH]);
    let passed = 0;
    for (const { accountId, id } of rows) {
      if (isSplit && (await via.raw<{ rows: unknown[] }>(LOCK, [accountId, id, now])).rows.length === 0) {
        passed += 1;
        continue;
      }
      const instance = await programs.findInstance(accountId, id);
      const program = instance && (await programs.get(instance.formula, instance.version));
      const isRunning = instance?.active === true && instance.formulaActive && program?.trigger?.type === 'scheduled';
      if (instance !== undefined && program !== undefined && isRunning) {
        const cron = resolveProperty(program, instance, program.trigger?.properties.cron);
        await via('formula_instance')
          .where({ account_id: accountId, id })
          .update({ next_due: nextRun(cron, now) ?? null });
        await createRunStore(via).start([toExecution({ instance, program }, TRIGGER, now)]);
      } else {
        await via('formula_instance').where({ account_id: accountId, id }).update({ next_due: null });
      }
    }
    return rows.length - passed;
  }

  return {
    start: () => {
      isStopped = false;
      void look();
    },
    /** A schedule may have changed. */
    wake: () => void look(),
    stop: async () => {
      isStopped = true;
      alarm.end();
      await looking;
    },
  };
}

const FIND_DUE = `
  select account_id as "accountId", id, next_due as due from formula_instance
  where next_due <= ? order by next_due limit ?`;

const DUE = `${FIND_DUE} for update skip locked`;

/** A distributed database locks rows of one account at a time only. */
const LOCK = 'select id from formula_instance where account_id = ? and id = ? and next_due <= ? for update skip locked';
