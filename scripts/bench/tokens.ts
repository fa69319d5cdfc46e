/**
 * Measures what access tokens cost: `node scripts/bench/tokens.ts [--seconds 10] [--processes 8]`. An own PostgreSQL
 * (or DATABASE_URL) and a strict authorization server, all on loopback; it stops by itself.
 */
import { fork } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { InstanceKey } from '../../src/instances/instance.ts';
import { startStrictServer } from '../../test/support/strict-server.ts';
import { createStrictTokens } from '../../test/support/strict-tokens.ts';
import { ENCRYPTION_KEYS, insertInstances, openTokenDatabase } from '../chaos/token-database.ts';
import { startTokenUser, type TokenUser } from '../chaos/token-user.ts';
import type { RefresherAssignment, RefresherMessage } from './token-refresher.ts';

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, processes: { type: 'string', default: '8' } },
});
const seconds = Number(options.seconds);
const processes = Number(options.processes);

const INSTANCES_PER_PROCESS = 10;
const WARM_CALLS = 1_000_000;
const ROUNDS = 30;
const WAITING_CALLERS = 50;
const PROVIDER_MS = 100;
const { signal } = new AbortController();

const provider = createStrictTokens({ now: () => performance.now(), lifeSeconds: () => 3_600 });
const database = await openTokenDatabase();
const server = await startStrictServer({ tokens: provider });
let answeredAtMs = 0;
const slowServer = await startStrictServer({
  tokens: provider,
  delayMs: PROVIDER_MS,
  onGranted: () => {
    answeredAtMs = performance.now();
  },
});
const shared = { databaseUrl: database.url, encryptionKeys: ENCRYPTION_KEYS };

async function connectInstances(user: TokenUser, count: number): Promise<InstanceKey[]> {
  const instances = await insertInstances(user.knex, count);
  for (const instance of instances) await user.connect(instance, provider.issue());
  return instances;
}

/** Each process has instances of its own, and refreshes them one after the other without pause. */
async function measureRefreshes(user: TokenUser): Promise<number> {
  const instances = await connectInstances(user, processes * INSTANCES_PER_PROCESS);
  const children = await Promise.all(
    Array.from({ length: processes }, (_, index) => {
      const from = index * INSTANCES_PER_PROCESS;
      const own = instances.slice(from, from + INSTANCES_PER_PROCESS);
      return startRefresher({ ...shared, providerUrl: server.url, name: `child-${index}`, instances: own, seconds });
    }),
  );
  const counts = await Promise.all(children.map((begin) => begin()));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

/** Resolves when the process is ready. @returns the function that lets it begin, and returns its refreshes */
function startRefresher(assignment: RefresherAssignment): Promise<() => Promise<number>> {
  const child = fork(join(import.meta.dirname, 'token-refresher.ts'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.send(assignment);
  return new Promise((resolve, reject) => {
    const done = Promise.withResolvers<number>();
    child.on('message', (message: RefresherMessage) => {
      if (message.kind === 'done') return void done.resolve(message.refreshes);
      resolve(() => {
        child.send('begin');
        return done.promise;
      });
    });
    child.once('exit', (code) => {
      const failure = new Error(`A process ended with ${code}`);
      reject(failure);
      done.reject(failure);
    });
  });
}

/** From the provider's answer until callers have the new token, in the process that asked and in another one. */
async function measureWaiting(): Promise<{ readonly same: number[]; readonly other: number[] }> {
  const asking = await startTokenUser({ ...shared, providerUrl: slowServer.url, name: 'asking' });
  const waiting = await startTokenUser({ ...shared, providerUrl: slowServer.url, name: 'waiting' });
  const [instance] = await connectInstances(asking, 1);
  if (instance === undefined) throw new Error('There is no instance');
  const same: number[] = [];
  const other: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const refused = await asking.tokensOf(instance).current(signal);
    await waiting.tokensOf(instance).current(signal);
    const first = asking.tokensOf(instance).replace(refused, signal);
    const arrive = async (user: TokenUser, times: number[]) => {
      await user.tokensOf(instance).replace(refused, signal);
      times.push(performance.now() - answeredAtMs);
    };
    const callers = Array.from({ length: WAITING_CALLERS }, () => [arrive(asking, same), arrive(waiting, other)]);
    await Promise.all([first, ...callers.flat()]);
  }
  await asking.close();
  await waiting.close();
  return { same, other };
}

async function measureWarmPath(
  user: TokenUser,
): Promise<{ readonly nanoseconds: number; readonly queries: number; readonly decryptions: number }> {
  const [instance] = await connectInstances(user, 1);
  if (instance === undefined) throw new Error('There is no instance');
  const tokens = user.tokensOf(instance);
  const pass = async () => {
    for (let calls = 0; calls < WARM_CALLS; calls++) await tokens.current(signal);
  };
  await pass();
  const before = { ...user.counts };
  const startedAt = performance.now();
  await pass();
  const elapsedMs = performance.now() - startedAt;
  return {
    nanoseconds: (elapsedMs * 1e6) / WARM_CALLS,
    queries: user.counts.queries - before.queries,
    decryptions: user.counts.decryptions - before.decryptions,
  };
}

function percentile(times: readonly number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b);
  return `${(sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1)} ms`;
}

const user = await startTokenUser({ ...shared, providerUrl: server.url, name: 'parent' });
const warm = await measureWarmPath(user);
const { same, other } = await measureWaiting();
const refreshesPerSecond = await measureRefreshes(user);
await user.close();
await Promise.all([server.close(), slowServer.close()]);
await database.close();

const rows: readonly (readonly [what: string, value: string])[] = [
  ['a token from memory', `${warm.nanoseconds.toFixed(0)} ns`],
  [`queries and decryptions of ${WARM_CALLS} of them`, `${warm.queries} and ${warm.decryptions}`],
  [`refreshes per second, ${processes} processes`, refreshesPerSecond.toFixed(0)],
  ["provider's answer → waiting callers, in the process that asked, p50", percentile(same, 0.5)],
  ["provider's answer → waiting callers, in the process that asked, p99", percentile(same, 0.99)],
  ["provider's answer → waiting callers, over the database, p50", percentile(other, 0.5)],
  ["provider's answer → waiting callers, over the database, p99", percentile(other, 0.99)],
];
const width = Math.max(...rows.map(([what]) => what.length));
for (const [what, value] of rows) console.log(`${what.padEnd(width)}  ${value}`);
console.log(
  `\n${cpus().length} × ${cpus()[0]?.model}, Node.js ${process.version}, PostgreSQL on the same machine; ${seconds} s of refreshes, ${INSTANCES_PER_PROCESS} instances a process; ${ROUNDS} rounds of ${WAITING_CALLERS} callers in each of two users, provider takes ${PROVIDER_MS} ms.`,
);
