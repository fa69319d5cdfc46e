/** A stored body, see `buildPayload`. */
interface StandardBody {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly objectName?: string;
    readonly objectId?: string;
    readonly elementKey: string;
    readonly hub: string;
    readonly accountId: number;
    readonly instance: { readonly id: number; readonly name: string; readonly tags: readonly string[] };
    readonly object?: unknown;
    readonly raw?: unknown;
  };
}

const EVENT_TYPES: Readonly<Record<string, string>> = { created: 'CREATED', updated: 'UPDATED', deleted: 'DELETED' };

/**
 * The body in which the original API told of an event (decisions D16), made of the stored one when it is sent, so that what is stored,
 * listed and sent again does not depend on the format. There `raw` was always something: without it, it is the record.
 */
export function toOriginalBody(body: Buffer, { companyId }: { readonly companyId: number }): Buffer {
  // It was written by `buildPayload`.
  const { id, type, timestamp, data }: StandardBody = JSON.parse(body.toString());
  const { objectName, objectId, elementKey, hub, accountId, instance, object, raw } = data;
  const action = type.slice(type.lastIndexOf('.') + 1);
  const event = {
    date: timestamp,
    elementKey,
    pollDate: timestamp,
    eventType: EVENT_TYPES[action] ?? 'UNKNOWN',
    hubKey: hub,
    objectId,
    objectType: objectName,
  };
  const message = {
    elementKey,
    accountId,
    eventId: id,
    companyId,
    instanceId: instance.id,
    instance_id: instance.id,
    instanceName: instance.name,
    instanceTags: instance.tags,
    raw: raw ?? object ?? {},
    events: [event],
  };
  const original = { id, severity: 'low', createdDate: timestamp, topic: 'event', action, user: 'system', message };
  return Buffer.from(JSON.stringify(original));
}
