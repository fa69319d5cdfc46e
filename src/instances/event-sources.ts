import type { Accounts } from '../accounts/accounts.ts';
import { createAnnouncedCache } from '../db/announced-cache.ts';
import { isAppError } from '../errors.ts';
import type { EventSource, FindSource } from '../events/model.ts';
import type { Platform } from '../platform.ts';
import { type EventSettings, readEventSettings } from './event-settings.ts';
import { assertUsable, type Instance } from './instance.ts';
import type { InstanceRecords } from './records.ts';

export interface SourceNeighbours {
  readonly records: Pick<InstanceRecords, 'get'>;
  readonly accounts: Pick<Accounts, 'getOrganizationId'>;
}

/** From memory: it is asked for each event. Changes of instances are announced under this topic. */
export function createSources(
  { notifier }: Pick<Platform, 'notifier'>,
  { records, accounts }: SourceNeighbours,
): FindSource {
  const sources = createAnnouncedCache<EventSource>({
    notifier,
    topic: 'instance',
    load: async (key) => {
      const [accountId = 0, instanceId = 0] = key.split(':').map(Number);
      try {
        const { format, ...source } = toSource(assertReadable(await records.get(accountId, instanceId)));
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
