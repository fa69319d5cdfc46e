import type { Knex } from 'knex';
import { changeInTurn } from '../db/change.ts';
import { columnsOf, firstOf, type RowWith } from '../db/row.ts';
import type { RolePrivileges } from './privileges.ts';

/** Rights of a user, as the columns in `RIGHTS` return them. */
export interface StoredRights extends TenantIds {
  readonly roles: readonly string[];
  readonly rolePrivileges: RolePrivileges;
}

/** A user that was found by the hash of its secret. */
interface StoredPrincipal extends StoredRights {
  readonly userSecretHash: Buffer;
  /** Time of expiry of the user's secret; null for the current one. */
  readonly expiresAt: Date | null;
  /** Hashes of all valid secrets of the organization. */
  readonly organizationSecretHashes: readonly Buffer[];
  /** Times of expiry of the organization's secrets, in the same order; null for the current one. */
  readonly organizationSecretExpiries: readonly (Date | null)[];
}

export type StoredUser = RowWith<'app_user', typeof USER_COLUMNS>;

/** An organization with its first account and user. */
export interface NewTenant {
  readonly organizationName: string;
  readonly accountName: string;
  readonly emailAddress: string;
  readonly firstName: string;
  readonly lastName: string;
}

export interface TenantIds {
  readonly organizationId: number;
  readonly accountId: number;
  readonly userId: number;
}

export type StoredAccount = RowWith<'account', typeof ACCOUNT_COLUMNS>;

const USER_COLUMNS = columnsOf('app_user', ['id', 'email_address', 'first_name', 'last_name']);

const ACCOUNT_COLUMNS = columnsOf('account', ['id', 'organization_id', 'external_id', 'active']);

/** Any number, the same in every process: it names the lock within the database. */
const BOOTSTRAP_LOCK = 7_205_002;

/** The secrets that are valid, in the same order each time. */
const OF_ORGANIZATION = `from organization_secret
  where organization_id = app_user.organization_id and (expires_at is null or expires_at > now()) order by id`;

/** SQL columns that return `StoredRights`. */
export const RIGHTS = `app_user.organization_id as "organizationId", app_user.account_id as "accountId", app_user.id as "userId",
  array (select role from user_role where user_role.account_id = app_user.account_id and user_id = app_user.id
    union select role from account_role where account_role.account_id = app_user.account_id) as roles,
  (select coalesce(jsonb_object_agg(role, privileges), '{}') from role_privileges
    where role_privileges.organization_id = app_user.organization_id) as "rolePrivileges"`;

/** SQL condition for users who may send requests. */
export const MAY_CALL = 'app_user.active and app_user.deleted_at is null and account.deleted_at is null';

/** Creates the store that authentication uses: organizations, accounts and users. */
export function createAccountStore(knex: Knex) {
  return {
    /**
     * Inserts the first tenant, unless an organization exists; then it returns undefined. Processes that start together take turns.
     * `complete` runs with the ids before anything is visible to others; if it rejects, nothing is stored.
     */
    insertFirstTenant: (
      tenant: NewTenant,
      complete: (via: Knex, ids: TenantIds) => Promise<void>,
    ): Promise<TenantIds | undefined> =>
      knex.transaction(async (trx) => {
        await trx.raw('select pg_advisory_xact_lock(?)', [BOOTSTRAP_LOCK]);
        if ((await trx('organization').first('id')) !== undefined) return undefined;
        const ids = await insertTenant(trx, tenant);
        await complete(trx, ids);
        return ids;
      }),

    /**
     * Inserts an additional organization; calls `complete` at the end of the same transaction, when the database has no more reason to end it
     * for others.
     */
    insertTenant: (tenant: NewTenant, complete: (via: Knex, ids: TenantIds) => Promise<void>): Promise<TenantIds> =>
      changeInTurn(knex, async (trx) => {
        const ids = await insertTenant(trx, tenant);
        await complete(trx, ids);
        return ids;
      }),

    /** Finds users by the hash of their secret, with their roles and the valid secrets of their organization, in one query. */
    findPrincipals: async (userSecretHash: Buffer): Promise<StoredPrincipal[]> => {
      const { rows } = await knex.raw<{ rows: StoredPrincipal[] }>(
        `select ${RIGHTS}, user_secret.secret_hash as "userSecretHash", user_secret.expires_at as "expiresAt",
           array (select secret_hash ${OF_ORGANIZATION}) as "organizationSecretHashes",
           array (select expires_at ${OF_ORGANIZATION}) as "organizationSecretExpiries"
         from user_secret
           join app_user on app_user.account_id = user_secret.account_id and app_user.id = user_secret.user_id
           join account on account.id = app_user.account_id
         where user_secret.secret_hash = ? and (user_secret.expires_at is null or user_secret.expires_at > now())
           and ${MAY_CALL}`,
        [userSecretHash],
      );
      return rows;
    },

    /** Returns the rights of a user who may send requests, if the user's organization has the account. */
    findRights: async (accountId: number, userId: number): Promise<StoredRights | undefined> => {
      const { rows } = await knex.raw<{ rows: StoredRights[] }>(
        `select ${RIGHTS} from app_user join account on account.organization_id = app_user.organization_id
         where account.id = ? and app_user.id = ? and ${MAY_CALL}`,
        [accountId, userId],
      );
      return rows[0];
    },

    /** Finds an account that is not deleted. */
    findAccount: (id: number): Promise<StoredAccount | undefined> =>
      knex('account').where({ id }).whereNull('deleted_at').first(ACCOUNT_COLUMNS),

    findAccountId: async (organizationId: number, externalId: string): Promise<number | undefined> =>
      (
        await knex('account')
          .where({ organization_id: organizationId, external_id: externalId })
          .whereNull('deleted_at')
          .first('id')
      )?.id,

    /** Finds users in the organization of the account. Deleted users are included, because what they created still shows their names. */
    findUsers: async (accountId: number, userIds: readonly number[]): Promise<StoredUser[]> =>
      knex('app_user')
        .whereRaw('organization_id = (select organization_id from account where account.id = ?)', [accountId])
        .whereRaw('id = any(?::bigint[])', [[...userIds]])
        .select(USER_COLUMNS),
  };
}

async function insertTenant(trx: Knex, tenant: NewTenant): Promise<TenantIds> {
  const organizations = await trx('organization').insert({ name: tenant.organizationName }).returning('id');
  const { id: organizationId } = firstOf(organizations);
  const accounts = await trx('account')
    .insert({
      organization_id: organizationId,
      name: tenant.accountName,
      external_id: 'default',
      default_account: true,
    })
    .returning('id');
  const { id: accountId } = firstOf(accounts);
  const users = await trx('app_user')
    .insert({
      organization_id: organizationId,
      account_id: accountId,
      email_address: tenant.emailAddress,
      first_name: tenant.firstName,
      last_name: tenant.lastName,
    })
    .returning('id');
  const { id: userId } = firstOf(users);
  await trx('user_role').insert({ account_id: accountId, user_id: userId, role: 'org-admin' });
  return { organizationId, accountId, userId };
}
