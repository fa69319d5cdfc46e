import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { createAnnouncedCache } from '../db/caches.ts';
import { isStorable } from '../db/storable.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import { completeTenant, type KeepCredentials } from './new-organization.ts';
import { type Privilege, privilegesOf } from './privileges.ts';
import { createSecret, createSecretStore } from './secret-store.ts';
import { createAccountStore, type StoredAccount, type StoredRights, type StoredUser, type TenantIds } from './store.ts';

export type User = StoredUser;

interface BootstrapOptions {
  /** Pins the first secrets. Default: random. */
  readonly organizationSecret?: string | undefined;
  readonly userSecret?: string | undefined;
  readonly beforeCommit?: KeepCredentials;
}

/** The authenticated sender of a request: a user, and the account that the request is about. */
export interface Principal extends TenantIds {
  /** Id of the user's own account. `accountId` differs from it if the request names another account. */
  readonly homeAccountId: number;
  /** Whether the request names the account, in its path or in `Elements-Account-Id`. */
  readonly isAccountNamed?: true;
  /** Role keys, sorted from most to least privileges. */
  readonly roles: readonly string[];
  readonly privileges: ReadonlySet<Privilege>;
  /** Whether the request contains the organization's secret, too. */
  readonly organizationVerified: boolean;
}

/** A principal that was found by its secrets. */
export interface FoundPrincipal {
  readonly principal: Principal;
  /** Earliest expiry of the secrets; undefined if none expires. */
  readonly expiresAt: Date | undefined;
}

export type Accounts = ReturnType<typeof createAccounts>;

/** Account properties that lookups need. */
interface KnownAccount {
  readonly id: number;
  readonly organizationId: number;
  readonly externalId: string;
}

/** Creates the look-ups of principals and accounts. */
export function createAccounts(platform: Pick<Platform, 'knex' | 'keyring' | 'keys' | 'random' | 'notifier'>) {
  const { knex, keys, random, notifier } = platform;
  const store = createAccountStore(knex);
  const secrets = createSecretStore(platform);
  const known = createAnnouncedCache<StoredAccount>({
    notifier,
    topic: 'account',
    load: (id) => store.findAccount(Number(id)),
  });

  const knownByName = createAnnouncedCache<{ readonly id: number }>({
    notifier,
    topic: 'account-name',
    load: async (name) => {
      const [organizationId = '', ...words] = name.split(' ');
      const id = await store.findAccountId(Number(organizationId), words.join(' '));
      return id === undefined ? undefined : { id };
    },
  });
  /**
   * Accounts by organization and id. The organization is part of the key, so that a cached account of another organization takes as long as
   * a missing one.
   */
  const knownWithin = createAnnouncedCache<StoredAccount>({
    notifier,
    topic: 'account-of-organization',
    load: async (key) => {
      const [organizationId, id] = key.split(' ').map(Number);
      const account = id === undefined ? undefined : await store.findAccount(id);
      return account?.organizationId === organizationId ? account : undefined;
    },
  });

  async function getUser(accountId: number, userId: number): Promise<User> {
    const [user] = await store.findUsers(accountId, [userId]);
    if (user === undefined) throw missing('user', userId);
    return user;
  }

  /** Finds an account by its external id. A text that PostgreSQL cannot store is unknown, instead of an error. */
  async function findByExternalId(organizationId: number, given: string): Promise<number | undefined> {
    return isStorable(given) ? (await knownByName.get(`${organizationId} ${given}`))?.id : undefined;
  }

  return {
    /** Creates the first organization, account and user. Returns undefined when an organization exists. Later calls change nothing. */
    bootstrap: async ({
      organizationSecret = createSecret(random),
      userSecret = createSecret(random),
      beforeCommit = async () => {},
    }: BootstrapOptions) => {
      const clear = { organizationSecret, userSecret };
      const tenant = {
        organizationName: 'First organization',
        accountName: 'First account',
        emailAddress: 'admin@localhost',
        firstName: 'First',
        lastName: 'User',
      };
      const ids = await store.insertFirstTenant(tenant, completeTenant(secrets, clear, beforeCommit));
      return ids === undefined ? undefined : { ...ids, ...clear };
    },

    /**
     * Finds a caller by secrets. Undefined for an unknown user secret, that of an inactive user, and an organization secret of another
     * organization.
     */
    findPrincipal: async ({
      userSecret,
      organizationSecret,
    }: {
      readonly userSecret: string;
      readonly organizationSecret?: string | undefined;
    }) => {
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

    /**
     * Returns the current privileges of a user in an account, for work that acts for the user without a secret. Undefined: the user may not
     * call, or belongs to another account and may not work in this one.
     */
    findActing: async ({ accountId, userId }: Pick<TenantIds, 'accountId' | 'userId'>) => {
      const stored = await store.findRights(accountId, userId);
      if (stored === undefined) return undefined;
      const { principal } = toPrincipal(stored, false, null);
      const isAtHome = principal.homeAccountId === accountId;
      return isAtHome || principal.privileges.has('manageOrganization') ? { ...principal, accountId } : undefined;
    },

    /**
     * Returns the account of the organization with this id or, if it is no number, with this external id. It is cached until a change.
     * @throws AppError NOT_FOUND, also for an account of another organization
     */
    getAccount: async (organizationId: number, given: string) => {
      const id = ID.test(given) ? Number(given) : await findByExternalId(organizationId, given);
      const account = id === undefined ? undefined : await knownWithin.get(`${organizationId} ${id}`);
      if (account !== undefined) return account;
      throw missing('account', given);
    },

    /** Invalidates caches. Call it in the transaction that changes an account, with the account's values before the change. */
    accountChanged: async ({ id, organizationId, externalId }: KnownAccount, via: Knex) => {
      await known.changed(String(id), via);
      await knownWithin.changed(`${organizationId} ${id}`, via);
      await knownByName.changed(`${organizationId} ${externalId}`, via);
    },

    /** Returns whether an account exists, from memory as `getAccount`. Data of a deleted account can exist for a while longer. */
    isThere: async (accountId: number) => (await known.get(String(accountId))) !== undefined,

    /**
     * Returns the organization of an account.
     * @throws AppError NOT_FOUND
     */
    getOrganizationId: async (accountId: number) => {
      const account = await known.get(String(accountId));
      if (account === undefined) throw missing('account', accountId);
      return account.organizationId;
    },

    /**
     * Returns a user of an account.
     * @throws AppError NOT_FOUND
     */
    getUser,

    /** Returns users of the account's organization by id. Unknown ids are left out. */
    findUsers: async (accountId: number, userIds: readonly number[]) => {
      const users = await store.findUsers(accountId, userIds);
      return new Map(users.map((user) => [user.id, user]));
    },
  };
}

/** An id of ours: what PostgreSQL and JSON can hold. */
const ID = /^[1-9]\d{0,14}$/;

/**
 * Returns whether an organization refers to this account by the name. A number is an id; anything else is an
 * `externalId`.
 */
export function goesBy({ id, externalId }: Pick<StoredAccount, 'id' | 'externalId'>, named: string): boolean {
  return ID.test(named) ? named === String(id) : named === externalId;
}

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
