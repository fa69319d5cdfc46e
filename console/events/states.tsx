import { Badge, type Tone } from '../parts/badge.tsx';
import type { DeliveryStatus, Subscription } from './calls.ts';

const TONES: Readonly<Record<DeliveryStatus, Tone>> = {
  queued: 'bad',
  retrying: 'warn',
  delivering: 'busy',
  delivered: 'good',
};

const MEANINGS: Readonly<Record<DeliveryStatus, string>> = {
  queued: 'The delivery waits to be read or released.',
  retrying: 'An attempt failed, and the service will retry.',
  delivering: 'The first attempt is in progress or due.',
  delivered: 'The receiver returned 2xx.',
};

export function DeliveryState({ status }: { readonly status: DeliveryStatus }) {
  return (
    <Badge tone={TONES[status]} title={MEANINGS[status]}>
      {status}
    </Badge>
  );
}

/** The state of an endpoint. One that is not active stores no events. */
export function EndpointState({ endpoint }: { readonly endpoint: Pick<Subscription, 'state' | 'reason' | 'active'> }) {
  if (endpoint.active !== false) return <SubscriptionState subscription={endpoint} />;
  return (
    <Badge tone="warn" title="No events are stored for the endpoint.">
      not active
    </Badge>
  );
}

export function SubscriptionState({ subscription }: { readonly subscription: Pick<Subscription, 'state' | 'reason'> }) {
  const { state, reason } = subscription;
  return (
    <Badge tone={state === 'active' ? 'good' : 'bad'} {...(reason !== undefined && { title: reason })}>
      {state}
    </Badge>
  );
}
