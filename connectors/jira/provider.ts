import { type ConfigField, type Connector, errors, type Json, json, type ProviderResponse } from '#connector';
import { issues } from './issues.ts';
import { comments, worklogs } from './parts.ts';
import { projects } from './projects.ts';
import { users } from './users.ts';

/** The configuration key of the site. */
const SITE_KEY = 'jira.site';

/** The name of the site, which all kinds of log-in share. */
export const SITE = {
  key: SITE_KEY,
  type: 'string',
  label: 'Site',
  description: 'Name of the Jira site: the first label of its host.',
  pattern: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
  example: 'acme',
  setup: ['Open Jira in a browser.', 'Copy the part of the address between `https://` and `.atlassian.net`.'],
} as const satisfies ConfigField;

export const PLATFORM_API = {
  title: 'Jira Cloud platform REST API',
  url: 'https://developer.atlassian.com/cloud/jira/platform/rest/v3/intro/',
} as const;

/** The parts of the connectors for Jira that do not depend on the log-in. README.md lists the facts and their sources. */
export const PROVIDER = {
  contract: 1,
  description: 'Issues with their custom fields, comments and worklogs, projects and users of a Jira Cloud site.',
  hub: 'helpdesk',
  headers: { accept: 'application/json' },
  classify: errors({ message: messageIn }),
  objects: async () => ({ issues, projects, comments, worklogs, users }),
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: ['issues'],
} as const satisfies Partial<Connector>;

/** Returns the messages of an error and those of its fields: `{ errorMessages: [], errors: { summary: "…" } }`. */
function messageIn({ body }: ProviderResponse): string | undefined {
  const { errorMessages, errors: byField, message }: Json = json.isObject(body) ? body : {};
  const general = (Array.isArray(errorMessages) ? errorMessages : []).flatMap((text) => json.findText(text) ?? []);
  const fields = Object.entries(json.isObject(byField) ? byField : {}).map(
    ([name, text]) => `${name}: ${String(text)}`,
  );
  const texts = [...general, ...fields];
  return texts.length === 0 ? json.findText(message) : texts.join(' ');
}
