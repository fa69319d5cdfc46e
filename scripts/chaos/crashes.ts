import { setTimeout as sleep } from 'node:timers/promises';
import type { Sender } from '../event-load/processes.ts';
import { countLost, drained, indexesOf, pathOfEndpoint, pathsOf, type Scenario, startEngine } from './scenario.ts';

export interface CrashOptions {
  readonly kills: number;
  readonly restarts: number;
  readonly perSecond: number;
  readonly secondsBetween: number;
  /** Number of endpoints that want every event, beside the callback URLs. Default: none. */
  readonly endpoints?: number;
}

const SENDERS = 2;
const DRAIN_MS = 60_000;
/** Range of numbers for the events of one load. No load has as many events. */
const NUMBERS = 1_000_000;
const MOST_DUPLICATES = 0.01;
/**
 * Number of acknowledged events from which duplicates are judged. Among fewer, the events that one crash repeats are a large share, and
 * even more so on a slow machine.
 */
const COUNTED_FROM = 10_000;

/** Senders are killed and PostgreSQL crashes while events arrive. Every acknowledged event must be delivered. */
export function crashes({ kills, restarts, perSecond, secondsBetween, endpoints = 0 }: CrashOptions): Scenario {
  return async (given) => {
    const stage = { ...given, endpoints };
    const paths = pathsOf('crash', 20);
    const committed = new Set<number>();
    let loads = 0;

    async function startLoaded(): Promise<Sender> {
      const sender = await startEngine(stage, paths, committed);
      const seconds = (kills + restarts + 2) * secondsBetween * 3;
      const load = {
        perSecond: perSecond / SENDERS,
        seconds,
        firstNumber: ++loads * NUMBERS,
        instanceIds: indexesOf(paths),
      };
      // The load rejects when SIGKILL ends its process.
      sender.load(load).catch(() => {});
      return sender;
    }

    const senders = await Promise.all(Array.from({ length: SENDERS }, startLoaded));
    const crashAfter = Math.ceil(kills / (restarts + 1));
    let restarted = 0;
    for (let kill = 1; kill <= kills; kill++) {
      await sleep(secondsBetween * 1000);
      const victim = kill % SENDERS;
      await senders[victim]?.kill();
      senders[victim] = await startLoaded();
      if (kill % crashAfter === 0 && restarted < restarts) {
        restarted++;
        await stage.database.crash();
      }
    }
    await sleep(secondsBetween * 1000);
    for (const sender of senders) await sender.kill();

    const last = await startEngine(stage, paths);
    const { left } = await drained(stage.database.knex, DRAIN_MS);
    const { numbers, ofEndpoints, duplicates } = await stage.receiver.numbers();
    await last.stop();
    const arrivals = [numbers, ...indexesOf(Array(endpoints).fill(0)).map((n) => ofEndpoints[pathOfEndpoint(n)] ?? [])];
    const lost = arrivals.reduce((sum, arrived) => sum + countLost(committed, arrived), 0);
    const share = duplicates / Math.max(1, numbers.length * arrivals.length);
    return [
      {
        promise: `${kills} SIGKILLs of senders, ${restarts} crashes of PostgreSQL${endpoints > 0 ? `, ${endpoints} endpoints` : ''}: lost = 0`,
        found: `${committed.size} acknowledged, ${numbers.length} arrived, ${lost} lost`,
        kept: lost === 0 && committed.size > 0 && restarted === restarts,
      },
      { promise: 'nothing is left undelivered', found: `${left} left`, kept: left === 0 },
      {
        promise: `duplicates < ${MOST_DUPLICATES * 100} %, of ${COUNTED_FROM} events or more`,
        found: `${duplicates} (${(share * 100).toFixed(2)} %)`,
        kept: share < MOST_DUPLICATES || numbers.length < COUNTED_FROM,
      },
    ];
  };
}
