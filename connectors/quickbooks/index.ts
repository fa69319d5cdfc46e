import {
  type Config,
  type ConfigField,
  defineConnector,
  errors,
  json,
  type ProviderResponse,
  settings,
} from '#connector';
import { OBJECTS } from './objects.ts';
import { queryFor } from './query.ts';
import { appWebhooks } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: 'quickbooks.sandbox',
    label: 'Sandbox',
    type: 'boolean',
    default: false,
    description: 'Connect to the sandbox, which has the test companies of developers.',
  },
  {
    key: 'webhook.verifier.token',
    label: 'Verifier token for webhooks',
    type: 'string',
    secret: true,
    description: 'For webhooks: the verifier token of the app, which signs the requests.',
    setup: [
      'On the developer portal of Intuit open the app and its webhooks: those of production, or those of development for a sandbox company.',
      'Enter the `eventUrl` of the instance as the endpoint URL, choose the entities whose changes you need, and save.',
      'Show the verifier token there and copy it here.',
    ],
  },
] as const satisfies readonly ConfigField[];

const setting = settings([...CONFIGURATION, { key: 'realmId', type: 'string' }]);

function apiHost(config: Config): string {
  return setting(config, 'quickbooks.sandbox') ? 'sandbox-quickbooks.api.intuit.com' : 'quickbooks.api.intuit.com';
}

/** Hosts for the log-in and for tokens. Sandboxes use the same hosts. Source: Intuit's OAuth discovery documents. */
const LOGIN = 'appcenter.intuit.com';
const TOKENS = 'oauth.platform.intuit.com';

/** The connector for QuickBooks Online Accounting, with OAuth. README.md lists the facts and their sources. */
export default defineConnector({
  key: 'quickbooks',
  id: 1006,
  contract: 1,
  name: 'QuickBooks Online',
  description: 'Customers, vendors, items, accounts, employees and the transactions of a company.',
  hub: 'erp',
  mark: { shape: 'calculator', colour: 'red' },
  documentation: [
    {
      title: 'Set up OAuth 2.0',
      url: 'https://developer.intuit.com/app/developer/qbo/docs/develop/authentication-and-authorization/oauth-2.0',
    },
    {
      title: 'Records and their fields',
      url: 'https://developer.intuit.com/app/developer/qbo/docs/api/accounting/all-entities/account',
    },
    { title: 'Webhooks', url: 'https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks' },
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: () => `https://${LOGIN}/connect/oauth2`,
    tokenUrl: () => `https://${TOKENS}/oauth2/v1/tokens/bearer`,
    scopes: ['com.intuit.quickbooks.accounting'],
    setup: [
      'Create an app on the developer portal of Intuit, for the scope “Accounting”.',
      'Add your callback URL to the redirect URIs of its keys: those of production, or those of development for a sandbox company.',
      'Copy client id and client secret from there: the first is `oauth.api.key`, the second `oauth.api.secret`.',
    ],
    pkce: false,
    values: {
      realmId: {
        from: 'callback',
        name: 'realmId',
        type: 'string',
        pattern: /^\d{1,32}$/,
        description: 'Id of the company that the user chose.',
      },
    },
    sandboxKey: 'quickbooks.sandbox',
  },
  configuration: CONFIGURATION,
  // Before the first log-in no company is known, and no request is sent.
  baseUrl: (config) => `https://${apiHost(config)}/v3/company/${setting(config, 'realmId') ?? '0'}`,
  hosts: (config) => [LOGIN, TOKENS, apiHost(config)],
  probe: queryFor('select * from CompanyInfo'),
  classify: errors({
    isFailure: ({ body }) => json.isObject(faultIn(body)),
    code: (response) => json.findText(firstError(response).code)?.replace(/^0+(?=\d)/, ''),
    message: (response) => wordsOf(response),
    // Codes whose status alone, mostly 400, would be misleading. Source: "Error codes", "Handling common errors".
    kinds: {
      610: 'notFound',
      3001: 'rateLimited',
      // QuickBooks sends this code with 403 if the company is not, or no longer, connected to the app.
      3100: 'credentials',
      3200: 'credentials',
      5010: 'conflict',
      6140: 'conflict',
      6210: 'conflict',
      6240: 'conflict',
    },
  }),
  objects: OBJECTS,
  webhooks: appWebhooks,
  polls: ['customers', 'invoices', 'payments', 'bills'],
});

interface ErrorWords {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly detail?: unknown;
}

/** Returns the fault of a body. The gateway writes the name in lower case, the service capitalizes it. */
function faultIn(body: unknown): unknown {
  return json.at(body, 'Fault') ?? json.at(body, 'fault');
}

function firstError({ body }: ProviderResponse): ErrorWords {
  const fault = faultIn(body);
  const errors = json.at(fault, 'Error') ?? json.at(fault, 'error');
  const [first] = Array.isArray(errors) ? errors : [];
  const word = (name: string) => json.at(first, name) ?? json.at(first, name.toLowerCase());
  return { code: word('code'), message: word('Message'), detail: word('Detail') };
}

/** Returns the text of an error. The detail often repeats the message. */
function wordsOf(response: ProviderResponse): string | undefined {
  const { code, message, detail } = firstError(response);
  const [brief, full] = [json.findText(message), json.findText(detail)];
  const words = brief !== undefined && full?.includes(brief) ? full : [brief, full].filter(Boolean).join(': ');
  if (words === '') return undefined;
  return json.findText(code) === undefined ? words : `${words} (QuickBooks error ${code})`;
}
