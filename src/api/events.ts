import { AppError } from '../errors.ts';
import { type Accepted, type FindSource, type NewEvent, type ReadySubscription, wantsType } from '../events/model.ts';
import { instanceNotFound } from '../instances/instance.ts';
import type { Handlers } from './operation.ts';

export interface EventServices {
  readonly findSource: FindSource;
  readonly accept: (events: readonly NewEvent[]) => Promise<Accepted>;
  readonly ensureSubscription: (accountId: number, url: string) => Promise<ReadySubscription>;
}

/** The default of the spec. */
const TEST_TYPE = 'test.created';

export function createEventHandlers(services: EventServices): Pick<Handlers, 'sendTestEvent'> {
  return {
    sendTestEvent: async ({ principal: { accountId }, body }) => {
      const { instanceId, type = TEST_TYPE, data } = body;
      const source = await services.findSource(accountId, instanceId);
      if (source === undefined) throw instanceNotFound(instanceId);
      const { callbackUrl } = source;
      if (callbackUrl === undefined) throw eventsAreOff(instanceId);
      const { id: subscriptionId, url, eventTypes } = await services.ensureSubscription(accountId, callbackUrl);
      if (!wantsType(eventTypes, type)) throw unwanted(type, subscriptionId);
      const objectName = type.slice(0, type.lastIndexOf('.'));
      const { eventIds } = await services.accept([{ accountId, instanceId, type, objectName, object: data }]);
      const [eventId] = eventIds;
      if (eventId === undefined) throw eventsAreOff(instanceId);
      return { body: { eventId, subscriptionId, config: { url } } };
    },
  };
}

function eventsAreOff(instanceId: number): AppError {
  const message = `Events are off for instance ${instanceId}: set event.notification.enabled and event.notification.callback.url in its configuration.`;
  return new AppError('CONFLICT', message);
}

function unwanted(type: string, subscriptionId: number): AppError {
  const message = `Subscription ${subscriptionId} does not want events of the type ${type}: see its eventTypes.`;
  return new AppError('CONFLICT', message);
}
