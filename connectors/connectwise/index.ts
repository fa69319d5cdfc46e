import { type Config, type ConfigField, defineConnector, errors, json, settings } from '#connector';
import { OBJECTS } from './objects.ts';
import { callbacks } from './webhooks.ts';

/** The hosts at which people log in, by the short names of the sites. */
const SITES: Readonly<Record<string, string>> = {
  na: 'na.myconnectwise.net',
  eu: 'eu.myconnectwise.net',
  au: 'au.myconnectwise.net',
  staging: 'staging.connectwisedev.com',
};

/** A short name, or a host with or without a port. */
const SITE = /^(?:na|eu|au|staging|(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z]{2,63}(?::\d{1,5})?)$/i;

/** ConnectWise's own hosts, sandboxes included: their API is at a host beside them. Source: Developer guide, "PSA API Requests". */
const CLOUD = /^(?:api-)?([a-z\d-]+\.(?:myconnectwise\.net|connectwisedev\.com))$/;

const IN_SETUP = 'In ConnectWise PSA open System → Members → API Members.';

const CONFIGURATION = [
  {
    key: 'site',
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

/** The host of the API and, where it is another one, the host where people log in, which returns the keys of callbacks. */
function hostsOf(config: Config): readonly [api: string, ...others: string[]] {
  const site = setting(config, 'site').toLowerCase();
  const host = SITES[site] ?? site;
  const cloud = CLOUD.exec(host)?.[1];
  return cloud === undefined ? [host] : [`api-${cloud}`, cloud];
}

/** An answer that is no JSON, with status 400, to a company that is not there. Source: seen by others. */
const NO_COMPANY = /^Cannot route\b/;

/** ConnectWise PSA, formerly Manage, by the keys of an API member. Facts and their sources: README.md. */
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
    // Basic, and a header beside it.
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
    // The status of both is 400.
    kinds: { Unroutable: 'credentials', ObjectExists: 'conflict' },
  }),
  objects: OBJECTS,
  polls: ['contacts', 'incidents', 'organizations'],
  webhooks: callbacks,
});

function isUnroutable(body: unknown): boolean {
  return typeof body === 'string' && NO_COMPANY.test(body);
}

/** The message says what kind of record was refused, its parts say why. */
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
