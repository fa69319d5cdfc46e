import {
  type ConnectorContext,
  defineConnector,
  errors,
  type Failure,
  ifAvailable,
  json,
  type ProviderResponse,
  path,
} from '#connector';
import { CONFIGURATION, OWNER_KIND, type OwnerKind, ownerOf } from './account.ts';
import { objectsOf } from './objects.ts';
import { hooks } from './webhooks.ts';

const API = 'api.github.com';
const LOGIN = 'github.com';
const USER = { path: '/user' };

/** The connector for GitHub, with OAuth or a personal access token. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'github',
  id: 1021,
  contract: 1,
  name: 'GitHub',
  description: 'Repositories, issues, pull requests, comments and members of an organization or a user.',
  hub: 'helpdesk',
  moreHubs: ['general'],
  mark: { shape: 'network', colour: 'violet' },
  documentation: [
    {
      title: 'Authorizing OAuth apps',
      url: 'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
    },
    {
      title: 'Searching issues and pull requests',
      url: 'https://docs.github.com/en/search-github/searching-on-github/searching-issues-and-pull-requests',
    },
    {
      title: 'Managing personal access tokens',
      url: 'https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/managing-your-personal-access-tokens',
    },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${LOGIN}/login/oauth/authorize`,
    tokenUrl: () => `https://${LOGIN}/login/oauth/access_token`,
    clientAuthentication: 'body',
    scopes: ['repo', 'read:org', 'admin:repo_hook', 'admin:org_hook'],
    setup: [
      'On GitHub, open Settings → Developer settings → OAuth Apps, and create an app.',
      'Enter your callback URL as the authorization callback URL.',
      'Copy its client id to `oauth.api.key`.',
      'Generate a client secret, and copy it to `oauth.api.secret`.',
      'An owner of the organization may have to approve the app.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: () => `https://${API}`,
  hosts: [API, LOGIN],
  headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  probe: USER,
  examine: async (context) => ({ [OWNER_KIND]: await findKind(context) }),
  classify: (response) => limitOf(response) ?? judge(response),
  objects: async ({ config }) => objectsOf(config),
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['issues', 'pull_requests', 'repositories'],
  webhooks: hooks,
});

/** Reads whose login the owner is. A failure must not prevent an instance, whose first list then names the reason. */
function findKind(context: ConnectorContext): Promise<OwnerKind | undefined> {
  const { send, config } = context;
  return ifAvailable(context, async () => {
    const [own, owner] = [await send(USER), await send({ path: path`/users/${ownerOf(config)}` })];
    if (json.at(owner.body, 'type') === 'Organization') return 'organization';
    return json.at(own.body, 'id') === json.at(owner.body, 'id') ? 'self' : 'user';
  });
}

const judge = errors({
  message: ({ body }) => wordsOf(body),
  code: ({ status, body }) => {
    if (status === 422 && / cannot be searched /.test(wordsOf(body) ?? '')) return 'unsearchable';
    return status < 300 ? 'incomplete' : status;
  },
  kinds: {
    // The record was deleted.
    410: 'notFound',
    // A search names a user or a repository that does not exist.
    unsearchable: 'notFound',
    // The search ran out of time, so rows are missing. Source: "REST API endpoints for search", "Timeouts and incomplete results".
    incomplete: 'unavailable',
  },
  isFailure: ({ body }) => json.at(body, 'incomplete_results') === true,
});

/** Returns the text of an error with its details. */
function wordsOf(body: unknown): string | undefined {
  const message = json.findText(json.at(body, 'message'));
  const errors = json.at(body, 'errors');
  if (message === undefined || !Array.isArray(errors)) return message;
  const details = errors.flatMap((error) => {
    if (typeof error === 'string') return [error];
    const parts = ['message', 'field', 'code'].flatMap((name) => json.findText(json.at(error, name)) ?? []);
    return parts.length === 0
      ? []
      : [parts[0] === json.findText(json.at(error, 'message')) ? (parts[0] ?? '') : parts.join(': ')];
  });
  return details.length === 0 ? message : `${message}: ${details.join(', ')}`;
}

/**
 * Returns the failure of a request beyond a rate limit: the hourly one, or the one for bursts. Both arrive as 403 or 429. Source: "Rate
 * limits for the REST API", "Exceeding the rate limit".
 */
function limitOf({ status, headers, body }: ProviderResponse): Failure | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const saysWhen = headers['retry-after'] !== undefined;
  const isSpent = headers['x-ratelimit-remaining'] === '0';
  const message = wordsOf(body);
  const isBurst = /secondary rate limit/i.test(message ?? '');
  if (status === 403 && !saysWhen && !isSpent && !isBurst) return undefined;
  const limited = { kind: 'rateLimited' as const, message };
  // The core reads Retry-After.
  if (saysWhen) return limited;
  const untilReset = Number(headers['x-ratelimit-reset']) * 1000 - Date.parse(headers.date ?? '');
  // Without a time, GitHub wants clients to wait for a minute.
  return { ...limited, retryAfterMs: isSpent && !Number.isNaN(untilReset) ? Math.max(0, untilReset) : 60_000 };
}
