import { randomBytes, randomInt } from 'node:crypto';
import {
  type ConnectorContext,
  json,
  type ProviderEvent,
  type Registration,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';
import { STANDARD } from './objects.ts';

const WATCH = '/crm/v8/actions/watch';
/** A channel lives for a week at most. Source: "Enable Notifications". */
const LIFETIME_SECONDS = 7 * 24 * 60 * 60;

const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  insert: 'created',
  update: 'updated',
  delete: 'deleted',
};

/** Notifications of a channel. Zoho CRM does not sign them, but repeats a token that only we know. Source: "Notification APIs". */
export const notifications: Webhooks = {
  verify: webhooks.token({ body: ['token'] }),
  reports: webhooks.allChangesOf(Object.keys(STANDARD)),
  events: readEvents,
  registration: {
    create: { run: register },
    remove: {
      request: ({ id }) => ({ method: 'DELETE', path: WATCH, query: { channel_ids: id } }),
      read: () => undefined,
    },
  },
};

function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const { token: _, ...body } = json.object(webhooks.json(call), 'a notification');
  const objectName = json.text(body.module, 'the module of a notification');
  if (STANDARD[objectName] === undefined) return [];
  const action = ACTIONS[String(body.operation)] ?? 'unknown';
  const at = Number(body.server_time);
  return json.array(body.ids, 'the ids of a notification').map((id): ProviderEvent => {
    const objectId = json.key(id, 'the id of a record');
    return {
      // One notification can report several records.
      ...(Number.isSafeInteger(at) && { id: [objectName, objectId, action, at].join('-'), at: new Date(at) }),
      ...{ action, objectName, objectId, raw: body },
    };
  });
}

async function register({ send }: ConnectorContext, { url }: { readonly url: string }): Promise<Registration> {
  const secret = randomBytes(24).toString('hex');
  const channel = randomInt(2 ** 47);
  await send({
    method: 'POST',
    path: WATCH,
    json: {
      watch: [
        {
          channel_id: channel,
          events: Object.keys(STANDARD).map((module) => `${module}.all`),
          channel_expiry: new Date(Date.now() + LIFETIME_SECONDS * 1000).toISOString().replace(/\.\d+Z$/, '+00:00'),
          token: secret,
          notify_url: url,
        },
      ],
    },
  });
  return { id: String(channel), secret, expiresInSeconds: LIFETIME_SECONDS };
}
