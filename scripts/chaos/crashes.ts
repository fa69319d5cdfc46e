import { setTimeout as sleep } from 'node:timers/promises';
import { drained } from '../event-load/postgres.ts';
import type { Sender } from '../event-load/processes.ts';
import { countLost, HASTY, indexesOf, pathOfEndpoint, pathsOf, type Scenario, startEngine } from './scenario.ts';

interface CrashOptions {
  readonly kills: number;
  /** Number of crashes of PostgreSQL: of each node of a cluster in turn. */
  readonly restarts: number;
  /** Number of times that a process is stopped for longer than its lease, and continues. */
  readonly freezes: number;
  readonly perSecond: number;
  readonly secondsBetween: number;
  /** Number of endpoints that want every event, beside the callback URLs. Default: none. */
  readonly endpoints?: number;
}

const SENDERS = 2;
const DRAIN_MS = 120_000;
/** Milliseconds for which a node of a cluster is away. */
const DOWN_MS = 3_000;
/** Milliseconds for which a process is frozen: others notice its silence before. */
const FROZEN_MS = 2 * (HASTY.silentMs ?? 0);
/** Range of numbers for the events of one load. No load has as many events. */
const NUMBERS = 1_000_000;
const MOST_DUPLICATES = 0.01;
/**
 * Number of acknowledged events from which duplicates are judged. Among fewer, the events that one crash repeats are a large share, and
 * even more so on a slow machine.
 */
const COUNTED_FROM = 10_000;

/** Senders are killed and PostgreSQL crashes while events arrive. Every acknowledged event must be delivered. */
export function crashes({
  kills,
  restarts,
  freezes,
  perSecond,
  secondsBetween,
  endpoints = 0,
}: CrashOptions): Scenario {
  return async (given) => {
    // Endpoints belong to one account.
    const accountIds = endpoints > 0 ? given.database.accountIds.slice(0, 1) : given.database.accountIds;
    const stage = { ...given, endpoints, accountIds };
    const paths = pathsOf('crash', 20);
    const committed = new Set<number>();
    let loads = 0;

    async function startLoaded(): Promise<Sender> {
      const sender = await startEngine(stage, paths, committed);
      const seconds = (kills + restarts + freezes + 2) * secondsBetween * 3;
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
    const { nodes } = stage.database;
    const crashAfter = Math.ceil(kills / (restarts + 1));
    const freezeAfter = Math.ceil(kills / (freezes + 1));
    let restarted = 0;
    let frozen = 0;
    for (let kill = 1; kill <= kills; kill++) {
      await sleep(secondsBetween * 1000);
      const victim = kill % SENDERS;
      await senders[victim]?.kill();
      senders[victim] = await startLoaded();
      if (kill % freezeAfter === 0 && frozen < freezes) {
        frozen++;
        await senders[victim]?.freeze(FROZEN_MS);
      }
      if (kill % crashAfter === 0 && restarted < restarts) {
        await nodes[restarted % nodes.length]?.crash(nodes.length > 1 ? DOWN_MS : 0);
        restarted++;
      }
    }
    await sleep(secondsBetween * 1000);
    for (const sender of senders) await sender.kill();

    const last = await startEngine(stage, paths);
    const { left } = await drained(stage.database.knex, { timeoutMs: DRAIN_MS });
    const { numbers, ofEndpoints, duplicates } = await stage.receiver.numbers();
    await last.stop();
    const arrivals = [numbers, ...indexesOf(Array(endpoints).fill(0)).map((n) => ofEndpoints[pathOfEndpoint(n)] ?? [])];
    const lost = arrivals.reduce((sum, arrived) => sum + countLost(committed, arrived), 0);
    const share = duplicates / Math.max(1, numbers.length * arrivals.length);
    return [
      {
        promise: `${kills} SIGKILLs of senders, ${frozen} frozen, ${restarts} crashes of ${nodes.length > 1 ? 'nodes in turn' : 'PostgreSQL'}${endpoints > 0 ? `, ${endpoints} endpoints` : ''}: lost = 0`,
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
