import { AppError } from '../errors.ts';
import { type EventType, RECORD_ACTIONS } from '../events/event-types.ts';
import type { StoredEvent } from '../events/history/history.ts';
import { wantsType } from '../events/model.ts';
import { listHeaders } from '../http/response.ts';
import { instanceNotFound } from '../instances/instance.ts';
import { parseJson } from '../numbers/exact-json.ts';
import type { ApiServices } from './api-services.ts';
import { ofToken } from './instances.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { createPositionTokens, PAGE_SIZE, type PageSeal } from './page-tokens.ts';

type EventView = OperationResult<'listInstanceEvents'>[number];

/** Type of a test event. */
export const TEST_TYPE = 'test.created';

export function createEventHandlers(services: ApiServices, seal: PageSeal) {
  const byId = {
    sendTestEvent: async ({ principal: { accountId }, body }) => {
      const { instanceId, type = TEST_TYPE, data } = body;
      const source = await services.findSource(accountId, instanceId);
      if (source === undefined) throw instanceNotFound(instanceId);
      const { callbackUrl, isEnabled } = source;
      if (!isEnabled) throw eventsAreOff(instanceId);
      const subscription =
        callbackUrl === undefined ? undefined : await services.subscriptions.ensure(accountId, callbackUrl);
      const isDelivered = subscription !== undefined && wantsType(subscription.eventTypes, type);
      const { objectName, eventType } = splitType(type);
      const { eventIds } = await services.accept([
        { accountId, instanceId, type: eventType, objectName, object: data },
      ]);
      const [eventId] = eventIds;
      if (eventId === undefined)
        throw subscription === undefined ? noListener(instanceId, type) : unwanted(type, subscription.id);
      if (!isDelivered) return { body: { eventId } };
      return { body: { eventId, subscriptionId: subscription.id, config: { url: subscription.url } } };
    },

    listInstanceEvents: async ({ principal: { accountId }, path: { id }, query, url }) => {
      const { where, pageSize: limit = PAGE_SIZE, nextPage } = query;
      const source = await services.findSource(accountId, id);
      if (source === undefined) throw instanceNotFound(id);
      const tokens = createPositionTokens(seal, JSON.stringify(['events', accountId, id, where]));
      const page = await services.eventHistory.list({ accountId, id }, { where, limit, before: tokens.read(nextPage) });
      const body = page.events.map(toEventView);
      return { body, headers: listHeaders(body.length, { url, token: tokens.write(page.nextBefore) }) };
    },
  } satisfies Partial<Handlers>;

  return { ...byId, listThisInstanceEvents: ofToken(byId.listInstanceEvents) } satisfies Partial<Handlers>;
}

/** Returns the event as its receiver gets it. */
function toEventView({ payload, createdAt, record }: StoredEvent): EventView {
  // It was written by `buildPayload`.
  const body = parseJson(payload) as Omit<EventView, 'createdDate' | 'record'>;
  return { ...body, createdDate: createdAt.toISOString(), ...(record !== null && { record }) };
}

/** Returns the object of a test event and its type. The pattern of the spec lets no other action through. */
export function splitType(type: string): { readonly objectName: string; readonly eventType: EventType } {
  const dot = type.lastIndexOf('.');
  const objectName = type.slice(0, dot);
  const action = RECORD_ACTIONS.find((each) => each === type.slice(dot + 1)) ?? 'unknown';
  return { objectName, eventType: `${objectName}.${action}` };
}

function eventsAreOff(instanceId: number): AppError {
  const message = `Events are off for instance ${instanceId}. Set event.notification.enabled and event.notification.callback.url in its configuration.`;
  return new AppError('CONFLICT', message);
}

function noListener(instanceId: number, type: string): AppError {
  const message = `Nothing receives the events of instance ${instanceId}. Set event.notification.callback.url in its configuration, or activate a formula instance that the type ${type} starts.`;
  return new AppError('CONFLICT', message);
}

function unwanted(type: string, subscriptionId: number): AppError {
  const message = `Subscription ${subscriptionId} does not receive events of the type ${type}. Add the type to its eventTypes.`;
  return new AppError('CONFLICT', message);
}
