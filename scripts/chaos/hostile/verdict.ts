import type { ScenarioOutcome } from './run.ts';

const MOST_STRETCH_MS = 50;
const MOST_KEPT_MB = 50;
const MOST_TIMES_BASELINE = 3;
/** Baseline in milliseconds below which the noise of a machine that runs attacker, database and service together dominates. */
const LEAST_BASELINE_MS = 20;

/** Share of waiting for a processor above which times also depend on other load. Then they are printed but not judged. */
const MOST_STARVED = 0.25;

interface Aim {
  readonly isMet: (outcome: ScenarioOutcome) => boolean;
  /** Whether the aim is measured by the clock, so that it needs an idle machine. */
  readonly byClock?: true;
}

/** The aims for every outcome, by the word that the table shows for a missed one. */
const AIMS: Readonly<Record<string, Aim>> = {
  stretch: { isMet: ({ stretchMs }) => stretchMs <= MOST_STRETCH_MS },
  memory: { isMet: ({ keptMb }) => keptMb <= MOST_KEPT_MB },
  calls: {
    byClock: true,
    isMet: ({ callP99Ms, baselineCallP99Ms }) => timesBaseline(callP99Ms, baselineCallP99Ms) <= MOST_TIMES_BASELINE,
  },
  events: {
    byClock: true,
    isMet: ({ eventP99Ms, baselineEventP99Ms }) => timesBaseline(eventP99Ms, baselineEventP99Ms) <= MOST_TIMES_BASELINE,
  },
  failures: { byClock: true, isMet: ({ failures }) => failures.length === 0 },
  internal: { isMet: ({ internal }) => !internal },
};

/** Returns the aims that an outcome misses, without those that could not be judged. */
export function missesOf(outcome: ScenarioOutcome): readonly string[] {
  if (outcome.ended !== undefined) return ['ended'];
  return unmet(outcome).filter((aim) => !isOpen(outcome, aim));
}

/** Returns the aims that look missed but could not be judged, because the machine had no time for the service. */
export function openOf(outcome: ScenarioOutcome): readonly string[] {
  return outcome.ended === undefined ? unmet(outcome).filter((aim) => isOpen(outcome, aim)) : [];
}

function unmet(outcome: ScenarioOutcome): readonly string[] {
  return Object.keys(AIMS).filter((aim) => AIMS[aim]?.isMet(outcome) === false);
}

function isOpen({ starved }: ScenarioOutcome, aim: string): boolean {
  return AIMS[aim]?.byClock === true && starved > MOST_STARVED;
}

function timesBaseline(ms: number, baselineMs: number): number {
  return ms / Math.max(baselineMs, LEAST_BASELINE_MS);
}

export interface Row {
  readonly name: string;
  readonly outcome: ScenarioOutcome;
  readonly tries: number;
}

/** Returns one row of the table. */
export function printRow({ name, outcome, tries }: Row): Readonly<Record<string, string | number>> {
  const { stretchMs, stretchRequests, keptMb, peakRssMb, callP99Ms, eventP99Ms, ended, failures } = outcome;
  const times = timesBaseline(callP99Ms, outcome.baselineCallP99Ms);
  const eventTimes = timesBaseline(eventP99Ms, outcome.baselineEventP99Ms);
  return {
    input: name,
    'stretch ms (requests in it)': `${stretchMs.toFixed(0)} (${stretchRequests})`,
    'kept MB': keptMb.toFixed(1),
    'peak RSS MB': peakRssMb.toFixed(0),
    'starved %': (outcome.starved * 100).toFixed(0),
    'healthy p99 ms (× baseline)': `${callP99Ms.toFixed(0)} (${times.toFixed(1)})`,
    'events p99 ms (×)': `${eventP99Ms.toFixed(0)} (${eventTimes.toFixed(1)})`,
    missed:
      [...missesOf(outcome), ...openOf(outcome).map((aim) => `${aim}?`), ...failures.slice(0, 1)].join(', ') +
      (tries > 1 ? ` [${tries} tries]` : ''),
    'the hostile one got': ended === undefined ? outcome.answered : `THE PROCESS ENDED: ${ended}`,
  };
}
