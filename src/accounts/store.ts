import type { Knex } from 'knex';
import { type ColumnsOf, firstOf, type RowOf } from '../db/row.ts';

/** A user as found by the hash of its secret, with the organization it belongs to. */
export interface StoredPrincipal {
  readonly organizationId: number;
  readonly organizationSecretHash: Buffer;
  readonly accountId: number;
  readonly userId: number;
  readonly userSecretHash: Buffer;
}

type UserColumn = 'id' | 'email_address' | 'first_name' | 'last_name';

export type StoredUser = RowOf<'app_user', UserColumn>;

/** The first organization with its account and user. */
export interface FirstTenant {
  readonly organizationName: string;
  readonly organizationSecretHash: Buffer;
  readonly accountName: string;
  readonly emailAddress: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly userSecretHash: Buffer;
}

export interface TenantIds {
  readonly organizationId: number;
  readonly accountId: number;
  readonly userId: number;
}

const USER_COLUMNS: ColumnsOf<'app_user', UserColumn> = {
  id: 'id',
  emailAddress: 'email_address',
  firstName: 'first_name',
  lastName: 'last_name',
};

/** Any number, the same in every process: it names the lock within the database. */
const BOOTSTRAP_LOCK = 7_205_002;

/** The rows of organizations, accounts and users. */
export function createAccountStore(knex: Knex) {
  return {
    /**
     * Inserts the first tenant unless there is an organization; then undefined. Processes that start together take
     * turns. `beforeCommit` runs with the ids while nothing is visible to others yet; if it rejects, nothing is kept.
     */
    insertFirstTenant: (
      tenant: FirstTenant,
      beforeCommit: (ids: TenantIds) => Promise<void>,
    ): Promise<TenantIds | undefined> =>
      knex.transaction(async (trx) => {
        await trx.raw('select pg_advisory_xact_lock(?)', [BOOTSTRAP_LOCK]);
        if ((await trx('organization').first('id')) !== undefined) return undefined;
        const ids = await insertTenant(trx, tenant);
        await beforeCommit(ids);
        return ids;
      }),

    findPrincipals: (userSecretHash: Buffer): Promise<StoredPrincipal[]> =>
      knex('app_user')
        .join('account', 'account.id', 'app_user.account_id')
        .join('organization', 'organization.id', 'account.organization_id')
        .where('app_user.secret_hash', userSecretHash)
        .select({
          organizationId: 'organization.id',
          organizationSecretHash: 'organization.secret_hash',
          accountId: 'account.id',
          userId: 'app_user.id',
          userSecretHash: 'app_user.secret_hash',
        }),

    findOrganizationId: async (accountId: number): Promise<number | undefined> =>
      (await knex('account').where({ id: accountId }).first('organization_id'))?.organization_id,

    findUser: (accountId: number, userId: number): Promise<StoredUser | undefined> =>
      knex('app_user').where({ account_id: accountId, id: userId }).first(USER_COLUMNS),

    findUsers: (accountId: number, userIds: readonly number[]): Promise<StoredUser[]> =>
      knex('app_user')
        .where({ account_id: accountId })
        .whereRaw('id = any(?::bigint[])', [[...userIds]])
        .select(USER_COLUMNS),
  };
}

async function insertTenant(trx: Knex, tenant: FirstTenant): Promise<TenantIds> {
  const organizations = await trx('organization')
    .insert({ name: tenant.organizationName, secret_hash: tenant.organizationSecretHash })
    .returning('id');
  const { id: organizationId } = firstOf(organizations);
  const accounts = await trx('account')
    .insert({ organization_id: organizationId, name: tenant.accountName })
    .returning('id');
  const { id: accountId } = firstOf(accounts);
  const users = await trx('app_user')
    .insert({
      account_id: accountId,
      email_address: tenant.emailAddress,
      first_name: tenant.firstName,
      last_name: tenant.lastName,
      secret_hash: tenant.userSecretHash,
    })
    .returning('id');
  return { organizationId, accountId, userId: firstOf(users).id };
}
