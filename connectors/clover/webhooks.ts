import {
  type Config,
  type Handshake,
  json,
  type ProviderEvent,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

/** The objects by Clover's letter. Clover has more kinds. */
const OBJECTS: Readonly<Record<string, string>> = {
  C: 'customers',
  E: 'employees',
  I: 'items',
  O: 'orders',
  P: 'payments',
};

/**
 * Webhooks of an app. Clover sends them to the single address that the app's developer enters, so events of other merchants are ignored.
 */
export const appWebhooks: Webhooks = {
  verify: webhooks.token({ header: 'x-clover-auth' }),
  secretKey: 'webhook.auth.code',
  handshake: takeCode,
  events: readEvents,
  reports: webhooks.allChangesOf(Object.values(OBJECTS)),
};

/**
 * Reads the verification code. Clover sends it first, before a secret for verification exists, and the developer enters it in the
 * dashboard.
 */
function takeCode({ body }: WebhookCall): ReturnType<Handshake> {
  const [, code] =
    /^\s*\{\s*"verificationCode"\s*:\s*"([\w-]{1,64})"\s*\}\s*$/.exec(Buffer.from(body).toString()) ?? [];
  return code === undefined
    ? undefined
    : {
        status: 200,
        headers: { 'content-type': 'text/plain' },
        body: '',
        notice: `Clover sent the verification code ${code}: enter it in its developer dashboard, at the webhook of the app.`,
      };
}

const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  CREATE: 'created',
  UPDATE: 'updated',
  DELETE: 'deleted',
};

function readEvents(call: WebhookCall, { merchantId }: Config): readonly ProviderEvent[] {
  const merchants = json.object(json.at(webhooks.json(call), 'merchants'), 'the merchants');
  return json.objects(merchants[String(merchantId)] ?? [], 'the events of the merchant').flatMap((raw) => {
    const thing = json.text(raw.objectId, 'the object of an event');
    const [, kind = '', objectId] = /^(\w+):(.+)$/s.exec(thing) ?? [];
    const objectName = OBJECTS[kind];
    if (objectName === undefined || objectId === undefined) return [];
    const action = ACTIONS[String(raw.type)] ?? 'unknown';
    // The id contains the time in milliseconds, because the next change of the same object is another event.
    return [{ id: `${thing}:${raw.type}:${raw.ts}`, action, objectName, objectId, at: new Date(Number(raw.ts)), raw }];
  });
}
