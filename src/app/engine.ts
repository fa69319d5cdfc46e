import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Accounts } from '../accounts/accounts.ts';
import type { Settings } from '../accounts/settings.ts';
import { createAnnouncedCache } from '../db/announced-cache.ts';
import type { Notifier } from '../db/notifier.ts';
import type { Egress } from '../egress/index.ts';
import { isAppError } from '../errors.ts';
import { createEvents, type Events } from '../events/engine.ts';
import type { EventSource, FindSource } from '../events/model.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import type { EngineOptions } from '../events/options.ts';
import type { Subscriptions } from '../events/subscriptions/subscriptions.ts';
import { type EventSettings, readEventSettings } from '../instances/event-settings.ts';
import { assertUsable, type Instance } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';

export interface EnginePorts {
  readonly knex: Knex;
  readonly egress: Egress;
  readonly notifier: Notifier;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly findSource: FindSource;
  readonly subscriptions: Subscriptions;
  readonly settings: Settings;
  readonly notifications: Notifications;
  /** See `EventPorts`. */
  readonly delivers: boolean;
  readonly options?: Partial<EngineOptions> | undefined;
}

/** The engine of events with what it needs of its neighbours. */
export function createEngine(ports: EnginePorts): Events {
  const { settings, options, ...rest } = ports;
  return createEvents({
    ...rest,
    now: Date.now,
    random: Math.random,
    randomBytes,
    settings: settings.ofDelivery,
    ...(options !== undefined && { options }),
  });
}

export interface SourcePorts {
  readonly notifier: Notifier;
  readonly instances: Pick<Instances, 'get'>;
  readonly accounts: Pick<Accounts, 'getOrganizationId'>;
}

/** From memory: it is asked for each event. Changes of instances are announced under this topic. */
export function createSources({ notifier, instances, accounts }: SourcePorts): FindSource {
  const sources = createAnnouncedCache<EventSource>({
    notifier,
    topic: 'instance',
    load: async (key) => {
      const [accountId = 0, instanceId = 0] = key.split(':').map(Number);
      try {
        const { format, ...source } = toSource(assertReadable(await instances.get(accountId, instanceId)));
        if (format === 'standard') return source;
        return { ...source, original: { companyId: await accounts.getOrganizationId(accountId) } };
      } catch (error) {
        if (isAppError(error, 'NOT_FOUND')) return undefined;
        throw error;
      }
    },
  });
  return (accountId, instanceId) => sources.get(`${accountId}:${instanceId}`);
}

/** Without its secrets nothing could be signed as it was promised: what is to be delivered waits until they are there again. */
function assertReadable(instance: Instance): Instance {
  return instance.fault?.kind === 'secrets' ? assertUsable(instance) : instance;
}

function toSource({
  accountId,
  id,
  name,
  tags,
  connector,
  config,
}: Instance): EventSource & Pick<EventSettings, 'format'> {
  return {
    accountId,
    instanceId: id,
    instanceName: name,
    tags,
    elementKey: connector.key,
    hub: connector.hub,
    ...readEventSettings(config),
  };
}
