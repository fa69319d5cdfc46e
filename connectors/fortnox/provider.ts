import { type Connector, errors, json } from '#connector';
import { articles, customers, invoices, orders, suppliers } from './objects.ts';

export const API_HOST = 'api.fortnox.se';

/** The parts of the connectors for Fortnox that do not depend on the log-in. README.md lists the facts and their sources. */
export const PROVIDER = {
  contract: 1,
  hub: 'erp',
  baseUrl: () => `https://${API_HOST}/3`,
  hosts: [API_HOST],
  probe: { path: '/customers', query: { limit: 1 } },
  classify: errors({
    message: ({ body }) => wordsOf(body),
    code: ({ body }) => codeOf(body),
    // The statuses of these errors are less precise. The number of a deleted record cannot be used again.
    kinds: { 2000310: 'credentials', 2000311: 'credentials', 2000637: 'conflict' },
  }),
  objects: { customers, suppliers, articles, orders, invoices },
} as const satisfies Partial<Connector>;

export const RECORDS = { title: 'Records and their fields', url: 'https://apps.fortnox.se/apidocs' } as const;

/** Returns a member of an error. Members occur in both spellings. */
function memberOf(body: unknown, name: string): unknown {
  const information = json.at(body, 'ErrorInformation');
  return json.at(information, name) ?? json.at(information, name.toLowerCase());
}

function codeOf(body: unknown): number | undefined {
  const code = Number(memberOf(body, 'Code') ?? Number.NaN);
  return Number.isNaN(code) ? undefined : code;
}

/** Returns the text of an error with its code, because the message is often short. */
function wordsOf(body: unknown): string | undefined {
  const message = json.findText(memberOf(body, 'Message'));
  const code = codeOf(body);
  return message !== undefined && code !== undefined ? `${message} (Fortnox error ${code})` : message;
}
