import { type ConfigField, defineConnector, errors, json, settings } from '#connector';
import { ACCOUNT, endpoints, VERSION } from './events.ts';
import { METADATA_KEYS, objectsOf } from './objects.ts';

const HOST = 'api.stripe.com';

const CONFIGURATION = [
  {
    key: 'api.key',
    label: 'Secret or restricted key',
    type: 'string',
    description: 'A secret key or a restricted key of the account.',
    required: true,
    secret: true,
    pattern: /^(?:sk|rk)_(?:test|live)_\w+$/,
    setup: [
      'Log in to the Stripe Dashboard. For test data, open a sandbox.',
      'Open Developers → API keys, and create a restricted key.',
      'Give it the permission to read customers, charges, subscriptions, invoices, payment intents, products, prices and events, and to write what you want to change.',
      'For webhooks, also give it the permission to write webhook endpoints.',
      'Copy the key. Stripe shows it once.',
    ],
  },
  {
    key: ACCOUNT,
    label: 'Connected account',
    type: 'string',
    description: 'For platforms: the id of the connected account whose records the instance reads.',
    pattern: /^acct_\w+$/,
    example: 'acct_1032D82eZvKYlo2C',
    setup: ['In the Stripe Dashboard of the platform, open Connect, and the connected account.', 'Copy its id.'],
  },
  {
    key: METADATA_KEYS,
    label: 'Keys of metadata',
    type: 'string',
    description:
      'Keys of metadata that become fields, separated by commas. The field of `order_id` is `metadata.order_id`.',
    pattern: /^[\w-]{1,40}(?: *, *[\w-]{1,40}){0,49}$/,
    example: 'order_id, source',
    setup: ['Open a record in the Stripe Dashboard.', 'Copy the names under Metadata that you want to filter by.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** The connector for Stripe, with a secret or a restricted key. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'stripe',
  id: 1019,
  contract: 1,
  name: 'Stripe',
  description: 'Customers, payments, subscriptions, invoices, products and prices of a Stripe account.',
  hub: 'payment',
  moreHubs: ['erp'],
  mark: { shape: 'waves', colour: 'violet' },
  documentation: [
    { title: 'API keys', url: 'https://docs.stripe.com/keys' },
    { title: 'Search', url: 'https://docs.stripe.com/search' },
    { title: 'Webhooks', url: 'https://docs.stripe.com/webhooks' },
  ],
  auth: {
    type: 'custom',
    headers: (config) => {
      const account = setting(config, ACCOUNT);
      return {
        authorization: `Bearer ${setting(config, 'api.key')}`,
        ...(account !== undefined && { 'stripe-account': account }),
      };
    },
  },
  configuration: CONFIGURATION,
  baseUrl: () => `https://${HOST}`,
  hosts: [HOST],
  headers: { 'stripe-version': VERSION },
  probe: { path: '/v1/customers', query: { limit: 1 } },
  classify: errors({
    message: ({ body }) => wordsOf(body),
    code: ({ body }) => json.findText(json.at(body, 'error', 'code')),
    // Another request changes the same record at the moment.
    kinds: { lock_timeout: 'rateLimited', idempotency_key_in_use: 'unavailable' },
  }),
  objects: async ({ config }) => objectsOf(config),
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['customers', 'charges', 'subscriptions', 'invoices', 'payment_intents', 'refunds'],
  webhooks: endpoints,
});

/** Returns the text of an error with the parameter that it is about. */
function wordsOf(body: unknown): string | undefined {
  const [message, parameter] = ['message', 'param'].map((name) => json.findText(json.at(body, 'error', name)));
  if (message === undefined || parameter === undefined || message.includes(parameter)) return message;
  return `${message} (${parameter})`;
}
