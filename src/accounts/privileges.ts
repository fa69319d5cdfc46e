import { AppError } from '../errors.ts';

/** Privileges beyond those of every user of an account, by their keys in the API. */
export const PRIVILEGES = {
  manageOrganization: ['Change the organization and its accounts, and work in each of them', 'organization'],
  viewOrganizationUsers: ['View users of the organization', 'organization'],
  addOrganizationUsers: ['Add users to any account of the organization', 'organization'],
  editOrganizationUsers: ['Edit users of the organization', 'organization'],
  deleteOrganizationUsers: ['Delete users of the organization', 'organization'],
  viewOrganizationLogs: ['View logs of the organization', 'organization'],
  configureRoles: ['Configure roles', 'security'],
  modifySecurity: ['Modify security: secrets of the organization', 'security'],
  editAccount: ['Edit the account and its settings', 'account'],
  viewAccountUsers: ['View users of the account', 'account'],
  addAccountUsers: ['Add users to the account', 'account'],
  editAccountUsers: ['Edit users of the account', 'account'],
  deleteAccountUsers: ['Delete users of the account', 'account'],
  viewAccountLogs: ['View logs of the account', 'account'],
  createElements: ['Create elements', 'elements'],
  viewElements: ['View elements', 'elements'],
  editElements: ['Edit elements', 'elements'],
  deleteElements: ['Delete elements', 'elements'],
  createElementInstances: ['Create, change and delete element instances', 'elements'],
  createFormulas: ['Create formulas', 'formulas'],
  viewFormulas: ['View formulas', 'formulas'],
  editFormulas: ['Edit formulas', 'formulas'],
  deleteFormulas: ['Delete formulas', 'formulas'],
  createFormulaInstances: ['Create, change and delete formula instances', 'formulas'],
  createCommonObjects: ['Create common objects', 'commonObjects'],
  viewCommonObjects: ['View common objects', 'commonObjects'],
  editCommonObjects: ['Edit common objects', 'commonObjects'],
  deleteCommonObjects: ['Delete common objects', 'commonObjects'],
} as const satisfies Readonly<Record<string, readonly [name: string, category: string]>>;

export type Privilege = keyof typeof PRIVILEGES;

export const ALL_PRIVILEGES = Object.keys(PRIVILEGES) as readonly Privilege[];

export function isPrivilege(key: string): key is Privilege {
  return Object.hasOwn(PRIVILEGES, key);
}

interface RoleSpec {
  readonly name: string;
  readonly description: string;
  /** Default privileges, which an organization can replace. */
  readonly privileges: readonly Privilege[];
}

const OF_ORGANIZATION = ['organization', 'security'];

/** Roles, sorted from most to least privileges. */
export const ROLES = {
  'org-admin': {
    name: 'Organization administrator',
    description: 'Everything, in every account of the organization.',
    privileges: ALL_PRIVILEGES,
  },
  admin: {
    name: 'Account administrator',
    description: 'Everything in the user’s own account.',
    privileges: ALL_PRIVILEGES.filter((key) => !OF_ORGANIZATION.includes(PRIVILEGES[key][1])),
  },
  'default-user': {
    name: 'User',
    description: 'Works with the instances of the user’s own account.',
    privileges: [
      'viewElements',
      'createElementInstances',
      'viewFormulas',
      'createFormulaInstances',
      'viewCommonObjects',
    ],
  },
} as const satisfies Readonly<Record<string, RoleSpec>>;

export type RoleKey = keyof typeof ROLES;

export const ROLE_KEYS = Object.keys(ROLES) as readonly RoleKey[];

export function isRole(key: string): key is RoleKey {
  return Object.hasOwn(ROLES, key);
}

/** Privileges of roles for which an organization changed the default. */
export type RolePrivileges = Readonly<Partial<Record<string, readonly string[]>>>;

/** Returns the privileges of a user with these roles. Names that a later release stored are ignored. */
export function privilegesOf(roles: readonly string[], given: RolePrivileges): ReadonlySet<Privilege> {
  const keys = roles.flatMap((role) => (isRole(role) ? (given[role] ?? ROLES[role].privileges) : []));
  return new Set(keys.filter(isPrivilege));
}

/**
 * Returns the error of a caller who lacks a privilege.
 * @param needs the beginning of the message, such as `This needs`
 */
export function lacking(needs: string, ...enough: readonly Privilege[]): AppError {
  const names = enough.map((privilege) => `${privilege} (${PRIVILEGES[privilege][0]})`).join(' or ');
  return new AppError(
    'FORBIDDEN',
    `${needs} the privilege ${names}, and none of your roles has it. Ask an administrator of the organization.`,
  );
}

/**
 * Asserts that a user grants, removes or overrules only privileges that the user has.
 * @param has the beginning of the message, such as `The role admin has`
 * @throws AppError FORBIDDEN that names the first privilege that the user lacks
 */
export function assertNotAbove(own: ReadonlySet<Privilege>, given: Iterable<Privilege>, has: string): void {
  for (const privilege of given) if (!own.has(privilege)) throw lacking(has, privilege);
}
