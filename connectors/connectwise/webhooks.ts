import { createHash } from 'node:crypto';
import {
  type Config,
  type ConnectorContext,
  isNotFound,
  json,
  type ProviderEvent,
  type ProviderRequest,
  type RegisteredInput,
  type Registration,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';
import { MOST_ROWS, rowsOf } from './conditions.ts';

/** The objects by the type of a callback, in lower case. */
const OBJECT_NAMES: ReadonlyMap<string, string> = new Map([
  ['ticket', 'incidents'],
  ['company', 'organizations'],
  ['contact', 'contacts'],
  ['configuration', 'configurations'],
  ['opportunity', 'opportunities'],
  ['time', 'time-entries'],
]);

const ACTIONS: ReadonlyMap<string, ProviderEvent['action']> = new Map([
  ['added', 'created'],
  ['updated', 'updated'],
  ['deleted', 'deleted'],
]);

/** The webhooks of ConnectWise, which it calls callbacks. Sources: "PSA Callbacks", npm `connectwise-rest`. */
export const callbacks: Webhooks = {
  verify: webhooks.hmac({
    header: 'x-content-signature',
    algorithm: 'sha256',
    encoding: 'base64',
    key: (secret) => createHash('sha256').update(secret).digest(),
  }),
  signingKey: {
    request: keyRequestOf,
    // The response may be a text that contains JSON.
    read: ({ body }) =>
      json.text(json.at(typeof body === 'string' ? JSON.parse(body) : body, 'signing_key'), 'the key'),
  },
  events: (call) => readEvents(call),
  reports: webhooks.allChangesOf(OBJECT_NAMES.values()),
  registration: { create: { run: register }, remove: { run: unregister } },
};

/**
 * Returns the request for the signing key of a callback. All companies have their keys at the same host, so a key of another company is not
 * requested.
 */
function keyRequestOf(call: WebhookCall, { company }: Config): ProviderRequest | undefined {
  const url = URL.parse(json.findText(json.at(readBody(call), 'Metadata', 'key_url')) ?? '');
  const isKey = url !== null && /\/system\/callbackkey\/index\.rails$/i.test(url.pathname);
  const isOwn = url?.searchParams.get('companyName')?.toLowerCase() === String(company).toLowerCase();
  return isKey && isOwn ? { url: url.href, anonymous: true } : undefined;
}

/** Returns the body of a call, or undefined if it is not JSON. The signature is not verified yet. */
function readBody(call: WebhookCall): unknown {
  try {
    return webhooks.json(call);
  } catch {
    return undefined;
  }
}

/** Reads the event of a callback. The record in it has the format of the callbacks' version, so it is read again. */
function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const raw = json.object(webhooks.json(call), 'what happened');
  const objectName = OBJECT_NAMES.get(json.text(raw.Type, 'the type of a callback').toLowerCase());
  if (objectName === undefined) return [];
  const action = ACTIONS.get(json.text(raw.Action, 'the action of a callback').toLowerCase()) ?? 'unknown';
  return [{ action, objectName, objectId: json.key(raw.ID, 'the id of a record'), raw }];
}

const COLLECTION = '/system/callbacks';

/** Returns the address to register. ConnectWise appends the id of the record to it. */
const addressOf = (url: string) => `${url}${url.includes('?') ? '&' : '?'}recordId=`;

/**
 * Registers one callback for each type. Level `owner` with id 1 stands for all records. The id of the registration lists their ids:
 * `17,18,19`.
 */
async function register(context: ConnectorContext, { url }: { readonly url: string }): Promise<Registration> {
  const address = addressOf(url);
  await removeAll(context, await findIds(context, address));
  const ids: string[] = [];
  try {
    for (const type of OBJECT_NAMES.keys()) ids.push(await create(context, address, type));
  } catch (error) {
    await removeAll(context, ids).catch(() => undefined);
    throw error;
  }
  return { id: ids.join() };
}

async function create({ send }: ConnectorContext, url: string, type: string): Promise<string> {
  const entry = { type, level: 'owner', objectId: 1, url, description: 'Events', isSelfSuppressedFlag: false };
  const { body } = await send({ method: 'POST', path: COLLECTION, json: entry });
  return json.key(json.at(body, 'id'), 'the id of a callback');
}

/** Returns the ids of callbacks for an address, also those of a registration whose response was lost. */
async function findIds({ send }: ConnectorContext, address: string): Promise<readonly string[]> {
  const { body } = await send({ path: COLLECTION, query: { conditions: `url = "${address}"`, pageSize: MOST_ROWS } });
  return rowsOf(body)
    .filter(({ url }) => url === address)
    .map(({ id }) => json.key(id, 'the id of a callback'));
}

async function unregister(context: ConnectorContext, { id }: RegisteredInput): Promise<void> {
  await removeAll(context, id.split(','));
}

async function removeAll({ send }: ConnectorContext, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await send({ method: 'DELETE', path: `${COLLECTION}/${id}` }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
