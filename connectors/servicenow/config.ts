import { type Config, type ConfigField, settings } from '#connector';

/** Where the instance is, however one logs in. */
export const INSTANCE = {
  key: 'company.name',
  type: 'string',
  description: 'Name of the ServiceNow instance, the first label of its host; the whole host will do.',
  required: true,
  pattern: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.service-now\.com)?$/i,
  example: 'acme',
  setup: ['Log in to ServiceNow.', 'Copy what stands between `https://` and `.service-now.com` in the address.'],
} as const satisfies ConfigField;

const setting = settings([INSTANCE]);

export function hostOf(config: Config): string {
  return `${setting(config, INSTANCE.key)
    .toLowerCase()
    .replace(/\.service-now\.com$/, '')}.service-now.com`;
}
