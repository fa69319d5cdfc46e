import { type Config, type ConfigField, defineConnector, errors, type Json, json, settings } from '#connector';
import { discoverObjects } from './objects.ts';
import { notifications } from './webhooks.ts';

/**
 * The hosts of the log-in, by the end of the API's host. An account lives in one data center. Source: "Multi DC Support" of Zoho CRM and of
 * Zoho Accounts.
 */
const LOG_IN_HOSTS = {
  com: 'accounts.zoho.com',
  eu: 'accounts.zoho.eu',
  in: 'accounts.zoho.in',
  'com.au': 'accounts.zoho.com.au',
  'com.cn': 'accounts.zoho.com.cn',
  jp: 'accounts.zoho.jp',
  ca: 'accounts.zohocloud.ca',
  sa: 'accounts.zoho.sa',
} as const;
const LOG_IN_BY_END: ReadonlyMap<string, string> = new Map(Object.entries(LOG_IN_HOSTS));

const CONFIGURATION = [
  {
    key: 'zoho.datacenter',
    type: 'string',
    label: 'Data center',
    description: 'The end of the address at which you use Zoho CRM, such as `eu` for crm.zoho.eu.',
    default: 'com',
    // `siteAddress` may contain the host at which people use Zoho CRM.
    pattern: /^(?:(?:crm|accounts)\.zoho(?:cloud)?\.)?(?:com|eu|in|com\.au|com\.cn|jp|ca|sa)$/,
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);
function logIn(config: Config): string {
  const end = setting(config, 'zoho.datacenter').replace(/^\w+\.zoho(?:cloud)?\./, '');
  return `https://${LOG_IN_BY_END.get(end) ?? LOG_IN_HOSTS.com}/oauth/v2`;
}
const API = 'api.domain';

/** The status of a list in which nothing changed since the time of If-Modified-Since. */
const UNMODIFIED = 304;

/** Our code for an id that no record has. Zoho CRM has none. */
const INVALID_ID = 'INVALID_ID';

/** The connector for Zoho CRM, with OAuth. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'zohocrm',
  id: 1031,
  contract: 1,
  name: 'Zoho CRM',
  description: 'Leads, contacts, accounts, deals and every other module of a Zoho CRM account, custom ones included.',
  hub: 'crm',
  mark: { shape: 'target', colour: 'red' },
  documentation: [
    { title: 'Query API', url: 'https://www.zoho.com/crm/developer/docs/api/v8/COQL-Overview.html' },
    { title: 'OAuth', url: 'https://www.zoho.com/crm/developer/docs/api/v8/oauth-overview.html' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `${logIn(config)}/auth`,
    tokenUrl: (config) => `${logIn(config)}/token`,
    clientAuthentication: 'body',
    siteAddressKey: 'zoho.datacenter',
    pkce: false,
    scopes: ['modules.ALL', 'settings.ALL', 'users.READ', 'coql.READ', 'notifications.ALL', 'org.READ'].map(
      (scope) => `ZohoCRM.${scope}`,
    ),
    scopeSeparator: ',',
    // Without a new consent, a second log-in returns no refresh token.
    authorizeParameters: { access_type: 'offline', prompt: 'consent' },
    values: {
      [API]: {
        from: 'token',
        name: 'api_domain',
        type: 'url',
        description: 'URL of the data center of the account, the base of every call.',
      },
    },
    headers: (token) => ({ authorization: `Zoho-oauthtoken ${token}` }),
    setup: [
      'In the API console of Zoho (https://api-console.zoho.com), add a client of the type "Server-based Applications".',
      'Enter your callback URL as the authorized redirect URI.',
      'Copy the client id to `oauth.api.key`, and the client secret to `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => String(config[API]),
  hosts: Object.entries(LOG_IN_HOSTS).flatMap(([end, logInHost]) => [logInHost, `www.zohoapis.${end}`]),
  probe: { path: '/crm/v8/org' },
  classify: errors({
    part: ({ body, status }) => {
      const failed = findFailed(body);
      return status < 300 && failed !== undefined ? { status: 400, body: failed } : undefined;
    },
    code: ({ body, status }) => (status === UNMODIFIED ? UNMODIFIED : codeOf(body)),
    message: ({ body }) => describe(Object(body)),
    kinds: {
      INVALID_TOKEN: 'credentials',
      AUTHENTICATION_FAILURE: 'credentials',
      // The status is 401, but no new access token has more scopes.
      OAUTH_SCOPE_MISMATCH: 'rejected',
      [UNMODIFIED]: 'notFound',
      [INVALID_ID]: 'notFound',
      DUPLICATE_DATA: 'conflict',
      RECORD_LOCKED: 'conflict',
      TOO_MANY_REQUESTS: 'rateLimited',
      INTERNAL_ERROR: 'unavailable',
    },
  }),
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['Leads', 'Contacts', 'Accounts', 'Deals'],
  webhooks: notifications,
});

/** A change of several records succeeds as a whole, and reports the failure of each. We send one. */
function findFailed(body: unknown): unknown {
  const entries = [json.at(body, 'data'), json.at(body, 'watch')].flat();
  return entries.find((entry) => json.at(entry, 'status') === 'error' && json.at(entry, 'code') !== undefined);
}

/**
 * Returns the code of an error. INVALID_DATA is also the code for a record that does not exist: then the details have the id, its name as a
 * field, or its place in the path.
 */
function codeOf(body: unknown): string | undefined {
  const code = json.findText(json.at(body, 'code'));
  const details = Object(json.at(body, 'details'));
  const isAboutId = details.api_name === 'id' || 'resource_path_index' in details || 'id' in details;
  return code === 'INVALID_DATA' && isAboutId ? INVALID_ID : code;
}

/** Returns Zoho CRM's words, and the field that they are about. */
function describe({ message, details }: Json): string | undefined {
  const field = json.findText(json.at(details, 'api_name'));
  const text = json.findText(message);
  return text === undefined || field === undefined ? text : `${field}: ${text}`;
}
