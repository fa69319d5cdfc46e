import { defineConnector, errors, json, type ProviderResponse, type RateLimitState } from '#connector';
import { contacts, emails } from './contacts.ts';
import { files } from './files.ts';
import { appointments, commissions, ownTasks, transactions } from './first-version.ts';
import { opportunities, orders } from './sales.ts';
import { tags, tasks } from './tasks.ts';
import { restHooks } from './webhooks.ts';

const LOGIN = 'accounts.infusionsoft.com';
const API = 'api.infusionsoft.com';

/** The connector for Keap, formerly Infusionsoft, with both versions of its REST API. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'keap',
  id: 1008,
  contract: 1,
  name: 'Keap',
  description: 'Contacts, opportunities, orders, tasks, appointments and files of a Keap application.',
  hub: 'crm',
  mark: { shape: 'funnel', colour: 'magenta' },
  documentation: [
    { title: 'Getting started with OAuth 2.0', url: 'https://developer.infusionsoft.com/getting-started-oauth-keys/' },
    { title: 'The second version of the REST API', url: 'https://developer.keap.com/docs/restv2/' },
    { title: 'The first version of the REST API', url: 'https://developer.keap.com/docs/rest/' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${LOGIN}/app/oauth/authorize`,
    tokenUrl: () => `https://${API}/token`,
    scopes: ['full'],
    pkce: false,
    // Keap's own SDK authenticates in the body for a code, and in a header for a refresh.
    codeAuthentication: 'body',
    setup: [
      'Log in to the developer portal of Keap and create an application.',
      'Copy its client id to `oauth.api.key`, and its secret to `oauth.api.secret`.',
      'Set `oauth.callback.url` to your callback URL. It must begin with https.',
    ],
  },
  configuration: [],
  baseUrl: () => `https://${API}/crm`,
  hosts: [API, LOGIN],
  probe: { path: '/rest/v2/tags', query: { page_size: 1 } },
  classify: errors({ message: ({ body }) => wordsOf(body) }),
  rateLimit: readLimits,
  objects: {
    'affiliates/commissions': commissions,
    appointments,
    contacts,
    emails,
    files,
    opportunities,
    orders,
    tags,
    tasks,
    'tasks/search': ownTasks,
    transactions,
  },
  polls: ['contacts', 'opportunities', 'orders', 'tasks', 'appointments', 'tags', 'transactions'],
  webhooks: restHooks,
});

/** Returns the text of an error. The gateway in front of both versions has its own format. */
function wordsOf(body: unknown): string | undefined {
  return json.findText(json.at(body, 'message')) ?? json.findText(json.at(body, 'fault', 'faultstring'));
}

const WINDOW_SECONDS = 60;
const DAY_SECONDS = 24 * 60 * 60;

/**
 * Returns the limit of calls by minute or by day, whichever has less left. Keap does not report when a window ends, so its length counts.
 */
function readLimits(headers: ProviderResponse['headers']): RateLimitState | undefined {
  const read = (name: string, resetSeconds: number) => {
    const [limit, remaining] = ['limit', 'available'].map((part) => Number(headers[`x-keap-product-${name}-${part}`]));
    return { limit, remaining, resetSeconds };
  };
  const [tightest] = [read('throttle', WINDOW_SECONDS), read('quota', DAY_SECONDS)]
    .filter(({ remaining }) => Number.isSafeInteger(remaining))
    .sort((a, b) => Number(a.remaining) - Number(b.remaining));
  return (
    tightest && {
      limit: Number(tightest.limit),
      remaining: Number(tightest.remaining),
      resetSeconds: tightest.resetSeconds,
    }
  );
}
