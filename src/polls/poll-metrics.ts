import type { Metrics } from '../metrics.ts';
import type { RunTally } from './run.ts';

/** The outcome of a run. */
export type PollOutcome = 'events' | 'empty' | 'failed' | 'waited' | 'lost';

export type PollMetrics = ReturnType<typeof createPollMetrics>;

const LAG_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300];

/** Creates the metrics of pollers. */
export function createPollMetrics(metrics: Metrics) {
  const polls = metrics.counter<'outcome'>({
    name: 'causeway_polls_total',
    help: 'Runs of polls, by outcome: events, empty, failed, waited (the rest of the rate limit of the provider is for callers), lost (the instance changed, the process stopped, or another process took over).',
    labelNames: ['outcome'],
  });
  const events = metrics.counter({ name: 'causeway_poll_events_total', help: 'Events that polls found.' });
  const calls = metrics.counter({
    name: 'causeway_poll_provider_calls_total',
    help: 'Calls to providers that polls made.',
  });
  const lag = metrics.histogram({
    name: 'causeway_poll_lag_seconds',
    help: 'Time from the due time of a poll to its start.',
    buckets: LAG_BUCKETS,
  });
  return {
    started: (lateSeconds: number) => lag.observe(Math.max(0, lateSeconds)),
    ended: (outcome: PollOutcome, { events: found, providerCalls }: RunTally) => {
      polls.inc({ outcome });
      events.inc(found);
      calls.inc(providerCalls);
    },
  };
}
