import {
  type Config,
  type ConfigField,
  type ConnectorContext,
  defineConnector,
  isUnauthorized,
  json,
  settings,
} from '#connector';
import { PLATFORM_API, PROVIDER, SITE } from '../jira/provider.ts';
import { registeredWebhooks, WEBHOOK_SECRET } from '../jira/webhooks.ts';

const LOGIN = 'auth.atlassian.com';
const API = 'api.atlassian.com';
const RESOURCES = { url: `https://${API}/oauth/token/accessible-resources` };
const WARNING = 'jira.site.warning';

const CONFIGURATION = [
  { ...SITE, description: `${SITE.description} It is needed only if the log-in gives access to several sites.` },
  { key: 'jira.cloud.id', type: 'string', description: 'The id of the site. Causeway reads it from Atlassian.' },
  { key: WARNING, type: 'string', warning: true, description: 'Why no site could be found.' },
  {
    ...WEBHOOK_SECRET,
    description: 'For webhooks: the secret of the app that registers them.',
    setup: ['Copy the secret of the app once more: it is also `oauth.api.secret`.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** The connector for Jira Cloud with OAuth. It shares everything but the log-in with the connector `jira`. */
export default defineConnector({
  ...PROVIDER,
  key: 'jiraoauth',
  id: 1020,
  name: 'Jira (OAuth)',
  mark: { shape: 'lifebuoy', colour: 'cyan' },
  documentation: [
    { title: 'OAuth 2.0 (3LO) apps', url: 'https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/' },
    PLATFORM_API,
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${LOGIN}/authorize`,
    tokenUrl: () => `https://${LOGIN}/oauth/token`,
    authorizeParameters: { audience: API, prompt: 'consent' },
    clientAuthentication: 'body',
    tokenBody: 'json',
    // Atlassian does not document PKCE for these apps.
    pkce: false,
    stateRequired: true,
    scopes: [
      'read:jira-work',
      'write:jira-work',
      'read:jira-user',
      'manage:jira-project',
      'manage:jira-webhook',
      'offline_access',
    ],
    siteAddressKey: SITE.key,
    setup: [
      'Open https://developer.atlassian.com/console/myapps/ and create an app for OAuth 2.0 integration.',
      'Under Permissions add the Jira API with the scopes of this element.',
      'Under Authorization add OAuth 2.0 (3LO) with your callback URL.',
      'Copy client ID and secret from Settings: the first is `oauth.api.key`, the second `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://${API}/ex/jira/${setting(config, 'jira.cloud.id') ?? 'unknown'}`,
  hosts: [API, LOGIN],
  probe: RESOURCES,
  examine: findSite,
  webhooks: registeredWebhooks,
});

/** Finds the id of the site among those that the log-in gives access to. Source: "OAuth 2.0 (3LO) apps", step 3. */
async function findSite({
  send,
  config,
  signal,
}: ConnectorContext): Promise<Readonly<Record<string, string | undefined>>> {
  try {
    const { body } = await send(RESOURCES);
    const sites = json.objects(body, 'the sites');
    const wanted = siteUrl(config);
    const found = sites.filter(({ url }) => wanted === undefined || url === wanted);
    const [only] = found;
    if (found.length === 1 && only !== undefined) {
      return { 'jira.cloud.id': json.text(only.id, 'the id of the site'), [WARNING]: undefined };
    }
    return { 'jira.cloud.id': undefined, [WARNING]: warningFor(sites.map(({ url }) => String(url))) };
  } catch (error) {
    signal.throwIfAborted();
    if (isUnauthorized(error)) throw error;
    return { [WARNING]: 'Atlassian did not list the sites of this log-in. Update the instance to try again.' };
  }
}

function siteUrl(config: Config): string | undefined {
  const site = setting(config, 'jira.site');
  return site === undefined ? undefined : `https://${site}.atlassian.net`;
}

function warningFor(urls: readonly string[]): string {
  const list = urls.length === 0 ? 'no site' : urls.join(', ');
  return `The log-in gives access to: ${list}. Set \`${SITE.key}\` to the name of one of these sites.`;
}
