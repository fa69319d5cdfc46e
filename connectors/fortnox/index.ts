import { type ConfigField, defineConnector, errors, json, settings } from '#connector';
import { articles, customers, invoices, orders, suppliers } from './objects.ts';

const CONFIGURATION = [
  {
    key: 'authorization.code',
    type: 'string',
    secret: true,
    description:
      'The code (API-kod) that the user got when the integration was added in Fortnox. It is exchanged for an access token once, and not kept.',
    setup: [
      'Log in to Fortnox as an administrator of the company.',
      'Add the integration there. Fortnox shows a code (API-kod), which can be used once.',
    ],
  },
  {
    key: 'client.secret',
    type: 'string',
    required: true,
    secret: true,
    description: 'Client secret of the integration, from the developer portal of Fortnox.',
    setup: ['Open the integration on the developer portal of Fortnox.', 'Copy its client secret.'],
  },
  {
    key: 'access.token',
    type: 'string',
    secret: true,
    description: 'An access token that a code was exchanged for already; then no code is needed.',
    setup: ['Only where a code was exchanged elsewhere: take the token from there.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** Fortnox, by the authorization whose access tokens do not end. Facts and their sources: README.md. */
export default defineConnector({
  key: 'fortnox',
  id: 1007,
  contract: 1,
  name: 'Fortnox',
  description: 'Customers, suppliers, articles, orders and invoices of Swedish accounting.',
  hub: 'erp',
  documentation: [
    { title: 'Authorization and requests', url: 'https://www.fortnox.se/developer/guides-and-good-to-know' },
    { title: 'All records and their fields', url: 'https://apps.fortnox.se/apidocs' },
  ],
  auth: {
    type: 'custom',
    headers: (config) => ({
      'access-token': setting(config, 'access.token') ?? '',
      'client-secret': setting(config, 'client.secret'),
    }),
    exchange: {
      code: 'authorization.code',
      token: 'access.token',
      request: (config) => ({
        path: '/customers',
        headers: {
          'authorization-code': setting(config, 'authorization.code') ?? '',
          'client-secret': setting(config, 'client.secret'),
        },
      }),
      read: ({ body }) => json.text(json.at(body, 'Authorization', 'AccessToken'), 'the access token'),
    },
  },
  configuration: CONFIGURATION,
  baseUrl: () => 'https://api.fortnox.se/3',
  hosts: ['api.fortnox.se'],
  probe: { path: '/customers', query: { limit: 1 } },
  classify: errors({
    message: ({ body }) => wordsOf(body),
    code: ({ body }) => codeOf(body),
    // Both come with statuses that say less. A number stays taken when its record was deleted.
    kinds: { 2000310: 'credentials', 2000311: 'credentials', 2000637: 'conflict' },
  }),
  objects: { customers, suppliers, articles, orders, invoices },
});

/** Members are in both spellings. */
function memberOf(body: unknown, name: string): unknown {
  const information = json.at(body, 'ErrorInformation');
  return json.at(information, name) ?? json.at(information, name.toLowerCase());
}

function codeOf(body: unknown): number | undefined {
  const code = Number(memberOf(body, 'Code') ?? Number.NaN);
  return Number.isNaN(code) ? undefined : code;
}

/** With the code, as the words are often few. */
function wordsOf(body: unknown): string | undefined {
  const message = json.findText(memberOf(body, 'Message'));
  const code = codeOf(body);
  return message !== undefined && code !== undefined ? `${message} (Fortnox error ${code})` : message;
}
