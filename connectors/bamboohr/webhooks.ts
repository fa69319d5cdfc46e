import {
  type ConnectorContext,
  isNotFound,
  json,
  type ProviderEvent,
  path,
  type Registration,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

const TIMESTAMP_HEADER = 'x-bamboohr-timestamp';
const ENDPOINT = '/api/v1/webhooks';
const EVENTS = { 'employee.created': 'created', 'employee.updated': 'updated', 'employee.deleted': 'deleted' } as const;

/**
 * Event-based webhooks of the owner of the key. They report the kind of the event and the employee. BambooHR signs the body followed by the
 * time.
 */
export const employeeWebhooks: Webhooks = {
  verify: webhooks.hmac({
    header: 'x-bamboohr-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    signed: ({ headers, body }) => [body, headers[TIMESTAMP_HEADER] ?? ''],
    signedAt: ({ headers }) => toSeconds(headers[TIMESTAMP_HEADER]),
  }),
  events: readEvents,
  reports: webhooks.allChangesOf(['employees']),
  registration: {
    create: { run: (context, { url }) => register(context, url) },
    remove: {
      request: ({ id }) => ({ method: 'DELETE', path: path`/api/v1/webhooks/${id}` }),
      read: () => {},
    },
  },
};

/** Returns the time of a signature in seconds. The format of the header is not documented, so both seconds and dates are read. */
function toSeconds(text = ''): string {
  return /^\d+$/.test(text) ? text : String(Date.parse(text) / 1000);
}

/** Reads the single event of a webhook. Ignores types to which this connector has not subscribed. */
function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const raw = json.object(webhooks.json(call), 'the event');
  const type = json.text(raw.type, 'the type of the event');
  if (!isEvent(type)) return [];
  const objectId = json.key(json.at(raw, 'data', 'employeeId'), 'the employee of the event');
  const at = json.findText(raw.timestamp);
  return [
    { action: EVENTS[type], objectName: 'employees', objectId, raw, ...(at !== undefined && { at: new Date(at) }) },
  ];
}

function isEvent(type: string): type is keyof typeof EVENTS {
  return Object.hasOwn(EVENTS, type);
}

/** Registers a webhook that monitors all fields that the owner of the key may see. */
async function register({ send }: ConnectorContext, url: string): Promise<Registration> {
  const [known, monitored] = await Promise.all([
    send({ path: ENDPOINT }),
    send({ path: `${ENDPOINT}/monitor_fields` }),
  ]);
  for (const webhook of json.objects(json.at(known.body, 'webhooks'), 'the webhooks')) {
    if (webhook.url === url) await remove({ send }, json.key(webhook.id, 'the id of a webhook'));
  }
  const fields = json.objects(json.at(monitored.body, 'fields'), 'the fields that webhooks monitor');
  const { body } = await send({
    method: 'POST',
    path: ENDPOINT,
    json: {
      name: 'Causeway',
      url,
      format: 'json',
      events: Object.keys(EVENTS),
      monitorFields: fields.map(({ id, alias }) => json.findText(alias) ?? json.key(id, 'the id of a field')),
    },
  });
  return {
    id: json.key(json.at(body, 'id'), 'the id of the webhook'),
    secret: json.text(json.at(body, 'privateKey'), 'the key of the webhook'),
  };
}

/** Removes a webhook. One that no longer exists counts as removed. */
async function remove({ send }: Pick<ConnectorContext, 'send'>, id: string): Promise<void> {
  try {
    await send({ method: 'DELETE', path: path`/api/v1/webhooks/${id}` });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
