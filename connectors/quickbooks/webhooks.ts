import { type Config, json, type ProviderEvent, type WebhookCall, type Webhooks, webhooks } from '#connector';
import { OBJECTS } from './objects.ts';

/**
 * Webhooks of an app. QuickBooks sends them to the single address that the app's developer enters, so events of other companies are
 * ignored.
 */
export const appWebhooks: Webhooks = {
  verify: webhooks.hmac({ header: 'intuit-signature', algorithm: 'sha256', encoding: 'base64' }),
  secretKey: 'webhook.verifier.token',
  events: (call, config) => readEvents(call, config),
  tells: webhooks.allChangesOf(Object.keys(OBJECTS)),
};

/** A change as both forms of a call tell it, in the words of the later one. */
interface Change {
  readonly realmId: string;
  /** In small letters: `salesreceipt`. */
  readonly entity: string;
  readonly done: string;
  readonly id: unknown;
  /** Id of the record that was merged into the other. */
  readonly deletedId: unknown;
  readonly time: unknown;
  readonly raw: unknown;
}

/** Object by the entity's name in small letters. QuickBooks sends events of more entities. */
const OBJECT_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(OBJECTS).map(([name, { native = name }]) => [native.toLowerCase(), name]),
);

/** Records that were merged into, voided or e-mailed continue to exist. */
const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  ...{ created: 'created', updated: 'updated', deleted: 'deleted' },
  ...{ merged: 'updated', voided: 'updated', emailed: 'updated' },
};

function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const body = webhooks.json(call);
  const changes = Array.isArray(body) ? readCloudEvents(body) : readNotifications(body);
  return changes.filter(({ realmId }) => realmId === config.realmId).flatMap(eventsOf);
}

function eventsOf({ realmId, entity, done, id, deletedId, time, raw }: Change): readonly ProviderEvent[] {
  const objectName = OBJECT_NAMES.get(entity);
  if (objectName === undefined) return [];
  const at = json.text(time, 'the time of an event');
  const event = (objectId: string, action: ProviderEvent['action']): ProviderEvent => ({
    // With its moment: what happens to the record next is another event.
    id: [realmId, entity, objectId, done, at].join(':'),
    action,
    objectName,
    objectId,
    at: new Date(at),
    raw,
  });
  const changed = event(json.key(id, 'the id of an event'), ACTIONS[done] ?? 'unknown');
  const gone = json.findText(deletedId);
  return gone === undefined ? [changed] : [changed, event(gone, 'deleted')];
}

/** Since 2026. Source: "Upcoming change to webhooks payload structure", "Understanding the data object". */
function readCloudEvents(body: unknown): readonly Change[] {
  return json.objects(body, 'the events').map((raw) => {
    const [, entity = '', done = ''] = /^qbo\.(\w+)\.(\w+)\./.exec(json.text(raw.type, 'the type of an event')) ?? [];
    const realmId = json.key(raw.intuitaccountid, 'the company of an event');
    const deletedId = json.at(raw.data, 'deletedid');
    return { realmId, entity, done, id: raw.intuitentityid, deletedId, time: raw.time, raw };
  });
}

/** Operations of the form before, in the words of CloudEvents. */
const DONE: Readonly<Record<string, string>> = {
  ...{ Create: 'created', Update: 'updated', Delete: 'deleted', Merge: 'merged', Void: 'voided', Emailed: 'emailed' },
};

function readNotifications(body: unknown): readonly Change[] {
  return json.objects(json.at(body, 'eventNotifications'), 'the notifications').flatMap((notification) => {
    const realmId = json.key(notification.realmId, 'the company of a notification');
    const entities = json.objects(json.at(notification, 'dataChangeEvent', 'entities'), 'the entities that changed');
    return entities.map((raw) => {
      const entity = json.text(raw.name, 'the name of an entity').toLowerCase();
      const operation = json.text(raw.operation, 'the operation on an entity');
      const done = DONE[operation] ?? operation;
      return { realmId, entity, done, id: raw.id, deletedId: raw.deletedId, time: raw.lastUpdated, raw };
    });
  });
}
