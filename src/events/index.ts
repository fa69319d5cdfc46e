import type { Settings } from '../accounts/settings.ts';
import type { Platform } from '../platform.ts';
import { createAcceptStore } from './accept/accept-store.ts';
import { createDeliveries } from './deliveries/deliveries.ts';
import { createRateStore } from './dispatch/rate-store.ts';
import { createEndpoints } from './endpoints/endpoints.ts';
import { createKnownObjects, type KnownObjectPorts } from './endpoints/known-objects.ts';
import { createRecordReading, type RecordReadingNeighbours } from './endpoints/records.ts';
import { createEngine, type EngineNeighbours, type EngineRole } from './engine.ts';
import { createEventHistory } from './history/history.ts';
import type { FindSource } from './model.ts';
import { createNotifications } from './notifications/notifications.ts';
import { createOutcomeStore } from './outcomes/outcome-store.ts';
import { createOwnerStore } from './owners/owner-store.ts';
import { createSubscriptions, type Subscriptions } from './subscriptions/subscriptions.ts';
import { createClaimStore } from './sweep/claim-store.ts';
import { createEventPartitions, createUpkeep } from './upkeep/upkeep.ts';
import { createNoteRegistration } from './webhooks/demand.ts';
import { composeWebhooks } from './webhooks/index.ts';

export { composeWebhooks, createNoteRegistration, createSubscriptions };

/**
 * Builds the services through which callers read and control the delivery of events. Settings and instances are built
 * between them and the engine that sends.
 */
export function composeDeliveries(
  platform: Platform,
  { subscriptions, settings }: { readonly subscriptions: Subscriptions; readonly settings: Pick<Settings, 'get'> },
) {
  const notifications = createNotifications(platform, { subscriptions, settings });
  const deliveries = createDeliveries(platform, { subscriptions, notifications });
  return { notifications, deliveries, eventHistory: createEventHistory(platform) };
}

/** Builds the service of endpoints, which choose their events. */
export function composeEndpoints(
  platform: Platform,
  { subscriptions, registry, mappings, findSource, ...ports }: EndpointRoomNeighbours,
  options: { readonly maxPerAccount: number },
) {
  const objects = createKnownObjects({ registry, mappings });
  return createEndpoints(
    platform,
    {
      subscriptions,
      ...objects,
      hasInstance: async (accountId, id) => (await findSource(accountId, id)) !== undefined,
      openRecords: createRecordReading({ ...platform, ...ports }),
    },
    options,
  );
}

interface EndpointRoomNeighbours
  extends Pick<RecordReadingNeighbours, 'findInstance' | 'getRecord' | 'getFields'>,
    KnownObjectPorts {
  readonly subscriptions: Subscriptions;
  readonly findSource: FindSource;
}

interface EventOptions extends EngineRole {
  readonly retentionDays: number;
}

/** Builds the event engine and the maintenance of its tables. */
export function composeEvents(platform: Platform, neighbours: EngineNeighbours, options: EventOptions) {
  const { knex } = platform;
  const stores = {
    accepted: createAcceptStore(knex),
    claims: createClaimStore(knex),
    outcomes: createOutcomeStore(knex),
    owners: createOwnerStore(knex),
    rates: createRateStore(knex),
  };
  const partitions = createEventPartitions(platform, options);
  const engine = createEngine(platform, stores, neighbours, options);
  return {
    accept: engine.accept,
    prepare: engine.prepare,
    start: async (): Promise<void> => {
      await partitions.ensure();
      await engine.start();
    },
    stop: engine.stop,
    /** Returns the number of living processes that send events. */
    countSenders: stores.owners.count,
    keep: createUpkeep(platform, partitions, options),
  };
}
