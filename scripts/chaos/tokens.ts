/**
 * Kills processes while they refresh tokens of the strictest provider, and checks what was promised:
 * `node scripts/chaos/tokens.ts [--refreshes 2000] [--processes 8] [--instances 50] [--kill 0.01] [--seconds 540]`.
 * Everything stays on loopback and stops by itself; the exit code is 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { startStrictServer } from '../../test/support/strict-server.ts';
import { createStrictTokens } from '../../test/support/strict-tokens.ts';
import { ENCRYPTION_KEYS, insertInstances, openTokenDatabase } from './token-database.ts';
import { startFleet } from './token-fleet.ts';
import { createLedger } from './token-ledger.ts';
import { isDocumented, judgeEnd, printReport } from './token-report.ts';
import { startTokenUser } from './token-user.ts';

const { values: options } = parseArgs({
  options: {
    refreshes: { type: 'string', default: '2000' },
    processes: { type: 'string', default: '8' },
    instances: { type: 'string', default: '50' },
    kill: { type: 'string', default: '0.01' },
    seconds: { type: 'string', default: '540' },
  },
});

/** Of an access token: between the two. */
const LEAST_LIFE_SECONDS = 2;
const MOST_LIFE_SECONDS = 4;
const GRACE_MS = 10_000;
/** Shorter than in service, so that many lives and deaths fit into minutes. */
const TIMING = { leaseMs: 5_000, requestMs: 3_000, waitMs: 15_000, pollMs: 200 };

const startedAt = performance.now();
const database = await openTokenDatabase();
const ledger = createLedger();
const provider = createStrictTokens({
  now: () => performance.now(),
  lifeSeconds: () => LEAST_LIFE_SECONDS + Math.random() * (MOST_LIFE_SECONDS - LEAST_LIFE_SECONDS),
});
const server = await startStrictServer({ tokens: provider, onPresented: ledger.presented, onGranted: ledger.granted });
const shared = {
  databaseUrl: database.url,
  providerUrl: server.url,
  encryptionKeys: ENCRYPTION_KEYS,
  timing: TIMING,
};
const parent = await startTokenUser({ ...shared, name: 'parent' });
const instances = await insertInstances(parent.knex, Number(options.instances));
const issue = (index: number) => provider.issue(index % 2 === 0 ? { graceMs: GRACE_MS } : {});
for (const [index, instance] of instances.entries()) await parent.connect(instance, issue(index));

/** A user who authenticates again, as the reason asks for. Once for a refusal, whoever of the many hears of it. */
async function authenticateAgain(instanceId: number): Promise<void> {
  const index = instances.findIndex(({ id }) => id === instanceId);
  const instance = instances[index];
  if (instance === undefined || ledger.isBeingRevived(instanceId)) return;
  ledger.beginRevival(instanceId);
  try {
    const { rows } = await parent.knex.raw('select refused_reason from oauth_token where instance_id = ?', [
      instanceId,
    ]);
    if (rows[0]?.refused_reason !== null) await parent.connect(instance, issue(index));
  } finally {
    ledger.endRevival(instanceId);
  }
}

const fleet = startFleet({
  size: Number(options.processes),
  killChance: Number(options.kill),
  assignment: { ...shared, instances },
  ledger,
  onCredentialsFailed: (instanceId, reason) => {
    if (isDocumented(reason)) authenticateAgain(instanceId).catch(ledger.unexpected);
  },
});
await ledger.untilRefreshes(Number(options.refreshes), Number(options.seconds) * 1_000);
await fleet.stop();

const end = await judgeEnd({ user: parent, instances, ledger, wanted: Number(options.refreshes) });
await parent.close();
await server.close();
await database.close();
printReport({ end, ledger, seconds: (performance.now() - startedAt) / 1_000, options: { ...options, ...TIMING } });
process.exitCode = end.broken.length === 0 ? 0 : 1;
