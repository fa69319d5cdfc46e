import { type ConfigField, defineConnector, json, settings } from '#connector';
import { PROVIDER, RECORDS } from './provider.ts';

const CONFIGURATION = [
  {
    key: 'authorization.code',
    label: 'API code',
    type: 'string',
    secret: true,
    description:
      'Code (API-kod) that Fortnox shows when an administrator adds the integration. Causeway exchanges it once for an access token, and does not store it.',
    setup: [
      'Log in to Fortnox as an administrator of the company.',
      'Add the integration there, and copy the code (API-kod) that Fortnox shows. It can be used once.',
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
    description: 'Access token from an earlier exchange of a code. With it, no code is required.',
    setup: ['Leave it out, unless another program has exchanged the code. In that case, copy the token from there.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/**
 * The connector for Fortnox with the authorization that Fortnox ended in 2025 (the contract's element of type custom). `fortnoxoauth` is
 * the one with OAuth.
 */
export default defineConnector({
  ...PROVIDER,
  key: 'fortnox',
  id: 1007,
  name: 'Fortnox',
  description:
    'Customers, suppliers, articles, orders and invoices of Swedish accounting. Fortnox ended this authorization on April 30, 2025: use fortnoxoauth.',
  mark: { shape: 'ledger', colour: 'green' },
  documentation: [
    {
      title: 'The end of this authorization',
      url: 'https://www.fortnox.se/developer/authorization/migrate-legacy-token-to-jwt',
    },
    { title: 'Requests', url: 'https://www.fortnox.se/developer/guides-and-good-to-know' },
    RECORDS,
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
});
