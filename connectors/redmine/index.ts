import {
  type Config,
  type ConfigField,
  type ConnectorContext,
  defineConnector,
  errors,
  json,
  settings,
} from '#connector';
import { attachments, customFields, issues, projects, timeEntries, users } from './objects.ts';
import { issueWebhooks, WEBHOOK_SECRET } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: 'url',
    label: 'Address of Redmine',
    type: 'url',
    required: true,
    description: 'Address of Redmine: the part before `/projects` or `/my/page` in a browser.',
    example: 'https://www.example.com/redmine',
    setup: [
      'Open Redmine in a browser and log in.',
      'Copy the address without the page: of `https://www.example.com/redmine/my/page`, copy `https://www.example.com/redmine`.',
    ],
  },
  {
    key: 'api.key',
    label: 'API access key',
    type: 'string',
    required: true,
    secret: true,
    description: 'API access key of a Redmine user.',
    setup: [
      'As an administrator open Administration → Settings → API and enable the REST web service.',
      'As the user open My account and show the API access key on the right.',
    ],
  },
  WEBHOOK_SECRET,
  {
    key: 'api.warning',
    type: 'string',
    warning: true,
    description:
      'Set by Causeway, which ignores other values: a warning that Causeway cannot notice when the key becomes invalid. Absent if it can.',
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** The connector for Redmine 5 and later. README.md lists the observed behaviour and its sources. */
export default defineConnector({
  key: 'redmine',
  id: 1014,
  contract: 1,
  name: 'Redmine',
  description: 'Issues with their history and files, time entries, projects and users.',
  hub: 'helpdesk',
  mark: { shape: 'checklist', colour: 'olive' },
  documentation: [
    { title: 'Redmine REST API', url: 'https://www.redmine.org/projects/redmine/wiki/Rest_api' },
    { title: 'Issues', url: 'https://www.redmine.org/projects/redmine/wiki/Rest_Issues' },
  ],
  auth: { type: 'custom', headers: (config) => ({ 'x-redmine-api-key': setting(config, 'api.key') }) },
  configuration: CONFIGURATION,
  baseUrl: rootOf,
  hosts: (config) => [new URL(rootOf(config)).host],
  headers: { accept: 'application/json' },
  // Lists may be public, but this resource requires credentials.
  probe: { path: '/users/current.json' },
  examine: async (context) => ({ 'api.warning': (await isOpen(context)) ? OPEN : undefined }),
  classify: errors({
    message: ({ body }) => {
      const messages = json.at(body, 'errors');
      return Array.isArray(messages) && messages.length > 0 ? messages.join('. ') : undefined;
    },
  }),
  objects: {
    issues,
    'time-entries': timeEntries,
    projects,
    users,
    'custom-fields': customFields,
    attachments,
  },
  polls: ['issues'],
  webhooks: issueWebhooks,
});

const OPEN =
  'This Redmine shows its public projects to everybody. With an invalid key, requests therefore succeed and find fewer rows. ' +
  'Turn on Administration → Settings → Authentication → Authentication required.';

/** Returns whether Redmine returns issues without a key. */
async function isOpen({ send, signal }: ConnectorContext): Promise<boolean> {
  try {
    await send({ path: '/issues.json', query: { limit: 1 }, anonymous: true });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function rootOf(config: Config): string {
  return setting(config, 'url').replace(/\/+$/, '');
}
