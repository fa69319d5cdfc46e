import {
  type Config,
  json,
  type ProviderEvent,
  type Registration,
  rejected,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';
import { ask, dataIn } from './graphql.ts';

/** Configuration keys of the shop and of the secret that signs webhooks. */
export const SHOP = 'shopify.shop';

const DOMAIN = '.myshopify.com';

/** Returns the host of a shop, of which the setting is the name or the host itself. */
export function hostOf(shop: string): string {
  return shop.endsWith(DOMAIN) ? shop : shop + DOMAIN;
}
export const SECRET = 'webhook.secret';

/** Objects with webhooks by the first word of their topics. Source: the enum `WebhookSubscriptionTopic`. */
const OBJECTS: Readonly<Record<string, string>> = {
  orders: 'orders',
  products: 'products',
  customers: 'customers',
  draft_orders: 'draftOrders',
};
const ACTIONS: Readonly<Record<string, 'created' | 'updated' | 'deleted'>> = {
  create: 'created',
  update: 'updated',
  updated: 'updated',
  delete: 'deleted',
};
const TOPICS = Object.keys(OBJECTS).flatMap((word) => [
  `${word}_create`.toUpperCase(),
  `${word}_update${word === 'orders' ? 'd' : ''}`.toUpperCase(),
  `${word}_delete`.toUpperCase(),
]);

/** Webhooks of an app in one shop. Source: "Verify webhook deliveries", `webhookSubscriptionCreate`. */
export const hooks: Webhooks = {
  secretKey: SECRET,
  verify: webhooks.hmac({ header: 'x-shopify-hmac-sha256', algorithm: 'sha256', encoding: 'base64' }),
  events: readEvents,
  reports: webhooks.allChangesOf(Object.values(OBJECTS)),
  registration: {
    create: {
      run: async ({ send }, { url }): Promise<Registration> => {
        const { body } = await send(
          ask('query ($uri: String!) { list: webhookSubscriptions(first: 250, uri: $uri) { nodes { id } } }', {
            uri: url,
          }),
        );
        const old = json.objects(json.at(body, 'data', 'list', 'nodes'), 'the webhooks').map(idOf);
        if (old.length > 0) await send(removal(old));
        const creations = TOPICS.map(
          (topic, index) =>
            `t${index}: webhookSubscriptionCreate(topic: ${topic}, webhookSubscription: $subscription) { webhookSubscription { id } userErrors { field message } }`,
        );
        const response = await send(
          ask(`mutation ($subscription: WebhookSubscriptionInput!) { ${creations.join(' ')} }`, {
            subscription: { uri: url, format: 'JSON' },
          }),
        );
        const ids = TOPICS.map((_, index) => idOf(json.at(dataIn(response, `t${index}`), 'webhookSubscription')));
        return { id: ids.join(' ') };
      },
    },
    remove: { request: ({ id }) => removal(id.split(' ')), read: () => undefined },
  },
};

function idOf(subscription: unknown): string {
  return json.text(json.at(subscription, 'id'), 'the id of a webhook');
}

function removal(ids: readonly string[]) {
  const declared = ids.map((_, index) => `$id${index}: ID!`).join(', ');
  const deletions = ids.map(
    (_, index) => `d${index}: webhookSubscriptionDelete(id: $id${index}) { userErrors { field message } }`,
  );
  const variables = Object.fromEntries(ids.map((id, index) => [`id${index}`, id]));
  return ask(`mutation (${declared}) { ${deletions.join(' ')} }`, variables);
}

/** An app has one secret for all shops, so events of other shops are left out. */
function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const { 'x-shopify-topic': topic = '', 'x-shopify-shop-domain': shop, ...headers } = call.headers;
  const [word = '', verb = ''] = topic.split('/');
  const [objectName, action] = [OBJECTS[word], ACTIONS[verb]];
  if (objectName === undefined || action === undefined || shop !== hostOf(String(config[SHOP]))) return [];
  const raw = json.object(webhooks.json(call), 'an event');
  const [id, at] = [headers['x-shopify-webhook-id'], headers['x-shopify-triggered-at']];
  return [
    {
      ...(id !== undefined && { id }),
      ...(at !== undefined && { at: new Date(at) }),
      ...{ action, objectName, objectId: idOfRecord(raw.id), raw },
    },
  ];
}

/** Ids may have more digits than a double. */
function idOfRecord(id: unknown): string {
  const text = String(id);
  if (/^\d+$/.test(text)) return text;
  throw rejected('The event lacks the id of a record.');
}
