import { defineConnector } from '#connector';
import { API_HOST, PROVIDER, RECORDS } from '../fortnox/provider.ts';

const LOGIN_HOST = 'apps.fortnox.se';

/** The connector for Fortnox with OAuth. It shares everything but the log-in with the connector `fortnox`. */
export default defineConnector({
  ...PROVIDER,
  key: 'fortnoxoauth',
  id: 1016,
  name: 'Fortnox (OAuth)',
  description: 'Customers, suppliers, articles, orders and invoices of Swedish accounting.',
  mark: { shape: 'ledger', colour: 'brown' },
  documentation: [{ title: 'Authorization', url: 'https://www.fortnox.se/developer/authorization' }, RECORDS],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${LOGIN_HOST}/oauth-v1/auth`,
    tokenUrl: () => `https://${LOGIN_HOST}/oauth-v1/token`,
    setup: [
      'Log in to the developer portal of Fortnox and create an integration, or open yours.',
      'Check “OAuth2”, and enter your callback URL as its redirect URI.',
      'Give it the scopes customer, supplier, article, order and invoice.',
      'Copy its Client-Id to `oauth.api.key`, and its Client-Secret to `oauth.api.secret`.',
    ],
    scopes: ['customer', 'supplier', 'article', 'order', 'invoice'],
    // No document of Fortnox mentions a code challenge.
    pkce: false,
    stateRequired: true,
    // Requests a refresh token.
    authorizeParameters: { access_type: 'offline' },
  },
  configuration: [],
  hosts: [API_HOST, LOGIN_HOST],
});
