import { type Config, type ConnectorContext, defineConnector, type Objects } from '#connector';
import { classify } from './classify.ts';
import { loadCatalogue } from './discovery.ts';
import { buildFields } from './employee-fields.ts';
import { createEmployees } from './employees.ts';
import { companyFiles } from './files.ts';
import { timeOff } from './time-off.ts';
import { timeOffPolicies, timeOffTypes } from './time-off-meta.ts';

/** BambooHR, by API key. Facts and their sources: README.md. */
export default defineConnector({
  key: 'bamboohr',
  id: 1002,
  name: 'BambooHR',
  description: 'Employees, their files and their time off.',
  hub: 'humancapital',
  auth: {
    type: 'basic',
    // The key is the user name; BambooHR does not look at the password, but there must be one.
    credentials: (config) => ({ username: String(config.username), password: 'x' }),
  },
  configuration: [
    {
      key: 'username',
      type: 'string',
      description: 'API key, made in BambooHR under the own name → API Keys. It sees what its user sees.',
      required: true,
      secret: true,
    },
    {
      key: 'company.name',
      type: 'string',
      description: 'First label of the account host: `acme` for acme.bamboohr.com.',
      required: true,
      pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
      example: 'acme',
    },
  ],
  baseUrl: (config) => `https://${getHost(config)}`,
  hosts: (config) => [getHost(config)],
  // Without it most endpoints answer XML.
  headers: { accept: 'application/json' },
  // 0 is the owner of the key; without `fields` the answer is nothing but an id.
  probe: { path: '/api/v1/employees/0' },
  classify,
  objects: discoverObjects,
});

function getHost(config: Config): string {
  return `${String(config['company.name']).toLowerCase()}.bamboohr.com`;
}

/** Employees have the fields of the account, custom ones included; the other objects are the same for everybody. */
async function discoverObjects(context: ConnectorContext): Promise<Objects> {
  return {
    employees: createEmployees(buildFields(await loadCatalogue(context))),
    'time-off': timeOff,
    'time-off-types': timeOffTypes,
    'time-off-policies': timeOffPolicies,
    files: companyFiles,
  };
}
