import { type Config, type ConfigField, defineConnector, settings } from '#connector';
import { PLATFORM_API, PROVIDER, SITE } from './provider.ts';
import { enteredWebhooks, WEBHOOK_SECRET } from './webhooks.ts';

const CONFIGURATION = [
  { ...SITE, required: true },
  {
    key: 'jira.email',
    type: 'string',
    label: 'E-mail address',
    description: 'E-mail address of the user to whom the API token belongs.',
    required: true,
    setup: [
      'Use a user who can see the projects that you want.',
      'Copy the e-mail address with which this user logs in to Atlassian.',
    ],
  },
  {
    key: 'jira.token',
    type: 'string',
    label: 'API token',
    description: 'An API token of this user.',
    required: true,
    secret: true,
    setup: [
      'Log in at https://id.atlassian.com/manage-profile/security/api-tokens.',
      'Create an API token, and copy it. It expires after a year at the latest.',
    ],
  },
  {
    ...WEBHOOK_SECRET,
    description: 'For webhooks: the secret that you entered for the webhook in Jira.',
    setup: ['Open the webhook under Settings → System → WebHooks.', 'Generate a secret, and copy it before you save.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);
const hostOf = (config: Config) => `${setting(config, 'jira.site')}.atlassian.net`;

/** The connector for Jira Cloud, with e-mail address and API token. README.md lists the facts and their sources. */
export default defineConnector({
  ...PROVIDER,
  key: 'jira',
  id: 1018,
  name: 'Jira',
  mark: { shape: 'lifebuoy', colour: 'blue' },
  documentation: [PLATFORM_API],
  auth: {
    type: 'basic',
    credentials: (config) => ({ username: setting(config, 'jira.email'), password: setting(config, 'jira.token') }),
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://${hostOf(config)}`,
  hosts: (config) => [hostOf(config)],
  probe: { path: '/rest/api/3/myself' },
  webhooks: enteredWebhooks,
});
