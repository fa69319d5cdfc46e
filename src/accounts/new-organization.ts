import type { Knex } from 'knex';
import type { Platform } from '../platform.ts';
import { createSecret, createSecretStore, type SecretStore } from './secret-store.ts';
import { createAccountStore, type NewTenant, type TenantIds } from './store.ts';

/** An organization, its first account and its first user, with their secrets. */
export interface FirstCredentials extends TenantIds {
  readonly organizationSecret: string;
  readonly userSecret: string;
}

/**
 * Stores the secrets elsewhere before the tenant exists. If it rejects, no tenant is created. So an interruption never leaves a tenant
 * whose secrets nobody knows.
 */
export type KeepCredentials = (credentials: FirstCredentials) => Promise<void>;

/** An additional organization, whose first user administers it. */
export interface NewOrganization extends Pick<NewTenant, 'emailAddress' | 'firstName' | 'lastName'> {
  readonly name: string;
}

/** Makes an organization with its default account and its first user, whatever organizations there are. */
export async function createOrganization(
  platform: Pick<Platform, 'knex' | 'keyring' | 'keys' | 'random'>,
  { name, ...user }: NewOrganization,
  keep: KeepCredentials,
): Promise<FirstCredentials> {
  const { knex, random } = platform;
  const clear = { organizationSecret: createSecret(random), userSecret: createSecret(random) };
  const tenant = { organizationName: name, accountName: name, ...user };
  const complete = completeTenant(createSecretStore(platform), clear, keep);
  return { ...(await createAccountStore(knex).insertTenant(tenant, complete)), ...clear };
}

/** Completes a new tenant within the transaction that creates it. */
export function completeTenant(
  secrets: Pick<SecretStore, 'add'>,
  clear: Pick<FirstCredentials, 'organizationSecret' | 'userSecret'>,
  keep: KeepCredentials,
) {
  return async (via: Knex, ids: TenantIds): Promise<void> => {
    const { organizationId, accountId, userId } = ids;
    await secrets.add(via, { organizationId }, clear.organizationSecret);
    await secrets.add(via, { accountId, userId }, clear.userSecret);
    await keep({ ...ids, ...clear });
  };
}
