/** The roles that a user can have, from most to least: whoever gives them cannot always list them. */
export const ROLES = [
  { key: 'org-admin', title: 'Organization administrator', says: 'Everything, in every account of the organization.' },
  { key: 'admin', title: 'Account administrator', says: 'Everything in the user’s own account.' },
  { key: 'default-user', title: 'User', says: 'Works with the instances of the user’s own account.' },
] as const;

/** Why the user cannot give or take a role; undefined where he can, as far as is known here. */
export function refusalOf(key: string, ownRoles: readonly string[]): string | undefined {
  const isAbove = key === 'org-admin' && !ownRoles.includes('org-admin');
  return isAbove ? 'You cannot give or remove a role with privileges that you do not have.' : undefined;
}
