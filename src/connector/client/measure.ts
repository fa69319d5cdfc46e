import type { Metrics } from '../../metrics.ts';
import type { ByteBudget } from './byte-budget.ts';

/** One request to a provider and what came of it. */
export interface MeasuredCall {
  /** The key of the element. */
  readonly element: string;
  /** The class of the status, like `2xx`; or why there was no answer, like `timeout`. */
  readonly outcome: string;
  readonly durationMs: number;
}

const BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** For the `measure` of a provider client: calls by element and outcome, retries and redirects each on their own. */
export function measureProviderCalls(metrics: Metrics): (call: MeasuredCall) => void {
  const duration = metrics.histogram({
    name: 'causeway_provider_call_duration_seconds',
    help: 'Time of one request to a provider, by element and outcome: a class of status, or why there was no answer',
    labelNames: ['element', 'outcome'],
    buckets: BUCKETS_SECONDS,
  });
  return ({ element, outcome, durationMs }) => duration.observe({ element, outcome }, durationMs / 1000);
}

export function measureBudget({ heldBytes }: ByteBudget, metrics: Metrics): void {
  metrics.gauge({
    name: 'causeway_provider_answers_bytes',
    help: 'Memory of the answers of providers that are being worked on, estimated; see PROVIDER_MEMORY_MB',
    collect: (gauge) => gauge.set(heldBytes()),
  });
}
