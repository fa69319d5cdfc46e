import { type ConfigField, defineConnector, errors, json } from '#connector';
import { drives } from './drives.ts';
import { files, folders, search } from './files.ts';
import { comments, permissions } from './parts.ts';
import { channels } from './webhooks.ts';

const API = 'www.googleapis.com';
const ACCOUNTS = 'accounts.google.com';
const TOKENS = 'oauth2.googleapis.com';

/** A page token that Google does not accept, or does not accept any more. */
const BAD_TOKEN = 'invalid pageToken';

const CONFIGURATION = [
  {
    key: 'drive.id',
    label: 'Shared drive ID',
    type: 'string',
    pattern: /^[\w-]+$/,
    description: 'The shared drive whose files the instance has. Without it, these are the files of the user.',
    example: '0AFg5fYKqOzZIUk9PVA',
    setup: ['Open the shared drive in Google Drive, and copy the last part of the address.'],
  },
] as const satisfies readonly ConfigField[];

/** The connector for Google Drive, with OAuth. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'googledrive',
  id: 1025,
  contract: 1,
  name: 'Google Drive',
  description: 'Files and folders with their contents, permissions and comments, shared drives, and search.',
  hub: 'documents',
  mark: { shape: 'blocks', colour: 'green' },
  documentation: [
    { title: 'Configure OAuth consent', url: 'https://developers.google.com/workspace/guides/configure-oauth-consent' },
    {
      title: 'Search query terms and operators',
      url: 'https://developers.google.com/workspace/drive/api/guides/ref-search-terms',
    },
    {
      title: 'Notifications for resource changes',
      url: 'https://developers.google.com/workspace/drive/api/guides/push',
    },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${ACCOUNTS}/o/oauth2/v2/auth`,
    tokenUrl: () => `https://${TOKENS}/token`,
    clientAuthentication: 'body',
    scopes: ['https://www.googleapis.com/auth/drive'],
    // Google issues a refresh token only for the first of these, and again only for the second.
    authorizeParameters: { access_type: 'offline', prompt: 'consent' },
    setup: [
      'In the Google Cloud console, create or select a project, and enable the Google Drive API.',
      'Open Google Auth Platform → Branding, Audience and Data access, and add the scope of Google Drive.',
      'Open Clients, and create an OAuth client of the type “Web application”.',
      'Add your callback URL to its authorized redirect URIs.',
      'Copy its client ID to `oauth.api.key`, and its client secret to `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: () => `https://${API}`,
  hosts: [API, ACCOUNTS, TOKENS],
  probe: { path: '/drive/v3/about', query: { fields: 'user' } },
  classify: errors({
    message: ({ body }) =>
      json.findText(json.at(body, 'error', 'message')) ?? json.findText(json.at(body, 'error_description')),
    code: ({ body }) => codeOf(firstOf(json.at(body, 'error', 'errors'))),
    // Source: "Resolve errors". These arrive as 403.
    kinds: {
      rateLimitExceeded: 'rateLimited',
      userRateLimitExceeded: 'rateLimited',
      dailyLimitExceeded: 'rateLimited',
      sharingRateLimitExceeded: 'rateLimited',
      [BAD_TOKEN]: 'notFound',
    },
  }),
  objects: { files, folders, search, drives, comments, permissions },
  polls: ['files', 'folders'],
  webhooks: channels,
});

function codeOf(error: unknown): string | undefined {
  const reason = json.findText(json.at(error, 'reason'));
  return json.at(error, 'location') === 'pageToken' ? BAD_TOKEN : reason;
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}
