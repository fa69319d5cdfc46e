import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { quantile } from '../bench/measure.ts';
import { drained } from '../event-load/postgres.ts';
import type { Sender } from '../event-load/processes.ts';
import { countLost, indexesOf, pathsOf, type Scenario, type Stage, startEngine } from './scenario.ts';

const DRAIN_MS = 60_000;

interface OutageOptions {
  readonly perSecond: number;
  readonly outages: number;
  readonly downSeconds: number;
}

/** A receiver is down for seconds, and must receive every event afterwards. */
export function receiverOutages({ perSecond, outages, downSeconds }: OutageOptions): Scenario {
  return async (stage) => {
    const paths = pathsOf('outage', 5);
    const committed = new Set<number>();
    const before = (await stage.receiver.numbers()).numbers.length;
    const sender = await startEngine(stage, paths, committed);
    const seconds = outages * downSeconds * 2 + 1;
    const load = sender.load({ perSecond, seconds, firstNumber: 500_000_000, instanceIds: indexesOf(paths) });
    for (let outage = 0; outage < outages; outage++) {
      await sleep(downSeconds * 1000);
      await stage.receiver.listen(false);
      await sleep(downSeconds * 1000);
      await stage.receiver.listen(true);
    }
    const { accepted } = await load;
    const { left, ms } = await drained(stage.database.knex, { timeoutMs: DRAIN_MS });
    const { numbers } = await stage.receiver.numbers();
    const retried = await countRetried(stage.database.knex);
    await sender.stop();
    const lost = countLost(committed, numbers);
    return [
      {
        promise: `a receiver that is away ${outages} times for ${downSeconds} s: lost = 0`,
        found: `${accepted} acknowledged, ${numbers.length - before} arrived, ${lost} lost`,
        kept: lost === 0 && committed.size === accepted && accepted > 0,
      },
      {
        promise: 'what failed succeeds by a retry',
        found: `${retried} by retries, ${left} left after ${(ms / 1000).toFixed(1)} s`,
        kept: left === 0 && retried > 0,
      },
    ];
  };
}

async function countRetried(knex: Knex): Promise<number> {
  const { rows } = await knex.raw('select count(*) as count from delivery_attempt where delivered and attempt > 1');
  return rows[0].count;
}

interface HangOptions {
  readonly perSecond: number;
  readonly seconds: number;
  readonly rounds: number;
}

/** Baseline below which the noise of a shared machine dominates, in milliseconds. */
const LEAST_BASELINE_MS = 10;
const ENDPOINTS = 10;

/** Lets one endpoint of ten hang. The others must not become slower. */
export function hangingEndpoint({ perSecond, seconds, rounds }: HangOptions): Scenario {
  return async (stage) => {
    const paths = pathsOf('hang', ENDPOINTS);
    const [hanging = '', ...healthy] = paths;
    const sender = await startEngine(stage, paths);
    const measure = createMeter(stage, sender, { paths, healthy, perSecond, seconds, firstNumber: 600_000_000 });
    await measure();
    const baselines: number[] = [];
    const disturbed: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await stage.receiver.behave(hanging, 'answer');
      baselines.push(await measure());
      await stage.receiver.behave(hanging, 'hang');
      disturbed.push(await measure());
    }
    await stage.receiver.behave(hanging, 'answer');
    const { left } = await drained(stage.database.knex, { timeoutMs: DRAIN_MS });
    await sender.stop();
    const [baseline, found] = [quantile(baselines, 0.5), quantile(disturbed, 0.5)];
    return [
      {
        promise: `10 % of ${perSecond}/s to an endpoint that hangs: p99 of the others ≤ 2 × baseline`,
        found: `baseline ${baseline.toFixed(1)} ms, disturbed ${found.toFixed(1)} ms, ${left} left`,
        kept: found <= 2 * Math.max(baseline, LEAST_BASELINE_MS) && left === 0,
      },
    ];
  };
}

interface MeterOptions {
  readonly paths: readonly string[];
  /** The paths of which the latency is measured. */
  readonly healthy: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
  readonly firstNumber: number;
}

/** Returns a function that sends a load, and returns the 99th percentile of the latency. */
function createMeter(
  { receiver }: Stage,
  sender: Sender,
  { paths, healthy, perSecond, seconds, firstNumber }: MeterOptions,
): () => Promise<number> {
  let next = firstNumber;
  return async () => {
    await receiver.report();
    await sender.load({ perSecond, seconds, firstNumber: next, instanceIds: indexesOf(paths) });
    next += Math.ceil(perSecond * seconds);
    await sleep(500);
    return (await receiver.report(healthy)).latency.p99;
  };
}

interface SnapshotOptions {
  readonly perSecond: number;
  readonly seconds: number;
}

/** A long transaction prevents the cleanup of every dead row in the hot table. */
export function heldSnapshot({ perSecond, seconds }: SnapshotOptions): Scenario {
  return async (stage) => {
    const { knex } = stage.database;
    const paths = pathsOf('snapshot', 10);
    const sender = await startEngine(stage, paths);
    const third = { paths, healthy: paths, perSecond, seconds: seconds / 3, firstNumber: 700_000_000 };
    const measureThird = createMeter(stage, sender, third);
    await measureThird();
    const baseline = await measureThird();
    const snapshot = await knex.transaction({ isolationLevel: 'repeatable read' });
    await snapshot.raw('select count(*) from delivery');
    const p99s = [await measureThird(), await measureThird(), await measureThird()];
    const { left } = await drained(knex, { timeoutMs: DRAIN_MS });
    const dead = await countDead(knex);
    await snapshot.rollback();
    await sender.stop();
    const last = p99s.at(-1) ?? Number.NaN;
    return [
      {
        promise: `${perSecond}/s for ${seconds} s under a snapshot held open: no collapse (p99 at the end ≤ 3 × without)`,
        found: `p99 ${baseline.toFixed(1)} ms without, then ${p99s.map((ms) => ms.toFixed(1)).join(', ')} ms; ${dead} dead rows kept, ${left} left`,
        kept: last <= 3 * Math.max(baseline, LEAST_BASELINE_MS) && left === 0 && dead > 0,
      },
    ];
  };
}

async function countDead(knex: Knex): Promise<number> {
  await knex.raw('select pg_stat_force_next_flush()');
  const { rows } = await knex.raw("select n_dead_tup as dead from pg_stat_user_tables where relname = 'delivery'");
  return rows[0].dead;
}
