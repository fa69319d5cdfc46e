import type { Metrics } from '../../../metrics.ts';
import type { TokenFailureKind } from '../grant.ts';

/** One request for another access token and what came of it. */
export interface MeasuredRefresh {
  /** The key of the element. */
  readonly element: string;
  readonly outcome: 'granted' | TokenFailureKind;
  readonly durationMs: number;
}

const BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** For the `measure` of tokens. */
export function measureRefreshes(metrics: Metrics): (refresh: MeasuredRefresh) => void {
  const duration = metrics.histogram({
    name: 'causeway_token_refresh_duration_seconds',
    help: 'Time that a provider took for another access token, by element and outcome: granted, refused (for good), unreachable (nothing was done), unknown (it may have granted)',
    labelNames: ['element', 'outcome'],
    buckets: BUCKETS_SECONDS,
  });
  return ({ element, outcome, durationMs }) => duration.observe({ element, outcome }, durationMs / 1000);
}
