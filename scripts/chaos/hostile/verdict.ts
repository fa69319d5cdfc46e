import type { Outcome } from './run.ts';

const MOST_STRETCH_MS = 50;
const MOST_KEPT_MB = 50;
const MOST_TIMES_BASELINE = 3;
/** Below it the noise of a machine that runs attacker, database and service together decides. */
const LEAST_BASELINE_MS = 20;

/** What is asked of every outcome, by the word that the table shows where it is missed. */
const AIMS: Readonly<Record<string, (outcome: Outcome) => boolean>> = {
  ended: ({ ended }) => ended === undefined,
  stretch: ({ stretchMs }) => stretchMs <= MOST_STRETCH_MS,
  memory: ({ keptMb }) => keptMb <= MOST_KEPT_MB,
  calls: (outcome) => timesBaseline(outcome.callP99Ms, outcome.baselineCallP99Ms) <= MOST_TIMES_BASELINE,
  events: (outcome) => timesBaseline(outcome.eventP99Ms, outcome.baselineEventP99Ms) <= MOST_TIMES_BASELINE,
  failures: ({ failures }) => failures.length === 0,
  internal: ({ internal }) => !internal,
};

/** The aims that an outcome misses; one of a process that ended misses that alone. */
export function missesOf(outcome: Outcome): readonly string[] {
  if (outcome.ended !== undefined) return ['ended'];
  return Object.keys(AIMS).filter((aim) => AIMS[aim]?.(outcome) === false);
}

function timesBaseline(ms: number, baselineMs: number): number {
  return ms / Math.max(baselineMs, LEAST_BASELINE_MS);
}

export interface Row {
  readonly name: string;
  readonly outcome: Outcome;
  readonly tries: number;
}

/** One line of the table. */
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
    missed: [...missesOf(outcome), ...failures.slice(0, 1)].join(', ') + (tries > 1 ? ` [${tries} tries]` : ''),
    'the hostile one got': ended === undefined ? outcome.answered : `THE PROCESS ENDED: ${ended}`,
  };
}
