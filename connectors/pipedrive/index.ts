import { type ConfigField, defineConnector, defined, errors, json, type ProviderResponse, settings } from '#connector';
import { discoverObjects } from './objects.ts';
import { hooks } from './webhooks.ts';

const [API, LOGIN] = ['https://api.pipedrive.com', 'https://oauth.pipedrive.com/oauth'];
const ADDRESS = 'pipedrive.address';

const setting = settings([{ key: ADDRESS, type: 'string' }] as const satisfies readonly Partial<ConfigField>[]);

/** An API token has 40 hexadecimal digits. An access token of OAuth begins with its version, as in `v1u:`. */
const API_TOKEN = /^[0-9a-f]{40}$/;

/** The connector for Pipedrive's CRM, with OAuth or an API token. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'pipedrive',
  id: 1028,
  contract: 1,
  name: 'Pipedrive',
  description:
    'Deals, persons, organizations, activities, products, notes, pipelines and users of a Pipedrive account.',
  hub: 'crm',
  mark: { shape: 'funnel', colour: 'green' },
  documentation: [
    { title: 'API reference', url: 'https://developers.pipedrive.com/docs/api/v1' },
    { title: 'OAuth authorization', url: 'https://pipedrive.readme.io/docs/marketplace-oauth-authorization' },
    { title: 'Webhooks', url: 'https://pipedrive.readme.io/docs/guide-for-webhooks-v2' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `${LOGIN}/authorize`,
    tokenUrl: () => `${LOGIN}/token`,
    pkce: false,
    values: {
      [ADDRESS]: {
        from: 'token',
        name: 'api_domain',
        type: 'url',
        required: false,
        description: 'The address of the company, to which requests go after a log-in.',
      },
    },
    headers: (token) => headersOf(token),
    setup: [
      'In Pipedrive, open the Developer Hub from the menu of your account, and create an app.',
      'Enter your callback URL, and select the scopes of the objects that you need. Webhooks need `admin`.',
      'Copy the client id to `oauth.api.key`, and the client secret to `oauth.api.secret`.',
    ],
  },
  configuration: [],
  baseUrl: (config) => setting(config, ADDRESS) ?? API,
  hosts: ['*.pipedrive.com'],
  probe: { path: '/v1/users/me' },
  classify: errors({ message: ({ body }) => wordsOf(body) }),
  rateLimit: readLimit,
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['deals', 'persons', 'organizations', 'activities'],
  webhooks: hooks,
});

function headersOf(token: string): Readonly<Record<string, string>> {
  return API_TOKEN.test(token) ? { 'x-api-token': token } : { authorization: `Bearer ${token}` };
}

/** Returns what Pipedrive says. Webhooks have their errors by member. */
function wordsOf(body: unknown): string | undefined {
  const [first] = Object.entries(Object(json.at(body, 'errors')));
  const listed = first && `${first[0]}: ${[first[1]].flat().join(', ')}`;
  return json.findText(json.at(body, 'error')) ?? json.findText(json.at(body, 'message')) ?? listed;
}

/** Reads the limit of a window. Source: "Rate limiting". */
function readLimit(headers: ProviderResponse['headers']) {
  const [limit, remaining, resetSeconds] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers[`x-ratelimit-${name}`] ?? Number.NaN),
  );
  const isKnown = Number.isSafeInteger(limit) && Number.isSafeInteger(remaining);
  return isKnown ? defined({ limit, remaining, resetSeconds: resetSeconds || 2 }) : undefined;
}
