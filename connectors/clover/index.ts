import {
  type Config,
  type ConfigField,
  type ConnectorContext,
  defineConnector,
  errors,
  ifAvailable,
  json,
  settings,
} from '#connector';
import { objectsIn } from './objects.ts';
import { appWebhooks } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: 'clover.sandbox',
    label: 'Sandbox',
    type: 'boolean',
    default: false,
    description: 'Connect to the sandbox, which has the test merchants of developers.',
  },
  {
    key: 'clover.region',
    label: 'Region',
    type: 'string',
    default: 'na',
    // `siteAddress` may contain the address of the merchant's dashboard.
    pattern: /^(?:na|eu|la|(?:(?:www|api)\.)?(?:(?:eu|la)\.)?clover\.com)$/,
    description:
      'Region of the merchant: na (North America), eu (Europe) or la (Latin America), or the host of the dashboard. The sandbox serves all regions.',
    example: 'eu',
    setup: [
      'Log in to the dashboard of the merchant.',
      'Its address begins with `www.clover.com`, `www.eu.clover.com` or `www.la.clover.com`.',
    ],
  },
  {
    key: 'merchantId',
    type: 'string',
    required: true,
    pattern: /^[A-Z0-9]{13}$/,
    description: 'Id of the merchant: `merchant_id` of the callback URL, 13 letters and digits.',
    example: 'TC4DGCJW1K4EW',
    setup: [
      'Authorize on the page that `GET /elements/clover/oauth/url` returns.',
      'Copy `merchant_id` from the callback URL to which the browser returns. The URL has `code`, too.',
    ],
  },
  {
    key: 'clover.currency',
    label: 'Currency of the merchant',
    type: 'string',
    default: 'USD',
    pattern: /^[A-Z]{3}$/,
    description:
      'Currency of the merchant, which decides how many decimals amounts have. It is read from Clover when the instance is checked.',
    example: 'EUR',
  },
  {
    key: 'webhook.auth.code',
    label: 'Clover Auth Code for webhooks',
    type: 'string',
    secret: true,
    description: 'For webhooks: the Clover Auth Code, which the developer dashboard shows at the webhook of the app.',
    setup: [
      'On the developer dashboard open the app and its webhooks, enter the `eventUrl` of the instance and have a verification code sent.',
      'Copy the code from the `warnings` of the instance, and enter it on the dashboard.',
      'Copy the Clover Auth Code that the dashboard shows.',
    ],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** Hosts of the sandbox. Source of all hosts: "High-trust apps—Auth code flow", Sandbox and production environment URLs. */
const SANDBOX = { login: 'sandbox.dev.clover.com', api: 'apisandbox.dev.clover.com' };

function hostsOf(config: Config) {
  if (setting(config, 'clover.sandbox')) return SANDBOX;
  const [region] = /\b(?:eu|la)\b/.exec(setting(config, 'clover.region')) ?? [];
  const domain = region === undefined ? 'clover.com' : `${region}.clover.com`;
  return { login: `www.${domain}`, api: `api.${domain}` };
}

/** The connector for Clover's merchant data, with OAuth. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'clover',
  id: 1004,
  contract: 1,
  name: 'Clover',
  description: 'Orders, payments, customers, items and employees of a merchant.',
  hub: 'payment',
  mark: { shape: 'card', colour: 'indigo' },
  documentation: [
    { title: 'OAuth of apps with a secret', url: 'https://docs.clover.com/docs/high-trust-app-auth-flow' },
    { title: 'Documentation', url: 'https://docs.clover.com/docs' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `https://${hostsOf(config).login}/oauth/v2/authorize`,
    tokenUrl: (config) => `https://${hostsOf(config).api}/oauth/v2/token`,
    refreshUrl: (config) => `https://${hostsOf(config).api}/oauth/v2/refresh`,
    setup: [
      'Create an app on the developer dashboard, of a type that has a client secret (“high-trust”).',
      'Give it the permissions to read and write merchant, orders, payments, customers, inventory and employees.',
      'Set its site URL to your callback URL.',
      'Install the app for the merchant.',
      'Copy app id and app secret from its settings: the first is `oauth.api.key`, the second `oauth.api.secret`.',
    ],
    accessTokenEnd: 'access_token_expiration',
    // The developer dashboard sets the permissions of an app. Scopes do not exist.
    pkce: false,
    clientAuthentication: 'body',
    tokenBody: 'json',
    siteAddressKey: 'clover.region',
    sandboxKey: 'clover.sandbox',
    merchantIdKey: 'merchantId',
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://${hostsOf(config).api}/v3/merchants/${setting(config, 'merchantId')}`,
  hosts: (config) => Object.values(hostsOf(config)),
  // This request returns the merchant.
  probe: {},
  classify: errors({
    message: ({ body }) => json.findText(json.at(body, 'message')) ?? json.findText(json.at(body, 'error')),
  }),
  examine: async (context) => ({ 'clover.currency': await findCurrency(context) }),
  objects: async ({ config }) => objectsIn(setting(config, 'clover.currency')),
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['orders', 'payments', 'items'],
  webhooks: appWebhooks,
});

/** Returns the currency of the merchant, or the known one where Clover does not show it. */
async function findCurrency(context: ConnectorContext): Promise<string> {
  const properties = await ifAvailable(context, () => context.send({ path: '/properties' }));
  const found = json.findText(json.at(properties?.body, 'defaultCurrency'));
  return found !== undefined && /^[A-Z]{3}$/.test(found) ? found : setting(context.config, 'clover.currency');
}
