import {
  type ConfigField,
  type Json,
  json,
  type ProviderEvent,
  type Verify,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

export const WEBHOOK_SECRET = {
  key: 'webhook.secret',
  type: 'string',
  secret: true,
  pattern: /^[A-Za-z0-9_-]{16,255}$/,
  description:
    'For webhooks: a secret of your choice, of 16 to 255 letters, digits, `_` and `-`, with which Redmine signs its requests.',
  setup: [
    'Choose a long random text. Enter it here, and in Redmine as the secret of the webhook.',
    '`webhooks.setup` of `GET /elements/redmine` and the README of the element say where to enter it.',
  ],
} as const satisfies ConfigField;

const SIGNATURE = 'x-redmine-signature-256';
const DAY_SECONDS = 24 * 60 * 60;

/** Verifies the signature of Redmine 7. Source: `app/models/webhook.rb` and `lib/redmine/acts/webhookable.rb` of redmine/redmine, 7.0. */
const signed = webhooks.hmac({
  header: SIGNATURE,
  algorithm: 'sha256',
  encoding: 'hex',
  signatures: (header) => [header.replace(/^sha256=/, '')],
  // Redmine's jobs may wait in a queue for long. The tolerance is a day, because after a week the service would no longer know which calls
  // it has received.
  signedAt: (call) => secondsOf(call),
  tolerance: DAY_SECONDS,
});

/** Verifies a token in the URL. The plugin `redmine_webhook` signs nothing, but accepts a URL with a query. */
const inAddress = webhooks.token({ query: 'token' });

const verify: Verify = (call, known) => (call.headers[SIGNATURE] === undefined ? inAddress : signed)(call, known);

/** Returns the signed time of a call in seconds, or undefined if the call has none. */
function secondsOf(call: WebhookCall): string | undefined {
  try {
    const time = json.findText(json.at(webhooks.json(call), 'timestamp'));
    return time === undefined ? undefined : String(Date.parse(time) / 1000);
  } catch {
    return undefined;
  }
}

/** Objects by the member of `data` and the first word of `type`. Redmine also sends news, versions and wiki pages. */
const OBJECTS: Readonly<Record<string, string>> = { issue: 'issues', time_entry: 'time-entries' };

const ACTIONS: ReadonlyMap<string, ProviderEvent['action']> = new Map([
  ['created', 'created'],
  ['updated', 'updated'],
  ['deleted', 'deleted'],
]);

/**
 * The webhooks of Redmine 7 and of the plugin `redmine_webhook`. Calls have no ids, so a repeated call is recognized by its bytes, which
 * contain a time.
 */
export const issueWebhooks: Webhooks = {
  verify,
  secretKey: WEBHOOK_SECRET.key,
  events: (call) => {
    const body = json.object(webhooks.json(call), 'what happened');
    return json.isObject(body.payload) ? readPluginEvent(body.payload) : readEvent(body);
  },
  reports: webhooks.allChangesOf(Object.values(OBJECTS)),
  setup: [
    'Redmine 7 and later: as an administrator enable webhooks under Administration → Settings → API, and give a role the permission “Use webhooks”.',
    'As a user with this role open My account → Webhooks and create one. Enter the `eventUrl` of the instance as the URL and the `webhook.secret` of the instance as the secret; select the events of issues and time entries, and the projects.',
    'Redmine 4 to 6: install the plugin https://github.com/suer/redmine_webhook. In the settings of each project, under WebHook, enter the `eventUrl` followed by `?token=` and the `webhook.secret`. It reports only new and changed issues.',
  ],
};

/** Reads an event of the form `{ "type": "issue.updated", "timestamp": "…", "data": { "issue": { … }, "journal": { … } } }`. */
function readEvent(raw: Json): readonly ProviderEvent[] {
  const type = json.text(raw.type, 'the type of the event');
  const [, kind = '', verb = ''] = /^(\w+)\.(\w+)$/.exec(type) ?? [];
  const objectName = Object.hasOwn(OBJECTS, kind) ? OBJECTS[kind] : undefined;
  if (objectName === undefined) return [];
  const objectId = json.key(json.at(raw.data, kind, 'id'), 'the id of the record');
  const at = new Date(json.findText(raw.timestamp) ?? Number.NaN);
  return [{ action: ACTIONS.get(verb) ?? 'unknown', objectName, objectId, at, raw }];
}

/** Actions of the plugin. Source: its README and `lib/redmine_webhook/webhook_listener.rb`. */
const PLUGIN_ACTIONS: ReadonlyMap<unknown, ProviderEvent['action']> = new Map([
  ['opened', 'created'],
  ['updated', 'updated'],
]);

function readPluginEvent(raw: Json): readonly ProviderEvent[] {
  const objectId = json.key(json.at(raw.issue, 'id'), 'the id of the issue');
  const at = new Date(json.findText(json.at(raw.issue, 'updated_on')) ?? Number.NaN);
  return [{ action: PLUGIN_ACTIONS.get(raw.action) ?? 'unknown', objectName: 'issues', objectId, at, raw }];
}
