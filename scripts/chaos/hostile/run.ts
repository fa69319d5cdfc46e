import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../../bench/measure.ts';
import { createAttacker, createTally } from './attacker.ts';
import type { HealthySamples } from './messages.ts';
import type { Neighbour } from './neighbour.ts';
import type { HostileSite } from './provider.ts';
import type { Random } from './random.ts';
import type { Service } from './service.ts';
import type { HostileInput } from './stage.ts';
import type { Tenants } from './tenants.ts';

/** Milliseconds after an attack that still count for it, because work can be left when its callers have closed their connections. */
const SETTLE_MS = 500;
const QUIET_MS = 600;
/** Number of quiet samples that are kept, the latest ones, so that the baseline follows other load on the machine. */
const BASELINE_SAMPLES = 200;
const MEGABYTE = 1024 * 1024;

export interface Theatre {
  readonly service: Service;
  readonly neighbour: Neighbour;
  readonly tenants: Tenants;
  readonly site: HostileSite;
  readonly baseline: Baseline;
}

/** The outcome of one attack. */
export interface ScenarioOutcome {
  readonly stretchMs: number;
  /** Number of requests that began in the longest stretch. */
  readonly stretchRequests: number;
  readonly keptMb: number;
  readonly peakRssMb: number;
  /** Share of the attack for which the service waited for a processor that another process used, from 0 to 1. */
  readonly starved: number;
  readonly callP99Ms: number;
  readonly eventP99Ms: number;
  readonly baselineCallP99Ms: number;
  readonly baselineEventP99Ms: number;
  readonly failures: readonly string[];
  readonly answered: string;
  /** Whether the response reports an internal error. */
  readonly internal: boolean;
  /** The reason why the process ended. Undefined while it runs. */
  readonly ended?: string | undefined;
}

export interface Baseline {
  readonly add: (samples: HealthySamples) => void;
  readonly callP99Ms: () => number;
  readonly eventP99Ms: () => number;
}

export function createBaseline(): Baseline {
  let [callMs, eventMs]: readonly number[][] = [[], []];
  return {
    add: (samples) => {
      callMs = [...(callMs ?? []), ...samples.callMs].slice(-BASELINE_SAMPLES);
      eventMs = [...(eventMs ?? []), ...samples.eventMs].slice(-BASELINE_SAMPLES);
    },
    callP99Ms: () => quantile(callMs ?? [], 0.99),
    eventP99Ms: () => quantile(eventMs ?? [], 0.99),
  };
}

export interface RunOptions {
  readonly name: string;
  readonly input: HostileInput;
  readonly random: Random;
  readonly attackMs: number;
  readonly profile?: string | undefined;
}

/** Runs one attack with all measurements around it. An attack that could not be made misses every aim. */
export async function run(
  theatre: Theatre,
  { name, input, random, attackMs, profile }: RunOptions,
): Promise<ScenarioOutcome> {
  const { service, neighbour, tenants, site, baseline } = theatre;
  const tally = createTally();
  const attack = new AbortController();
  const attacker = createAttacker(service.origin, tally, attack.signal);
  const tenant = await tenants.create(name.replaceAll(/\W+/g, '-'));
  const ground = { name, tenant, knex: tenants.knex, site, random };
  try {
    const armed = await input.arm({ ...ground, attacker });
    await rest(theatre);
    const before = await service.keptBytes();
    await service.begin(profile !== undefined);

    const beganAt = performance.now();
    neighbour.enter('attacked');
    const timer = setTimeout(() => attack.abort(), attackMs);
    await armed({ ...ground, attacker, tally, signal: attack.signal });
    clearTimeout(timer);
    attack.abort();
    attacker.close();
    site.clear();
    await sleep(SETTLE_MS);
    neighbour.enter('ignored');
    const samples = await neighbour.take('attacked');
    const { longest, peakRssBytes, starvedMs } = await service.end(profile);
    const ms = performance.now() - beganAt;
    const after = await service.keptBytes();
    return {
      stretchMs: longest.ms,
      stretchRequests: longest.requests,
      keptMb: (after - before) / MEGABYTE,
      peakRssMb: peakRssBytes / MEGABYTE,
      starved: starvedMs / ms,
      callP99Ms: quantile(samples.callMs, 0.99),
      eventP99Ms: quantile(samples.eventMs, 0.99),
      baselineCallP99Ms: baseline.callP99Ms(),
      baselineEventP99Ms: baseline.eventP99Ms(),
      failures: samples.failures,
      answered: tally.print(),
      internal: tally.has(/^500/),
    };
  } catch (error) {
    return { ...NOTHING, ended: service.ended(), failures: [String(error)], answered: tally.print() };
  } finally {
    attack.abort();
    attacker.close();
    site.clear();
  }
}

const NOTHING: ScenarioOutcome = {
  stretchMs: Number.NaN,
  stretchRequests: 0,
  keptMb: Number.NaN,
  peakRssMb: Number.NaN,
  starved: Number.NaN,
  callP99Ms: Number.NaN,
  eventP99Ms: Number.NaN,
  baselineCallP99Ms: Number.NaN,
  baselineEventP99Ms: Number.NaN,
  failures: [],
  answered: '',
  internal: false,
};

/** Measures the healthy tenant alone, for the baseline. */
export async function rest({ neighbour, baseline }: Theatre, ms = QUIET_MS): Promise<void> {
  neighbour.enter('quiet');
  await sleep(ms);
  neighbour.enter('ignored');
  baseline.add(await neighbour.take('quiet'));
}
