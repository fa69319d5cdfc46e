import { type Config, defineConnector } from '#connector';
import { classify } from './classify.ts';
import { discoverObjects } from './objects.ts';
import { readLimitInfo } from './rate-limit.ts';
import { DEFAULT_API_VERSION, servicePath } from './version.ts';

/** Salesforce, by OAuth. Facts and their sources: README.md. */
export default defineConnector({
  key: 'salesforce',
  id: 1003,
  name: 'Salesforce',
  description: 'Every object of a Salesforce account, custom ones included, with the fields that its user sees.',
  hub: 'crm',
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `${getLoginUrl(config)}/services/oauth2/authorize`,
    tokenUrl: (config) => `${getLoginUrl(config)}/services/oauth2/token`,
    scopes: ['api', 'refresh_token'],
    clientAuthentication: 'body',
    values: {
      'instance.url': {
        from: 'token',
        name: 'instance_url',
        type: 'url',
        description: 'Where the account lives: the base of every call.',
      },
    },
    siteAddressKey: 'site.address',
    sandboxKey: 'salesforce.sandbox',
  },
  configuration: [
    {
      key: 'salesforce.sandbox',
      type: 'boolean',
      default: false,
      description: 'Log in at test.salesforce.com, where sandboxes are.',
    },
    {
      key: 'site.address',
      type: 'string',
      // A label for the customer, and one for the kind of org where it is not a production one.
      pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[a-z]+)?\.my\.salesforce\.com$/,
      description: 'The My Domain host, for accounts that let nobody log in elsewhere.',
      example: 'acme.my.salesforce.com',
    },
    {
      key: 'api.version',
      type: 'string',
      default: DEFAULT_API_VERSION,
      pattern: /^[1-9]\d{1,2}\.0$/,
      description: 'The version of the REST API.',
    },
    {
      key: 'text.exact',
      type: 'boolean',
      default: false,
      description:
        'Set to true to leave filters on text to Salesforce alone. They then follow the locale of the user who logged in, ' +
        'and what is not documented about accents and blanks.',
    },
  ],
  baseUrl: (config) => getInstanceUrl(config) + servicePath(config),
  // `*.` is exactly one label. With partitioned domains the kind of org is a label of its own.
  hosts: [
    '*.salesforce.com',
    '*.my.salesforce.com',
    ...['sandbox', 'develop', 'scratch', 'demo', 'patch', 'free', 'trailblaze'].map(
      (partition) => `*.${partition}.my.salesforce.com`,
    ),
  ],
  rateLimit: readLimitInfo,
  // Every user sees at least one user; the list of versions would be shown to anybody.
  probe: { path: '/query', query: { q: 'SELECT Id FROM User LIMIT 1' } },
  classify,
  objects: discoverObjects,
});

function getLoginUrl(config: Config): string {
  const address = config['site.address'];
  if (typeof address === 'string' && address !== '') return `https://${address.toLowerCase()}`;
  return config['salesforce.sandbox'] === true ? 'https://test.salesforce.com' : 'https://login.salesforce.com';
}

/** Until somebody has logged in there is no other place than the login's. */
function getInstanceUrl(config: Config): string {
  const url = config['instance.url'];
  return typeof url === 'string' && url !== '' ? url.replace(/\/+$/, '') : getLoginUrl(config);
}
