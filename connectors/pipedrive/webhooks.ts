import { randomBytes } from 'node:crypto';
import {
  type ConnectorContext,
  json,
  type ProviderEvent,
  path,
  type Registration,
  rejected,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

/** The objects by the entities of events. */
const ENTITIES: Readonly<Record<string, string>> = {
  deal: 'deals',
  person: 'persons',
  organization: 'organizations',
  activity: 'activities',
  product: 'products',
  pipeline: 'pipelines',
  stage: 'stages',
  note: 'notes',
  user: 'users',
};

const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  create: 'created',
  change: 'updated',
  delete: 'deleted',
};

/** Webhooks v2. Pipedrive does not sign them: it logs in with a name and a password. Source: "Guide for Webhooks v2". */
export const hooks: Webhooks = {
  verify: webhooks.token({ header: 'authorization' }),
  reports: webhooks.allChangesOf(Object.values(ENTITIES)),
  events: readEvents,
  registration: {
    create: { run: (context, { url }) => register(context, url) },
    remove: {
      request: ({ id }) => ({ method: 'DELETE', path: path`/v1/webhooks/${id}` }),
      read: () => undefined,
    },
  },
};

/** Registers one webhook for all events. Its secret is the header by which Pipedrive logs in. */
async function register({ send }: ConnectorContext, url: string): Promise<Registration> {
  const [user, password] = ['causeway', randomBytes(24).toString('hex')];
  const { body } = await send({
    method: 'POST',
    path: '/v1/webhooks',
    json: {
      ...{ subscription_url: url, name: 'Causeway', version: '2.0', event_action: '*', event_object: '*' },
      ...{ http_auth_user: user, http_auth_password: password },
    },
  });
  const secret = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return { id: json.key(json.at(body, 'data', 'id'), 'the id of the webhook'), secret };
}

function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const raw = webhooks.json(call);
  const meta = json.object(json.at(raw, 'meta'), 'the member `meta`');
  const entity = json.text(meta.entity, 'the entity of the event');
  const objectName = Object.hasOwn(ENTITIES, entity) ? ENTITIES[entity] : undefined;
  if (objectName === undefined) return [];
  const word = json.text(meta.action, 'the action of the event');
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  if (action === undefined) throw rejected(`There is no action '${word}'.`);
  const time = Date.parse(String(meta.timestamp));
  return [
    {
      id: json.key(meta.id, 'the id of the event'),
      objectId: json.key(meta.entity_id, 'the id of the record'),
      ...(!Number.isNaN(time) && { at: new Date(time) }),
      ...{ action, objectName, raw },
    },
  ];
}
