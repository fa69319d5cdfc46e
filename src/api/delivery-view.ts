import type { Delivery } from '../events/deliveries/deliveries.ts';
import type { AttemptRow } from '../events/deliveries/delivery-listing-store.ts';
import type { Notification } from '../events/notifications/notifications.ts';
import type { Subscription } from '../events/subscriptions/subscriptions.ts';
import { MASK } from '../instances/configuration.ts';
import { parseJson } from '../numbers/exact-json.ts';
import { toEndpointView } from './endpoint-body.ts';
import type { OperationResult } from './operation.ts';

type SubscriptionView = OperationResult<'getSubscription'>;
type DeliveryView = OperationResult<'redeliver'>;
type DeliveryAttempt = OperationResult<'getDelivery'>['attemptHistory'][number];
type NotificationView = OperationResult<'listNotifications'>[number];

const CHANNEL = 'webhook';

/** Returns the view of a subscription with its secret in plain text, if it can be decrypted. */
export function toSubscriptionView(subscription: Subscription): SubscriptionView {
  const { id, url, state, reason, secret, previousSecretExpiresAt, queued, retrying, endpoint } = subscription;
  return {
    id,
    channel: CHANNEL,
    config: { url },
    state,
    eventTypes: [...subscription.eventTypes],
    ...(reason !== null && { reason }),
    secret: secret ?? MASK,
    ...(previousSecretExpiresAt !== undefined && { previousSecretExpiresAt: previousSecretExpiresAt.toISOString() }),
    createdDate: subscription.createdAt.toISOString(),
    updatedDate: subscription.updatedAt.toISOString(),
    stateChangedDate: subscription.stateChangedAt.toISOString(),
    queued,
    retrying,
    ...(endpoint !== undefined && toEndpointView(url, endpoint)),
  };
}

/** Returns the view of a subscription for lists, with its secret masked. */
export function toMaskedSubscriptionView(subscription: Subscription): SubscriptionView {
  return { ...toSubscriptionView(subscription), secret: MASK };
}

export function toDeliveryView(delivery: Delivery): DeliveryView {
  const { id, status, url, subscriptionId, attempts, nextAttemptAt, lastError, instanceId, record } = delivery;
  return {
    id,
    channel: CHANNEL,
    status,
    config: { url },
    subscriptionId,
    attempts,
    createdDate: delivery.createdAt.toISOString(),
    updatedDate: delivery.updatedAt.toISOString(),
    ...(nextAttemptAt !== null && { nextAttemptDate: nextAttemptAt.toISOString() }),
    ...(lastError !== null && { lastError }),
    ...(instanceId !== null && { instance: { id: instanceId } }),
    ...(record !== null && { record }),
    event: toEvent(delivery),
  };
}

/** Returns the event as its receiver gets it: the payload is the body of the push. */
function toEvent({ eventId, type, payload }: Delivery): DeliveryView['event'] {
  if (payload === undefined) return { id: eventId, type };
  // As `buildPayload` printed it.
  return parseJson(payload) as DeliveryView['event'];
}

export function toAttemptView(attempt: AttemptRow): DeliveryAttempt {
  const { statusCode, error, answer: response, requestHeaders } = attempt;
  return {
    attempt: attempt.attempt,
    date: attempt.attemptedAt.toISOString(),
    delivered: attempt.delivered,
    durationMs: attempt.durationMs,
    ...(statusCode !== null && { statusCode }),
    ...(error !== null && { error }),
    ...(response !== null && { answer: response }),
    ...(requestHeaders !== null && { requestHeaders: { ...requestHeaders } }),
  };
}

export function toNotificationView({ id, type, createdAt, data }: Notification): NotificationView {
  return { id, type, createdDate: createdAt.toISOString(), data: { ...data } };
}
