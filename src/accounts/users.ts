import type { Knex } from 'knex';
import { differences } from '../db/change.ts';
import { listPage, type PageQuery } from '../db/listing.ts';
import { assertAllStorable, isStorable } from '../db/storable.ts';
import { AppError, cutText, pointer } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import { createAccessKeyStore } from './access-keys/store.ts';
import type { Principal } from './accounts.ts';
import type { Passwords, WritePassword } from './log-in/passwords.ts';
import { createSessionStore } from './log-in/session-store.ts';
import type { PrincipalChanges } from './principal-changes.ts';
import { assertNotAbove, privilegesOf, type RoleKey } from './privileges.ts';
import { createRoleStore } from './role-store.ts';
import { findRole, readRoles } from './roles.ts';
import { createSecret, createSecretStore } from './secret-store.ts';
import { createUserStore, FILTERABLE_USER, type UserRow, type UserScope } from './user-store.ts';

export type { UserRow, UserScope } from './user-store.ts';

/** Changes of a user. Undefined members stay unchanged. */
export interface UserChanges {
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly externalId?: string | null | undefined;
  readonly active?: boolean | undefined;
  /** New password for the console. A change ends all sessions of the user. */
  readonly password?: string | undefined;
}

interface NewUser extends UserChanges {
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  /** Role keys. Default: `default-user` alone. */
  readonly roles?: readonly string[] | undefined;
}

/** User who is about to be added. */
interface AddedUser {
  readonly accountId: number;
  readonly email: string;
  readonly roles: readonly RoleKey[];
}

/** Work in the transaction that adds a user, and the values that the audit entry gets from it. */
interface AlongWithUser {
  readonly work: (via: Knex.Transaction, userId: number) => Promise<void>;
  readonly noted: Readonly<Record<string, unknown>>;
}

export interface CreatedUser {
  readonly user: UserRow;
  readonly secret: string;
}

/**
 * The service that manages the users of organizations. `api/access.ts` checks beforehand whether the caller may change users of the account
 * or the organization; this service checks that the caller is not below the changed user. When a change returns, every process applies it.
 */
export type Users = ReturnType<typeof createUsers>;

const ID = /^\d+$/;
export const DEFAULT_ROLES: readonly RoleKey[] = ['default-user'];

export function createUsers(
  platform: Pick<Platform, 'knex' | 'shares' | 'keyring' | 'keys' | 'random'>,
  principals: Pick<PrincipalChanges, 'change'>,
  passwords: Pick<Passwords, 'prepare'>,
) {
  const { knex, shares, random } = platform;
  const store = createUserStore(knex);
  const roleStore = createRoleStore(knex);
  const secretStore = createSecretStore(platform);
  const accessKeyStore = createAccessKeyStore(knex);
  const sessionStore = createSessionStore(platform);

  async function get(organizationId: number, id: number, via: Knex = knex): Promise<UserRow> {
    const user = await store.findById(organizationId, id, via);
    if (user === undefined) throw userNotFound(String(id));
    return user;
  }

  async function assertFree(via: Knex, organizationId: number, email: string): Promise<void> {
    if ((await store.findByEmail(organizationId, email, via)) === undefined) return;
    const message = `A user with the e-mail ${cutText(email)} already exists in the organization.`;
    throw new AppError('CONFLICT', message, { details: [{ path: pointer('body', 'email'), message }] });
  }

  async function assertMayHandle(via: Knex, { organizationId, privileges }: Principal, role: RoleKey): Promise<void> {
    const given = await roleStore.privileges(organizationId, via);
    assertNotAbove(privileges, privilegesOf([role], given), `The role ${role} has`);
  }

  /** Asserts that the caller has all privileges of the user, so that nobody takes over a more powerful user. */
  async function assertMayChange(via: Knex, principal: Principal, user: UserRow): Promise<void> {
    if (user.id === principal.userId) return;
    const roles = [...user.roles, ...user.accountRoles];
    const held = privilegesOf(roles, await roleStore.privileges(user.organizationId, via));
    assertNotAbove(principal.privileges, held, `User ${user.id} has`);
  }

  /**
   * Changes a user, if another user can still administer the organization afterwards.
   * @returns the changed user
   * @throws AppError NOT_FOUND, FORBIDDEN, CONFLICT
   */
  async function changeUser(
    principal: Principal,
    id: number,
    work: (via: Knex.Transaction, user: UserRow) => Promise<void>,
    noted: Readonly<Record<string, unknown>> = {},
  ): Promise<UserRow | undefined> {
    const { organizationId } = principal;
    const guarded = async (via: Knex.Transaction) => {
      await roleStore.lock(via, organizationId);
      const before = await get(organizationId, id, via);
      await assertMayChange(via, principal, before);
      await work(via, before);
      const wasAdmin = before.active && before.roles.includes('org-admin');
      if (wasAdmin && !(await roleStore.isHeld(via, organizationId, 'org-admin'))) throw lastAdmin(id);
      return { before, after: await store.findById(organizationId, id, via) };
    };
    const { after } = await principals.change(organizationId, guarded, ({ before, after }) => ({
      targetId: String(id),
      changes: { ...differences(toAudit(before), after === undefined ? {} : toAudit(after)), ...noted },
    }));
    return after;
  }

  /**
   * Asserts that a user may be added; call it in the transaction that adds the user.
   * @throws AppError NOT_FOUND for the account; CONFLICT for an e-mail address that the organization already has; FORBIDDEN for a role
   * above the caller's
   */
  async function assertMayAdd(
    via: Knex.Transaction,
    principal: Principal,
    { accountId, email, roles }: AddedUser,
  ): Promise<void> {
    const { organizationId } = principal;
    await roleStore.lock(via, organizationId);
    for (const role of roles) await assertMayHandle(via, principal, role);
    if ((await store.lockAccount(via, organizationId, accountId)) === undefined) throw accountNotFound(accountId);
    await assertFree(via, organizationId, email);
  }

  /** Ends all sessions of the user. A user who is activated again must log in again. */
  async function endSessions(via: Knex, { accountId, id }: UserRow): Promise<void> {
    await sessionStore.removeOthers(via, { accountId, userId: id }, undefined);
  }

  /** Changes the roles of another user. Users cannot change their own roles. */
  async function changeRole(
    principal: Principal,
    id: number,
    input: { readonly key: string; readonly write: (via: Knex, user: UserRow, role: RoleKey) => Promise<void> },
  ): Promise<RoleKey> {
    const { key, write } = input;
    const role = findRole(key);
    if (id === principal.userId)
      throw new AppError('FORBIDDEN', 'You cannot change your own roles. Ask another administrator.');
    await changeUser(principal, id, async (via, user) => {
      await assertMayHandle(via, principal, role);
      await write(via, user, role);
    });
    return role;
  }

  /** Runs before the transaction, because hashing takes a while. */
  async function preparePassword(
    organizationId: number,
    { accountId, id: userId, ...known }: Pick<UserRow, 'accountId' | 'id' | 'emailAddress' | 'firstName' | 'lastName'>,
    password: string | undefined,
  ): Promise<WritePassword | undefined> {
    return password === undefined
      ? undefined
      : passwords.prepare({ organizationId, accountId, userId }, known, password);
  }

  /** Judges a change by the user that would result. A caller who may not change the user is rejected first. */
  async function prepareChange(principal: Principal, id: number, changes: UserChanges) {
    if (changes.password === undefined) return undefined;
    const user = await get(principal.organizationId, id);
    await assertMayChange(knex, principal, user);
    const { email: emailAddress = user.emailAddress } = changes;
    const { firstName = user.firstName, lastName = user.lastName } = changes;
    return preparePassword(user.organizationId, { ...user, emailAddress, firstName, lastName }, changes.password);
  }

  return {
    /** Finds a user by id (digits), or by e-mail address, ignoring case. */
    find: async (organizationId: number, emailOrId: string) => {
      if (!ID.test(emailOrId)) return isStorable(emailOrId) ? store.findByEmail(organizationId, emailOrId) : undefined;
      const id = Number(emailOrId);
      return Number.isSafeInteger(id) ? store.findById(organizationId, id) : undefined;
    },

    /**
     * Returns a user.
     * @throws AppError NOT_FOUND
     */
    get: (organizationId: number, id: number) => get(organizationId, id),

    /**
     * Lists users from old to new, as the account may see them.
     * @throws AppError WHERE_SYNTAX, WHERE_INVALID
     */
    list: (readerAccountId: number, scope: UserScope, query: PageQuery) =>
      listPage(FILTERABLE_USER, query, (selection) =>
        shares.list(readerAccountId, (via) => createUserStore(via).list(scope, selection)),
      ),

    assertMayAdd,

    /**
     * Creates a user.
     * @param accountId by default the default account of the organization
     * @throws AppError NOT_FOUND for the account; REQUEST_INVALID; CONFLICT if the organization already has the e-mail address; FORBIDDEN
     * for a role above the caller's
     */
    create: async (
      principal: Principal,
      accountId: number | undefined,
      { roles: keys = DEFAULT_ROLES, email, firstName, lastName, ...rest }: NewUser,
      along?: AlongWithUser,
    ) => {
      const { organizationId } = principal;
      const { externalId = null, active = true, password } = rest;
      const roles = readRoles(keys);
      assertTexts({ email, firstName, lastName, externalId });
      const secret = createSecret(random);
      const named = { emailAddress: email, firstName, lastName };
      const home = await store.findAccount(organizationId, accountId);
      if (home === undefined) throw accountNotFound(accountId);
      const key = { accountId: home, id: await store.nextId() };
      const writePassword = await preparePassword(organizationId, { ...key, ...named }, password);
      const work = async (via: Knex.Transaction) => {
        await along?.work(via, key.id);
        await assertMayAdd(via, principal, { accountId: home, email, roles });
        await store.insert(via, { organizationId, ...key, ...named, externalId, active });
        await roleStore.grant(via, key, roles);
        await secretStore.add(via, { accountId: home, userId: key.id }, secret);
        await writePassword?.(via);
        return get(organizationId, key.id, via);
      };
      const user = await principals.change(organizationId, work, (made) => ({
        targetId: String(made.id),
        changes: { ...differences({}, toAudit(made)), ...toAuditPassword(password), ...along?.noted },
      }));
      return { user, secret };
    },

    /**
     * Changes a user.
     * @throws AppError NOT_FOUND, REQUEST_INVALID, FORBIDDEN; CONFLICT for an e-mail address that the organization already has, and for the
     * last org-admin
     */
    update: async (principal: Principal, id: number, changes: UserChanges) => {
      assertTexts(changes);
      const writePassword = await prepareChange(principal, id, changes);
      const write = async (via: Knex.Transaction, user: UserRow) => {
        const { email = user.emailAddress, externalId = user.externalId } = changes;
        const { firstName = user.firstName, lastName = user.lastName, active = user.active } = changes;
        const isSame = email.toLowerCase() === user.emailAddress.toLowerCase();
        if (!isSame) await assertFree(via, user.organizationId, email);
        await store.update(via, user, { emailAddress: email, firstName, lastName, externalId, active });
        await writePassword?.(via);
        if (!active) await endSessions(via, user);
      };
      const updated = await changeUser(principal, id, write, toAuditPassword(changes.password));
      return updated ?? get(principal.organizationId, id);
    },

    /**
     * Deletes a user. The user's secrets end at once; the name stays on everything that the user created.
     * @throws AppError NOT_FOUND, FORBIDDEN; CONFLICT for the last org-admin
     */
    remove: async (principal: Principal, id: number) => {
      await changeUser(principal, id, async (via, user) => {
        // The user first: a rotation of a secret locks the row of the user before those of the secrets.
        await store.remove(via, user);
        await secretStore.removeAll(via, { accountId: user.accountId, userId: id });
        await accessKeyStore.removeOfUser(via, principal.organizationId, id);
        await endSessions(via, user);
        await roleStore.revokeAll(via, user);
      });
    },

    /**
     * Grants a role to a user. Succeeds when the user already has the role.
     * @throws AppError NOT_FOUND, FORBIDDEN
     */
    grant: (principal: Principal, id: number, key: string) =>
      changeRole(principal, id, { key, write: (via, user, role) => roleStore.grant(via, user, [role]) }),

    /**
     * Revokes a role of a user.
     * @throws AppError NOT_FOUND, FORBIDDEN; CONFLICT for the last org-admin
     */
    revoke: (principal: Principal, id: number, key: string) =>
      changeRole(principal, id, {
        key,
        write: async (via, user, role) => {
          if (!user.roles.includes(role)) throw roleNotHeld(user, role);
          await roleStore.revoke(via, user, role);
        },
      }),
  };
}

/** @throws AppError REQUEST_INVALID */
function assertTexts({ email, firstName, lastName, externalId }: UserChanges): void {
  assertAllStorable({ email, firstName, lastName, externalId: externalId ?? undefined });
}

/** Returns the values for the audit log. */
function toAudit({ emailAddress, firstName, lastName, externalId, active, accountId, roles }: UserRow) {
  return { email: emailAddress, firstName, lastName, externalId: externalId ?? undefined, active, accountId, roles };
}

function toAuditPassword(password: string | undefined) {
  return password === undefined ? {} : { password: 'set' };
}

function accountNotFound(id: number | undefined): AppError {
  return id === undefined ? new AppError('NOT_FOUND', 'There is no default account.') : missing('account', id);
}

export function userNotFound(named: string): AppError {
  return missing('user', named);
}

export function roleNotHeld({ id }: UserRow, role: RoleKey): AppError {
  return new AppError('NOT_FOUND', `User ${id} does not have the role ${role}.`);
}

function lastAdmin(id: number): AppError {
  const message = `User ${id} is the last active administrator of the organization. Give another user the role org-admin first.`;
  return new AppError('CONFLICT', message);
}
