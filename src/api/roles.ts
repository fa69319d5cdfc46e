import { isPrivilege, PRIVILEGES, type Privilege } from '../accounts/privileges.ts';
import { findRole, type RoleDetails } from '../accounts/roles.ts';
import { roleNotHeld } from '../accounts/users.ts';
import { cutText, type ErrorDetail, invalidRequest, pointer } from '../errors.ts';
import type { ApiServices } from './api-services.ts';
import { assertAsRead } from './body-faults.ts';
import type { Handlers, OperationBody, OperationResult } from './operation.ts';

type RoleView = OperationResult<'getRole'>;
type GivenPrivilege = OperationBody<'replaceRole'>['privileges'][number];

export function createRoleHandlers({ roles, users }: ApiServices) {
  const show = async (organizationId: number, key: string) => ({
    body: toRoleView(await roles.get(organizationId, key)),
  });

  return {
    listRoles: async ({ principal }) => listResponse(await roles.list(principal.organizationId)),
    getRole: ({ principal, path }) => show(principal.organizationId, path.key),

    replaceRole: async ({ principal, path: { key }, body: { privileges, ...rest } }) => {
      assertAsRead(rest, { shown: toRoleView(await roles.get(principal.organizationId, key)) });
      assertPrivilegesAsRead(privileges);
      const keys = privileges.map((given) => (typeof given === 'string' ? given : given.key));
      return { body: toRoleView(await roles.setPrivileges(principal, key, keys)) };
    },

    listUserRoles: async ({ user }) => {
      const all = await roles.list(user.organizationId);
      return listResponse(all.filter(({ key }) => user.roles.includes(key)));
    },
    getUserRole: ({ user, path }) => {
      const role = findRole(path.key);
      if (!user.roles.includes(role)) throw roleNotHeld(user, role);
      return show(user.organizationId, role);
    },
    grantUserRole: async ({ principal, user, path }) =>
      show(user.organizationId, await users.grant(principal, user.id, path.key)),
    listAccountRoles: async ({ principal }) => listResponse(await roles.listOfAccount(principal)),
    grantAccountRole: async ({ principal, path }) => ({
      body: toRoleView(await roles.grantToAccount(principal, path.key)),
    }),
    revokeAccountRole: async ({ principal, path }) => {
      const { id, key } = await roles.revokeFromAccount(principal, path.key);
      return { body: { id, key } };
    },

    revokeUserRole: async ({ principal, user, path }) => {
      const { id, key } = await roles.get(user.organizationId, await users.revoke(principal, user.id, path.key));
      return { body: { id, key } };
    },
  } satisfies Partial<Handlers>;
}

function listResponse(listed: readonly RoleDetails[]) {
  return { body: listed.map(toRoleView), headers: { 'Elements-Returned-Count': listed.length } };
}

function toRoleView({ id, key, name, description, privileges }: RoleDetails): RoleView {
  return { id, key, name, description, privileges: privileges.map(toPrivilegeView) };
}

function toPrivilegeView(key: Privilege) {
  const [name, category] = PRIVILEGES[key];
  return { key, name, category };
}

/**
 * Asserts that privileges are as they were read. An unknown key is reported elsewhere.
 * @throws AppError REQUEST_INVALID
 */
function assertPrivilegesAsRead(given: readonly GivenPrivilege[]): void {
  const faults = given.flatMap((privilege, index) => (typeof privilege === 'string' ? [] : faultsOf(privilege, index)));
  if (faults.length > 0) throw invalidRequest(faults);
}

function faultsOf({ key, ...rest }: Exclude<GivenPrivilege, string>, index: number): ErrorDetail[] {
  const shown = new Map<string, unknown>(isPrivilege(key) ? Object.entries(toPrivilegeView(key)) : []);
  return Object.entries(rest).flatMap(([member, value]): ErrorDetail[] =>
    shown.get(member) === value
      ? []
      : [
          {
            path: pointer('body', 'privileges', String(index), member),
            message: `'${member}' of the privilege '${cutText(key)}' cannot be changed. Leave it out, or send it as it was read.`,
          },
        ],
  );
}
