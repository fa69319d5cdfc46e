import { change, differences } from '../db/change.ts';
import { assertAllStorable } from '../db/storable.ts';
import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { createOrganizationStore, type OrganizationRow } from './organization-store.ts';

export type Organization = OrganizationRow;

export interface Organizations {
  /** @throws AppError NOT_FOUND */
  readonly get: (id: number) => Promise<Organization>;
  /** @throws AppError NOT_FOUND, REQUEST_INVALID */
  readonly rename: (id: number, name: string) => Promise<Organization>;
}

export function createOrganizations({ knex }: Pick<Platform, 'knex'>): Organizations {
  const store = createOrganizationStore(knex);
  return {
    get: async (id) => (await store.find(id)) ?? notFound(id),

    rename: async (id, given) => {
      const name = given.trim();
      assertAllStorable({ name });
      const { after } = await change(
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
  throw new AppError('NOT_FOUND', `There is no organization ${id}.`);
}
