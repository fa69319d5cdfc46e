import { type Config, type Connector, errors, json } from '#connector';
import { hostOf, hostsOf } from './config.ts';
import { discoverObjects } from './objects.ts';
import { businessRules, USUAL_TABLES } from './webhooks.ts';

/** The parts of the connectors for ServiceNow that do not depend on the log-in. README.md lists the facts and their sources. */
export const PROVIDER = {
  contract: 1,
  description: 'Every table of a ServiceNow instance: incidents, problems, changes, and those of your own.',
  hub: 'helpdesk',
  baseUrl: (config: Config) => `https://${hostOf(config)}/api/now`,
  hosts: hostsOf,
  // Every user can see at least their own record.
  probe: { path: '/table/sys_user', query: { sysparm_limit: 1, sysparm_fields: 'sys_id' } },
  classify: errors({
    isFailure: ({ body }) => json.isObject(json.at(body, 'error')),
    code: ({ body }) => (/^transaction cancell?ed/i.test(messageIn(body)) ? 'cancelled' : undefined),
    message: ({ body }) =>
      [messageIn(body), textIn(body, 'detail')].filter((text) => text !== '').join(': ') || undefined,
    // ServiceNow reports this error after some rows, and with a status of success.
    kinds: { cancelled: 'unavailable' },
  }),
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: USUAL_TABLES,
  webhooks: businessRules,
} as const satisfies Partial<Connector>;

export const TABLE_API = {
  title: 'Table API',
  url: 'https://www.servicenow.com/docs/bundle/zurich-api-reference/page/integrate/inbound-rest/concept/c_TableAPI.html',
} as const;

function messageIn(body: unknown): string {
  return textIn(body, 'message');
}

function textIn(body: unknown, name: string): string {
  return json.findText(json.at(body, 'error', name)) ?? '';
}
