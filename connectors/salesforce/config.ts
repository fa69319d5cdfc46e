import { type Config, type ConfigField, settings } from '#connector';

export const CONFIGURATION = [
  {
    key: 'salesforce.sandbox',
    label: 'Sandbox',
    type: 'boolean',
    default: false,
    description: 'Log in at test.salesforce.com, which serves sandboxes.',
  },
  {
    key: 'site.address',
    label: 'My Domain host',
    type: 'string',
    // The first label is the customer's. A second one names the kind of org, if it is not a production org.
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[a-z]+)?\.my\.salesforce\.com$/,
    description: 'My Domain host, for accounts that allow the log-in only there.',
    example: 'acme.my.salesforce.com',
  },
  {
    key: 'api.version',
    type: 'string',
    // Winter '25, which every instance supports, and which will be supported for years.
    default: '62.0',
    pattern: /^[1-9]\d{1,2}\.0$/,
    description: 'Version of the REST API.',
  },
  {
    key: 'text.exact',
    label: 'Salesforce alone filters text',
    type: 'boolean',
    default: false,
    description:
      'Set it to true, and Salesforce alone evaluates filters on text. They then follow the locale of the user who logged in, ' +
      'and rules about accents and blanks that Salesforce does not document.',
  },
] as const satisfies readonly ConfigField[];

export const setting = settings([...CONFIGURATION, { key: 'instance.url', type: 'url' }]);

/** Returns the path of the REST API, such as `/services/data/v62.0`. */
export function servicePath(config: Config): string {
  return `/services/data/v${setting(config, 'api.version')}`;
}

export function getLoginUrl(config: Config): string {
  const address = setting(config, 'site.address');
  if (address !== undefined) return `https://${address.toLowerCase()}`;
  return `https://${setting(config, 'salesforce.sandbox') ? 'test' : 'login'}.salesforce.com`;
}

/** Returns the origin of the organization's API. Before the first log-in, only that of the log-in is known. */
export function getInstanceUrl(config: Config): string {
  return setting(config, 'instance.url')?.replace(/\/+$/, '') ?? getLoginUrl(config);
}
