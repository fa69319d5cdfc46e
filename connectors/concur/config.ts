import { type Config, type ConfigField, settings } from '#connector';

/** A data center of production, or an implementation site. */
const HOST = /^(?!www-)[a-z0-9-]+\.api\.concursolutions\.com$/;

export const CONFIGURATION = [
  {
    key: 'user',
    type: 'string',
    description:
      'Whose reports and entries are meant: a login ID, or `ALL` for those of everybody, both with the role Web Services Admin. Default: those of the user who logs in.',
    example: 'ALL',
    setup: [
      'Only for reports of other people: have an administrator give the user who logs in the role Web Services Admin (Professional) or Can Administer (Standard).',
      'Enter `ALL`, or the login ID of one person.',
    ],
  },
  {
    key: 'site.address',
    type: 'string',
    default: 'glz.api.concursolutions.com',
    pattern: HOST,
    description: 'Where users log in and the first token comes from; another one only for implementation sites.',
    example: 'us-impl.api.concursolutions.com',
  },
] as const satisfies readonly ConfigField[];

const setting = settings([...CONFIGURATION, { key: 'geolocation', type: 'url' }]);

export function siteIn(config: Config): string {
  return setting(config, 'site.address');
}

/** Where the data of the user are. Before anybody has logged in it is not known. */
export function originIn(config: Config): string {
  return setting(config, 'geolocation') ?? `https://${siteIn(config)}`;
}

/** A login ID, or `ALL`; undefined: the user who logged in. */
export function userIn(config: Config): string | undefined {
  return setting(config, 'user');
}
