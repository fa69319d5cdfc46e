import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { Config } from '../../src/connector/index.ts';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { loggedIn } from '../../suite/index.ts';
import { useSharedApp } from '../support/app.ts';

/** A GET endpoint of the contract that takes a `where`, on an element that has it. */
interface Endpoint {
  readonly path: string;
  readonly element: string;
  /** `{id}` is the id of a record of this path. */
  readonly parents?: string;
  readonly hub: string;
}

const KEAP = { element: 'keap', hub: 'crm' };
const CONNECTWISE = { element: 'connectwise', hub: 'helpdesk' };

/** As the contract lists them, word for word; the last ones are examples of the generic ones. */
const ENDPOINTS: readonly Endpoint[] = [
  { path: '/affiliates/commissions', ...KEAP },
  { path: '/appointments', ...KEAP },
  { path: '/contacts', ...KEAP },
  { path: '/contacts/{id}/emails', parents: '/contacts', ...KEAP },
  { path: '/emails', ...KEAP },
  { path: '/files', ...KEAP },
  { path: '/opportunities', ...KEAP },
  { path: '/orders', ...KEAP },
  { path: '/tags', ...KEAP },
  { path: '/tasks', ...KEAP },
  { path: '/tasks/search', ...KEAP },
  { path: '/transactions', ...KEAP },
  { path: '/configurations', ...CONNECTWISE },
  { path: '/fields', ...CONNECTWISE },
  { path: '/incidents', ...CONNECTWISE },
  { path: '/incidents/{id}/comments', parents: '/incidents', ...CONNECTWISE },
  { path: '/incidents/{id}/time-entries', parents: '/incidents', ...CONNECTWISE },
  { path: '/organizations', ...CONNECTWISE },
  { path: '/time-entries', ...CONNECTWISE },
  { path: '/reports', element: 'concur', hub: 'expense' },
  { path: '/search?text=report', element: 'box', hub: 'documents' },
  { path: '/contacts', element: 'salesforce', hub: 'crm' },
  { path: '/accounts', element: 'salesforce', hub: 'crm' },
  { path: '/opportunities', element: 'salesforce', hub: 'crm' },
  { path: '/incidents', element: 'servicenow', hub: 'helpdesk' },
  { path: '/incident/{id}/comments', parents: '/incident', element: 'servicenow', hub: 'helpdesk' },
];

/** Records above the wanted ones that are tried until one has any. */
const MOST_PARENTS = 20;

describe('the endpoints of the contract that take a where', () => {
  const service = useSharedApp();
  const tokens = new Map<string, string>();

  async function tokenOf(element: string): Promise<string> {
    const known = tokens.get(element);
    if (known !== undefined) return known;
    const { body } = await service.call(`/elements/${element}`);
    const isOAuth = body.authentication.type === 'oauth2';
    const { token } = await service.createInstance(element, await demoConfiguration(element, isOAuth));
    tokens.set(element, token);
    return token;
  }

  for (const endpoint of ENDPOINTS) {
    const { path, element, hub } = endpoint;

    it(`answer rows on ${element}, and say where a field is wrong: GET ${path}`, async () => {
      const token = await tokenOf(element);
      const list = (place: string, where: string) =>
        service.call(`${place}${place.includes('?') ? '&' : '?'}where=${encodeURIComponent(where)}`, { token });
      for (const prefix of ['', `/hubs/${hub}`]) {
        const { place, rows } = await findRows({ ...endpoint, path: prefix + path }, token);
        const [field, value] = Object.entries(rows[0] ?? {}).find(([, each]) => isPlain(each)) ?? [''];
        const some = await list(place, `\`${field}\` = '${String(value).replaceAll("'", "''")}'`);
        expect([some.status, some.body.length > 0], JSON.stringify(some.body).slice(0, 300)).to.deep.equal([200, true]);
        const none = await list(place, `\`${field}\` IS NULL AND nosuchfieldatall = 1`);
        expect([none.status, none.body.code]).to.deep.equal([400, 'WHERE_INVALID']);
        expect(none.body.details[0].position).to.equal(field.length + '`` IS NULL AND '.length);
      }
    });
  }

  /** The first place of the endpoint that has any. */
  async function findRows({ path, parents }: Endpoint, token: string) {
    for (const place of parents === undefined ? [path] : await placesBelow({ path, parents }, token)) {
      const { status, body } = await service.call(place, { token });
      expect(status, `${place} ${JSON.stringify(body).slice(0, 300)}`).to.equal(200);
      if (body.length > 0) return { place, rows: body };
    }
    throw new Error(`${path} has no rows.`);
  }

  async function placesBelow({ path, parents }: { readonly path: string; readonly parents: string }, token: string) {
    const { body } = await service.call(`${parents}?pageSize=${MOST_PARENTS}`, { token });
    const { body: metadata } = await service.call(`/objects${parents}/metadata`, { token });
    return body.map((row: Readonly<Record<string, unknown>>) =>
      path.replace('{id}', encodeURIComponent(String(row[metadata.identifier]))),
    );
  }
});

function isPlain(value: unknown): boolean {
  return (typeof value === 'string' && value !== '' && value.length < 40) || typeof value === 'number';
}

/** Of an instance on the simulator; where the login is by OAuth, with an access token that is good without a login. */
async function demoConfiguration(element: string, isOAuth: boolean): Promise<Config> {
  const { DEMO_CONFIGURATION, DEMO_ACCESS_TOKEN, CLIENTS } = await import(
    pathToFileURL(join(OWN_CONNECTORS, element, 'simulator.ts')).href
  );
  return { ...DEMO_CONFIGURATION, ...(isOAuth && loggedIn(DEMO_ACCESS_TOKEN, CLIENTS)), simulator: true };
}
