import { type Connector, errors, json } from '#connector';
import { articles, customers, invoices, orders, suppliers } from './objects.ts';

export const API_HOST = 'api.fortnox.se';

/** Fortnox, however one logs in. Facts and their sources: README.md. */
export const PROVIDER = {
  contract: 1,
  hub: 'erp',
  baseUrl: () => `https://${API_HOST}/3`,
  hosts: [API_HOST],
  probe: { path: '/customers', query: { limit: 1 } },
  classify: errors({
    message: ({ body }) => wordsOf(body),
    code: ({ body }) => codeOf(body),
    // Both come with statuses that say less. A number stays taken when its record was deleted.
    kinds: { 2000310: 'credentials', 2000311: 'credentials', 2000637: 'conflict' },
  }),
  objects: { customers, suppliers, articles, orders, invoices },
} as const satisfies Partial<Connector>;

export const RECORDS = { title: 'Records and their fields', url: 'https://apps.fortnox.se/apidocs' } as const;

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
