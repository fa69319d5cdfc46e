import { OPERATIONAL_URL } from '../accounts/settings.ts';
import { AppError } from '../errors.ts';
import { hostOf } from '../events/lease.ts';
import { wantsType } from '../events/model.ts';
import { instanceNotFound } from '../instances/instance.ts';
import type { ApiServices } from './api-services.ts';
import { assertAsRead } from './body-faults.ts';
import {
  toAttemptView,
  toDeliveryView,
  toMaskedSubscriptionView,
  toNotificationView,
  toSubscriptionView,
} from './delivery-view.ts';
import { splitBody } from './endpoint-body.ts';
import { splitType, TEST_TYPE } from './events.ts';
import type { Handlers } from './operation.ts';
import { type PageSeal, respondWithPage } from './page-tokens.ts';

/** Members of a subscription that change while deliveries are sent. */
const DRIFTING = ['queued', 'retrying', 'updatedDate', 'stateChangedDate', 'reason', 'previousSecretExpiresAt'];
const BY_CALLER = 'by the caller';

export function createNotificationHandlers(services: ApiServices, seal: PageSeal) {
  const { subscriptions, endpoints, deliveries, notifications, instances, settings } = services;

  /** Describes what sends events to the URL; undefined if nothing does. */
  async function findUser(accountId: number, url: string): Promise<string | undefined> {
    const id = await instances.findByCallback(accountId, url);
    if (id !== undefined) return `instance ${id}`;
    const { [OPERATIONAL_URL]: operationalUrl } = await settings.get(accountId);
    return operationalUrl === url ? `the setting ${OPERATIONAL_URL}` : undefined;
  }

  async function firstInstance(accountId: number): Promise<number> {
    const page = await instances.list(accountId, { limit: 1 });
    const id = page.instances[0]?.id;
    if (id !== undefined) return id;
    throw new AppError(
      'CONFLICT',
      'The account has no instance, and an event comes from one. Connect an instance first.',
    );
  }

  return {
    listSubscriptions: ({ principal: { accountId }, ...request }) =>
      respondWithPage(seal, request, {
        context: ['subscriptions', accountId, request.query.where],
        read: (page) => subscriptions.list(accountId, page),
        toView: toMaskedSubscriptionView,
      }),

    getSubscription: async ({ principal, path }) => ({
      body: toSubscriptionView(await subscriptions.get(principal.accountId, path.id)),
    }),

    createSubscription: async ({ principal: { accountId }, body: { eventTypes, ...body } }) => {
      const { input } = splitBody(body);
      const id = await endpoints.create(accountId, { ...input, url: body.url, eventTypes });
      return { body: toSubscriptionView(await subscriptions.get(accountId, id)) };
    },

    updateSubscription: async ({ principal: { accountId }, path: { id }, body }) => {
      const subscription = await subscriptions.get(accountId, id);
      const shown = toSubscriptionView(subscription);
      const isEndpoint = subscription.endpoint !== undefined;
      const { input, rest: others } = isEndpoint ? splitBody(body) : { input: {}, rest: body };
      const { state, eventTypes, rotateSecret, ...rest } = others;
      assertAsRead(rest, { shown, drifting: DRIFTING });
      const isWhole = Object.keys(rest).length > 0;
      // Sent back as it was read, an active subscription is not resumed once more.
      const isSame = isWhole && state === shown.state;
      if (!isEndpoint) await subscriptions.update(accountId, id, { eventTypes, rotateSecret });
      else {
        await endpoints.update(accountId, id, { ...input, eventTypes });
        if (rotateSecret === true) await subscriptions.update(accountId, id, { rotateSecret });
      }
      if (state === 'active' && !isSame) await deliveries.resume(accountId, id);
      if (state === 'deactivated' && !isSame) await deliveries.suspend(accountId, id, BY_CALLER);
      return { body: toSubscriptionView(await subscriptions.get(accountId, id)) };
    },

    deleteSubscription: async ({ principal: { accountId }, path: { id } }) => {
      const { url, endpoint } = await subscriptions.get(accountId, id);
      const user = endpoint === undefined ? await findUser(accountId, url) : undefined;
      if (user !== undefined) {
        throw new AppError('CONFLICT', `Subscription ${id} is in use: ${user} sends events to ${url}.`);
      }
      await deliveries.discard(accountId, id);
      if (endpoint !== undefined) await endpoints.changed(accountId);
      return { body: { id } };
    },

    testSubscription: async ({ principal: { accountId }, path: { id }, body = {} }) => {
      const { type = TEST_TYPE, objectId, object } = body;
      const { url, endpoint, eventTypes } = await subscriptions.get(accountId, id);
      const instanceId = body.instanceId ?? endpoint?.instances?.[0] ?? (await firstInstance(accountId));
      const source = await services.findSource(accountId, instanceId);
      if (source === undefined) throw instanceNotFound(instanceId);
      const { objectName, eventType } = splitType(type);
      const event = { accountId, instanceId, type: eventType, objectName, objectId, object };
      const verdict =
        endpoint === undefined
          ? { matches: wantsType(eventTypes, type), unfiltered: false }
          : await endpoints.judge(accountId, id, event, source);
      const { ordered = false, maxPerSecond } = endpoint ?? {};
      const { unfiltered } = verdict;
      const receiver = { subscriptionId: id, host: hostOf(url), ordered, maxPerSecond, unfiltered };
      const { eventIds } = await services.accept([{ ...event, receiver }]);
      const [eventId] = eventIds;
      if (eventId === undefined) throw new Error('A test event was not stored.');
      const { warnings, ...result } = verdict;
      return {
        body: {
          ...{ eventId, subscriptionId: id, config: { url }, ...result },
          ...(warnings !== undefined && { warnings: [...warnings] }),
        },
      };
    },

    listDeliveries: ({ principal: { accountId }, ...request }) => {
      const { where, newestFirst = false, hydrate = true } = request.query;
      return respondWithPage(seal, request, {
        context: ['deliveries', accountId, where, newestFirst],
        read: (page) => deliveries.list(accountId, { ...page, newestFirst, hydrate }),
        toView: toDeliveryView,
      });
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

    listNotifications: ({ principal: { accountId }, ...request }) => {
      const { where, newestFirst = false } = request.query;
      return respondWithPage(seal, request, {
        context: ['notifications', accountId, where, newestFirst],
        read: (page) => notifications.list(accountId, { ...page, newestFirst }),
        toView: toNotificationView,
      });
    },
  } satisfies Partial<Handlers>;
}
