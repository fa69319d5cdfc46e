import {
  type ConnectorContext,
  handshakes,
  isNotFound,
  type Json,
  json,
  type ProviderEvent,
  path,
  type Registration,
  unusable,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

const ENDPOINT = '/rest/v1/hooks';
const SECRET_HEADER = 'x-hook-secret';
const DAY_SECONDS = 24 * 60 * 60;

const OBJECTS: Readonly<Record<string, string>> = {
  appointment: 'appointments',
  contact: 'contacts',
  contactGroup: 'tags',
  opportunity: 'opportunities',
  order: 'orders',
  task: 'tasks',
};
const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  add: 'created',
  edit: 'updated',
  delete: 'deleted',
};
const EVENT_KEYS = Object.keys(OBJECTS).flatMap((noun) => Object.keys(ACTIONS).map((verb) => `${noun}.${verb}`));

/** REST hooks, with one subscription for each kind of event. Nothing in a call proves its sender. */
export const restHooks: Webhooks = {
  verify: 'unsigned',
  handshake: handshakes.echo({ header: SECRET_HEADER }, { header: SECRET_HEADER }),
  events: readEvents,
  reports: webhooks.allChangesOf(Object.values(OBJECTS)),
  registration: {
    // Keap deactivates a subscription whose address did not respond for a while, and reactivates it on request.
    create: { run: (context, { url }) => subscribe(context, url) },
    remove: { run: (context, { url }) => unsubscribe(context, url) },
  },
};

/** Reads the events of a call. All events of a call are of one kind, and there may be a thousand. */
function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const body = webhooks.json(call);
  const eventKey = json.text(json.at(body, 'event_key'), 'the kind of the event');
  const [, noun = '', verb = ''] = /^(\w+)\.(\w+)$/.exec(eventKey) ?? [];
  const [objectName, action] = [OBJECTS[noun], ACTIONS[verb]];
  if (objectName === undefined || action === undefined) return [];
  return json.objects(json.at(body, 'object_keys'), 'the objects of the event').map((raw) => {
    const objectId = json.key(raw.id, 'the id of an object');
    const time = json.findText(raw.timestamp);
    const at = new Date(time ?? Number.NaN);
    return {
      ...(time !== undefined && { id: `${eventKey}:${objectId}:${time}` }),
      ...(!Number.isNaN(at.getTime()) && { at }),
      ...{ action, objectName, objectId, raw },
    };
  });
}

type Sender = Pick<ConnectorContext, 'send'>;

/** Creates the missing subscriptions of an address. Existing ones at the same address remain in use. */
async function subscribe({ send }: Sender, url: string): Promise<Registration> {
  const there = await subscriptionsOf({ send }, url);
  const keys: string[] = [];
  for (const eventKey of EVENT_KEYS) {
    const found = there.find((hook) => hook.eventKey === eventKey);
    const hook = found ?? (await send({ method: 'POST', path: ENDPOINT, json: { eventKey, hookUrl: url } })).body;
    keys.push(await verify({ send }, json.object(hook, 'the subscription')));
  }
  return { id: keys.join(','), expiresInSeconds: DAY_SECONDS };
}

async function subscriptionsOf({ send }: Sender, url: string): Promise<readonly Json[]> {
  const { body } = await send({ path: ENDPOINT });
  return json.objects(body, 'the subscriptions').filter(({ hookUrl }) => hookUrl === url);
}

/**
 * Verifies a subscription. Keap calls the address with a secret, and expects the secret in the response.
 * @returns the key of the subscription
 */
async function verify({ send }: Sender, { key, status }: Json): Promise<string> {
  const id = json.key(key, 'the key of the subscription');
  if (status === 'Verified') return id;
  const { body } = await send({ method: 'POST', path: path`/rest/v1/hooks/${id}/verify` });
  if (json.at(body, 'status') === 'Verified') return id;
  throw unusable('Keap could not verify the URL for events. The URL must be reachable from the internet.');
}

async function unsubscribe({ send }: Sender, url: string): Promise<void> {
  for (const { key } of await subscriptionsOf({ send }, url)) {
    await send({ method: 'DELETE', path: path`/rest/v1/hooks/${json.key(key, 'the key of a subscription')}` }).catch(
      (error: unknown) => {
        if (!isNotFound(error)) throw error;
      },
    );
  }
}
