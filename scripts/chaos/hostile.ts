/**
 * Runs hostile callers, providers, senders of webhooks, receivers, connections and formulas against the real service with a heap of 512 MB,
 * beside a healthy tenant: `npm run chaos:hostile [-- --only name,…] [-- --seed 1] [-- --seconds 1.5] [-- --profile folder] [-- --log file]
 * [-- --list]`. Everything runs on loopback and ends by itself. Exit code 1: an aim was missed.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { limitTo } from '../bench/measure.ts';
import { CALLERS } from './hostile/callers.ts';
import { FORMULAS } from './hostile/formulas.ts';
import { startNeighbour } from './hostile/neighbour.ts';
import { startSite } from './hostile/provider.ts';
import { PROVIDERS } from './hostile/providers.ts';
import { createRandom } from './hostile/random.ts';
import { RECEIVERS } from './hostile/receivers.ts';
import { createBaseline, rest, run, type ScenarioOutcome, type Theatre } from './hostile/run.ts';
import { createHome } from './hostile/service.ts';
import { SOCKETS } from './hostile/sockets.ts';
import type { HostileInput, Inputs } from './hostile/stage.ts';
import { authorizationOf, openTenants } from './hostile/tenants.ts';
import { missesOf, openOf, printRow, type Row } from './hostile/verdict.ts';
import { WEBHOOKS } from './hostile/webhooks.ts';

const INPUTS: Inputs = { ...CALLERS, ...PROVIDERS, ...WEBHOOKS, ...RECEIVERS, ...SOCKETS, ...FORMULAS };
const LIMIT_MS = 15 * 60_000;
const RETRIES_UNTIL_MS = 7.5 * 60_000;
const HEALTHY_PER_SECOND = 20;
const WARM_UP_MS = 3_000;
/**
 * Maximum number of attempts for an input. Noise only adds time, so the best of several attempts is the most accurate; the effect of the
 * input itself occurs in each of them.
 */
const MOST_TRIES = 3;

interface Planned {
  readonly name: string;
  readonly input: HostileInput;
  readonly seed: number;
}

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    seconds: { type: 'string', default: '1.5' },
    profile: { type: 'string' },
    log: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

if (options.list) {
  console.table(Object.entries(INPUTS).map(([name, { kind, finding = '' }]) => ({ name, kind, finding })));
  process.exit(0);
}

const attackMs = Number(options.seconds) * 1000;
const startedAt = performance.now();
const wanted = options.only?.split(',');
const inputs: readonly Planned[] = Object.entries(INPUTS)
  .map(([name, input], index) => ({ name, input, seed: Number(options.seed) + index }))
  .filter(({ name }) => wanted?.some((part) => name.includes(part)) ?? true);
if (inputs.length === 0) throw new Error(`No input is called ${options.only}; --list shows them`);
if (options.profile !== undefined) await mkdir(options.profile, { recursive: true });

const home = await createHome({ logFile: options.log });
limitTo(LIMIT_MS);
// A signal would end the process without its exit handlers, and nothing would be cleaned up.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

async function openTheatre(): Promise<Theatre & { readonly close: () => Promise<void> }> {
  const service = await home.start();
  const tenants = await openTenants(await home.databaseUrl(), home.dataDir);
  const healthy = await tenants.create(`healthy-${Date.now()}`);
  const neighbour = await startNeighbour({
    baseUrl: service.baseUrl,
    authorization: authorizationOf(healthy),
    userSecret: healthy.userSecret,
    perSecond: HEALTHY_PER_SECOND,
  });
  const site = await startSite();
  const theatre = { service, tenants, neighbour, site, baseline: createBaseline() };
  await rest(theatre, WARM_UP_MS);
  await rest(theatre, WARM_UP_MS);
  return {
    ...theatre,
    close: async () => {
      await neighbour.stop();
      await site.close();
      await tenants.close();
      await home.stopService();
    },
  };
}

let theatre = await openTheatre();

/** Runs one attempt. A service that has ended is restarted for the inputs that follow. */
async function attempt({ name, input, seed }: Planned, before?: Row): Promise<Row> {
  const tries = (before?.tries ?? 0) + 1;
  const profile =
    options.profile === undefined ? undefined : join(options.profile, `${fileOf(name)}-${tries}.cpuprofile`);
  const outcome = await run(theatre, {
    name: `${name} ${tries}`,
    input,
    random: createRandom(seed),
    attackMs,
    profile,
  });
  if (outcome.ended !== undefined) {
    await theatre.close();
    theatre = await openTheatre();
  }
  const isBest = before === undefined || faultsOf(outcome) < faultsOf(before.outcome);
  return { name, tries, outcome: isBest ? outcome : before.outcome };
}

function fileOf(name: string): string {
  return name.replaceAll(/\W+/g, '-');
}

/** Runs all inputs once, and then again those that missed an aim, while there is time. */
async function attemptAll(rows: Map<string, Row>): Promise<void> {
  for (let round = 0; round < MOST_TRIES; round++) {
    for (const planned of inputs) {
      const before = rows.get(planned.name);
      if (before !== undefined && (isFinal(before) || performance.now() - startedAt > RETRIES_UNTIL_MS)) continue;
      const row = await attempt(planned, before);
      rows.set(planned.name, row);
      console.log(Object.values(printRow(row)).join(' | '));
    }
  }
}

/** Returns whether an input is not tried again: it ended the process, or it missed no aim. */
function isFinal({ outcome }: Row): boolean {
  return outcome.ended !== undefined || faultsOf(outcome) === 0;
}

/** Returns a number that ranks outcomes. A missed aim counts more than any number of aims that could not be judged. */
function faultsOf(outcome: ScenarioOutcome): number {
  return missesOf(outcome).length * 100 + openOf(outcome).length;
}

const rows = new Map<string, Row>();
console.log(`seed ${options.seed}, ${inputs.length} inputs`);
try {
  await attemptAll(rows);
} finally {
  await theatre.close();
  await home.remove();
}
const all = [...rows.values()];
const missed = all.filter(({ outcome }) => missesOf(outcome).length > 0);
const open = all.filter(({ outcome }) => openOf(outcome).length > 0);
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.table(all.map(printRow));
console.log(`${all.length} inputs in ${seconds} s, ${missed.length} missed an aim; seed ${options.seed}`);
if (open.length > 0)
  console.log(`Of ${open.length} the times could not be judged (?): other programs had the processors`);
process.exitCode = missed.length === 0 ? 0 : 1;
