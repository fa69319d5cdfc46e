import {
  type ConnectorContext,
  json,
  type ProviderEvent,
  path,
  type Registration,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

const HOOKS = '/api/v2/webhooks';
const TYPE = 'zen:event-type:';
const OBJECTS: Readonly<Record<string, string>> = { ticket: 'tickets', user: 'users', organization: 'organizations' };

/** The events by object. Source: "Webhook event types": "Ticket events", "User events", "Organization events". */
const EVENTS: Readonly<Record<string, string>> = {
  ticket: `created soft_deleted permanently_deleted undeleted marked_as_spam merged comment_added agent_assignment_changed brand_changed
    custom_field_changed custom_status_changed description_changed external_id_changed email_ccs_changed followers_changed form_changed
    group_assignment_changed organization_changed priority_changed problem_link_changed requester_changed status_changed subject_changed
    submitter_changed tags_changed task_due_at_changed type_changed`,
  user: `created deleted merged alias_changed custom_field_changed custom_role_changed default_group_changed details_changed
    external_id_changed identity_changed name_changed notes_changed role_changed suspended_changed tags_changed time_zone_changed`,
  organization: 'created deleted custom_field_changed external_id_changed name_changed tags_changed',
};

const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  created: 'created',
  undeleted: 'created',
  deleted: 'deleted',
  soft_deleted: 'deleted',
  permanently_deleted: 'deleted',
};

/** Webhooks of an account. Source: "Verifying the authenticity of requests", the Webhooks API. */
export const accountWebhooks: Webhooks = {
  verify: webhooks.hmac({
    header: 'x-zendesk-webhook-signature',
    algorithm: 'sha256',
    encoding: 'base64',
    signed: (call) => [timestampOf(call), call.body],
    signedAt: (call) => String(Date.parse(timestampOf(call)) / 1000),
  }),
  reports: webhooks.allChangesOf(Object.values(OBJECTS)),
  events: readEvents,
  registration: {
    create: { run: register },
    remove: { request: ({ id }) => ({ method: 'DELETE', path: HOOKS + path`/${id}` }), read: () => undefined },
  },
};

function timestampOf({ headers }: WebhookCall): string {
  return headers['x-zendesk-webhook-signature-timestamp'] ?? '';
}

function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const event = json.object(webhooks.json(call), 'an event');
  const [, one = '', word = ''] = /^zen:event-type:([a-z]+)\.([a-z_]+)$/.exec(String(event.type)) ?? [];
  const objectName = Object.hasOwn(OBJECTS, one) ? OBJECTS[one] : undefined;
  if (objectName === undefined) return [];
  return [
    {
      id: json.text(event.id, 'the id of the event'),
      action: (Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined) ?? 'updated',
      objectName,
      objectId: json.key(json.at(event, 'detail', 'id'), 'the id of the record'),
      at: new Date(json.text(event.time, 'the time of the event')),
      raw: event,
    },
  ];
}

/** Registers an address. Zendesk makes the secret, which has a request of its own. */
async function register({ send }: ConnectorContext, { url }: { readonly url: string }): Promise<Registration> {
  const { body: found } = await send({ path: HOOKS, query: { 'page[size]': '100' } });
  for (const { id, endpoint } of json.objects(json.at(found, 'webhooks'), 'the webhooks')) {
    if (endpoint === url) await send({ method: 'DELETE', path: HOOKS + path`/${json.key(id, 'the id of a webhook')}` });
  }
  const subscriptions = Object.entries(EVENTS).flatMap(([one, words]) =>
    words.split(/\s+/).map((word) => `${TYPE}${one}.${word}`),
  );
  const { body } = await send({
    method: 'POST',
    path: HOOKS,
    json: {
      webhook: {
        ...{ name: 'Causeway', endpoint: url, http_method: 'POST', request_format: 'json', status: 'active' },
        subscriptions,
      },
    },
  });
  const id = json.key(json.at(body, 'webhook', 'id'), 'the id of the webhook');
  const { body: signing } = await send({ path: HOOKS + path`/${id}/signing_secret` });
  return { id, secret: json.text(json.at(signing, 'signing_secret', 'secret'), 'the secret of the webhook') };
}
