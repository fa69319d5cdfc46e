import type { Clock } from '../clock.ts';
import type { Metrics } from '../metrics.ts';
import type { DispatchFigures } from './dispatch/dispatcher.ts';
import type { WrittenOutcomes } from './outcomes/outcome-store.ts';

export type EngineMetrics = ReturnType<typeof createEngineMetrics>;

/** An event that was stored. */
export interface AcceptedEvent {
  readonly state: string;
  readonly accountId: number;
  readonly elementKey: string;
}

interface EngineFigures {
  readonly dispatch: () => DispatchFigures;
  /** Called for each stored event. */
  readonly noteEvent: (accountId: number, elementKey: string) => void;
}

const LAG_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

/** Creates the metrics of the event engine. */
export function createEngineMetrics(metrics: Metrics, clock: Clock, { dispatch, noteEvent }: EngineFigures) {
  const accepted = metrics.counter<'state'>({
    name: 'causeway_events_accepted_total',
    help: 'Events stored, by the first state of their delivery.',
    labelNames: ['state'],
  });
  const attempts = metrics.counter<'outcome'>({
    name: 'causeway_delivery_attempts_total',
    help: 'Attempts to deliver an event, by outcome: delivered, or the reason of the failure.',
    labelNames: ['outcome'],
  });
  const settled = metrics.counter<'state'>({
    name: 'causeway_deliveries_settled_total',
    help: 'Outcomes of attempts stored, by the new state of the delivery: delivered, waiting (for a retry, or returned by its process), queued, exhausted.',
    labelNames: ['state'],
  });
  const fencedOut = metrics.counter({
    name: 'causeway_delivery_outcomes_fenced_out_total',
    help: 'Outcomes dropped because another process has taken over the delivery.',
  });
  const takenOver = metrics.counter({
    name: 'causeway_delivery_leases_taken_over_total',
    help: 'Deliveries recovered from processes that ended, or that were missing in the memory of their process.',
  });
  const lag = metrics.histogram({
    name: 'causeway_delivery_lag_seconds',
    help: 'Time from accepting an event to the response of its receiver, for first attempts from memory.',
    buckets: LAG_BUCKETS,
  });
  collectFigures(metrics, dispatch);

  return {
    accepted: ({ state, accountId, elementKey }: AcceptedEvent) => {
      accepted.inc({ state });
      noteEvent(accountId, elementKey);
    },
    /** Counts an attempt. `outcome` is `delivered`, `aborted`, or the reason of the failure. `acceptedAtMs` is on the steady clock. */
    attempted: (outcome: string, acceptedAtMs: number | undefined) => {
      attempts.inc({ outcome });
      if (acceptedAtMs !== undefined && outcome === 'delivered') lag.observe((clock.steady() - acceptedAtMs) / 1000);
    },
    /** Counts stored outcomes. `outcomes` is the number of outcomes that were to be stored. */
    written: ({ delivered, waiting, queued }: WrittenOutcomes, outcomes: number) => {
      settled.inc({ state: 'delivered' }, delivered);
      settled.inc({ state: 'waiting' }, waiting);
      settled.inc({ state: 'queued' }, queued);
      fencedOut.inc(outcomes - delivered - waiting - queued);
    },
    exhausted: () => settled.inc({ state: 'exhausted' }),
    takenOver: (deliveries: number) => takenOver.inc(deliveries),
  };
}

function collectFigures(metrics: Metrics, figures: () => DispatchFigures): void {
  const gauges: Readonly<Record<keyof DispatchFigures, { readonly name: string; readonly help: string }>> = {
    lanes: {
      name: 'causeway_delivery_lanes',
      help: 'Subscriptions that have deliveries in memory or whose last attempt failed.',
    },
    blockedLanes: {
      name: 'causeway_delivery_lanes_blocked',
      help: 'Subscriptions whose first attempts wait because the receiver does not respond.',
    },
    inFlight: { name: 'causeway_deliveries_in_flight', help: 'Attempts to deliver in progress.' },
    held: { name: 'causeway_deliveries_held', help: 'Deliveries in memory.' },
    bytes: { name: 'causeway_deliveries_held_bytes', help: 'Bytes of the bodies of the deliveries in memory.' },
  };
  for (const [figure, options] of Object.entries(gauges)) {
    metrics.gauge({ ...options, collect: (gauge) => gauge.set(figures()[figure as keyof DispatchFigures]) });
  }
}
