import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { createSecretStore } from '../../../src/accounts/secret-store.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { createDevelopmentKeys, createKeyring } from '../../../src/db/keyring.ts';
import { openPlatformKeys } from '../../../src/db/platform-keys.ts';
import { createLogger } from '../../../src/log.ts';

/** A user of the service, in an organization of its own. */
export interface Tenant {
  readonly accountId: number;
  readonly organizationSecret: string;
  readonly userSecret: string;
}

export interface Tenants {
  readonly knex: Knex;
  readonly create: (name: string) => Promise<Tenant>;
  readonly close: () => Promise<void>;
}

/** Creates tenants in the service's database, because there is no API for that. */
export async function openTenants(url: string, dataDir: string): Promise<Tenants> {
  const log = createLogger({ level: 'silent' });
  const { knex, close } = openDatabase({ url, poolSize: 2, log });
  const keyring = createKeyring(await createDevelopmentKeys(dataDir));
  const secrets = createSecretStore({ keyring, keys: await openPlatformKeys({ knex, keyring }) });

  async function insert(table: string, values: Readonly<Record<string, unknown>>): Promise<number> {
    const [row] = await knex(table).insert(values).returning('id');
    return Number(row.id);
  }

  async function create(name: string): Promise<Tenant> {
    const [organizationSecret, userSecret] = [secretOf(name), secretOf(name)];
    const organizationId = await insert('organization', { name });
    const accountId = await insert('account', { organization_id: organizationId, name, external_id: name });
    const user = { organization_id: organizationId, account_id: accountId, email_address: `${name}@example.com` };
    const userId = await insert('app_user', user);
    await knex('user_role').insert({ account_id: accountId, user_id: userId, role: 'org-admin' });
    await secrets.add(knex, { organizationId }, organizationSecret);
    await secrets.add(knex, { accountId, userId }, userSecret);
    return { accountId, organizationSecret, userSecret };
  }

  return { knex, create, close };
}

function secretOf(name: string): string {
  return `${name}-${randomBytes(16).toString('hex')}`;
}

/** Returns the `Authorization` header of platform calls or, with the token of an instance, of calls on it. */
export function authorizationOf({ userSecret, organizationSecret }: Tenant, token?: string): string {
  return token === undefined
    ? `User ${userSecret}, Organization ${organizationSecret}`
    : `User ${userSecret}, Element ${token}`;
}
