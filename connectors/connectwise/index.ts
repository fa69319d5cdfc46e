import { type Config, type ConfigField, defineConnector, errors, json, settings } from '#connector';
import { OBJECTS } from './objects.ts';
import { callbacks } from './webhooks.ts';

/** The log-in hosts by the short names of the sites. */
const SITES: Readonly<Record<string, string>> = {
  na: 'na.myconnectwise.net',
  eu: 'eu.myconnectwise.net',
  au: 'au.myconnectwise.net',
  staging: 'staging.connectwisedev.com',
};

/** A short name, or a host with or without a port. */
const SITE = /^(?:na|eu|au|staging|(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z]{2,63}(?::\d{1,5})?)$/i;

/**
 * ConnectWise's own hosts, including sandboxes. The host of their API has the prefix `api-`. Source: Developer guide, "PSA API Requests".
 */
const CLOUD = /^(?:api-)?([a-z\d-]+\.(?:myconnectwise\.net|connectwisedev\.com))$/;

const IN_SETUP = 'In ConnectWise PSA open System → Members → API Members.';

const CONFIGURATION = [
  {
    key: 'site',
    label: 'Region or host',
    type: 'string',
    description: 'Region of the company’s PSA: `na`, `eu`, `au` or `staging`, or the host at which you log in.',
    default: 'na',
    pattern: SITE,
    example: 'psa.example.com',
    setup: [
      'Look at the address of the log-in page: https://na.myconnectwise.net is `na`.',
      'Enter any other host unchanged, such as `aus.myconnectwise.net` or, for a server of your own, `psa.example.com`.',
    ],
  },
  {
    key: 'company',
    label: 'Company ID',
    type: 'string',
    description: 'Id of the company, as you enter it at the log-in.',
    required: true,
    pattern: /^[\w.-]{1,50}$/,
    example: 'acme',
    setup: ['Copy the first of the three fields of the log-in page.'],
  },
  {
    key: 'public.key',
    type: 'string',
    description: 'Public API key of an API member.',
    required: true,
    pattern: /^[^:+\s]{1,100}$/,
    setup: [
      IN_SETUP,
      'Create or choose a member whose role may read, and if needed write, the records.',
      'Under API Keys add a key and save. Copy both halves: the page shows them once.',
    ],
  },
  {
    key: 'private.key',
    type: 'string',
    description: 'Private API key of the same pair.',
    required: true,
    secret: true,
    setup: [IN_SETUP, 'The page shows it once, together with the public key.'],
  },
  {
    key: 'client.id',
    type: 'string',
    description: 'Client id of the integration, a GUID. ConnectWise requires it of every caller.',
    required: true,
    secret: true,
    pattern: /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/,
    setup: ['Log in to developer.connectwise.com, open ClientID, and create an integration for ConnectWise PSA.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** Returns the host of the API and, if it differs, the log-in host, which returns the keys of callbacks. */
function hostsOf(config: Config): readonly [api: string, ...others: string[]] {
  const site = setting(config, 'site').toLowerCase();
  const host = SITES[site] ?? site;
  const cloud = CLOUD.exec(host)?.[1];
  return cloud === undefined ? [host] : [`api-${cloud}`, cloud];
}

/** The beginning of the response for an unknown company. It has status 400 and is not JSON. Source: observed by users. */
const NO_COMPANY = /^Cannot route\b/;

/** The connector for ConnectWise PSA, formerly Manage, with the keys of an API member. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'connectwise',
  id: 1009,
  contract: 1,
  name: 'ConnectWise PSA',
  description: 'Service tickets, companies, contacts, configurations, opportunities and time entries.',
  hub: 'crm',
  mark: { shape: 'network', colour: 'slate' },
  moreHubs: ['helpdesk'],
  documentation: [
    { title: 'Developer guide', url: 'https://developer.connectwise.com/Products/ConnectWise_PSA/Developer_Guide' },
    { title: 'Client ids', url: 'https://developer.connectwise.com/ClientID' },
  ],
  auth: {
    // ConnectWise expects HTTP Basic, and a client id in another header.
    type: 'custom',
    headers: (config) => {
      const user = `${setting(config, 'company')}+${setting(config, 'public.key')}`;
      const pair = Buffer.from(`${user}:${setting(config, 'private.key')}`).toString('base64');
      return { authorization: `Basic ${pair}`, clientid: setting(config, 'client.id') };
    },
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `https://${hostsOf(config)[0]}/v4_6_release/apis/3.0`,
  hosts: hostsOf,
  headers: { accept: 'application/vnd.connectwise.com+json; version=2022.1' },
  probe: { path: '/company/companies', query: { pageSize: 1 } },
  classify: errors({
    message: ({ body }) => wordsOf(body),
    code: ({ body }) => (isUnroutable(body) ? 'Unroutable' : json.findText(json.at(body, 'code'))),
    // Both errors have status 400.
    kinds: { Unroutable: 'credentials', ObjectExists: 'conflict' },
  }),
  objects: OBJECTS,
  polls: ['contacts', 'incidents', 'organizations'],
  webhooks: callbacks,
});

function isUnroutable(body: unknown): boolean {
  return typeof body === 'string' && NO_COMPANY.test(body);
}

/** Returns the text of an error. The message names the kind of the rejected record, and its parts have the reasons. */
function wordsOf(body: unknown): string | undefined {
  const parts = json.at(body, 'errors');
  const details = Array.isArray(parts) ? parts.map((part) => json.findText(json.at(part, 'message'))) : [];
  const words = [json.findText(json.at(body, 'message')), ...details].filter((text) => text !== undefined);
  return (
    [...new Set(words)].join(': ') ||
    json.findText(json.at(body, 'error')) ||
    (isUnroutable(body) ? String(body) : undefined)
  );
}
