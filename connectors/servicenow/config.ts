import { type Config, type ConfigField, settings } from '#connector';

/** Configuration field of the instance, which all kinds of log-in share. */
export const INSTANCE = {
  key: 'company.name',
  type: 'string',
  description: 'Name of the ServiceNow instance, the first label of its host, or the whole host.',
  required: true,
  pattern: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i,
  example: 'acme',
  setup: [
    'Log in to ServiceNow.',
    'Copy the part of the address between `https://` and `.service-now.com`.',
    'If the host has another ending, copy the whole host, such as `acme.servicenowservices.com`.',
  ],
} as const satisfies ConfigField;

/** Hosts of the commercial cloud and of the Government Community Cloud. The operator must allow hosts of customers. */
const DOMAINS = /^[^.]+\.(?:service-now\.com|servicenowservices\.com)$/;

const setting = settings([INSTANCE]);

export function hostOf(config: Config): string {
  const name = setting(config, INSTANCE.key).toLowerCase();
  return name.includes('.') ? name : `${name}.service-now.com`;
}

/** Returns the host of the instance if it is ServiceNow's, otherwise an empty list. */
export function hostsOf(config: Config): readonly string[] {
  return [hostOf(config)].filter((host) => DOMAINS.test(host));
}
