import type { Knex } from 'knex';
import { AppError, type ErrorDetail, invalidRequest, pointer, unknownName } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import type { Principal } from './accounts.ts';
import type { PrincipalChanges } from './principal-changes.ts';
import {
  ALL_PRIVILEGES,
  assertNotAbove,
  isPrivilege,
  isRole,
  type Privilege,
  privilegesOf,
  ROLE_KEYS,
  ROLES,
  type RoleKey,
  type RolePrivileges,
} from './privileges.ts';
import { type AccountRoleKey, createRoleStore } from './role-store.ts';

/** Role with its privileges in an organization. */
export interface RoleDetails {
  readonly id: number;
  readonly key: RoleKey;
  readonly name: string;
  readonly description: string;
  readonly privileges: readonly Privilege[];
}

export function createRoles({ knex }: Pick<Platform, 'knex'>, principals: Pick<PrincipalChanges, 'change'>) {
  const store = createRoleStore(knex);

  /** Changes the roles of the principal's account. */
  async function changeAccount(
    { organizationId, accountId, privileges }: Principal,
    key: string,
    input: { readonly write: (via: Knex, role: AccountRoleKey) => Promise<void>; readonly side: 'from' | 'to' },
  ): Promise<RoleDetails> {
    const { write, side } = input;
    const role = findRole(key);
    if (role === 'org-admin')
      throw new AppError('CONFLICT', 'An account cannot have the role org-admin. Give it to single users instead.');
    const work = async (via: Knex) => {
      await store.lock(via, organizationId);
      const details = toRole(role, await store.privileges(organizationId, via));
      assertNotAbove(privileges, details.privileges, `The role ${role} has`);
      await write(via, role);
      return details;
    };
    return principals.change(organizationId, work, () => ({
      targetId: String(accountId),
      changes: { roles: { [side]: role } },
    }));
  }

  return {
    /** Lists the roles that every user of the account has in addition to its own, the most powerful first. */
    listOfAccount: async ({ organizationId, accountId }: Principal) => {
      const [given, held] = await Promise.all([store.privileges(organizationId), store.ofAccount(accountId)]);
      return ROLE_KEYS.filter((key) => held.includes(key)).map((key) => toRole(key, given));
    },

    /**
     * Grants a role to an account. Succeeds when the account already has the role.
     * @throws AppError NOT_FOUND; FORBIDDEN for a role above the caller's; CONFLICT for `org-admin`
     */
    grantToAccount: (principal: Principal, key: string) =>
      changeAccount(principal, key, {
        write: (via, role) => store.grantToAccount(via, principal.accountId, role),
        side: 'to',
      }),

    /**
     * Revokes a role of an account.
     * @throws AppError NOT_FOUND, also for a role that the account does not have; FORBIDDEN for a role above the caller's; CONFLICT for
     * `org-admin`
     */
    revokeFromAccount: (principal: Principal, key: string) =>
      changeAccount(principal, key, {
        write: async (via, role) => {
          if (await store.revokeFromAccount(via, principal.accountId, role)) return;
          throw new AppError('NOT_FOUND', `Account ${principal.accountId} does not have the role ${role}.`);
        },
        side: 'from',
      }),

    /** Lists the roles from most to least powerful. */
    list: async (organizationId: number) => {
      const given = await store.privileges(organizationId);
      return ROLE_KEYS.map((key) => toRole(key, given));
    },

    /**
     * Returns a role.
     * @throws AppError NOT_FOUND with the nearest key
     */
    get: async (organizationId: number, key: string) => toRole(findRole(key), await store.privileges(organizationId)),

    /**
     * Sets the privileges of a role.
     * @throws AppError NOT_FOUND; REQUEST_INVALID for an unknown privilege; CONFLICT for `org-admin`; FORBIDDEN for a privilege that the
     * caller lacks
     */
    setPrivileges: async ({ organizationId, privileges }: Principal, key: string, keys: readonly string[]) => {
      const role = findRole(key);
      const wanted = readPrivileges(keys);
      const after = ALL_PRIVILEGES.filter((privilege) => wanted.has(privilege));
      if (role === 'org-admin')
        throw new AppError('CONFLICT', 'The role org-admin always has all privileges; they cannot be changed.');
      const work = async (via: Knex) => {
        await store.lock(via, organizationId);
        const before = toRole(role, await store.privileges(organizationId, via)).privileges;
        // Users who could add a missing privilege to their own role, or remove it from others, would exceed their privileges.
        assertNotAbove(privileges, new Set(before).symmetricDifference(wanted), 'This needs');
        await store.setPrivileges(via, organizationId, role, after);
        return before;
      };
      await principals.change(organizationId, work, (before) => ({
        targetId: role,
        changes: { privileges: { from: before, to: after } },
      }));
      return toRole(role, { [role]: after });
    },
  };
}

/**
 * Returns the role with this key.
 * @throws AppError NOT_FOUND
 */
export function findRole(key: string): RoleKey {
  if (isRole(key)) return key;
  throw missing('role', key, ROLE_KEYS);
}

/**
 * Returns the roles from most to least powerful, without duplicates.
 * @throws AppError REQUEST_INVALID that names each unknown role
 */
export function readRoles(keys: readonly string[]): readonly RoleKey[] {
  assertKnown(keys, { known: ROLE_KEYS, member: 'roles', what: 'role' });
  return ROLE_KEYS.filter((role) => keys.includes(role));
}

function readPrivileges(keys: readonly string[]): ReadonlySet<Privilege> {
  assertKnown(keys, { known: ALL_PRIVILEGES, member: 'privileges', what: 'privilege' });
  return new Set(keys.filter(isPrivilege));
}

interface Vocabulary {
  readonly known: readonly string[];
  /** The member of the body. */
  readonly member: string;
  readonly what: string;
}

function assertKnown(keys: readonly string[], { known, member, what }: Vocabulary): void {
  const faults = keys.flatMap((key, index): ErrorDetail[] => {
    if (known.includes(key)) return [];
    return [{ path: pointer('body', member, String(index)), expected: known, ...unknownName(what, key, known) }];
  });
  if (faults.length > 0) throw invalidRequest(faults);
}

function toRole(key: RoleKey, given: RolePrivileges): RoleDetails {
  const { name, description } = ROLES[key];
  const held = privilegesOf([key], given);
  const privileges = ALL_PRIVILEGES.filter((privilege) => held.has(privilege));
  return { id: ROLE_KEYS.indexOf(key) + 1, key, name, description, privileges };
}
