import { type Config, type ConfigField, defineConnector, settings } from '#connector';
import { ask, classify } from './graphql.ts';
import { discoverObjects } from './objects.ts';
import { hooks, hostOf, SECRET, SHOP } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: SHOP,
    label: 'Shop',
    type: 'string',
    description: 'The name of the shop: the part of its address before `.myshopify.com`, or the whole host.',
    required: true,
    // The name becomes part of the host. `siteAddress` may contain the whole host.
    pattern: /^[a-z0-9][a-z0-9-]*(?:\.myshopify\.com)?$/,
    example: 'my-shop',
    setup: ['Log in to the Shopify admin.', 'Open Settings → Domains, and copy the name before `.myshopify.com`.'],
  },
  {
    key: SECRET,
    label: 'Client secret',
    type: 'string',
    description: 'For webhooks: the client secret (API secret key) of the app, with which Shopify signs them.',
    secret: true,
    setup: ['Open the settings of your app.', 'Copy the client secret. It is also `oauth.api.secret`.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);
const hostIn = (config: Config) => hostOf(setting(config, SHOP));
const scopesOf = (words: string) => words.split(' ').flatMap((word) => [`read_${word}`, `write_${word}`]);

/** The connector for Shopify's GraphQL Admin API, with OAuth or the token of a custom app. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'shopify',
  id: 1024,
  contract: 1,
  name: 'Shopify',
  description: 'Orders, draft orders, products, variants and customers of a Shopify shop, with their metafields.',
  hub: 'ecommerce',
  moreHubs: ['payment', 'erp'],
  mark: { shape: 'cart', colour: 'green' },
  documentation: [
    { title: 'GraphQL Admin API', url: 'https://shopify.dev/docs/api/admin-graphql' },
    { title: 'Search syntax', url: 'https://shopify.dev/docs/api/usage/search-syntax' },
    {
      title: 'Authorization code grant',
      url: 'https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant',
    },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `https://${hostIn(config)}/admin/oauth/authorize`,
    tokenUrl: (config) => `https://${hostIn(config)}/admin/oauth/access_token`,
    clientAuthentication: 'body',
    // Shopify documents no challenge.
    pkce: false,
    stateRequired: true,
    scopeSeparator: ',',
    scopes: scopesOf('orders draft_orders products customers'),
    // Without it, tokens neither expire nor can be refreshed.
    tokenParameters: { expiring: '1' },
    siteAddressKey: SHOP,
    headers: (accessToken) => ({ 'x-shopify-access-token': accessToken }),
    setup: [
      'In the Dev Dashboard of Shopify, create an app.',
      'Select its scopes, and enter your callback URL as a redirect URL.',
      'Copy its client id to `oauth.api.key`, and its client secret to `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://${hostIn(config)}`,
  hosts: (config) => [hostIn(config)],
  probe: ask('query { shop { id } }'),
  classify,
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['orders', 'products', 'customers', 'draftOrders'],
  webhooks: hooks,
});
