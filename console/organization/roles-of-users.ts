/** The roles that a user can have, the most powerful first. A user who may grant them cannot always list them. */
export const ROLES = [
  { key: 'org-admin', title: 'Organization administrator', says: 'Everything, in every account of the organization.' },
  { key: 'admin', title: 'Account administrator', says: 'Everything in the user’s own account.' },
  { key: 'default-user', title: 'User', says: 'Works with the instances of the user’s own account.' },
] as const;

/** Returns why the user cannot grant or revoke a role. Undefined where the user can, as far as it is known here. */
export function refusalOf(key: string, ownRoles: readonly string[]): string | undefined {
  const isAbove = key === 'org-admin' && !ownRoles.includes('org-admin');
  return isAbove ? 'You cannot give or remove a role with privileges that you do not have.' : undefined;
}
