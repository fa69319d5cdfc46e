import { type Config, json, type ProviderEvent, type WebhookCall, type Webhooks, webhooks } from '#connector';

/** The configuration keys of the workspace and of the secret that signs webhooks. */
export const WORKSPACE = 'intercom.workspace.id';
export const SECRET = 'webhook.secret';

/** The webhooks of an app, signed with its client secret. Source: "Webhook topics", "Signed notifications". */
export const appWebhooks: Webhooks = {
  verify: webhooks.hmac({
    header: 'x-hub-signature',
    algorithm: 'sha1',
    encoding: 'hex',
    signatures: (header) => [header.replace(/^sha1=/, '')],
  }),
  secretKey: SECRET,
  reports: webhooks.allChangesOf(['contacts', 'companies', 'conversations', 'tickets']),
  events: readEvents,
  setup: [
    'In Intercom, open Settings → Integrations → Developer Hub, your app, and Webhooks.',
    'Enter the `eventUrl` of the instance as the endpoint URL.',
    'Select the topics of the contacts, companies, conversations and tickets that you want.',
    'Set `webhook.secret` to the client secret of the app.',
  ],
};

const OBJECTS: Readonly<Record<string, string>> = {
  contact: 'contacts',
  company: 'companies',
  conversation: 'conversations',
  ticket: 'tickets',
};

/** The last word of a topic. Every other word, such as `replied`, `closed` or `merged`, changes a record. */
const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = { created: 'created', deleted: 'deleted' };

/** Topics whose last word is about a part of a record, such as a tag or a note. */
const PARTS = /\.(?:tag|note|contact|added_email|event)\.(?:created|deleted)$/;

/** An app has one address for all workspaces that installed it, so events of other workspaces are left out. */
function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const event = json.object(webhooks.json(call), 'the notification');
  const workspace = config[WORKSPACE];
  const topic = json.text(event.topic, 'the topic');
  const [noun = ''] = topic.split('.');
  const objectName = OBJECTS[noun];
  if (objectName === undefined || (workspace !== undefined && event.app_id !== workspace)) return [];
  const item = json.at(event, 'data', 'item');
  // Events about tags hold the record inside.
  const record = json.at(item, noun) ?? item;
  const action = PARTS.test(topic) ? 'updated' : (ACTIONS[topic.slice(topic.lastIndexOf('.') + 1)] ?? 'updated');
  const seconds = Number(event.created_at);
  return [
    {
      id: json.text(event.id, 'the id of the notification'),
      action,
      objectName,
      objectId: json.key(json.at(record, 'id'), 'the id of the record'),
      ...(Number.isFinite(seconds) && { at: new Date(seconds * 1000) }),
      raw: event,
    },
  ];
}
