import {
  type ConfigField,
  type ConnectorContext,
  defineConnector,
  errors,
  isUnauthorized,
  json,
  type ProviderResponse,
  settings,
} from '#connector';
import { objects } from './objects.ts';
import { appWebhooks, TENANT_ID, WEBHOOK_KEY } from './webhooks.ts';

const [API, LOGIN, IDENTITY] = ['api.xero.com', 'login.xero.com', 'identity.xero.com'];
const CONNECTIONS = { path: '/Connections' };
const TENANT = 'xero.tenant';
const WARNING = 'xero.tenant.warning';

const CONFIGURATION = [
  {
    key: TENANT,
    label: 'Organisation',
    type: 'string',
    description:
      'Name or id of the organisation. It is needed only if the log-in gives access to several organisations.',
    example: 'Demo Company (NZ)',
    setup: ['Log in to Xero.', 'Copy the name of the organisation, which is shown at the top of the page.'],
  },
  { key: TENANT_ID, type: 'string', description: 'The id of the organisation. Causeway reads it from Xero.' },
  { key: WARNING, type: 'string', warning: true, description: 'Why no organisation could be found.' },
  {
    key: WEBHOOK_KEY,
    type: 'string',
    description: 'For webhooks: the webhooks key of the app.',
    secret: true,
    setup: ['Open https://developer.xero.com/app/manage, your app, and Webhooks.', 'Copy the webhooks key.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** The connector for Xero's accounting API. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'xero',
  id: 1022,
  contract: 1,
  name: 'Xero',
  description:
    'Contacts, invoices, payments, accounts, items, credit notes and bank transactions of an organisation in Xero.',
  hub: 'erp',
  moreHubs: ['payment'],
  mark: { shape: 'calculator', colour: 'cyan' },
  documentation: [
    { title: 'OAuth 2.0', url: 'https://developer.xero.com/documentation/guides/oauth2/auth-flow/' },
    {
      title: 'Requests and responses',
      url: 'https://developer.xero.com/documentation/api/accounting/requests-and-responses',
    },
    { title: 'Webhooks', url: 'https://developer.xero.com/documentation/guides/webhooks/overview/' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${LOGIN}/identity/connect/authorize`,
    tokenUrl: () => `https://${IDENTITY}/connect/token`,
    // Xero documents the challenge for apps without a secret only.
    pkce: false,
    scopes: ['offline_access', 'accounting.contacts', 'accounting.transactions', 'accounting.settings'],
    headers: (accessToken, config) => ({
      authorization: `Bearer ${accessToken}`,
      'xero-tenant-id': setting(config, TENANT_ID) ?? '',
    }),
    setup: [
      'Open https://developer.xero.com/app/manage and create a web app.',
      'Enter your callback URL as the redirect URI.',
      'Generate a secret. The client id is `oauth.api.key`, the secret `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: () => `https://${API}`,
  hosts: [API, LOGIN, IDENTITY],
  headers: { accept: 'application/json' },
  probe: CONNECTIONS,
  examine: findTenant,
  classify: errors({ message: ({ body }) => wordsOf(body) }),
  rateLimit: readLimit,
  objects,
  polls: ['contacts', 'invoices', 'payments'],
  webhooks: appWebhooks,
});

/** Finds the id of the organisation among those that the log-in gives access to. Source: "The standard authorization code flow". */
async function findTenant({
  send,
  config,
  signal,
}: ConnectorContext): Promise<Readonly<Record<string, string | undefined>>> {
  try {
    const { body } = await send(CONNECTIONS);
    const wanted = setting(config, TENANT);
    const all = json.objects(body, 'the organisations').filter(({ tenantType }) => tenantType === 'ORGANISATION');
    const found = all.filter(
      ({ tenantId, tenantName }) => wanted === undefined || [tenantId, tenantName].includes(wanted),
    );
    const [only] = found;
    if (only !== undefined && found.length === 1)
      return { [TENANT_ID]: json.text(only.tenantId, 'the id of the organisation'), [WARNING]: undefined };
    const names = all.map(({ tenantName }) => String(tenantName)).join(', ') || 'no organisation';
    const warning = `The log-in gives access to: ${names}. Set \`${TENANT}\` to the name or the id of one of them.`;
    return { [TENANT_ID]: undefined, [WARNING]: warning };
  } catch (error) {
    signal.throwIfAborted();
    if (isUnauthorized(error)) throw error;
    return { [WARNING]: 'Xero did not list the organisations of this log-in. Update the instance to try again.' };
  }
}

/** Returns what Xero says about the record, or about the request. Source: the schema `Error`; "HTTP response codes and errors". */
function wordsOf(body: unknown): string | undefined {
  const elements = json.at(body, 'Elements');
  const messages = (Array.isArray(elements) ? elements : [])
    .flatMap((element) => json.at(element, 'ValidationErrors') ?? [])
    .flatMap((error) => json.findText(json.at(error, 'Message')) ?? []);
  if (messages.length > 0) return [...new Set(messages)].join(' ');
  return (
    json.findText(json.at(body, 'Message')) ??
    json.findText(json.at(body, 'Detail')) ??
    json.findText(json.at(body, 'Title'))
  );
}

/** Reads the limit of a minute. Source: "OAuth 2.0 API limits". */
function readLimit(headers: ProviderResponse['headers']) {
  const remaining = Number(headers['x-minlimit-remaining'] ?? Number.NaN);
  return Number.isSafeInteger(remaining) ? { remaining, resetSeconds: 60 } : undefined;
}
