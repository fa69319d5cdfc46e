import {
  type ConfigField,
  type ConnectorContext,
  defineConnector,
  errors,
  json,
  type Objects,
  settings,
} from '#connector';
import { loadCatalogue } from './discovery.ts';
import { buildFields } from './employee-fields.ts';
import { createEmployees } from './employees.ts';
import { companyFiles } from './files.ts';
import { timeOff, timeOffPolicies, timeOffTypes } from './time-off.ts';
import { employeeWebhooks } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: 'username',
    label: 'API key',
    type: 'string',
    description:
      'API key of a BambooHR user, from the menu under the name of the user → API Keys. It has the rights of this user.',
    required: true,
    secret: true,
    setup: [
      'Log in to BambooHR as the user whose rights the instance needs.',
      'Open the menu under your name and choose “API Keys”. If the entry is missing, ask an administrator for the right to create keys.',
      'Add a key, and copy it before you leave the page.',
    ],
  },
  {
    key: 'company.name',
    type: 'string',
    description: 'Name of the company in the address of BambooHR: `acme` for acme.bamboohr.com.',
    required: true,
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
    example: 'acme',
    setup: [
      'Log in to BambooHR and look at the address.',
      'Copy the part of the address between `https://` and `.bamboohr.com`.',
    ],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** Name of the header with the error message. Only refusals and errors have it, and most of them have no body. */
const MESSAGE_HEADER = 'x-bamboohr-error-message';

/** The connector for BambooHR, with an API key. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'bamboohr',
  id: 1002,
  contract: 1,
  name: 'BambooHR',
  description: 'Employees, their files and their time off.',
  hub: 'humancapital',
  mark: { shape: 'people', colour: 'teal' },
  documentation: [
    { title: 'Getting started with the API', url: 'https://documentation.bamboohr.com/docs/getting-started' },
    { title: 'Documentation', url: 'https://documentation.bamboohr.com/docs' },
  ],
  auth: {
    type: 'basic',
    // The key is the user name. BambooHR ignores the password, but requires one.
    credentials: (config) => ({ username: setting(config, 'username'), password: 'x' }),
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://${setting(config, 'company.name').toLowerCase()}.bamboohr.com`,
  hosts: (config) => [`${setting(config, 'company.name').toLowerCase()}.bamboohr.com`],
  // Most endpoints return XML without this header.
  headers: { accept: 'application/json' },
  // 0 is the owner of the key. Without `fields` the response contains only an id.
  probe: { path: '/api/v1/employees/0' },
  classify: errors({
    // The detail of a problem names the offending field; its title never does.
    message: ({ headers, body }) =>
      [headers[MESSAGE_HEADER], ...['detail', 'message', 'error', 'title'].map((name) => json.at(body, name))]
        .map(json.findText)
        .find((text) => text !== undefined),
    code: ({ status }) => status,
    // BambooHR sends 409 for a value that a field does not accept. It means no conflict with an existing record.
    kinds: { 409: 'rejected' },
    isFailure: ({ headers, body }) => headers[MESSAGE_HEADER] !== undefined || json.at(body, 'success') === false,
  }),
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update'],
  polls: ['employees'],
  webhooks: employeeWebhooks,
});

/**
 * Returns the objects. Employees have the fields of the account, including custom ones; the other objects are the same for every account.
 */
async function discoverObjects(context: ConnectorContext): Promise<Objects> {
  return {
    employees: createEmployees(buildFields(await loadCatalogue(context))),
    'time-off': timeOff,
    'time-off-types': timeOffTypes,
    'time-off-policies': timeOffPolicies,
    files: companyFiles,
  };
}
