import {
  type Config,
  type ConfigField,
  type ConnectorContext,
  defineConnector,
  errors,
  ifAvailable,
  json,
  type ProviderResponse,
  settings,
} from '#connector';
import { discoverObjects } from './objects.ts';
import { appWebhooks, SECRET, WORKSPACE } from './webhooks.ts';

const REGION = 'intercom.region';
/** The part of host names that stands for a region. Source: "Regional hosting". */
const REGIONS: Readonly<Record<string, string>> = { US: '', EU: 'eu.', AU: 'au.' };
const ME = { path: '/me' };

const CONFIGURATION = [
  {
    key: REGION,
    label: 'Region',
    type: 'string',
    description:
      'The region in which Intercom hosts the workspace: `US`, `EU` or `AU`, or the host at which you use Intercom.',
    default: 'US',
    // `siteAddress` may contain the address at which people use Intercom.
    pattern: /^(?:US|EU|AU|app\.(?:(?:eu|au)\.)?intercom\.com)$/i,
    example: 'EU',
    setup: ['In Intercom, open Settings → Workspace → General.', 'Find the region among the data of the workspace.'],
  },
  {
    key: SECRET,
    label: 'Client secret',
    type: 'string',
    description: 'For webhooks: the client secret of the app that sends them.',
    secret: true,
    setup: ['In the Developer Hub of Intercom, open your app, and Basic information.', 'Copy the client secret.'],
  },
  {
    key: WORKSPACE,
    label: 'Workspace ID',
    type: 'string',
    description: 'The id of the workspace. Causeway reads it from Intercom.',
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);
const part = (config: Config) => REGIONS[/\b(?:eu|au)\b/i.exec(setting(config, REGION))?.[0].toUpperCase() ?? 'US'];
const hostsOf = (name: string) =>
  Object.values(REGIONS).map((region) => `${name}.${region}intercom.${name === 'api' ? 'io' : 'com'}`);

/** The connector for Intercom, with OAuth or an access token. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'intercom',
  id: 1030,
  contract: 1,
  name: 'Intercom',
  description: 'Contacts, companies, conversations and tickets of a workspace in Intercom.',
  hub: 'helpdesk',
  moreHubs: ['crm', 'messaging'],
  mark: { shape: 'people', colour: 'indigo' },
  documentation: [
    {
      title: 'Setting up OAuth',
      url: 'https://developers.intercom.com/docs/build-an-integration/learn-more/authentication/setting-up-oauth',
    },
    { title: 'Webhook topics', url: 'https://developers.intercom.com/docs/references/2.16/webhooks/webhook-models' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `https://app.${part(config)}intercom.com/oauth`,
    tokenUrl: (config) => `https://api.${part(config)}intercom.io/auth/eagle/token`,
    clientAuthentication: 'body',
    pkce: false,
    siteAddressKey: REGION,
    setup: [
      'In Intercom, open Settings → Integrations → Developer Hub, and create an app.',
      'Under Authentication, select Use OAuth, enter your callback URL as a redirect URL, and select the permissions.',
      'Under Basic information, copy the client id to `oauth.api.key`, and the client secret to `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://api.${part(config)}intercom.io`,
  hosts: [...hostsOf('api'), ...hostsOf('app')],
  headers: { 'intercom-version': '2.16' },
  probe: ME,
  examine: async (context) => ({ [WORKSPACE]: await findWorkspace(context) }),
  classify: errors({ message: ({ body }) => wordsOf(body) }),
  rateLimit: readLimit,
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['contacts', 'conversations', 'tickets'],
  webhooks: appWebhooks,
});

/** Returns the id of the workspace. Its absence must not prevent an instance, because only webhooks need it. */
function findWorkspace(context: ConnectorContext): Promise<string | undefined> {
  return ifAvailable(context, async () => {
    const { body } = await context.send(ME);
    return json.findText(json.at(body, 'app', 'id_code'));
  });
}

/** Returns the messages of an `error.list`. */
function wordsOf(body: unknown): string | undefined {
  const all = json.at(body, 'errors');
  const words = Array.isArray(all) ? all.flatMap((error) => json.findText(json.at(error, 'message')) ?? []) : [];
  return words.length > 0 ? words.join(' ') : undefined;
}

/** Source: "Rate limiting". The end of the window is in seconds since 1970. */
function readLimit(headers: ProviderResponse['headers']) {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers[`x-ratelimit-${name}`]),
  );
  const resetSeconds = (reset ?? Number.NaN) - Date.parse(headers.date ?? '') / 1000;
  if (!Number.isSafeInteger(limit) || !Number.isSafeInteger(remaining) || !Number.isFinite(resetSeconds))
    return undefined;
  return { limit, remaining, resetSeconds: Math.max(0, Math.ceil(resetSeconds)) };
}
