import { type ConfigField, defineConnector, settings } from '#connector';
import { INSTANCE } from './config.ts';
import { PROVIDER, TABLE_API } from './provider.ts';
import { WEBHOOK_SECRET } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: 'username',
    type: 'string',
    description: 'Name of a user of the instance.',
    required: true,
    setup: [
      'In ServiceNow open User Administration → Users and create a user for this connection; select “Web service access only”.',
      'Give it the roles that its records need, and `personalize_dictionary` or another role that reads the tables `sys_db_object` and `sys_dictionary`.',
    ],
  },
  {
    key: 'password',
    type: 'string',
    description: 'Password of this user.',
    required: true,
    secret: true,
    setup: ['Set a password for the user that does not have to be changed at the first log-in.'],
  },
  INSTANCE,
  WEBHOOK_SECRET,
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** The connector for ServiceNow, with name and password. README.md lists the facts and their sources. */
export default defineConnector({
  ...PROVIDER,
  key: 'servicenow',
  id: 1012,
  name: 'ServiceNow',
  mark: { shape: 'lifebuoy', colour: 'indigo' },
  documentation: [TABLE_API],
  auth: {
    type: 'basic',
    credentials: (config) => ({ username: setting(config, 'username'), password: setting(config, 'password') }),
  },
  configuration: CONFIGURATION,
});
