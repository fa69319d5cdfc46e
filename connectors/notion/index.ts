import { type ConfigField, defineConnector, errors, json } from '#connector';
import { discoverObjects } from './rows.ts';
import { entered, TOKEN } from './webhooks.ts';

const API = 'api.notion.com';

const CONFIGURATION = [
  {
    key: TOKEN,
    label: 'Verification token',
    type: 'string',
    description: 'For webhooks: the verification token that Notion sent to the address.',
    secret: true,
    setup: [
      'Enter the address of the instance in the webhooks of your integration.',
      'Copy the verification token from the warnings of the instance.',
    ],
  },
] as const satisfies readonly ConfigField[];

/** The connector for Notion, with OAuth or the token of an internal integration. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'notion',
  id: 1029,
  contract: 1,
  name: 'Notion',
  description: 'Pages, data sources with their rows and properties, comments and users of a workspace in Notion.',
  hub: 'documents',
  moreHubs: ['general'],
  mark: { shape: 'blocks', colour: 'slate' },
  documentation: [
    { title: 'Authorization', url: 'https://developers.notion.com/docs/authorization' },
    { title: 'Filter entries', url: 'https://developers.notion.com/reference/filter-data-source-entries' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${API}/v1/oauth/authorize`,
    tokenUrl: () => `https://${API}/v1/oauth/token`,
    tokenBody: 'json',
    pkce: false,
    scopes: [],
    authorizeParameters: { owner: 'user' },
    setup: [
      'Open https://www.notion.so/my-integrations, and create a public integration.',
      'Enter your callback URL as the redirect URI, and select what the integration may read and write.',
      'Copy its client id to `oauth.api.key`, and its client secret to `oauth.api.secret`.',
    ],
  },
  configuration: CONFIGURATION,
  baseUrl: () => `https://${API}`,
  hosts: [API],
  headers: { 'notion-version': '2025-09-03' },
  probe: { path: '/v1/users/me' },
  classify: errors({
    message: ({ body }) => json.findText(json.at(body, 'message')),
    code: ({ body }) => json.findText(json.at(body, 'code')),
    kinds: { conflict_error: 'conflict', service_overload: 'unavailable' },
  }),
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['pages'],
  webhooks: entered,
});
