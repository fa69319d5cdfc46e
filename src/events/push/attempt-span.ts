import { describeTarget } from '../../connector/client/reporting.ts';
import type { SpanAttributes, SpanEnd } from '../../trace.ts';
import type { DeliveryLease } from '../lease.ts';
import type { DeliveryOutcome } from '../outcomes/outcome-queue.ts';

/**
 * Returns the attributes of an attempt's span before the request is sent, following the OpenTelemetry conventions for
 * HTTP clients plus attributes of this service.
 */
export function describeAttempt(lease: DeliveryLease, url: URL, eventId: string): SpanAttributes {
  return {
    'http.request.method': 'POST',
    'http.request.resend_count': lease.attempts === 0 ? undefined : lease.attempts,
    // Paths of callbacks are often as good as a password.
    ...describeTarget(url, url.pathname === '/' ? '/' : '/REDACTED'),
    'causeway.account.id': lease.accountId,
    'causeway.instance.id': lease.instanceId,
    'causeway.subscription.id': lease.subscriptionId,
    'causeway.delivery.id': lease.id,
    'causeway.event.id': eventId,
  };
}

/** Returns the status, outcome and error type that end the span of an attempt. */
export function describeOutcome(outcome: DeliveryOutcome): SpanEnd {
  if (outcome.kind === 'released') return { attributes: { 'causeway.delivery.outcome': 'released' } };
  const { attempt } = outcome;
  return {
    attributes: {
      'http.response.status_code': attempt.statusCode,
      'causeway.delivery.outcome': outcome.kind,
      'causeway.delivery.state': outcome.kind === 'delivered' ? undefined : outcome.next.state,
    },
    errorType: attempt.error === undefined ? undefined : errorTypeOf(attempt.statusCode, attempt.error),
  };
}

/** The class of the failure stands before its words. */
function errorTypeOf(statusCode: number | undefined, error: string): string {
  return statusCode === undefined ? error.slice(0, error.indexOf(':')) : String(statusCode);
}
