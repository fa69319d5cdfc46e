/**
 * Breaks the parts that the delivery of events depends on, and counts the events that arrive: `npm run chaos:events [-- --quick] [-- --only
 * crashes,…]`. Everything runs on loopback with its own database, and ends by itself. Exit code 1: a promise was broken.
 * `.ci/with-citus <folder of PostgreSQL's programs> npm run chaos:events` does the same on a cluster, and kills its nodes.
 */
import { parseArgs } from 'node:util';
import { limitTo } from '../bench/measure.ts';
import { startLoadDatabase } from '../event-load/postgres.ts';
import { startReceiver } from '../event-load/processes.ts';
import { dueRetries } from './backlog.ts';
import { crashes } from './crashes.ts';
import { hangingEndpoint, heldSnapshot, receiverOutages } from './endpoints.ts';
import { processes } from './processes.ts';
import { type Promised, report, type Scenario } from './scenario.ts';

const LIMIT_MS = { full: 15 * 60_000, quick: 120_000 };

/** Number of accounts that publish, so that all nodes of a cluster have some. */
const ACCOUNTS = 8;

const FULL: Readonly<Record<string, Scenario>> = {
  crashes: crashes({ kills: 20, restarts: 3, freezes: 2, perSecond: 400, secondsBetween: 2 }),
  endpoints: crashes({ kills: 10, restarts: 3, freezes: 2, perSecond: 250, secondsBetween: 4, endpoints: 5 }),
  outages: receiverOutages({ perSecond: 200, outages: 3, downSeconds: 3 }),
  hanging: hangingEndpoint({ perSecond: 200, seconds: 10, rounds: 3 }),
  backlog: dueRetries({ deliveries: 100_000, endpoints: 1_000, withinSeconds: 60 }),
  snapshot: heldSnapshot({ perSecond: 1_000, seconds: 60 }),
  processes: processes({ frozenMs: 35_000, perSecond: 30, secondsBetween: 10 }),
};

const QUICK: Readonly<Record<string, Scenario>> = {
  crashes: crashes({ kills: 2, restarts: 1, freezes: 1, perSecond: 200, secondsBetween: 1.5 }),
  endpoints: crashes({ kills: 2, restarts: 1, freezes: 0, perSecond: 50, secondsBetween: 1.5, endpoints: 5 }),
  outages: receiverOutages({ perSecond: 100, outages: 1, downSeconds: 1.5 }),
  hanging: hangingEndpoint({ perSecond: 100, seconds: 2, rounds: 1 }),
  backlog: dueRetries({ deliveries: 3_000, endpoints: 100, withinSeconds: 30 }),
  snapshot: heldSnapshot({ perSecond: 200, seconds: 6 }),
  processes: processes({ frozenMs: 11_000, perSecond: 10, secondsBetween: 2 }),
};

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
limitTo(options.quick ? LIMIT_MS.quick : LIMIT_MS.full);

/** Runs a scenario with its own database and receiver, so that none depends on the leftovers of another. */
async function run(name: string, scenario: Scenario): Promise<readonly Promised[]> {
  const [database, receiver] = await Promise.all([startLoadDatabase({ accounts: ACCOUNTS }), startReceiver()]);
  const startedAt = performance.now();
  try {
    return await scenario({ database, receiver });
  } finally {
    console.log(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    await receiver.stop();
    await database.stop();
  }
}

const wanted = options.only?.split(',');
const scenarios = Object.entries(options.quick ? QUICK : FULL).filter(([name]) => wanted?.includes(name) ?? true);
if (scenarios.length === 0)
  throw new Error(`There is no scenario ${options.only}; there are ${Object.keys(FULL).join(', ')}`);
const results: Promised[] = [];
for (const [name, scenario] of scenarios) results.push(...(await run(name, scenario)));
report(results);
