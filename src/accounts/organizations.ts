import { changeInTurn, differences } from '../db/change.ts';
import { assertAllStorable } from '../db/storable.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import { createOrganizationStore, type OrganizationRow } from './organization-store.ts';

export type Organization = OrganizationRow;

export function createOrganizations({ knex }: Pick<Platform, 'knex'>) {
  const store = createOrganizationStore(knex);
  return {
    /**
     * Returns an organization.
     * @throws AppError NOT_FOUND
     */
    get: async (id: number) => (await store.find(id)) ?? notFound(id),

    /**
     * Renames an organization.
     * @throws AppError NOT_FOUND, REQUEST_INVALID
     */
    rename: async (id: number, given: string) => {
      const name = given.trim();
      assertAllStorable({ name });
      const { after } = await changeInTurn(
        knex,
        async (via) => {
          const before = (await store.lock(via, id)) ?? notFound(id);
          await store.rename(via, id, name);
          return { before, after: { ...before, name } };
        },
        ({ before }) => ({
          targetId: String(id),
          changes: differences({ name: before.name }, { name }),
        }),
      );
      return after;
    },
  };
}

function notFound(id: number): never {
  throw missing('organization', id);
}
