import { type Config, type ConfigField, settings } from '#connector';
import { WEBHOOK_FIELDS } from './webhooks.ts';

export const CONFIGURATION = [
  {
    key: 'base.url',
    type: 'url',
    required: true,
    description: 'The service root: the address in front of $metadata.',
    example: 'https://demo.example.com/odata/v4/shop',
    setup: [
      'Ask who runs the service for its address, or take it from a program that uses it.',
      'Open it with `/$metadata` behind it: an XML document must come, or a log-in.',
      'Give the address without `/$metadata` and without a query string.',
    ],
  },
  { key: 'username', type: 'string', description: 'For basic authentication; leave out for a service without any.' },
  {
    key: 'password',
    type: 'string',
    secret: true,
    description: 'For basic authentication.',
    setup: [
      'Ask who runs the service for a user that may read, and where wanted change, the data.',
      'Give its password.',
    ],
  },
  {
    key: 'text.binary',
    type: 'boolean',
    default: false,
    description:
      'Set to true when the service compares text character by character (cases, accents and trailing blanks count). ' +
      'Filters on text are then answered by the service alone.',
  },
  {
    key: 'filter.local',
    type: 'boolean',
    default: false,
    description:
      'Set to true when the service filters wrongly: every filter is then worked out here, over all rows. ' +
      'What was noticed of that when the instance was made stands under filter.warning.',
  },
  {
    key: 'odata.enum',
    type: 'string',
    default: 'service',
    pattern: /^(?:service|local)$/,
    description:
      'Set to `local` when the service finds nothing by the value of an enumeration: filters on enumerations are then worked out here. ' +
      'What was noticed of that when the instance was made stands under enum.warning.',
  },
  ...WEBHOOK_FIELDS,
  {
    key: 'filter.warning',
    type: 'string',
    warning: true,
    description:
      'Set by Causeway, whatever is given: how the service was seen to filter wrongly. Absent when it was not.',
  },
  {
    key: 'enum.warning',
    type: 'string',
    warning: true,
    description:
      'Set by Causeway, whatever is given: that the service was seen to find nothing by the value of an enumeration. Absent when it was not.',
  },
  {
    key: 'credentials.warning',
    type: 'string',
    warning: true,
    description:
      'Set by Causeway, whatever is given: that the service did not show whether username and password are right. ' +
      'Absent when it did.',
  },
] as const satisfies readonly ConfigField[];

export const setting = settings(CONFIGURATION);

/** Whether the service's own filter is to be left alone. */
export function filtersHere(config: Config): boolean {
  return setting(config, 'filter.local');
}

/** Whether the service's filter is to be left alone where an enumeration is compared. */
export function comparesEnumsHere(config: Config): boolean {
  return setting(config, 'odata.enum') === 'local';
}

/** Undefined for a service without authentication. */
export function credentialsOf(config: Config) {
  const username = setting(config, 'username');
  return username === undefined ? undefined : { username, password: setting(config, 'password') ?? '' };
}

/** The service root without a slash at its end. */
export function rootOf(config: Config): string {
  return setting(config, 'base.url').replace(/\/+$/, '');
}
