import {
  type Config,
  type ConfigField,
  ExactNumber,
  type Json,
  json,
  type ProviderEvent,
  type Verify,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

export const WEBHOOK_FIELDS = [
  {
    key: 'webhook.secret',
    label: 'Secret for webhooks',
    type: 'string',
    secret: true,
    pattern: /^[A-Za-z0-9_-]{16,255}$/,
    description:
      'For webhooks: a secret of your choice, of 16 to 255 letters, digits, `_` and `-`. The sender of the events sends it as its password.',
    setup: [
      'Choose a long random text. Enter it here, and at the sender of the events as the password of basic authentication.',
      '`webhooks.setup` of `GET /elements/odata` and the README of the element say where to enter it.',
    ],
  },
  {
    key: 'webhook.objects',
    label: 'Object names in webhooks',
    type: 'string',
    pattern: /^\w{1,128}=[\w./-]{1,128}(?:,\w{1,128}=[\w./-]{1,128}){0,99}$/,
    description:
      'For webhooks: names of objects in events that differ from the names of the objects here, separated by commas.',
    example: 'BusinessPartner=A_BusinessPartner,SalesOrder=A_SalesOrder',
  },
] as const satisfies readonly ConfigField[];

/** CloudEvents, as SAP Event Mesh and other brokers send them. OData itself has no webhooks. */
export const cloudEvents: Webhooks = {
  verify: verifyCaller(),
  secretKey: 'webhook.secret',
  events: readEvents,
  setup: [
    'In SAP Event Mesh subscribe a queue to the topics of the events, and create a webhook subscription of this queue.',
    'Enter the `eventUrl` of the instance as the webhook URL, and choose basic authentication with any user and the `webhook.secret` of the instance as the password.',
    'Choose to exempt the handshake, and the content type `application/cloudevents+json` or `application/json`.',
    'Another broker of CloudEvents may send the secret as a bearer token, or as `?token=` in the address.',
    'Set `webhook.objects` if the events use another name for an object than its entity set: `BusinessPartner=A_BusinessPartner`.',
  ],
};

/** Returns a verifier that accepts basic authentication with any user name, a bearer token, or a parameter of the URL. */
function verifyCaller(): Verify {
  const inHeader = webhooks.token({ header: 'authorization' });
  const inAddress = webhooks.token({ query: 'token' });
  return (call, known) => {
    const { authorization } = call.headers;
    if (authorization === undefined) return inAddress(call, known);
    const [, scheme = '', credentials = ''] = /^(\w+) +(.*)$/s.exec(authorization) ?? [];
    const user = Buffer.from(credentials, 'base64').toString().split(':', 1)[0] ?? '';
    const isBasic = scheme.toLowerCase() === 'basic';
    const expected = isBasic ? Buffer.from(`${user}:${known.secret}`).toString('base64') : known.secret;
    return inHeader(call, { ...known, secret: `${scheme} ${expected}` });
  };
}

/**
 * Reads a batch, a single event, or an event whose attributes are in headers. Source: CloudEvents 1.0, HTTP Protocol Binding, section 3.
 */
function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const body = webhooks.json(call);
  const names = namesIn(config);
  if (call.headers['ce-id'] === undefined) return [body].flat().map((event) => readEvent(event, names));
  const attributes = ['id', 'source', 'type', 'subject', 'time'].map((name) => [name, call.headers[`ce-${name}`]]);
  return [readEvent({ ...Object.fromEntries(attributes), data: body }, names)];
}

const LONGEST = 400;

function readEvent(event: unknown, names: ReadonlyMap<string, string>): ProviderEvent {
  const raw = json.object(event, 'an event');
  const id = json.text(raw.id, 'the id of an event');
  const source = json.text(raw.source, 'the source of an event');
  const type = json.text(raw.type, 'the type of an event');
  if (Math.max(id.length, source.length, type.length) > LONGEST)
    throw new Error('An attribute of an event is too long.');
  const { thing, verb } = partsOf(type);
  const objectId = idIn(raw, thing);
  return {
    // Source and id together are unique. Source: CloudEvents 1.0, "Required attributes".
    id: `${source} ${id}`,
    action: ACTIONS.get(verb) ?? 'unknown',
    objectName: names.get(thing) ?? thing,
    ...(objectId !== undefined && { objectId }),
    at: new Date(json.findText(raw.time) ?? Number.NaN),
    raw,
  };
}

const ACTIONS: ReadonlyMap<string, ProviderEvent['action']> = new Map([
  ['Created', 'created'],
  ['Changed', 'updated'],
  ['Updated', 'updated'],
  ['Deleted', 'deleted'],
]);

/** Splits a type such as `sap.s4.beh.businesspartner.v1.BusinessPartner.Changed.v1` into the object and the verb. */
function partsOf(type: string): { readonly thing: string; readonly verb: string } {
  const words = type.split('.').filter((word) => !/^v\d+$/.test(word));
  const [thing, verb] = words.slice(-2);
  if (thing === undefined || verb === undefined) throw new Error('The type of an event names no object.');
  return { thing, verb };
}

/**
 * Returns the id of the record. The data of a notification is the key of the record: one member named like the object, or all members of
 * the key.
 */
function idIn({ data, subject }: Json, thing: string): string | undefined {
  const members = Object.entries(json.isObject(data) ? data : {});
  const [only] = members.length === 1 ? members : members.filter(([name]) => name === thing);
  if (only === undefined) return json.findText(subject);
  const [, value] = only;
  return json.key(value instanceof ExactNumber ? String(value) : value, 'the id of the record of an event');
}

function namesIn(config: Config): ReadonlyMap<string, string> {
  const pairs = json.findText(config['webhook.objects'])?.split(',') ?? [];
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}
