import { ApiError, type Causeway, where } from '@causeway/client';
import { UnreachableError, UsageError } from './failures.js';
import type { Settings } from './settings.js';

/** An instance and the URL on this machine that receives its events. */
export interface Registration {
  readonly instanceId: number;
  readonly url: string;
  readonly settings: Settings;
  /** Whether to replace another callback URL until the command ends. */
  readonly mayReplace: boolean;
  /** The filter over the events. With it, an endpoint receives them, and the callback URL of the instance stays as it is. */
  readonly where?: string | undefined;
}

/** The secret that signs the events, and the function that restores the configuration. */
export interface Registered {
  readonly secret: string;
  /** The endpoint that was created for the command. */
  readonly endpointId?: number;
  readonly undo: () => Promise<void>;
}

/** The type of the event that tests whether events arrive. No object has this name. */
export const TEST_TYPE = 'causeway-listen.updated';

const ENABLED = 'event.notification.enabled';
const CALLBACK_URL = 'event.notification.callback.url';
const FORMAT = 'event.notification.format';
const POLL_MS = 250;
const MOST_POLLS = 80;

/**
 * Configures an instance to send its events to the URL. `undo` restores its configuration.
 * @throws UsageError if the instance has another callback URL that must not be replaced
 */
export async function register(
  platform: Causeway,
  registration: Registration,
  signal: AbortSignal,
): Promise<Registered> {
  if (registration.where !== undefined) return registerEndpoint(platform, registration, registration.where, signal);
  const { instanceId: id, url, settings, mayReplace } = registration;
  const before: Settings = await platform.instances.getInstanceConfiguration({ id }, { signal });
  if (before[ENABLED] === true && before[CALLBACK_URL] !== url && !mayReplace) {
    throw new UsageError(
      `The instance sends its events to ${before[CALLBACK_URL]}. Add --replace to receive them here until this command ends.`,
    );
  }
  const changes: Settings = { ...settings, [ENABLED]: true, [CALLBACK_URL]: url, [FORMAT]: 'standard' };
  // None of these values is a secret, so the response contains the values themselves and not a mask.
  const restore = Object.fromEntries(Object.keys(changes).map((key) => [key, before[key] ?? null]));
  await platform.instances.updateInstanceConfiguration({ id, requestBody: changes }, { signal });
  const undo = async () => {
    await platform.instances.updateInstanceConfiguration({ id, requestBody: restore });
    const subscription = await subscriptionOf(platform, url);
    if (subscription !== undefined && before[CALLBACK_URL] !== url) await removeUnused(platform, subscription);
  };
  try {
    const subscription = await subscriptionOf(platform, url, signal);
    if (subscription === undefined) throw new Error(`The service has no subscription for ${url}.`);
    const { secret } = await platform.notifications.getSubscription({ id: subscription }, { signal });
    return { secret, undo };
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Creates an endpoint for the events of the instance. `undo` deletes it, and restores the configuration of the instance. */
async function registerEndpoint(
  platform: Causeway,
  { instanceId: id, url, settings }: Registration,
  filter: string,
  signal: AbortSignal,
): Promise<Registered> {
  const newEndpoint = { url, name: 'causeway events listen', where: filter, instances: [id] };
  const endpoint = await platform.notifications.createSubscription({ newEndpoint }, { signal });
  const removeEndpoint = () => platform.notifications.deleteSubscription({ id: endpoint.id });
  try {
    const before: Settings = await platform.instances.getInstanceConfiguration({ id }, { signal });
    const changes: Settings = { ...settings, [ENABLED]: true };
    const isChanged = Object.entries(changes).some(([key, value]) => before[key] !== value);
    const restore = Object.fromEntries(Object.keys(changes).map((key) => [key, before[key] ?? null]));
    if (isChanged) await platform.instances.updateInstanceConfiguration({ id, requestBody: changes }, { signal });
    const undo = async () => {
      await removeEndpoint();
      if (isChanged) await platform.instances.updateInstanceConfiguration({ id, requestBody: restore });
    };
    return { secret: endpoint.secret, endpointId: endpoint.id, undo };
  } catch (error) {
    await removeEndpoint();
    throw error;
  }
}

/**
 * Sends a test event, and waits until it arrives or fails.
 * @param hasArrived whether the event with this id has arrived
 * @throws UnreachableError that says why the service could not send it
 */
export async function assertReachable(
  platform: Causeway,
  { instanceId, url, endpointId }: Registration & Pick<Registered, 'endpointId'>,
  hasArrived: (eventId: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const type = TEST_TYPE;
  const { eventId } = await (endpointId === undefined
    ? platform.events.sendTestEvent({ testEvent: { instanceId, type, data: {} } }, { signal })
    : platform.notifications.testSubscription({ id: endpointId, subscriptionTest: { instanceId, type } }, { signal }));
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    if (hasArrived(eventId)) return;
    const { lastError, status } = await deliveryOf(platform, { eventId, url }, signal);
    if (lastError !== undefined && !hasArrived(eventId)) throw unreachable(url, lastError);
    if (status === 'queued')
      throw unreachable(url, 'the account queues deliveries, see its setting notification.webhook.failure.policy');
    await pause(signal);
  }
  throw unreachable(url, 'no event arrived');
}

function unreachable(url: string, reason: string): UnreachableError {
  return new UnreachableError(
    `The service cannot send events to ${url}: ${reason}. If it runs on another machine, open a tunnel to this machine, and set --public-url to its address and --port to its port.`,
  );
}

async function deliveryOf(
  platform: Causeway,
  { eventId, url }: { readonly eventId: string; readonly url: string },
  signal: AbortSignal,
) {
  const deliveries = await platform.notifications.listDeliveries(
    { where: where`event.id = ${eventId} AND config.url = ${url}`.text, hydrate: false },
    { signal },
  );
  return { lastError: deliveries[0]?.lastError, status: deliveries[0]?.status };
}

async function subscriptionOf(platform: Causeway, url: string, signal?: AbortSignal): Promise<number | undefined> {
  const subscriptions = await platform.notifications.listSubscriptions(
    { where: where`url = ${url} AND endpoint = FALSE`.text },
    { ...(signal && { signal }) },
  );
  return subscriptions[0]?.id;
}

/** Deletes a subscription unless another instance uses it meanwhile. */
async function removeUnused(platform: Causeway, id: number): Promise<void> {
  await platform.notifications.deleteSubscription({ id }).catch((error) => {
    if (!(error instanceof ApiError && error.code === 'CONFLICT')) throw error;
  });
}

function pause(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
