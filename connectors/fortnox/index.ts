import { type ConfigField, defineConnector, json, settings } from '#connector';
import { PROVIDER, RECORDS } from './provider.ts';

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

/** Fortnox, by the authorization that Fortnox ended in 2025 (the contract's element of type custom). For OAuth: `fortnoxoauth`. */
export default defineConnector({
  ...PROVIDER,
  key: 'fortnox',
  id: 1007,
  name: 'Fortnox',
  description:
    'Customers, suppliers, articles, orders and invoices of Swedish accounting, by the authorization that Fortnox ended on April 30, 2025: use fortnoxoauth.',
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
