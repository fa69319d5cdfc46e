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
  reports: webhooks.allChangesOf(Object.keys(OBJECTS)),
};

/** A change that both forms of a webhook can contain, in the terms of the later form. */
interface Change {
  readonly realmId: string;
  /** Name of the entity in lower case, such as `salesreceipt`. */
  readonly entity: string;
  readonly done: string;
  readonly id: unknown;
  /** Id of the record that was merged into the other one. */
  readonly deletedId: unknown;
  readonly time: unknown;
  readonly raw: unknown;
}

/** Objects by the entity's name in lower case. QuickBooks sends events of more entities. */
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
    // The id contains the time, because the next change of the same record is another event.
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

/**
 * Reads the CloudEvents that QuickBooks sends since 2026. Source: "Upcoming change to webhooks payload structure", "Understanding the data
 * object".
 */
function readCloudEvents(body: unknown): readonly Change[] {
  return json.objects(body, 'the events').map((raw) => {
    const [, entity = '', done = ''] = /^qbo\.(\w+)\.(\w+)\./.exec(json.text(raw.type, 'the type of an event')) ?? [];
    const realmId = json.key(raw.intuitaccountid, 'the company of an event');
    const deletedId = json.at(raw.data, 'deletedid');
    return { realmId, entity, done, id: raw.intuitentityid, deletedId, time: raw.time, raw };
  });
}

/** The operations of the earlier form, in the terms of CloudEvents. */
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
