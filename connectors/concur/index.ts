import { defineConnector, errors, json, type ProviderResponse } from '#connector';
import { CONFIGURATION, originIn, siteIn } from './config.ts';
import { entries, reports } from './objects.ts';

/** The connector for SAP Concur's expense reports, with OAuth. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'concur',
  id: 1010,
  contract: 1,
  name: 'SAP Concur',
  description: 'Expense reports and their entries.',
  hub: 'expense',
  mark: { shape: 'suitcase', colour: 'orange' },
  documentation: [
    {
      title: 'Reports v3',
      url: 'https://developer.concur.com/api-reference/expense/expense-report/v3.reports.html',
    },
    {
      title: 'Expense Entries v3',
      url: 'https://developer.concur.com/api-reference/expense/expense-report/expense-entry.html',
    },
    { title: 'Authentication', url: 'https://developer.concur.com/api-reference/authentication/apidoc.html' },
  ],
  auth: {
    type: 'oauth2',
    // Hosts without `www-` request a certificate from browsers.
    authorizeUrl: (config) => `https://www-${siteIn(config)}/oauth2/v0/authorize`,
    tokenUrl: (config) => `https://${siteIn(config)}/oauth2/v0/token`,
    refreshUrl: (config) => `${originIn(config)}/oauth2/v0/token`,
    setup: [
      'In SAP Concur open Administration → Company → Authentication Admin → OAuth 2.0 Application Management, or ask SAP for an application.',
      'Create an application with the grant types authorization_code and refresh_token and the scope EXPRPT.',
      'Enter your callback URL as its redirect URI.',
      'Copy client ID and client secret, which is shown once: the first is `oauth.api.key`, the second `oauth.api.secret`.',
    ],
    scopes: ['EXPRPT'],
    pkce: false,
    clientAuthentication: 'body',
    values: {
      geolocation: {
        from: 'token',
        name: 'geolocation',
        type: 'url',
        pattern: /^https:\/\/[a-z0-9-]+\.api\.concursolutions\.com$/,
        description: 'URL of the data center of the user, the base of every call.',
      },
    },
    siteAddressKey: 'site.address',
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `${originIn(config)}/api/v3.0`,
  hosts: ['*.api.concursolutions.com'],
  // Concur returns XML without this header.
  headers: { accept: 'application/json' },
  probe: { path: '/expense/reports', query: { limit: 1 } },
  classify: errors({
    message: ({ body }) => wordsOf(body),
    code: (response) => (isRefusedToken(response) ? 'token' : undefined),
    kinds: { token: 'credentials' },
  }),
  objects: { reports, entries },
  polls: ['reports'],
});

function wordsOf(body: unknown): string | undefined {
  return json.findText(json.at(body, 'Error', 'Message')) ?? json.findText(json.at(body, 'Message'));
}

/**
 * Returns whether Concur rejected the token. It sends 403 for an invalid or expired token, for one of another data center, and for a
 * missing role, so only the message distinguishes them.
 */
function isRefusedToken({ status, body }: ProviderResponse): boolean {
  return status === 403 && /\binstance url\b.*\btoken\b/i.test(wordsOf(body) ?? '');
}
