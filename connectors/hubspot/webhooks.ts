import {
  type Config,
  type Json,
  json,
  type ProviderEvent,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';
import { STANDARD } from './objects.ts';

/** The configuration keys of the account and of the secret that signs its webhooks. */
export const ACCOUNT = 'account.id';
export const SECRET = 'webhook.secret';

const TIMESTAMP = 'x-hubspot-request-timestamp';

/** Characters that HubSpot decodes in the address before it signs it. Source: "Validating requests", the v3 signature. */
const DECODED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** The webhooks of an app: a list of events, signed with the secret of the app. */
export const appWebhooks: Webhooks = {
  verify: webhooks.hmac({
    header: 'x-hubspot-signature-v3',
    algorithm: 'sha256',
    encoding: 'base64',
    signed: ({ method, url, body, headers }) => [
      method,
      url.replace(DECODED, decodeURIComponent),
      body,
      headers[TIMESTAMP] ?? '',
    ],
    signedAt: ({ headers }) => headers[TIMESTAMP] && String(Number(headers[TIMESTAMP]) / 1000),
  }),
  secretKey: SECRET,
  reports: webhooks.allChangesOf(Object.keys(STANDARD)),
  events: (call, config) => readEvents(call, config),
  setup: [
    'In HubSpot, open the webhooks of your app. A private app has them under Settings → Integrations → Private Apps.',
    'Enter the `eventUrl` of the instance as the target URL.',
    'Subscribe to the creation, the deletion and the changed properties of the objects that you want.',
    'Set `webhook.secret` to the client secret of the app.',
  ],
};

/** An app has one address for all accounts that installed it, so events of other accounts are left out. */
function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const account = json.findText(config[ACCOUNT]);
  return json
    .objects(webhooks.json(call), 'the events')
    .filter(({ portalId }) => account === undefined || String(portalId) === account)
    .flatMap(readEvent);
}

const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  creation: 'created',
  restore: 'created',
  propertyChange: 'updated',
  deletion: 'deleted',
  privacyDeletion: 'deleted',
};

/** Reads `contact.creation`, or `object.creation` with the type of the object. An association is no change of a record. */
function readEvent(event: Json): readonly ProviderEvent[] {
  const [noun = '', word = ''] = json.text(event.subscriptionType, 'the type of an event').split('.');
  const [objectName] =
    Object.entries(STANDARD).find(([, each]) => each.noun === noun || each.typeId === event.objectTypeId) ?? [];
  if (objectName === undefined) return [];
  const change = (action: ProviderEvent['action'], id: unknown): ProviderEvent => ({
    id: [event.eventId, event.subscriptionId, event.occurredAt, id, event.propertyName, action].join('-'),
    action,
    objectName,
    objectId: json.key(id, 'the id of the record'),
    at: new Date(Number(event.occurredAt)),
    raw: event,
  });
  if (word === 'merge') {
    const merged = json.array(event.mergedObjectIds ?? [], 'the merged records');
    return [
      change('updated', event.newObjectId ?? event.primaryObjectId),
      ...merged.map((id) => change('deleted', id)),
    ];
  }
  const action = ACTIONS[word];
  return action === undefined ? [] : [change(action, event.objectId)];
}
