import {
  type ChangeAction,
  type Changes,
  type ChangesPage,
  type ConnectorContext,
  type Json,
  json,
  type ProviderEvent,
  path,
  type Registration,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';
import official from './official.json' with { type: 'json' };

/** The version of the API that requests and webhooks use. */
export const VERSION = '2026-10-28.endive';

/** The configuration key with the id of a connected account. */
export const ACCOUNT = 'stripe.account';

/** The objects by the beginning of their events. */
const OBJECTS: Readonly<Record<string, string>> = {
  customer: 'customers',
  charge: 'charges',
  'customer.subscription': 'subscriptions',
  invoice: 'invoices',
  payment_intent: 'payment_intents',
  product: 'products',
  price: 'prices',
  refund: 'refunds',
};

/** Events about records that do not exist yet, or that did not change. */
const NO_CHANGE: ReadonlySet<string> = new Set([
  'invoice.upcoming',
  'invoice.will_be_due',
  'customer.subscription.trial_will_end',
]);

interface Kind {
  readonly objectName: string;
  readonly action: ChangeAction;
}

/** Returns what an event type reports: `customer.subscription.deleted`, but not `customer.discount.deleted`. */
function kindOf(type: string): Kind | undefined {
  const [, noun = '', verb = ''] = /^(.*)\.(\w+)$/s.exec(type) ?? [];
  const objectName = Object.hasOwn(OBJECTS, noun) ? OBJECTS[noun] : undefined;
  if (objectName === undefined || NO_CHANGE.has(type)) return undefined;
  if (verb === 'created') return { objectName, action: 'created' };
  // A canceled subscription keeps its record.
  return { objectName, action: verb === 'deleted' && objectName !== 'subscriptions' ? 'deleted' : 'updated' };
}

interface Change extends Kind {
  readonly id: string;
  readonly objectId: string;
  readonly at: Date;
}

/** Seconds after its creation in which a charge has its first event. There is no event with the name `charge.created`. */
const FIRST_SECONDS = 10;

/**
 * Reads an event. It returns undefined for an event that is about no record of an object.
 * @throws Error for anything else than an event
 */
function readChange(event: Json): Change | undefined {
  const kind = kindOf(json.text(event.type, 'the type of an event'));
  const record = json.at(event, 'data', 'object');
  const objectId = json.findText(json.at(record, 'id'));
  if (kind === undefined || objectId === undefined) return undefined;
  const seconds = json.count(event.created, 'the time of an event');
  const age = seconds - Number(json.at(record, 'created'));
  const isFirst =
    kind.objectName === 'charges' &&
    json.at(event, 'data', 'previous_attributes') === undefined &&
    age <= FIRST_SECONDS;
  return {
    ...kind,
    ...(isFirst && { action: 'created' }),
    id: json.text(event.id, 'the id of an event'),
    objectId,
    at: new Date(seconds * 1000),
  };
}

/** Returns the changes of an object: Stripe's events of the last 30 days, the latest first. */
export function changesOf(objectName: string): Changes {
  const [noun = ''] = Object.keys(OBJECTS).filter((each) => OBJECTS[each] === objectName);
  return {
    created: 'created',
    reports: reportsOf(objectName),
    feed: {
      request: ({ since, cursor }) => ({
        path: '/v1/events',
        query: {
          type: `${noun}.*`,
          'created[gte]': Math.floor(Date.parse(since) / 1000),
          limit: 100,
          starting_after: cursor,
        },
      }),
      read: ({ body, headers }) => readPage(body, { objectName, nowMs: Date.parse(headers.date ?? '') }),
    },
  };
}

interface Reading {
  readonly objectName: string;
  readonly nowMs: number;
}

/** Reads a page of events. Those of the current second wait for the next poll, because more may follow with the same time. */
function readPage(body: unknown, { objectName, nowMs }: Reading): ChangesPage {
  const events = json.objects(json.at(body, 'data'), 'the events');
  const isOver = ({ at }: Change) => Number.isNaN(nowMs) || at.getTime() < Math.floor(nowMs / 1000) * 1000;
  const changes = events
    .flatMap((event) => readChange(event) ?? [])
    .filter((change) => change.objectName === objectName && isOver(change))
    .map(({ objectId, action, at }) => ({ id: objectId, action, at: at.toISOString() }))
    .reverse();
  const next = json.at(body, 'has_more') === true ? json.findText(events.at(-1)?.id) : undefined;
  return next === undefined ? { changes } : { changes, next };
}

const EVENT_TYPES = official.schemas.WebhookEndpointCreateParams.properties.enabled_events.items.enum.filter(
  (type) => kindOf(type) !== undefined,
);

/** Returns the actions that always have an event. A payment intent whose description changes has none. */
function reportsOf(objectName: string): readonly ChangeAction[] {
  const has = (verb: string) =>
    EVENT_TYPES.some((type) => type.endsWith(`.${verb}`) && kindOf(type)?.objectName === objectName);
  const isKept = objectName === 'subscriptions';
  return [
    ...(has('created') || objectName === 'charges' ? (['created'] as const) : []),
    ...(has('updated') ? (['updated'] as const) : []),
    ...(has('deleted') && !isKept ? (['deleted'] as const) : []),
  ];
}

const TIMESTAMP = /(?:^|,)t=(\d+)/;
const SIGNATURE = 'stripe-signature';

function timestampOf({ headers }: WebhookCall): string | undefined {
  return TIMESTAMP.exec(headers[SIGNATURE] ?? '')?.[1];
}

/** Endpoints for events. Source: docs.stripe.com/webhooks, "Verify webhook signatures manually". */
export const endpoints: Webhooks = {
  verify: webhooks.hmac({
    header: SIGNATURE,
    algorithm: 'sha256',
    encoding: 'hex',
    // Two while a secret is being replaced. Other schemes than v1 must be ignored.
    signatures: (header) => [...header.matchAll(/(?:^|,)v1=([^,]*)/g)].map(([, signature = '']) => signature),
    signed: (call) => [`${timestampOf(call) ?? ''}.`, call.body],
    signedAt: timestampOf,
  }),
  reports: Object.fromEntries(Object.values(OBJECTS).map((name) => [name, reportsOf(name)])),
  events: (call, config) => readEvents(webhooks.json(call), json.findText(config[ACCOUNT])),
  registration: {
    create: { run: (context, { url }) => register(context, url) },
    remove: {
      request: ({ id }) => ({ method: 'DELETE', path: path`/v1/webhook_endpoints/${id}` }),
      read: () => undefined,
    },
  },
};

/** An endpoint of a platform also receives events of connected accounts, which belong to other instances. */
function readEvents(body: unknown, account: string | undefined): readonly ProviderEvent[] {
  const event = json.object(body, 'an event');
  const origin = json.findText(event.account);
  if (origin !== undefined && origin !== account) return [];
  const change = readChange(event);
  return change === undefined ? [] : [{ ...change, raw: event }];
}

const ENDPOINTS = '/v1/webhook_endpoints';

/** Registers an address. Stripe shows the secret only once, so an endpoint with the same address is replaced. */
async function register({ send }: Pick<ConnectorContext, 'send'>, url: string): Promise<Registration> {
  for (const { id } of await endpointsAt({ send }, url)) {
    await send({ method: 'DELETE', path: path`/v1/webhook_endpoints/${json.text(id, 'the id of an endpoint')}` });
  }
  const types = EVENT_TYPES.map((type, index) => [`enabled_events[${index}]`, type]);
  const { body } = await send({
    method: 'POST',
    path: ENDPOINTS,
    form: { url, api_version: VERSION, description: 'Causeway', ...Object.fromEntries(types) },
  });
  return {
    id: json.text(json.at(body, 'id'), 'the id of the endpoint'),
    secret: json.text(json.at(body, 'secret'), 'the secret of the endpoint'),
  };
}

async function endpointsAt({ send }: Pick<ConnectorContext, 'send'>, url: string): Promise<readonly Json[]> {
  const { body } = await send({ path: ENDPOINTS, query: { limit: 100 } });
  return json.objects(json.at(body, 'data'), 'the endpoints').filter((endpoint) => endpoint.url === url);
}
