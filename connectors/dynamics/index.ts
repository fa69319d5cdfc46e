import { type Config, type ConfigField, defineConnector, errors, json, settings } from '#connector';
import { discoverObjects } from './objects.ts';
import { pluginWebhooks, SECRET } from './webhooks.ts';

const LOGIN = 'login.microsoftonline.com';
const VERSION = '/api/data/v9.2';

const CONFIGURATION = [
  {
    key: 'dynamics.host',
    label: 'Environment',
    type: 'string',
    required: true,
    // The region has a number. `api` stands in the address of the Web API, and not in that of the application.
    pattern: /^[a-z0-9][a-z0-9-]*\.(?:api\.)?crm\d{0,2}\.dynamics\.com$/,
    description: 'The host of the environment.',
    example: 'contoso.api.crm.dynamics.com',
    setup: [
      'Log in to https://make.powerapps.com, and choose the environment.',
      'Open Settings → Developer resources.',
      'Copy the host of the Web API endpoint, without `https://` and without the path.',
    ],
  },
  {
    key: 'dynamics.tenant',
    label: 'Tenant',
    type: 'string',
    default: 'organizations',
    pattern: /^[A-Za-z0-9][A-Za-z0-9.-]*$/,
    description:
      'The domain or the id of the tenant in Microsoft Entra ID. Default: the tenant of the user who logs in.',
    example: 'contoso.onmicrosoft.com',
  },
  {
    key: SECRET,
    type: 'string',
    secret: true,
    description: 'For webhooks: the value of the header `x-webhook-key`, which you choose.',
    setup: [
      'Make up a long random text.',
      'Enter it as the value of the header `x-webhook-key`, when you register the web hook in the Plug-in Registration Tool.',
    ],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** Returns an address of the log-in. The scope names the environment. Source: "Use OAuth authentication with Dataverse". */
function loginUrl(config: Config, end: string): string {
  return `https://${LOGIN}/${setting(config, 'dynamics.tenant')}/oauth2/v2.0/${end}`;
}

/** The connector for Dynamics 365 and other applications on Dataverse. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'dynamics',
  id: 1027,
  contract: 1,
  name: 'Microsoft Dynamics 365',
  description:
    'Accounts, contacts, leads, opportunities, cases, activities and every other table of Dataverse, custom ones included.',
  hub: 'crm',
  moreHubs: ['helpdesk'],
  mark: { shape: 'suitcase', colour: 'blue' },
  documentation: [
    {
      title: 'Use OAuth authentication with Dataverse',
      url: 'https://learn.microsoft.com/power-apps/developer/data-platform/authenticate-oauth',
    },
    {
      title: 'Dataverse Web API',
      url: 'https://learn.microsoft.com/power-apps/developer/data-platform/webapi/overview',
    },
    { title: 'Webhooks', url: 'https://learn.microsoft.com/power-apps/developer/data-platform/use-webhooks' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => {
      const scope = `https://${setting(config, 'dynamics.host')}/.default offline_access`;
      return `${loginUrl(config, 'authorize')}?${new URLSearchParams({ scope })}`;
    },
    tokenUrl: (config) => loginUrl(config, 'token'),
    clientAuthentication: 'body',
    siteAddressKey: 'dynamics.host',
    // An application of a single tenant logs in at the address of its tenant only.
    merchantIdKey: 'dynamics.tenant',
    setup: [
      'Open https://entra.microsoft.com, choose App registrations, and register an application.',
      'Add your callback URL as a redirect URI of the platform Web.',
      'Under API permissions, add `user_impersonation` of Dynamics CRM (Dataverse).',
      'Under Certificates & secrets, create a client secret. The application id is `oauth.api.key`, the secret `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://${setting(config, 'dynamics.host')}${VERSION}`,
  hosts: (config) => [setting(config, 'dynamics.host'), LOGIN],
  headers: { accept: 'application/json', 'odata-version': '4.0', 'odata-maxversion': '4.0' },
  probe: { path: '/WhoAmI' },
  classify: errors({
    message: ({ body }) => json.findText(json.at(body, 'error', 'message')),
    code: ({ body, status }) => (status === 412 ? status : json.findText(json.at(body, 'error', 'code'))),
    kinds: {
      // With `If-Match: *`, a change or a removal fails only if there is no such record.
      412: 'notFound',
      // A delta token that is too old, or older than the definition of its table: `ExpiredVersionStamp`.
      '0x80044352': 'notFound',
      // The limits of service protection.
      '0x80072322': 'rateLimited',
      '0x80072321': 'rateLimited',
      '0x80072326': 'rateLimited',
    },
  }),
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['account', 'contact', 'lead', 'opportunity', 'incident'],
  webhooks: pluginWebhooks,
});
