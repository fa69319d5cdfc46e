import type { Platform } from '../platform.ts';
import { createKnownMappings } from './known.ts';
import { createMappingStore } from './store.ts';

export interface MappingNeighbours {
  readonly accounts: { readonly getOrganizationId: (accountId: number) => Promise<number> };
}

/** An instance, as far as its mappings depend on it. */
export interface MappedInstance {
  readonly accountId: number;
  readonly id: number;
  readonly connector: { readonly key: string };
}

export type Mappings = ReturnType<typeof composeMappings>;

/** Creates the definitions and transformations. */
export function composeMappings(platform: Pick<Platform, 'knex' | 'notifier'>, { accounts }: MappingNeighbours) {
  const known = createKnownMappings(platform);
  const store = createMappingStore(platform.knex);

  return {
    /** Returns the mappings in force for an instance. It is the same value until one of them changes. */
    inForce: async ({ accountId, id, connector }: MappedInstance) => {
      const organizationId = await accounts.getOrganizationId(accountId);
      return known.inForce({ organizationId, accountId, instanceId: id, elementKey: connector.key });
    },

    /** Returns the mappings in force for instances of an element that have none of their own. */
    inForceForElement: async ({
      accountId,
      elementKey,
    }: {
      readonly accountId: number;
      readonly elementKey: string;
    }) => {
      const organizationId = await accounts.getOrganizationId(accountId);
      return known.inForce({ organizationId, accountId, elementKey });
    },

    /** Removes the definitions and transformations of a deleted account. */
    removeSome: (accountId: number) => store.removeOfAccount(accountId),
  };
}
