import { type Config, type ConfigField, settings } from '#connector';

/** Hosts of a data center for production, or of an implementation site. */
const HOST = /^(?!www-)[a-z0-9-]+\.api\.concursolutions\.com$/;

export const CONFIGURATION = [
  {
    key: 'user',
    label: 'Login ID of the owner',
    type: 'string',
    description:
      'Login ID of the owner of the reports and entries, or `ALL` for all owners. Both require the role Web Services Admin. Default: the user who logs in.',
    example: 'ALL',
    setup: [
      'For reports of other people, ask an administrator to give the user who logs in the role Web Services Admin (Professional) or Can Administer (Standard).',
      'Enter `ALL`, or the login ID of one person.',
    ],
  },
  {
    key: 'site.address',
    label: 'Address of the log-in',
    type: 'string',
    default: 'glz.api.concursolutions.com',
    pattern: HOST,
    description:
      'Address at which users log in and that issues the first token. Change it only for implementation sites.',
    example: 'us-impl.api.concursolutions.com',
  },
] as const satisfies readonly ConfigField[];

const setting = settings([...CONFIGURATION, { key: 'geolocation', type: 'url' }]);

export function siteIn(config: Config): string {
  return setting(config, 'site.address');
}

/** Returns the base URL of the user's data center. Before the first log-in it is the site of the configuration. */
export function originIn(config: Config): string {
  return setting(config, 'geolocation') ?? `https://${siteIn(config)}`;
}

/** Returns a login ID, or `ALL`. Undefined stands for the user who logged in. */
export function userIn(config: Config): string | undefined {
  return setting(config, 'user');
}
