/** Owner of definitions and transformations: an organization, one of its accounts, or an instance of an account. */
export type Owner = OrganizationOwner | AccountOwner | InstanceOwner;

export interface OrganizationOwner {
  readonly level: 'organization';
  readonly organizationId: number;
}

interface AccountOwner {
  readonly level: 'account';
  readonly organizationId: number;
  readonly accountId: number;
}

interface InstanceOwner {
  readonly level: 'instance';
  readonly organizationId: number;
  readonly accountId: number;
  readonly instanceId: number;
}

/** Returns an owner and those above it, the lowest first. */
export function ownersUpwards(owner: Owner): readonly [Owner, ...Owner[]] {
  const { organizationId } = owner;
  const organization: OrganizationOwner = { level: 'organization', organizationId };
  if (owner.level === 'organization') return [owner];
  if (owner.level === 'account') return [owner, organization];
  return [owner, { level: 'account', organizationId, accountId: owner.accountId }, organization];
}

/** Returns the level of an account, without those above and below it. */
export function ownAccount({ organizationId, accountId }: Omit<AccountOwner, 'level'>): AccountOwner {
  return { level: 'account', organizationId, accountId };
}

/** Returns a text that names the owner among all owners. */
export function ownerKey(owner: Owner): string {
  if (owner.level === 'organization') return `${owner.organizationId}`;
  const account = `${owner.organizationId} ${owner.accountId}`;
  return owner.level === 'account' ? account : `${account} ${owner.instanceId}`;
}

/** Something that a level has. */
export interface OfLevel<Value> {
  readonly level: Owner['level'];
  readonly value: Value;
}

/**
 * Reads something of an owner and of those above it, the lowest first. Levels that have nothing are left out. A transaction has one
 * connection, so the levels are read one after the other.
 */
export async function readUpwards<Value>(
  owner: Owner,
  read: (owner: Owner) => Promise<Value | undefined>,
): Promise<readonly OfLevel<Value>[]> {
  const found: OfLevel<Value>[] = [];
  for (const one of ownersUpwards(owner)) {
    const value = await read(one);
    if (value !== undefined) found.push({ level: one.level, value });
  }
  return found;
}
