import {
  type Config,
  type ConfigField,
  defineConnector,
  errors,
  json,
  type ProviderResponse,
  settings,
} from '#connector';
import { discoverObjects } from './objects.ts';
import { accountWebhooks } from './webhooks.ts';

const SUBDOMAIN = 'zendesk.subdomain';
const EMAIL = 'zendesk.email';

const CONFIGURATION = [
  {
    key: SUBDOMAIN,
    label: 'Subdomain',
    type: 'string',
    description: 'The subdomain of the account: `acme` for `https://acme.zendesk.com`, or the whole host.',
    required: true,
    pattern: /^[a-z0-9][a-z0-9-]{0,62}(?:\.zendesk\.com)?$/i,
    example: 'acme',
    setup: ['Log in to Zendesk.', 'Copy the part of the address before `.zendesk.com`.'],
  },
  {
    key: EMAIL,
    label: 'E-mail address',
    type: 'string',
    description: 'Only with an API token: the e-mail address of the agent. The token itself is `oauth.user.token`.',
    example: 'agent@example.com',
    setup: ['In Admin Center, open Apps and integrations → APIs → API tokens.', 'Create a token, and copy it.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);
const DOMAIN = '.zendesk.com';
function hostOf(config: Config): string {
  const name = setting(config, SUBDOMAIN).toLowerCase();
  return name.endsWith(DOMAIN) ? name : name + DOMAIN;
}

/** The connector for Zendesk Support, with OAuth or an API token. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'zendesk',
  id: 1023,
  contract: 1,
  name: 'Zendesk',
  description: 'Tickets with their comments, users, organizations and groups of a Zendesk account.',
  hub: 'helpdesk',
  moreHubs: ['crm'],
  mark: { shape: 'lifebuoy', colour: 'green' },
  documentation: [
    { title: 'Ticketing API', url: 'https://developer.zendesk.com/api-reference/ticketing/introduction/' },
    { title: 'Search reference', url: 'https://support.zendesk.com/hc/en-us/articles/4408886879258' },
    {
      title: 'Webhook events',
      url: 'https://developer.zendesk.com/api-reference/webhooks/event-types/webhook-event-types/',
    },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `https://${hostOf(config)}/oauth/authorizations/new`,
    tokenUrl: (config) => `https://${hostOf(config)}/oauth/tokens`,
    clientAuthentication: 'body',
    tokenBody: 'json',
    pkce: false,
    scopes: ['read', 'write'],
    siteAddressKey: SUBDOMAIN,
    headers: (accessToken, config) => {
      const email = setting(config, EMAIL);
      if (email === undefined) return { authorization: `Bearer ${accessToken}` };
      return { authorization: `Basic ${Buffer.from(`${email}/token:${accessToken}`).toString('base64')}` };
    },
    setup: [
      'In Admin Center, open Apps and integrations → APIs → OAuth clients, and add a client.',
      'Enter your callback URL as the redirect URL.',
      'Copy its identifier to `oauth.api.key`, and its secret to `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://${hostOf(config)}`,
  hosts: (config) => [hostOf(config)],
  headers: { accept: 'application/json' },
  probe: { path: '/api/v2/users/me' },
  classify: (response) => anonymous(response) ?? classify(response),
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['tickets', 'users', 'organizations'],
  webhooks: accountWebhooks,
});

const classify = errors({ message: ({ body }) => wordsOf(body) });

/** Without valid credentials, "Show self" returns an anonymous user. Source: "Show Self". */
function anonymous({ status, body }: ProviderResponse) {
  const user = json.at(body, 'user');
  const isAnonymous = status === 200 && json.isObject(user) && user.id === null && 'authenticity_token' in user;
  return isAnonymous ? ({ kind: 'credentials', message: 'The log-in is not valid.' } as const) : undefined;
}

/** Returns what Zendesk says about the fields of a record, or about the request. Source: "Errors" of the introduction. */
function wordsOf(body: unknown): string | undefined {
  const details = Object.values(json.at(body, 'details') ?? {})
    .flat()
    .flatMap((detail) => json.findText(json.at(detail, 'description')) ?? []);
  if (details.length > 0) return details.join(' ');
  const { error } = json.isObject(body) ? body : {};
  return (
    json.findText(json.at(body, 'description')) ?? json.findText(json.at(error, 'message')) ?? json.findText(error)
  );
}
