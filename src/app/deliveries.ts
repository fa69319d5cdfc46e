import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { createSettings, OPERATIONAL_URL } from '../accounts/settings.ts';
import type { Keyring } from '../db/keyring.ts';
import type { Notifier } from '../db/notifier.ts';
import type { PoolShares } from '../db/pool-shares.ts';
import { createCallbackCheck } from '../egress/callback-url.ts';
import type { Egress } from '../egress/index.ts';
import { createDeliveries } from '../events/deliveries/deliveries.ts';
import { createEventIds } from '../events/event-id.ts';
import { createNotifications } from '../events/notifications/notifications.ts';
import { createSubscriptions } from '../events/subscriptions/subscriptions.ts';
import type { Logger } from '../log.ts';

export interface DeliveryPartPorts {
  readonly knex: Knex;
  readonly shares: PoolShares;
  readonly keyring: Keyring;
  readonly notifier: Notifier;
  readonly egress: Egress;
  readonly log: Logger;
}

/** What callers see and steer of the delivery of events. The engine that sends stands on these. */
export function createDeliveryParts(ports: DeliveryPartPorts) {
  const { knex, shares, keyring, notifier, egress, log } = ports;
  const assertCallable = createCallbackCheck(egress);
  const subscriptions = createSubscriptions({
    knex,
    shares,
    keyring,
    notifier,
    log,
    random: randomBytes,
    now: Date.now,
  });
  const callbacks = { assertCallable, ensureSubscription: subscriptions.ensure };
  const settings = createSettings({ knex, notifier, egress }, subscriptions.ensure);
  const notifications = createNotifications({
    knex,
    shares,
    notifier,
    subscriptions,
    settings: async (accountId) => {
      const { [OPERATIONAL_URL]: callbackUrl, [FAILURE_POLICY]: failurePolicy } = await settings.get(accountId);
      return { callbackUrl, failurePolicy };
    },
    nextEventId: createEventIds({ now: Date.now, randomBytes }),
    now: Date.now,
  });
  const deliveries = createDeliveries({ knex, shares, notifier, subscriptions, notifications, now: Date.now });
  return { callbacks, subscriptions, settings, notifications, deliveries };
}

const FAILURE_POLICY = 'notification.webhook.failure.policy';
