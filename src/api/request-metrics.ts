import type { RequestHandler } from 'express';
import type { Metrics } from '../metrics.ts';

/** From an answer out of memory to a provider that takes its time. */
const BUCKETS_SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A request that led to no operation. */
const NO_OPERATION = 'none';

/**
 * Measures every request by operation and class of status. The operation is known when a route has noted it in
 * `response.locals.operation`.
 */
export function measureRequests(metrics: Metrics): RequestHandler {
  const duration = metrics.histogram({
    name: 'causeway_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by operation and class of status',
    labelNames: ['operation', 'status'],
    buckets: BUCKETS_SECONDS,
  });
  // Looking a series up by its labels costs more than the observation itself.
  const series = new Map<string, ReturnType<typeof duration.labels>>();

  function observe(operation: string, statusClass: string, seconds: number): void {
    const key = operation + statusClass;
    let found = series.get(key);
    if (found === undefined) {
      found = duration.labels(operation, statusClass);
      series.set(key, found);
    }
    found.observe(seconds);
  }

  return (_request, response, next) => {
    const startedAtMs = performance.now();
    response.once('close', () => {
      const operation: string = response.locals.operation ?? NO_OPERATION;
      observe(operation, statusClassOf(response.statusCode), (performance.now() - startedAtMs) / 1000);
    });
    next();
  };
}

const STATUS_CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

function statusClassOf(status: number): string {
  return STATUS_CLASSES[Math.floor(status / 100)] ?? 'other';
}
