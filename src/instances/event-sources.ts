import type { Accounts } from '../accounts/accounts.ts';
import { ANNOUNCED_LIMITS, createLoadingCache } from '../db/caches.ts';
import { isAppError } from '../errors.ts';
import type { EventSource, FindSource } from '../events/model.ts';
import type { Platform } from '../platform.ts';
import { type EventSettings, readEventSettings, wantsRegistration } from './event-settings.ts';
import { assertUsable, type Instance } from './instance.ts';
import { namedObjects } from './polling/poll-settings.ts';
import type { InstanceRecords } from './records.ts';

interface SourceNeighbours {
  readonly records: InstanceRecords;
  readonly accounts: Accounts;
}

/** An instance as webhooks of its provider find it. */
export interface WebhookInstance {
  readonly instance: Instance;
  readonly settings: EventSettings;
  /** Whether a webhook must be registered at the provider. */
  readonly isRegistered: boolean;
  /** The objects whose events the configuration asks for by name. */
  readonly objectNames: readonly string[];
}

export type FindWebhookInstance = (accountId: number, id: number) => Promise<WebhookInstance | undefined>;

/** Creates the lookup of instances for webhooks. It returns undefined for an unknown instance. */
export function createFindWebhookInstance({ records }: Pick<SourceNeighbours, 'records'>): FindWebhookInstance {
  return async (accountId, id) => {
    try {
      const instance = await records.get(accountId, id);
      const { connector, config } = instance;
      return {
        instance,
        settings: readEventSettings(config),
        isRegistered: wantsRegistration(connector, config),
        objectNames: namedObjects(config),
      };
    } catch (error) {
      if (isAppError(error, 'NOT_FOUND')) return undefined;
      throw error;
    }
  };
}

/** Creates the lookup of event sources. It caches them, because each event needs one. */
export function createSources({ notifier }: Platform, { records, accounts }: SourceNeighbours): FindSource {
  const sources = createLoadingCache<EventSource>({
    ...ANNOUNCED_LIMITS,
    load: async (key) => {
      const [accountId = 0, instanceId = 0] = key.split(':').map(Number);
      try {
        const {
          format,
          hydrate: _,
          vendorType: __,
          ...source
        } = toSource(assertReadable(await records.get(accountId, instanceId)));
        if (format === 'standard') return source;
        return { ...source, original: { companyId: await accounts.getOrganizationId(accountId) } };
      } catch (error) {
        if (isAppError(error, 'NOT_FOUND')) return undefined;
        throw error;
      }
    },
  });
  records.onForgotten(({ accountId, id }) => sources.forget(`${accountId}:${id}`));
  notifier.onGap(sources.clear);
  return (accountId, instanceId) => sources.get(`${accountId}:${instanceId}`);
}

/** Throws for unreadable secrets, because deliveries could not be signed. They wait until the secrets are readable again. */
function assertReadable(instance: Instance): Instance {
  return instance.fault?.kind === 'secrets' ? assertUsable(instance) : instance;
}

function toSource({ accountId, id, name, tags, connector, config, token }: Instance): EventSource & EventSettings {
  return {
    accountId,
    instanceId: id,
    instanceName: name,
    tags,
    elementKey: connector.key,
    hub: connector.hub,
    token,
    ...readEventSettings(config),
  };
}
