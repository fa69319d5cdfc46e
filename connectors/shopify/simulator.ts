import {
  atHosts,
  type Call,
  changesOf,
  createKeptTable,
  createMovableClock,
  createOAuthServer,
  type Fault,
  json,
  keyHeader,
  type RegisteredClient,
  type SimulatedResponse,
  type Simulator,
  type SimulatorMemory,
  type SimulatorOptions,
  shareMemory,
  signWebhook,
  simulate,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { createDeletions } from './simulator/deletions.ts';
import { connectionOf, definitionsFor, run, SHOP } from './simulator/execute.ts';
import { createRecords, type Records } from './simulator/records.ts';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'shpat_demo';

/** Refresh tokens of expiring access tokens work once. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

/** Configuration of an instance on this simulator. The secret of webhooks is that of the app. */
export const DEMO_CONFIGURATION = { 'shopify.shop': 'demo', 'webhook.secret': 'demo-secret' };

const VERSION = '2026-07';
const PATH = `/admin/api/${VERSION}/graphql.json`;
const HOUR_MS = 3_600_000;

/** Prints an error. Source: "Status and error codes". */
function print({ status, message, headers }: Fault): SimulatedResponse {
  return json({ errors: status === 401 ? '[API] Invalid API key or access token' : message }, status, headers);
}

/** Creates a simulator of one shop in memory. README.md lists the sources. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { memory, send } = options;
  const clock = createMovableClock();
  const contradictions: string[] = [];
  const hooks = createHooks(send, clock.now, shareMemory(memory, 'webhooks'));
  const deletions = createDeletions(clock);
  const records = createRecords(clock, (name, change) => {
    hooks.report(records, name, change);
    deletions.note(name, change);
  });
  // The API of the connector names records by the numbers in their ids.
  const numbered = ([name, collection]: [string, Records[string]]) =>
    [name, { ...collection, keyOf: ({ id }: TableRow) => String(/\d+$/.exec(String(id))?.[0]) }] as const;
  const changeable = Object.fromEntries(Object.entries(records).map(numbered));
  const login = createOAuthServer({
    ...{ title: 'Shopify simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    ...{ clientAuthentication: 'body', prefixes: { access: 'shpat_', refresh: 'shprt_' }, tokenRedirect: 'unsaid' },
    lifetimes: { codeMs: HOUR_MS, accessMs: HOUR_MS, refreshMs: 90 * 24 * HOUR_MS },
    accessTokens: [DEMO_ACCESS_TOKEN],
    callback: () => ({ shop: SHOP.myshopifyDomain, timestamp: String(Math.floor(clock.now() / 1000)) }),
    // Without `expiring=1` there is a token that does not expire. Source: "Offline access tokens".
    tokenResponse: ({ access_token, scope, ...more }, { body }) =>
      body.form().get('expiring') === '1' || body.form().get('grant_type') === 'refresh_token'
        ? { access_token, scope, expires_in: more.expires_in, refresh_token: more.refresh_token }
        : { access_token, scope },
  });
  async function graphql(call: Call): Promise<SimulatedResponse> {
    const { query, variables = {} } = call.body.object();
    const roots = { shop: () => SHOP, metafieldDefinitions: definitionsFor, ...hooks.roots, ...deletions.roots };
    const asked = { records, roots, isStuck: call.isStuck };
    const { result, cost, isContradiction } = await run(asked, String(query), Object(variables));
    if (isContradiction)
      contradictions.push(`${JSON.stringify(result.errors)} of ${String(query)} ${JSON.stringify(variables)}`);
    const throttleStatus = { maximumAvailable: 2000, currentlyAvailable: 2000 - cost, restoreRate: 100 };
    const extensions = { cost: { requestedQueryCost: cost, actualQueryCost: cost, throttleStatus } };
    return json({ ...result, extensions });
  }

  const here = (handler: (call: Call) => SimulatedResponse | Promise<SimulatedResponse>) =>
    atHosts([SHOP.myshopifyDomain], handler);
  return simulate(
    {
      ...{ clock, print, authenticate: keyHeader('x-shopify-access-token', (token) => login.accepts(token)) },
      open: {
        'GET /admin/oauth/authorize': here(login.authorize),
        'POST /admin/oauth/access_token': here(login.token),
      },
      routes: { [`POST ${PATH}`]: here(graphql) },
      // The schema judges inside the route.
      official: {
        judgeRequest: () => undefined,
        judgeResponse: () => undefined,
        takeContradictions: () => contradictions.splice(0),
      },
      commands: { ...login.commands, ...changesOf(changeable) },
    },
    options,
  );
}

/** Subscriptions to webhooks, and their deliveries. Source: "Webhooks", "Verify webhook deliveries". */
function createHooks(send: SimulatorOptions['send'], now: () => number, memory: SimulatorMemory) {
  const makeId = (index: number) => `gid://shopify/WebhookSubscription/${index + 1}`;
  const subscriptions = createKeptTable({ memory, makeId });
  let made = 0;
  const roots = {
    webhookSubscriptions: (args: TableRow) => connectionOf(subscriptions.rows(), args),
    webhookSubscriptionCreate: ({ topic, webhookSubscription }: TableRow) => {
      const { uri } = Object(webhookSubscription);
      const isTaken = subscriptions.rows().some((each) => each.topic === topic && each.uri === uri);
      if (isTaken)
        return failed(['webhookSubscription', 'callbackUrl'], 'Address for this topic has already been taken');
      const webhook = subscriptions.insert({ ...Object(webhookSubscription), topic });
      return { webhookSubscription: webhook, userErrors: [] };
    },
    webhookSubscriptionDelete: ({ id }: TableRow) => {
      const isThere = subscriptions.remove(String(id)) !== undefined;
      if (!isThere) return failed(['id'], 'Webhook subscription does not exist');
      return { deletedWebhookSubscriptionId: id, userErrors: [] };
    },
  };
  const failed = (field: readonly string[], message: string) => ({ userErrors: [{ field, message }] });
  return {
    roots,
    report: (records: Records, name: string, { key, before, after }: TableChange) => {
      const { topic: plural, updateTopic = 'UPDATE' } = records[name] ?? {};
      if (plural === undefined) return;
      const verb = before === undefined ? 'CREATE' : after === undefined ? 'DELETE' : updateTopic;
      const id = Number(/\d+$/.exec(key)?.[0]);
      const payload = verb === 'DELETE' ? { id } : { id, admin_graphql_api_id: key, updated_at: after?.updatedAt };
      for (const { topic, uri, id: hook } of subscriptions
        .rows()
        .filter((each) => each.topic === `${plural}_${verb}`)) {
        made += 1;
        const secret = CLIENTS['demo-client']?.secret ?? '';
        const signature = { secret, header: 'x-shopify-hmac-sha256', encoding: 'base64' } as const;
        const { headers, body } = signWebhook(signature, payload, { nowMs: now() });
        send?.({
          url: String(uri),
          body,
          headers: {
            ...headers,
            'x-shopify-topic': String(topic)
              .toLowerCase()
              .replace(/_([a-z]+)$/, '/$1'),
            'x-shopify-shop-domain': SHOP.myshopifyDomain,
            'x-shopify-api-version': VERSION,
            'x-shopify-webhook-id': `${hook}-${made}`,
            'x-shopify-event-id': `event-${made}`,
            'x-shopify-triggered-at': new Date(now()).toISOString(),
          },
        });
      }
    },
  };
}
