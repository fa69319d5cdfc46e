import { defineConnector, errors, json, type ProviderResponse } from '#connector';
import { CONFIGURATION, originIn, siteIn } from './config.ts';
import { entries, reports } from './objects.ts';

/** SAP Concur's expense reports, by OAuth. Facts and their sources: README.md. */
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
    // With `www-`, as browsers would be asked for a certificate elsewhere.
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
  // Without it the answer is XML.
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

/** A token that is wrong, over, or of another data center is a 403, as is a missing role: only the words tell them apart. */
function isRefusedToken({ status, body }: ProviderResponse): boolean {
  return status === 403 && /\binstance url\b.*\btoken\b/i.test(wordsOf(body) ?? '');
}
