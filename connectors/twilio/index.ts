import { type ConfigField, defineConnector, errors, json, settings } from '#connector';
import { ORIGIN } from './list.ts';
import { calls, messages, recordings } from './objects.ts';
import { accountWebhooks } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: 'username',
    label: 'Account SID',
    type: 'string',
    description: 'Account SID, from the start page of the Twilio Console.',
    required: true,
    pattern: /^AC[0-9a-fA-F]{32}$/,
    example: `AC${'0'.repeat(32)}`,
    setup: ['Log in to the Twilio Console.', 'Copy the account SID from the start page. A subaccount has its own.'],
  },
  {
    key: 'password',
    label: 'Auth token or API key secret',
    type: 'string',
    description: 'Auth token of the account or, with `api.key`, the secret of that key.',
    required: true,
    secret: true,
    setup: [
      'Log in to the Twilio Console.',
      'Recommended: under Account → API keys & tokens create an API key, set `api.key` to its SID, and copy its secret, which the page shows once.',
      'Alternatively, show the auth token on the start page and copy it.',
    ],
  },
  {
    key: 'api.key',
    label: 'API key SID',
    type: 'string',
    description: 'SID of an API key that replaces the auth token.',
    pattern: /^SK[0-9a-fA-F]{32}$/,
    setup: [
      'In the Twilio Console open Account → API keys & tokens and create an API key.',
      'A restricted key needs the rights to read, and if needed write, messages, calls and recordings.',
      'Copy its SID here and its secret to `password`.',
    ],
  },
  {
    key: 'auth.token',
    label: 'Auth token for webhooks',
    type: 'string',
    secret: true,
    description: 'For webhooks: the auth token of the account. It signs webhooks even if the instance uses an API key.',
    setup: [
      'Required only for webhooks of an instance that uses an API key.',
      'Show the auth token on the start page of the Twilio Console and copy it.',
    ],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** The connector for Twilio, with account SID and auth token. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'twilio',
  id: 1005,
  contract: 1,
  name: 'Twilio',
  description: 'Messages, calls and recordings of calls.',
  hub: 'messaging',
  mark: { shape: 'speech', colour: 'pink' },
  documentation: [
    { title: 'API keys in the Console', url: 'https://www.twilio.com/docs/iam/api-keys/keys-in-console' },
    { title: 'Requests to the API', url: 'https://www.twilio.com/docs/usage/api' },
  ],
  auth: {
    type: 'basic',
    credentials: (config) => ({
      username: setting(config, 'api.key') ?? setting(config, 'username'),
      password: setting(config, 'password'),
    }),
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `${ORIGIN}/2010-04-01/Accounts/${setting(config, 'username')}`,
  hosts: [new URL(ORIGIN).host],
  probe: { path: '/Messages.json', query: { PageSize: 1 } },
  classify: errors({
    message: ({ body }) => wordsOf(body),
    code: ({ body }) => codeOf(body),
    // The code for a call that has ended, or has not begun. Its status is just 400.
    kinds: { 21220: 'conflict' },
  }),
  objects: { messages, calls, recordings },
  polls: ['messages', 'calls'],
  webhooks: accountWebhooks,
});

function codeOf(body: unknown): number | undefined {
  const code = json.at(body, 'code');
  return typeof code === 'number' ? code : undefined;
}

/** Returns the text of an error with its code, because Twilio's dictionary of errors describes the codes. */
function wordsOf(body: unknown): string | undefined {
  const message = json.findText(json.at(body, 'message'));
  const code = codeOf(body);
  return message !== undefined && code !== undefined ? `${message} (Twilio error ${code})` : message;
}
