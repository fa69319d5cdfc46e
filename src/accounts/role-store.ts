import type { Knex } from 'knex';
import type { RoleKey, RolePrivileges } from './privileges.ts';
import type { UserKey } from './user-store.ts';

/** The roles that have privileges per account. Administration of the organization is set per user. */
export type AccountRoleKey = Exclude<RoleKey, 'org-admin'>;

/** Creates the store of the roles of users, and of the privileges that organizations changed for a role. */
export function createRoleStore(knex: Knex) {
  return {
    /**
     * Locks the users and roles of the organization. Changes wait for those before, so a decision still holds when its change is made. Rows
     * that refer to the organization do not wait.
     */
    lock: async (via: Knex, organizationId: number): Promise<void> => {
      await via('organization').where({ id: organizationId }).forNoKeyUpdate().first('id');
    },

    /** Returns the privileges of roles that differ from the default. */
    privileges: async (organizationId: number, via = knex): Promise<RolePrivileges> => {
      const rows = await via('role_privileges').where({ organization_id: organizationId }).select('role', 'privileges');
      return Object.fromEntries(rows.map(({ role, privileges }) => [role, privileges]));
    },

    setPrivileges: async (
      via: Knex,
      organizationId: number,
      role: Exclude<RoleKey, 'org-admin'>,
      privileges: string[],
    ): Promise<void> => {
      await via('role_privileges')
        .insert({ organization_id: organizationId, role, privileges })
        .onConflict(['organization_id', 'role'])
        .merge({ privileges, updated_at: via.raw('excluded.updated_at') });
    },

    /** Grants roles to a user. Roles that the user already has stay. */
    grant: async (via: Knex, { accountId, id }: UserKey, roles: readonly RoleKey[]): Promise<void> => {
      const rows = roles.map((role) => ({ account_id: accountId, user_id: id, role }));
      if (rows.length > 0) await via('user_role').insert(rows).onConflict(['account_id', 'user_id', 'role']).ignore();
    },

    revoke: async (via: Knex, { accountId, id }: UserKey, role: RoleKey): Promise<void> => {
      await via('user_role').where({ account_id: accountId, user_id: id, role }).delete();
    },

    revokeAll: async (via: Knex, { accountId, id }: UserKey): Promise<void> => {
      await via('user_role').where({ account_id: accountId, user_id: id }).delete();
    },

    ofAccount: async (accountId: number, via = knex): Promise<readonly string[]> =>
      via('account_role').where({ account_id: accountId }).pluck('role'),

    /** Grants a role to an account, unless the account already has it. */
    grantToAccount: async (via: Knex, accountId: number, role: AccountRoleKey): Promise<void> => {
      await via('account_role').insert({ account_id: accountId, role }).onConflict(['account_id', 'role']).ignore();
    },

    /**
     * Revokes a role of an account.
     * @returns whether the account had the role
     */
    revokeFromAccount: async (via: Knex, accountId: number, role: AccountRoleKey): Promise<boolean> =>
      (await via('account_role').where({ account_id: accountId, role }).delete()) > 0,

    /** Returns whether a user of the organization who can call has the role. */
    isHeld: async (via: Knex, organizationId: number, role: RoleKey): Promise<boolean> => {
      const holder = await via('user_role')
        .join('app_user', (on) =>
          on.on('app_user.account_id', 'user_role.account_id').andOn('app_user.id', 'user_role.user_id'),
        )
        .join('account', 'account.id', 'app_user.account_id')
        .where('app_user.organization_id', organizationId)
        .where('user_role.role', role)
        .where('app_user.active', true)
        .whereNull('app_user.deleted_at')
        .whereNull('account.deleted_at')
        .first('app_user.id');
      return holder !== undefined;
    },
  };
}
