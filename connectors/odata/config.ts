import { type Config, type ConfigField, settings } from '#connector';
import { WEBHOOK_FIELDS } from './webhooks.ts';

export const CONFIGURATION = [
  {
    key: 'base.url',
    label: 'Root URL of the service',
    type: 'url',
    required: true,
    description: 'Root URL of the service: the address before `/$metadata`.',
    example: 'https://demo.example.com/odata/v4/shop',
    setup: [
      'Ask the operator of the service for its address, or copy it from a program that uses the service.',
      'Open the address followed by `/$metadata`. The browser must show an XML document or a log-in.',
      'Enter the address without `/$metadata` and without a query string.',
    ],
  },
  {
    key: 'username',
    label: 'User name',
    type: 'string',
    description: 'User name for basic authentication. Leave it out if the service requires no authentication.',
  },
  {
    key: 'password',
    type: 'string',
    secret: true,
    description: 'Password for basic authentication.',
    setup: [
      'Ask the operator of the service for a user who may read, and if needed change, the data.',
      'Enter the password of this user.',
    ],
  },
  {
    key: 'text.binary',
    label: 'The service compares text character by character',
    type: 'boolean',
    default: false,
    description:
      'Set it to true if the service compares text character by character: case, accents and trailing blanks count. ' +
      'The service then evaluates filters on text alone.',
  },
  {
    key: 'filter.local',
    label: 'Causeway alone filters',
    type: 'boolean',
    default: false,
    description:
      'Set it to true if the service filters incorrectly. Causeway then evaluates every filter itself, over all rows. ' +
      'filter.warning contains the fault that Causeway found when the instance was created.',
  },
  {
    key: 'odata.enum',
    label: 'Filters on enumerations',
    type: 'string',
    default: 'service',
    pattern: /^(?:service|local)$/,
    description:
      'Set it to `local` if the service finds nothing by the value of an enumeration. Causeway then evaluates filters on enumerations itself. ' +
      'enum.warning contains the fault that Causeway found when the instance was created.',
  },
  ...WEBHOOK_FIELDS,
  {
    key: 'filter.warning',
    type: 'string',
    warning: true,
    description:
      'Set by Causeway, which ignores other values: the fault that it found in the filters of the service. Absent if it found none.',
  },
  {
    key: 'enum.warning',
    type: 'string',
    warning: true,
    description:
      'Set by Causeway, which ignores other values: the service finds nothing by the value of an enumeration. Absent if it does.',
  },
  {
    key: 'credentials.warning',
    type: 'string',
    warning: true,
    description:
      'Set by Causeway, which ignores other values: Causeway could not verify username and password. ' +
      'Absent if it could.',
  },
] as const satisfies readonly ConfigField[];

export const setting = settings(CONFIGURATION);

/** Returns whether the connector must not use the service's own filter. */
export function filtersHere(config: Config): boolean {
  return setting(config, 'filter.local');
}

/** Returns whether the connector must not use the service's filter for enumerations. */
export function comparesEnumsHere(config: Config): boolean {
  return setting(config, 'odata.enum') === 'local';
}

/** Returns the credentials, or undefined for a service without authentication. */
export function credentialsOf(config: Config) {
  const username = setting(config, 'username');
  return username === undefined ? undefined : { username, password: setting(config, 'password') ?? '' };
}

/** Returns the service root without a slash at the end. */
export function rootOf(config: Config): string {
  return setting(config, 'base.url').replace(/\/+$/, '');
}
