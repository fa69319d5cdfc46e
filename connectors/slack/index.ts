import {
  type ConfigField,
  type ConnectorContext,
  defineConnector,
  errors,
  ifAvailable,
  json,
  type ProviderResponse,
} from '#connector';
import { messages } from './messages.ts';
import { channels, files, usergroups, users } from './objects.ts';
import { appWebhooks, SIGNING_SECRET, TEAM } from './webhooks.ts';

const HOST = 'slack.com';
/** The host of the bytes of files. */
const FILES_HOST = 'files.slack.com';
const TEST = { path: '/auth.test' };

const CONFIGURATION = [
  {
    key: SIGNING_SECRET,
    type: 'string',
    label: 'Signing secret',
    description: 'For webhooks: the signing secret of the app that sends them.',
    secret: true,
    setup: ['Open https://api.slack.com/apps and your app.', 'Copy the signing secret of “Basic Information”.'],
  },
  {
    key: TEAM,
    type: 'string',
    label: 'Workspace',
    description: 'The id of the workspace. Causeway reads it from Slack.',
  },
] as const satisfies readonly ConfigField[];

/** The connector for Slack, with OAuth or a bot token. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'slack',
  id: 1026,
  contract: 1,
  name: 'Slack',
  description: 'Channels, messages, users, user groups and files of a Slack workspace.',
  hub: 'messaging',
  mark: { shape: 'speech', colour: 'violet' },
  documentation: [
    { title: 'Installing with OAuth', url: 'https://docs.slack.dev/authentication/installing-with-oauth' },
    { title: 'The Events API', url: 'https://docs.slack.dev/apis/events-api/' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${HOST}/oauth/v2/authorize`,
    tokenUrl: () => `https://${HOST}/api/oauth.v2.access`,
    // An access token of an app without PKCE is a bot token.
    pkce: false,
    scopeSeparator: ',',
    tokenType: 'bot',
    scopes: [
      ...['channels:read', 'channels:history', 'channels:manage', 'groups:read', 'groups:history', 'groups:write'],
      ...['chat:write', 'users:read', 'users:read.email', 'usergroups:read', 'usergroups:write'],
      ...['files:read', 'files:write'],
    ],
    setup: [
      'Create an app at https://api.slack.com/apps, and open “OAuth & Permissions”.',
      'Enter your callback URL as a redirect URL, and add the bot token scopes that you need.',
      'Open “Basic Information”. The client id is `oauth.api.key`, and the client secret `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: () => `https://${HOST}/api`,
  hosts: [HOST, FILES_HOST],
  probe: TEST,
  examine: async (context) => ({ [TEAM]: await findTeam(context) }),
  classify: errors({
    isFailure: ({ body }) => json.at(body, 'ok') === false,
    code: codeOf,
    message: wordsOf,
    kinds: kinds(),
  }),
  objects: { channels, messages, users, usergroups, files },
  polls: ['channels', 'users', 'usergroups', 'files'],
  webhooks: appWebhooks,
});

/** Returns the id of the workspace. Its absence must not prevent an instance, because only webhooks need it. */
function findTeam(context: ConnectorContext): Promise<string | undefined> {
  return ifAvailable(context, async () => json.findText(json.at((await context.send(TEST)).body, 'team_id')));
}

function codeOf({ body }: ProviderResponse): string | undefined {
  return json.findText(json.at(body, 'error'));
}

/** Returns the word of an error, the scope that it misses, and what Slack says about single arguments. */
function wordsOf(response: ProviderResponse): string | undefined {
  const code = codeOf(response);
  const needed = json.findText(json.at(response.body, 'needed'));
  const details = json.at(response.body, 'response_metadata', 'messages');
  const texts = (Array.isArray(details) ? details : []).flatMap((text) => json.findText(text) ?? []);
  return code && [code, ...(needed === undefined ? [] : [`needed scope: ${needed}`]), ...texts].join('; ');
}

/** The words of errors that say more than the status, which is 200. Sources: the error tables of the methods. */
function kinds() {
  const words = {
    credentials: 'not_authed invalid_auth account_inactive token_revoked token_expired org_login_required',
    notFound:
      'channel_not_found message_not_found thread_not_found user_not_found users_not_found user_not_visible file_not_found file_deleted no_such_subteam subteam_not_found',
    conflict:
      'name_taken name_already_exists handle_already_exists already_archived not_archived is_archived cant_delete_message cant_update_message edit_window_closed restricted_action',
    rateLimited: 'ratelimited rate_limited',
    unavailable: 'fatal_error internal_error service_unavailable request_timeout team_added_to_org',
  } as const;
  return Object.fromEntries(
    Object.entries(words).flatMap(([kind, each]) => each.split(' ').map((word) => [word, kind as keyof typeof words])),
  );
}
