import { type Config, json, type ProviderEvent, type WebhookCall, type Webhooks, webhooks } from '#connector';

/** Configuration keys of the webhook's signing key, and of the organisation whose events are read. */
export const WEBHOOK_KEY = 'webhook.secret';
export const TENANT_ID = 'xero.tenant.id';

/** The objects that have webhooks, by their category. Source: `xero-webhooks.yaml`. */
const CATEGORIES: Readonly<Record<string, string>> = { CONTACT: 'contacts', INVOICE: 'invoices' };
const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = { CREATE: 'created', UPDATE: 'updated' };

/**
 * The webhooks of an app. Xero checks the address with requests without events ("intent to receive"), of which some have a wrong signature
 * and must be rejected with 401. Source: "Configuring your server".
 */
export const appWebhooks: Webhooks = {
  secretKey: WEBHOOK_KEY,
  verify: webhooks.hmac({ header: 'x-xero-signature', algorithm: 'sha256', encoding: 'base64' }),
  events: readEvents,
  reports: Object.fromEntries(Object.values(CATEGORIES).map((name) => [name, ['created', 'updated'] as const])),
  // The response must have no body.
  response: { status: 200, headers: {}, body: '' },
  setup: [
    'Open https://developer.xero.com/app/manage, your app, and Webhooks.',
    'Select contacts and invoices, and enter the `eventUrl` of the instance as the delivery URL.',
    'Set `webhook.secret` to the webhooks key of the app.',
    'Send the "intent to receive". The status becomes OK.',
  ],
};

/** An app has one address for all organisations that connected it, so events of other organisations are left out. */
function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const tenant = config[TENANT_ID];
  return json
    .objects(json.at(webhooks.json(call), 'events'), 'the events')
    .flatMap((event): readonly ProviderEvent[] => {
      const objectName = CATEGORIES[String(event.eventCategory)];
      const isOther = tenant !== undefined && event.tenantId !== tenant;
      if (objectName === undefined || isOther) return [];
      const objectId = json.text(event.resourceId, 'the id of the record');
      // The time is in UTC, without an offset.
      const at = new Date(`${json.text(event.eventDateUtc, 'the time of the event').replace(/Z$/, '')}Z`);
      const action = ACTIONS[String(event.eventType).toUpperCase()] ?? 'unknown';
      return [{ id: [action, objectId, event.eventDateUtc].join('-'), action, objectName, objectId, at, raw: event }];
    });
}
