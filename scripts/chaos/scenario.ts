import type { SpawnOptions } from 'node:child_process';
import type { EngineOptions } from '../../src/events/options.ts';
import type { LoadDatabase } from '../event-load/postgres.ts';
import { type Receiver, startSender } from '../event-load/processes.ts';

/** A promise of a scenario and its result. */
export interface Promised {
  readonly promise: string;
  readonly found: string;
  readonly kept: boolean;
}

export interface Stage {
  readonly database: LoadDatabase;
  readonly receiver: Receiver;
  /** Number of endpoints that want every event, beside the callback URLs. */
  readonly endpoints?: number;
  /** The accounts that publish, in turn. Default: the first account. */
  readonly accountIds?: readonly number[];
}

/** Streams of services: their errors are shown with CHAOS_LOG. */
export const STDIO: SpawnOptions['stdio'] | undefined =
  process.env.CHAOS_LOG === undefined ? undefined : ['pipe', 'ignore', 'inherit'];

export type Scenario = (stage: Stage) => Promise<readonly Promised[]>;

/** Settings of the engine with shorter times, so that a run need not wait long. */
export const HASTY: Partial<EngineOptions> = {
  attemptTimeoutMs: 4_000,
  heartbeatMs: 500,
  silentMs: 2_500,
  sweepBackstopMs: 1_000,
  schedules: { 5: schedule(5), 9: schedule(9) },
  breaker: { failures: 5, hardFailures: 3, shortestParkMs: 500, longestParkMs: 2_000 },
};

function schedule(count: number) {
  return { offsetsMs: Array.from({ length: count }, (_, index) => 1_000 * (index + 1) ** 2), shortestIntervalMs: 500 };
}

/** Prints the promises with their results. The exit code of this process is 1 if one was broken. */
export function report(results: readonly Promised[]): void {
  console.table(results.map(({ kept, promise, found }) => ({ kept: kept ? 'yes' : 'NO', promise, found })));
  process.exitCode = results.every(({ kept }) => kept) ? 0 : 1;
}

/** Starts a sender for these paths of the receiver. It adds the numbers of committed events to `committed`. */
export function startEngine(
  { database, receiver, endpoints = 0, accountIds = database.accountIds.slice(0, 1) }: Stage,
  paths: readonly string[],
  committed: Set<number> = new Set(),
  options: Partial<EngineOptions> = HASTY,
) {
  const callbackUrls = paths.map((path) => receiver.url + path);
  const given = Array.from({ length: endpoints }, (_, index) => {
    const endpoint = { url: `${receiver.url}${pathOfEndpoint(index)}`, where: "objectName = 'items'" };
    // One of them has a rate, above that of the events, so that killed processes have reserved times.
    return index === 0 ? { ...endpoint, maxPerSecond: 1_000 } : endpoint;
  });
  return startSender(
    { databaseUrl: database.url, accountIds, callbackUrls, endpoints: given, bodyBytes: 1024, options },
    { onCommitted: (numbers) => numbers.forEach((number) => void committed.add(number)) },
  );
}

export function pathOfEndpoint(index: number): string {
  return `/endpoint-${index}`;
}

export function pathsOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `/${prefix}/${index}`);
}

export function indexesOf(items: readonly unknown[]): readonly number[] {
  return items.map((_, index) => index);
}

/** Returns how many acknowledged numbers never arrived. */
export function countLost(committed: ReadonlySet<number>, received: readonly number[]): number {
  const came = new Set(received);
  return [...committed].filter((number) => !came.has(number)).length;
}
