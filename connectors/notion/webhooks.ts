import { type Handshake, json, type ProviderEvent, type WebhookCall, type Webhooks, webhooks } from '#connector';

/** The configuration key of the token that signs webhooks. */
export const TOKEN = 'webhook.secret';

const OBJECTS: Readonly<Record<string, string>> = { page: 'pages', data_source: 'datasources', comment: 'comments' };
const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  created: 'created',
  undeleted: 'created',
  deleted: 'deleted',
};

/** The webhooks of an integration. Source: "Webhooks"; the types of the client for their bodies, such as `PageCreatedWebhookPayload`. */
export const entered: Webhooks = {
  verify: webhooks.hmac({
    header: 'x-notion-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    signatures: (text) => (text.startsWith('sha256=') ? [text.slice('sha256='.length)] : []),
  }),
  secretKey: TOKEN,
  handshake: takeToken,
  reports: webhooks.allChangesOf(Object.values(OBJECTS)),
  events: readEvents,
  setup: [
    'Open your integration at https://www.notion.so/my-integrations, and its webhooks.',
    'Enter the `eventUrl` of the instance, and select the events of pages, data sources and comments.',
    'Notion sends a verification token, which appears among the warnings of the instance.',
    'Enter the token in Notion, and set `webhook.secret` to it.',
  ],
};

/** Reads the token that Notion sends first, before there is a signature. */
function takeToken({ body, headers }: WebhookCall): ReturnType<Handshake> {
  if (headers['x-notion-signature'] !== undefined) return undefined;
  const [, token] =
    /^\s*\{\s*"verification_token"\s*:\s*"([\w-]{1,128})"\s*\}\s*$/.exec(Buffer.from(body).toString()) ?? [];
  return token === undefined
    ? undefined
    : {
        status: 200,
        headers: { 'content-type': 'text/plain' },
        body: '',
        notice: `Notion sent the verification token ${token}: enter it in the webhooks of your integration, and set ${TOKEN} to it.`,
      };
}

/** Reads one event: `page.properties_updated` with `{ "entity": { "id": "…", "type": "page" } }`. A row of a data source is a page, too. */
function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const raw = webhooks.json(call);
  const [noun = '', word = ''] = json.text(json.at(raw, 'type'), 'the type of the event').split('.');
  const objectName = OBJECTS[noun];
  if (objectName === undefined) return [];
  return [
    {
      id: json.text(json.at(raw, 'id'), 'the id of the event'),
      action: ACTIONS[word] ?? 'updated',
      objectName,
      objectId: json.text(json.at(raw, 'entity', 'id'), 'the id of the record'),
      at: new Date(json.text(json.at(raw, 'timestamp'), 'the time of the event')),
      raw,
    },
  ];
}
