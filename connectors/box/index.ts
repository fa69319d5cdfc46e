import { type ConfigField, defineConnector, errors, json, type ProviderResponse } from '#connector';
import { OBJECTS } from './objects.ts';
import { folderWebhooks } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: 'webhook.folder',
    label: 'Folder to watch',
    type: 'string',
    pattern: /^[1-9]\d*$/,
    description:
      'For webhooks: id of the folder to watch. Box reports the changes of this folder and of everything below it. Box cannot watch the root.',
    example: '8290186265',
    setup: ['Open the folder in Box, and copy the number at the end of the address.'],
  },
  {
    key: 'webhook.primary.key',
    label: 'Primary signature key',
    type: 'string',
    secret: true,
    description: 'For webhooks: the primary signature key of the application.',
    setup: [
      'In the developer console of Box open the application and its webhooks, and choose “Manage signature keys”.',
      'Generate the primary key and copy it.',
    ],
  },
  {
    key: 'webhook.secondary.key',
    label: 'Secondary signature key',
    type: 'string',
    secret: true,
    description:
      'For webhooks: the secondary signature key, if there is one. A request needs the signature of only one key, so you can replace one key after the other.',
    setup: ['Generate the secondary key on the same page and copy it.'],
  },
] as const satisfies readonly ConfigField[];

/** The connector for Box, with OAuth. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'box',
  id: 1011,
  contract: 1,
  name: 'Box',
  description: 'Files and folders: their contents, search, and events.',
  hub: 'documents',
  mark: { shape: 'folder', colour: 'amber' },
  documentation: [
    {
      title: 'Set up an application with OAuth 2.0',
      url: 'https://developer.box.com/guides/authentication/oauth2/oauth2-setup/',
    },
    { title: 'Search', url: 'https://developer.box.com/guides/search/' },
    { title: 'Webhooks', url: 'https://developer.box.com/guides/webhooks/v2/' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => 'https://account.box.com/api/oauth2/authorize',
    tokenUrl: () => 'https://api.box.com/oauth2/token',
    setup: [
      'Create a custom application for user authentication (OAuth 2.0) in the developer console of Box.',
      'Add your callback URL to its redirect URIs.',
      'Tick the scopes to read and write all files and folders and, for webhooks, to manage webhooks.',
      'Copy client id and client secret from its configuration: the first is `oauth.api.key`, the second `oauth.api.secret`.',
    ],
    // The developer console sets the scopes of an application.
    pkce: false,
    clientAuthentication: 'body',
  },
  configuration: CONFIGURATION,
  baseUrl: () => 'https://api.box.com/2.0',
  hosts: ['account.box.com', 'api.box.com', 'upload.box.com', '*.boxcloud.com'],
  // This request returns the user.
  probe: { path: '/users/me', query: { fields: 'id' } },
  classify: errors({
    isFailure: isNotReady,
    code: (response) => (isNotReady(response) || response.status === 405 ? response.status : codeOf(response)),
    message: wordsOf,
    kinds: {
      // 202 is the status of a file that was uploaded a moment ago, and 405 that of an id that is not a number. Sources: "Download file",
      // "Get file information".
      202: 'unavailable',
      405: 'notFound',
      folder_not_empty: 'conflict',
    },
  }),
  objects: OBJECTS,
  webhooks: folderWebhooks,
});

function isNotReady({ status, headers }: ProviderResponse): boolean {
  return status === 202 && headers['retry-after'] !== undefined;
}

function codeOf({ body }: ProviderResponse): string | undefined {
  return json.findText(json.at(body, 'code')) ?? json.findText(json.at(body, 'error'));
}

/** Returns the text of an error. The message is mostly that of the status, and `context_info` has the invalid values. */
function wordsOf(response: ProviderResponse): string | undefined {
  const { body } = response;
  const [message, code] = [json.findText(json.at(body, 'message')), codeOf(response)];
  const faults = json.at(body, 'context_info', 'errors');
  const reasons = (Array.isArray(faults) ? faults : []).flatMap(
    (each) => json.findText(json.at(each, 'message')) ?? [],
  );
  const words = [message ?? json.findText(json.at(body, 'error_description')), ...reasons].filter(Boolean).join(': ');
  if (words === '') return code;
  return code === undefined ? words : `${words} (Box error ${code})`;
}
