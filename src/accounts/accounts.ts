import { timingSafeEqual } from 'node:crypto';
import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { createAccountStore, type StoredPrincipal, type StoredUser, type TenantIds } from './store.ts';

export type User = StoredUser;

/** The first tenant with its secrets, which are shown this once: the database does not hold them. */
export interface FirstCredentials extends TenantIds {
  readonly organizationSecret: string;
  readonly userSecret: string;
}

export interface BootstrapOptions {
  /** Pins the first secrets. Default: random. */
  readonly organizationSecret?: string | undefined;
  readonly userSecret?: string | undefined;
  /**
   * Keeps the secrets somewhere before the tenant exists. If it rejects, no tenant is made, so that a start that is
   * cut off at any moment never leaves a tenant whose secrets nobody knows.
   */
  readonly beforeCommit?: (credentials: FirstCredentials) => Promise<void>;
}

/** Who calls: a user of an account of an organization. */
export interface Principal extends TenantIds {
  /** The call carried the organization's secret as well. */
  readonly organizationVerified: boolean;
}

export interface Accounts {
  /** Makes the first organization, account and user; undefined when there is one. Later calls change nothing. */
  readonly bootstrap: (options: BootstrapOptions) => Promise<FirstCredentials | undefined>;
  /** Undefined for an unknown user secret, and for an organization secret that is not that of the user's organization. */
  readonly findPrincipal: (secrets: {
    readonly userSecret: string;
    readonly organizationSecret?: string | undefined;
  }) => Promise<Principal | undefined>;
  /** @throws AppError NOT_FOUND */
  readonly getUser: (accountId: number, userId: number) => Promise<User>;
  /** @throws AppError NOT_FOUND */
  readonly getOrganizationId: (accountId: number) => Promise<number>;
  /** By id; those that are not there are left out. */
  readonly findUsers: (accountId: number, userIds: readonly number[]) => Promise<ReadonlyMap<number, User>>;
}

const SECRET_BYTES = 32;

/** Organizations, accounts and users. */
export function createAccounts({ knex, keys, random }: Pick<Platform, 'knex' | 'keys' | 'random'>): Accounts {
  const store = createAccountStore(knex);
  const createSecret = () => random.bytes(SECRET_BYTES).toString('base64url');

  return {
    bootstrap: async ({
      organizationSecret = createSecret(),
      userSecret = createSecret(),
      beforeCommit = async () => {},
    }) => {
      const withSecrets = (ids: TenantIds) => ({ ...ids, organizationSecret, userSecret });
      const tenant = {
        organizationName: 'First organization',
        organizationSecretHash: keys.lookupHash(organizationSecret),
        accountName: 'First account',
        emailAddress: 'admin@localhost',
        firstName: 'First',
        lastName: 'User',
        userSecretHash: keys.lookupHash(userSecret),
      };
      const ids = await store.insertFirstTenant(tenant, (inserted) => beforeCommit(withSecrets(inserted)));
      return ids === undefined ? undefined : withSecrets(ids);
    },

    findPrincipal: async ({ userSecret, organizationSecret }) => {
      const userHash = keys.lookupHash(userSecret);
      const stored = await store.findPrincipals(userHash);
      const principal = stored.find(({ userSecretHash }) => timingSafeEqual(userSecretHash, userHash));
      if (principal === undefined) return undefined;
      if (organizationSecret === undefined) return toPrincipal(principal, false);
      const matches = timingSafeEqual(principal.organizationSecretHash, keys.lookupHash(organizationSecret));
      return matches ? toPrincipal(principal, true) : undefined;
    },

    getOrganizationId: async (accountId) => {
      const id = await store.findOrganizationId(accountId);
      if (id === undefined) throw new AppError('NOT_FOUND', `There is no account ${accountId}.`);
      return id;
    },

    getUser: async (accountId, userId) => {
      const user = await store.findUser(accountId, userId);
      if (user === undefined) throw new AppError('NOT_FOUND', `There is no user ${userId} in this account`);
      return user;
    },

    findUsers: async (accountId, userIds) => {
      const users = await store.findUsers(accountId, userIds);
      return new Map(users.map((user) => [user.id, user]));
    },
  };
}

function toPrincipal(stored: StoredPrincipal, organizationVerified: boolean): Principal {
  const { organizationId, accountId, userId } = stored;
  return { organizationId, accountId, userId, organizationVerified };
}
