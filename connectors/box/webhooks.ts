import {
  type Config,
  type ConnectorContext,
  type Json,
  json,
  type ProviderEvent,
  path,
  type RegistrationInput,
  rejected,
  type Verify,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

const TIMESTAMP = 'box-delivery-timestamp';
const TEN_MINUTES = 10 * 60;

/** Returns a verifier of the signature over the body and the time of the delivery. Source: "Signature verification". */
function signedIn(header: string): Verify {
  return webhooks.hmac({
    header,
    algorithm: 'sha256',
    encoding: 'base64',
    signed: (call) => [call.body, call.headers[TIMESTAMP] ?? ''],
    signedAt: (call) => String(Date.parse(call.headers[TIMESTAMP] ?? '') / 1000),
    tolerance: TEN_MINUTES,
  });
}

const primary = signedIn('box-signature-primary');
const secondary = signedIn('box-signature-secondary');

/**
 * Accepts a call when either of the two keys verifies it, so that each key can be replaced while the other one remains valid. Source:
 * "Rotate signatures".
 */
const verify: Verify = (call, known) => {
  const other = json.findText(known.config['webhook.secondary.key']);
  const verdicts = [
    primary(call, known),
    ...(other === undefined ? [] : [secondary(call, { ...known, secret: other })]),
  ];
  return (['genuine', 'stale', 'forged'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'unsigned';
};

/**
 * The triggers to which this connector subscribes, with the action that each one means for a file or folder. Items in the trash are no
 * longer found. Source: "Webhook event triggers".
 */
const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  'FILE.UPLOADED': 'updated',
  'FILE.COPIED': 'created',
  'FILE.MOVED': 'updated',
  'FILE.RENAMED': 'updated',
  'FILE.LOCKED': 'updated',
  'FILE.UNLOCKED': 'updated',
  'FILE.TRASHED': 'deleted',
  'FILE.DELETED': 'deleted',
  'FILE.RESTORED': 'created',
  'FOLDER.CREATED': 'created',
  'FOLDER.COPIED': 'created',
  'FOLDER.MOVED': 'updated',
  'FOLDER.RENAMED': 'updated',
  'FOLDER.TRASHED': 'deleted',
  'FOLDER.DELETED': 'deleted',
  'FOLDER.RESTORED': 'created',
};

const OBJECTS: Readonly<Record<string, string>> = { file: 'files', folder: 'folders' };

export const folderWebhooks: Webhooks = {
  verify,
  secretKey: 'webhook.primary.key',
  events: readEvents,
  reports: webhooks.allChangesOf(Object.values(OBJECTS)),
  registration: {
    create: { run: register },
    remove: { request: ({ id }) => ({ method: 'DELETE', path: path`/webhooks/${id}` }), read: () => undefined },
  },
};

/** Reads the event of a webhook. Ignores the end of a webhook, and triggers to which this connector has not subscribed. */
function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const body = json.object(webhooks.json(call), 'an event');
  const trigger = json.text(body.trigger, 'the trigger of an event');
  const action = ACTIONS[trigger];
  const objectName = OBJECTS[String(json.at(body.source, 'type'))];
  if (action === undefined || objectName === undefined) return [];
  return [
    {
      // The id stays the same when Box sends the event again.
      id: json.text(body.id, 'the id of an event'),
      action: trigger === 'FILE.UPLOADED' && isFirst(body.source) ? 'created' : action,
      objectName,
      objectId: json.text(json.at(body.source, 'id'), 'the id of the file or folder of the event'),
      at: new Date(json.text(body.created_at, 'the time of an event')),
      raw: body,
    },
  ];
}

/**
 * Returns whether this is the first version of a file. Box sends `FILE.UPLOADED` for new files, for new versions, and for files that were
 * moved into the folder.
 */
function isFirst(source: unknown): boolean {
  return json.at(source, 'sequence_id') === '0';
}

async function register(context: ConnectorContext, { url }: RegistrationInput): Promise<{ readonly id: string }> {
  const folder = folderIn(context.config);
  await removeFormer(context, folder, url);
  const { body } = await context.send({
    method: 'POST',
    path: '/webhooks',
    json: { target: { id: folder, type: 'folder' }, address: url, triggers: Object.keys(ACTIONS) },
  });
  return { id: json.text(json.at(body, 'id'), 'the id of the webhook') };
}

function folderIn(config: Config): string {
  const folder = json.findText(config['webhook.folder']);
  if (folder !== undefined) return folder;
  throw rejected('Box reports the changes of one folder. Set `webhook.folder` to its id.');
}

/**
 * Removes a former webhook for the same address. A folder can have one webhook per application and user. A webhook for another address
 * stays, so Box rejects the new one.
 */
async function removeFormer({ send }: ConnectorContext, folder: string, url: string): Promise<void> {
  for (let marker: string | undefined; ; ) {
    const { body } = await send({ path: '/webhooks', query: { limit: 100, marker } });
    const there = json.objects(json.at(body, 'entries'), 'the webhooks').filter((each) => isOf(each, folder));
    for (const { id } of there) {
      const one = path`/webhooks/${json.text(id, 'the id of a webhook')}`;
      const { body: found } = await send({ path: one });
      if (json.at(found, 'address') === url) await send({ method: 'DELETE', path: one });
    }
    const next = json.findText(json.at(body, 'next_marker'));
    if (next === undefined || next === marker) return;
    marker = next;
  }
}

function isOf({ target }: Json, folder: string): boolean {
  return json.at(target, 'type') === 'folder' && String(json.at(target, 'id')) === folder;
}
