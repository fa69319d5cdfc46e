import { defineConnector, errors, type Json, json, type ProviderResponse } from '#connector';
import { CONFIGURATION, getInstanceUrl, getLoginUrl, servicePath } from './config.ts';
import { discoverObjects } from './objects.ts';
import { findPart } from './query.ts';
import { IDENTITY_URL, outboundMessages, USUAL_OBJECTS } from './webhooks.ts';

/** The connector for Salesforce, with OAuth. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'salesforce',
  id: 1003,
  contract: 1,
  name: 'Salesforce',
  description: 'Every object of a Salesforce account, custom ones included, with the fields that its user sees.',
  hub: 'crm',
  mark: { shape: 'target', colour: 'violet' },
  documentation: [
    {
      title: 'Defining connected apps',
      url: 'https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/intro_defining_remote_access_applications.htm',
    },
    {
      title: 'Outbound messages',
      url: 'https://developer.salesforce.com/docs/atlas.en-us.api.meta/api/sforce_api_om_outboundmessaging.htm',
    },
    {
      title: 'REST API Developer Guide',
      url: 'https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/intro_what_is_rest_api.htm',
    },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `${getLoginUrl(config)}/services/oauth2/authorize`,
    tokenUrl: (config) => `${getLoginUrl(config)}/services/oauth2/token`,
    setup: [
      'In Salesforce open Setup, search for App Manager, and create a connected app with OAuth settings enabled.',
      'Enter your callback URL, and select the scopes `api` and `refresh_token`.',
      'Save it, and show the consumer details: the consumer key is `oauth.api.key`, the consumer secret `oauth.api.secret`.',
    ],
    scopes: ['api', 'refresh_token'],
    clientAuthentication: 'body',
    values: {
      'instance.url': {
        from: 'token',
        name: 'instance_url',
        type: 'url',
        description: 'URL of the account, the base of every call.',
      },
      [IDENTITY_URL]: {
        from: 'token',
        name: 'id',
        type: 'string',
        required: false,
        description:
          'URL that identifies the organization and the user who logged in. Causeway rejects outbound messages of other organizations.',
      },
    },
    siteAddressKey: 'site.address',
    sandboxKey: 'salesforce.sandbox',
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => getInstanceUrl(config) + servicePath(config),
  // `*.` stands for exactly one label. With partitioned domains the kind of org is a label of its own.
  hosts: [
    '*.salesforce.com',
    '*.my.salesforce.com',
    ...['sandbox', 'develop', 'scratch', 'demo', 'patch', 'free', 'trailblaze'].map(
      (partition) => `*.${partition}.my.salesforce.com`,
    ),
  ],
  rateLimit: readLimitInfo,
  // Every user can see at least one user. The list of versions is public, so it would prove nothing.
  probe: { path: '/query', query: { q: 'SELECT Id FROM User LIMIT 1' } },
  // Errors have the form `[{ errorCode, message, fields }]`, also inside the response to a composite request.
  classify: errors({
    part: ({ body }) => findPart(body),
    code: ({ body }) => json.findText(firstError(body).errorCode),
    message: ({ body }) => describeError(firstError(body)),
    // Codes whose status alone would be misleading. Source: REST API Developer Guide, "Status Codes and Error Responses".
    kinds: {
      INVALID_SESSION_ID: 'credentials',
      REQUEST_LIMIT_EXCEEDED: 'rateLimited',
      SERVER_UNAVAILABLE: 'unavailable',
      UNABLE_TO_LOCK_ROW: 'unavailable',
      QUERY_TIMEOUT: 'unavailable',
      ENTITY_IS_DELETED: 'notFound',
      NOT_FOUND: 'notFound',
    },
  }),
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'remove'],
  polls: USUAL_OBJECTS,
  webhooks: outboundMessages,
});

function firstError(body: unknown): Json {
  const [first] = Array.isArray(body) ? body.filter(json.isObject) : [];
  return first ?? {};
}

function describeError({ errorCode, message, fields }: Json): string | undefined {
  const texts = [errorCode, message].flatMap((text) => json.findText(text) ?? []);
  const named = Array.isArray(fields) && fields.length > 0 ? ` (${fields.join(', ')})` : '';
  return texts.length === 0 ? undefined : `${texts.join(': ')}${named}`;
}

/**
 * Reads the limit of calls. `Sforce-Limit-Info: api-usage=25/5000` counts the calls of the whole account in the last 24 hours, so the
 * window never restarts at a certain time. Source: REST API Developer Guide, "Limit Info Header".
 */
function readLimitInfo(headers: ProviderResponse['headers']) {
  const usage = /(?:^|[;,\s])api-usage=(\d+)\/(\d+)/.exec(headers['sforce-limit-info'] ?? '');
  if (usage === null) return undefined;
  const [used, limit] = [Number(usage[1]), Number(usage[2])];
  return { limit, remaining: Math.max(0, limit - used) };
}
