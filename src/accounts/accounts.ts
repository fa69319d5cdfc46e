import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { createAnnouncedCache } from '../db/announced-cache.ts';
import { AppError, cutText } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { type Privilege, privilegesOf } from './privileges.ts';
import { createSecretStore } from './secret-store.ts';
import { createAccountStore, type StoredAccount, type StoredRights, type StoredUser, type TenantIds } from './store.ts';

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

/** Who calls: a user of an account of an organization, and the account that the call is about. */
export interface Principal extends TenantIds {
  /** The user's own account: `accountId` is another one where the call names one. */
  readonly homeAccountId: number;
  /** From most to least. */
  readonly roles: readonly string[];
  readonly privileges: ReadonlySet<Privilege>;
  /** The call carried the organization's secret as well. */
  readonly organizationVerified: boolean;
}

/** Somebody known by secrets. */
export interface FoundPrincipal {
  readonly principal: Principal;
  /** When one of the secrets ends. */
  readonly expiresAt: Date | undefined;
}

export interface Accounts {
  /** Makes the first organization, account and user; undefined when there is one. Later calls change nothing. */
  readonly bootstrap: (options: BootstrapOptions) => Promise<FirstCredentials | undefined>;
  /** Undefined for an unknown user secret, that of an inactive user, and an organization secret that is not of the user's organization. */
  readonly findPrincipal: (secrets: {
    readonly userSecret: string;
    readonly organizationSecret?: string | undefined;
  }) => Promise<FoundPrincipal | undefined>;
  /**
   * The account of the organization that goes by this id, or by this external id; from memory by its id.
   * @throws AppError NOT_FOUND, for one of another organization too
   */
  readonly getAccount: (organizationId: number, idOrExternalId: string) => Promise<StoredAccount>;
  /** To be called when an account was changed: in the transaction, if there is one. */
  readonly accountChanged: (accountId: number, via?: Knex) => Promise<void>;
  /** @throws AppError NOT_FOUND */
  readonly getUser: (accountId: number, userId: number) => Promise<User>;
  /** @throws AppError NOT_FOUND */
  readonly getOrganizationId: (accountId: number) => Promise<number>;
  /** Of the organization of the account, by id; those that are not there are left out. */
  readonly findUsers: (accountId: number, userIds: readonly number[]) => Promise<ReadonlyMap<number, User>>;
}

const SECRET_BYTES = 32;

/** Who calls, and which accounts there are. */
export function createAccounts(
  platform: Pick<Platform, 'knex' | 'keyring' | 'keys' | 'random' | 'notifier'>,
): Accounts {
  const { knex, keys, random, notifier } = platform;
  const store = createAccountStore(knex);
  const secrets = createSecretStore(platform);
  const createSecret = () => random.bytes(SECRET_BYTES).toString('base64url');
  const known = createAnnouncedCache<StoredAccount>({
    notifier,
    topic: 'account',
    load: (id) => store.findAccount(Number(id)),
  });

  async function getUser(accountId: number, userId: number): Promise<User> {
    const [user] = await store.findUsers(accountId, [userId]);
    if (user === undefined) throw new AppError('NOT_FOUND', `There is no user ${userId} in this account`);
    return user;
  }

  /** What no column can hold would be an error to PostgreSQL. */
  async function findByExternalId(organizationId: number, given: string): Promise<number | undefined> {
    const isStorable = given.isWellFormed() && !given.includes('\0');
    return isStorable ? store.findAccountId(organizationId, given) : undefined;
  }

  return {
    bootstrap: async ({
      organizationSecret = createSecret(),
      userSecret = createSecret(),
      beforeCommit = async () => {},
    }) => {
      const withSecrets = (ids: TenantIds) => ({ ...ids, organizationSecret, userSecret });
      const tenant = {
        organizationName: 'First organization',
        accountName: 'First account',
        emailAddress: 'admin@localhost',
        firstName: 'First',
        lastName: 'User',
      };
      const ids = await store.insertFirstTenant(tenant, async (via, { organizationId, accountId, userId }) => {
        await secrets.add(via, { organizationId }, organizationSecret);
        await secrets.add(via, { accountId, userId }, userSecret);
        await beforeCommit(withSecrets({ organizationId, accountId, userId }));
      });
      return ids === undefined ? undefined : withSecrets(ids);
    },

    findPrincipal: async ({ userSecret, organizationSecret }) => {
      const userHash = keys.lookupHash(userSecret);
      const found = await store.findPrincipals(userHash);
      const stored = found.find(({ userSecretHash }) => timingSafeEqual(userSecretHash, userHash));
      if (stored === undefined) return undefined;
      if (organizationSecret === undefined) return toPrincipal(stored, false, stored.expiresAt);
      const hash = keys.lookupHash(organizationSecret);
      const at = stored.organizationSecretHashes.findIndex((valid) => timingSafeEqual(valid, hash));
      if (at < 0) return undefined;
      const ends = [stored.expiresAt, stored.organizationSecretExpiries[at] ?? null].filter((end) => end !== null);
      return toPrincipal(stored, true, earliest(ends));
    },

    getAccount: async (organizationId, given) => {
      const id = ID.test(given) ? Number(given) : await findByExternalId(organizationId, given);
      const account = id === undefined ? undefined : await known.get(String(id));
      if (account?.organizationId === organizationId) return account;
      throw new AppError('NOT_FOUND', `There is no account ${cutText(given)}.`);
    },

    accountChanged: (accountId, via) => known.changed(String(accountId), via),

    getOrganizationId: async (accountId) => {
      const account = await known.get(String(accountId));
      if (account === undefined) throw new AppError('NOT_FOUND', `There is no account ${accountId}.`);
      return account.organizationId;
    },

    getUser,

    findUsers: async (accountId, userIds) => {
      const users = await store.findUsers(accountId, userIds);
      return new Map(users.map((user) => [user.id, user]));
    },
  };
}

/** An id of ours: what PostgreSQL and JSON can hold. */
const ID = /^[1-9]\d{0,14}$/;

export function toPrincipal(
  stored: StoredRights,
  organizationVerified: boolean,
  expiresAt: Date | null,
): FoundPrincipal {
  const { organizationId, accountId, userId, roles, rolePrivileges } = stored;
  const privileges = privilegesOf(roles, rolePrivileges);
  const principal = { organizationId, accountId, homeAccountId: accountId, userId, roles, privileges };
  return { principal: { ...principal, organizationVerified }, expiresAt: expiresAt ?? undefined };
}

function earliest(times: readonly Date[]): Date | null {
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null;
}
