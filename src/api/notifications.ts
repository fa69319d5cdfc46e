import { OPERATIONAL_URL, type Settings } from '../accounts/settings.ts';
import { AppError } from '../errors.ts';
import type { Deliveries } from '../events/deliveries/deliveries.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import type { Subscriptions } from '../events/subscriptions/subscriptions.ts';
import type { Instances } from '../instances/instances.ts';
import { assertAsRead } from './body-faults.ts';
import {
  toAttemptView,
  toDeliveryView,
  toMaskedSubscriptionView,
  toNotificationView,
  toSubscriptionView,
} from './delivery-view.ts';
import { createPageTokens, listHeaders, type PageSeal } from './listing.ts';
import type { Handlers } from './operation.ts';

export interface NotificationServices {
  readonly subscriptions: Pick<Subscriptions, 'list' | 'get' | 'update'>;
  readonly deliveries: Deliveries;
  readonly notifications: Pick<Notifications, 'list'>;
  readonly instances: Pick<Instances, 'findByCallback'>;
  readonly settings: Pick<Settings, 'get'>;
}

/** The page size of a request that names none: the default of the spec. */
const PAGE_SIZE = 200;
/** Members of a subscription that change while deliveries are sent. */
const DRIFTING = ['queued', 'retrying', 'updatedDate', 'stateChangedDate', 'reason', 'previousSecretExpiresAt'];
const BY_CALLER = 'by the caller';

export function createNotificationHandlers(services: NotificationServices, seal: PageSeal) {
  const { subscriptions, deliveries, notifications, instances, settings } = services;
  const tokensOf = (...listing: readonly unknown[]) => createPageTokens(seal, JSON.stringify(listing));

  /** Describes what sends events to the URL; undefined if nothing does. */
  async function findUser(accountId: number, url: string): Promise<string | undefined> {
    const id = await instances.findByCallback(accountId, url);
    if (id !== undefined) return `instance ${id}`;
    const { [OPERATIONAL_URL]: operationalUrl } = await settings.get(accountId);
    return operationalUrl === url ? `the setting ${OPERATIONAL_URL}` : undefined;
  }

  return {
    listSubscriptions: async ({ principal: { accountId }, query, url }) => {
      const { where, pageSize: limit = PAGE_SIZE, nextPage } = query;
      const tokens = tokensOf('subscriptions', accountId, where);
      const page = await subscriptions.list(accountId, { where, limit, afterId: tokens.read(nextPage) });
      const body = page.subscriptions.map(toMaskedSubscriptionView);
      return { body, headers: listHeaders(body.length, { url, token: tokens.write(page.nextAfterId) }) };
    },

    getSubscription: async ({ principal, path }) => ({
      body: toSubscriptionView(await subscriptions.get(principal.accountId, path.id)),
    }),

    updateSubscription: async ({ principal: { accountId }, path: { id }, body }) => {
      const { state, eventTypes, rotateSecret, ...rest } = body;
      const shown = toSubscriptionView(await subscriptions.get(accountId, id));
      assertAsRead(rest, { shown, drifting: DRIFTING });
      // Sent back as it was read, an active subscription is not resumed once more.
      const isSame = Object.keys(rest).length > 0 && state === shown.state;
      await subscriptions.update(accountId, id, { eventTypes, rotateSecret });
      if (state === 'active' && !isSame) await deliveries.resume(accountId, id);
      if (state === 'deactivated' && !isSame) await deliveries.suspend(accountId, id, BY_CALLER);
      return { body: toSubscriptionView(await subscriptions.get(accountId, id)) };
    },

    deleteSubscription: async ({ principal: { accountId }, path: { id } }) => {
      const { url } = await subscriptions.get(accountId, id);
      const user = await findUser(accountId, url);
      if (user !== undefined) {
        throw new AppError('CONFLICT', `Subscription ${id} is in use: ${user} sends events to ${url}.`);
      }
      await deliveries.discard(accountId, id);
      return { body: { id } };
    },

    listDeliveries: async ({ principal: { accountId }, query, url }) => {
      const { where, newestFirst = false, hydrate = true, pageSize: limit = PAGE_SIZE, nextPage } = query;
      const tokens = tokensOf('deliveries', accountId, where, newestFirst);
      const afterId = tokens.read(nextPage);
      const page = await deliveries.list(accountId, { where, newestFirst, hydrate, limit, afterId });
      const body = page.deliveries.map(toDeliveryView);
      return { body, headers: listHeaders(body.length, { url, token: tokens.write(page.nextAfterId) }) };
    },

    releaseDeliveries: async ({ principal, query }) => ({
      body: { ...(await deliveries.release(principal.accountId, query.where)) },
    }),

    acknowledgeDeliveries: async ({ principal, query }) => ({
      body: { acknowledged: await deliveries.acknowledge(principal.accountId, query.where) },
    }),

    acknowledgeDelivery: async ({ principal, path: { id } }) => {
      await deliveries.acknowledgeOne(principal.accountId, id);
      return { body: { id } };
    },

    countDeliveries: async ({ principal, query }) => ({
      body: { ...(await deliveries.count(principal.accountId, query.where)) },
    }),

    getDelivery: async ({ principal, path }) => {
      const delivery = await deliveries.get(principal.accountId, path.id);
      return { body: { ...toDeliveryView(delivery), attemptHistory: delivery.history.map(toAttemptView) } };
    },

    redeliver: async ({ principal, path }) => ({
      body: toDeliveryView(await deliveries.redeliver(principal.accountId, path.id)),
    }),

    redeliverPeriod: async ({ principal, body: { from, to, subscriptionId, status } }) => {
      const period = { from: new Date(from), to: new Date(to), subscriptionId, status };
      return { body: { redelivered: await deliveries.redeliverPeriod(principal.accountId, period) } };
    },

    listNotifications: async ({ principal: { accountId }, query, url }) => {
      const { where, newestFirst = false, pageSize: limit = PAGE_SIZE, nextPage } = query;
      const tokens = tokensOf('notifications', accountId, where, newestFirst);
      const page = await notifications.list(accountId, { where, newestFirst, limit, afterId: tokens.read(nextPage) });
      const body = page.notifications.map(toNotificationView);
      return { body, headers: listHeaders(body.length, { url, token: tokens.write(page.nextAfterId) }) };
    },
  } satisfies Partial<Handlers>;
}
