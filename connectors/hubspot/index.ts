import {
  type ConfigField,
  type ConnectorContext,
  defineConnector,
  defined,
  errors,
  ifAvailable,
  json,
  type ProviderResponse,
} from '#connector';
import { discoverObjects } from './objects.ts';
import { ACCOUNT, appWebhooks, SECRET } from './webhooks.ts';

const API = 'api.hubapi.com';
const LOGIN = 'app.hubspot.com';
const DETAILS = { path: '/account-info/v3/details' };

const CONFIGURATION = [
  {
    key: SECRET,
    type: 'string',
    description: 'For webhooks: the client secret of the app that sends them.',
    secret: true,
    setup: ['In HubSpot, open your app.', 'Copy the client secret from its authorization page.'],
  },
  { key: ACCOUNT, type: 'string', description: 'The id of the account (Hub ID). Causeway reads it from HubSpot.' },
] as const satisfies readonly ConfigField[];

const read = (objects: string) => objects.split(' ').map((object) => `crm.objects.${object}.read`);
const write = (objects: string) => objects.split(' ').map((object) => `crm.objects.${object}.write`);

/** The connector for HubSpot's CRM, with OAuth or the token of a private app. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'hubspot',
  id: 1017,
  contract: 1,
  name: 'HubSpot',
  description: 'Contacts, companies, deals, tickets, activities, products and custom objects of a HubSpot account.',
  hub: 'crm',
  moreHubs: ['helpdesk'],
  mark: { shape: 'network', colour: 'orange' },
  documentation: [
    {
      title: 'OAuth',
      url: 'https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/oauth/oauth-quickstart-guide',
    },
    { title: 'Search the CRM', url: 'https://developers.hubspot.com/docs/api-reference/search/guide' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${LOGIN}/oauth/authorize`,
    tokenUrl: () => `https://${API}/oauth/v1/token`,
    clientAuthentication: 'body',
    // HubSpot describes a verifier in token requests, but no challenge in the authorization URL.
    pkce: false,
    scopes: ['oauth', ...read('contacts companies deals owners'), ...write('contacts companies deals'), 'tickets'],
    // Accounts without these products can log in nevertheless.
    authorizeParameters: {
      optional_scope: [
        ...read('custom products line_items'),
        ...write('custom products line_items'),
        'crm.schemas.custom.read',
      ].join(' '),
    },
    setup: [
      'In HubSpot, create an app, and open its authorization settings.',
      'Enter your callback URL as the redirect URL, and select the scopes that you need.',
      'Copy its client id to `oauth.api.key`, and its client secret to `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: () => `https://${API}`,
  hosts: [API, LOGIN],
  probe: DETAILS,
  examine: async (context) => ({ [ACCOUNT]: await findAccount(context) }),
  classify: errors({
    message: ({ body }) => json.findText(json.at(body, 'message')),
    // 477: HubSpot moves the account to another data centre, and says when to come back.
    code: ({ status }) => status,
    kinds: { 477: 'unavailable' },
  }),
  rateLimit: readLimit,
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['contacts', 'companies', 'deals', 'tickets'],
  webhooks: appWebhooks,
});

/** Returns the id of the account. Its absence must not prevent an instance, because only webhooks need it. */
function findAccount(context: ConnectorContext): Promise<string | undefined> {
  return ifAvailable(context, async () => {
    const { body } = await context.send(DETAILS);
    return json.key(json.at(body, 'portalId'), 'the id of the account');
  });
}

/** Reads the limit of a window of ten seconds. Source: "Usage guidelines". Responses to a search do not have it. */
function readLimit(headers: ProviderResponse['headers']) {
  const [limit, remaining, milliseconds] = ['max', 'remaining', 'interval-milliseconds'].map((name) =>
    Number(headers[`x-hubspot-ratelimit-${name}`]),
  );
  const isKnown = Number.isSafeInteger(limit) && Number.isSafeInteger(remaining);
  return isKnown ? defined({ limit, remaining, resetSeconds: (milliseconds || 10_000) / 1000 }) : undefined;
}
