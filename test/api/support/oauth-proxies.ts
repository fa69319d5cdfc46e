import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { createKeyring } from '../../../src/db/keyring.ts';
import { openPlatformKeys } from '../../../src/db/platform-keys.ts';
import { createPoolShares } from '../../../src/db/pool-shares.ts';
import { createProxies, type Proxies } from '../../../src/instances/oauth/proxies/proxies.ts';
import { type ApiAnswer, ENCRYPTION_KEYS, type TestApp } from '../../support/app.ts';
import { theRow } from '../../support/database.ts';
import { sendRaw } from './raw-request.ts';
import { withDatabase } from './tenants.ts';

export interface CreatedProxy {
  readonly id: number;
  readonly name: string;
  readonly proxyUrl: string;
}

let created = 0;

/** A proxy of the first tenant, or of whom the headers name. */
export async function createProxy(service: TestApp, headers?: Readonly<Record<string, string>>): Promise<CreatedProxy> {
  created += 1;
  const body = { name: `proxy ${created}`, apiKey: 'client-id', apiSecret: `client-secret-${created}` };
  return service.change('POST', '/elements/oauthProxies', body, headers && { headers });
}

/** As the administrator of the organization says it, who works in the account of the proxy. */
export function shareProxy(
  service: Pick<TestApp, 'call'>,
  {
    id,
    shared = true,
    accountId = 1,
  }: Pick<CreatedProxy, 'id'> & { readonly shared?: boolean; readonly accountId?: number },
): Promise<ApiAnswer> {
  const headers = { 'elements-account-id': String(accountId) };
  return service.call(`/elements/oauthProxies/${id}`, { method: 'PATCH', headers, body: { shared } });
}

/** What `GET /elements/{keyOrId}/oauth/url` of the proxy's own account does with its `state`. */
export function allowTarget(service: TestApp, { id }: CreatedProxy, url: string): Promise<void> {
  return withDatabase(service, async (knex) => {
    const { organizationId, accountId } = await theRow(
      knex('oauth_proxy').where({ id }).select({ organizationId: 'organization_id', accountId: 'account_id' }),
    );
    const proxies = await openProxies(service, knex);
    const caller = { organizationId, accountId };
    await proxies.allowTarget(caller, await proxies.get(caller, id), url);
  });
}

/** What the queue does once an hour. */
export function purgeTargets(service: TestApp, before: Date): Promise<number> {
  return withDatabase(service, async (knex) => (await openProxies(service, knex)).purgeTargets(before));
}

async function openProxies(service: TestApp, knex: Knex): Promise<Proxies> {
  const keyring = createKeyring(ENCRYPTION_KEYS);
  const platform = {
    knex,
    shares: createPoolShares({ knex, poolSize: 2 }),
    keyring,
    keys: await openPlatformKeys({ knex, keyring }),
    random: { bytes: randomBytes, fraction: Math.random },
  };
  return createProxies(platform, () => service.app.url);
}

/** Comes to a proxy as a browser that a provider sent; the query is sent as it is. */
export function arrive(proxy: Pick<CreatedProxy, 'proxyUrl'>, query: string, method = 'GET'): Promise<ApiAnswer> {
  const { origin, pathname } = new URL(proxy.proxyUrl);
  return sendRaw(origin, { method, path: `${pathname}${query === '' ? '' : '?'}${query}` });
}
