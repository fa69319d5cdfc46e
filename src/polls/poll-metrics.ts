import type { Metrics } from '../metrics.ts';
import type { RunTally } from './run.ts';

/** The outcome of a run. */
export type PollOutcome = 'events' | 'empty' | 'failed' | 'waited' | 'lost';

export type PollMetrics = ReturnType<typeof createPollMetrics>;

const LAG_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300];

/** Creates the metrics of pollers. */
export function createPollMetrics(metrics: Metrics, lateSeconds: () => Promise<number>) {
  const polls = metrics.counter<'outcome'>({
    name: 'causeway_polls_total',
    help: 'Polls made, by outcome: events, empty, failed, waited (what is left of the limit of the provider is left to callers), or lost to a change of the instance, a stop or another process.',
    labelNames: ['outcome'],
  });
  const events = metrics.counter({ name: 'causeway_poll_events_total', help: 'Events that polls found.' });
  const calls = metrics.counter({
    name: 'causeway_poll_provider_calls_total',
    help: 'Calls of providers that polls made.',
  });
  const lag = metrics.histogram({
    name: 'causeway_poll_lag_seconds',
    help: 'From the time at which a poll was due to its start.',
    buckets: LAG_BUCKETS,
  });
  metrics.gauge({
    name: 'causeway_poll_oldest_due_seconds',
    help: 'By how much the oldest due poll is late, over all processes.',
    collect: async (gauge) => gauge.set(await lateSeconds()),
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
