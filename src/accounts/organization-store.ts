import type { Knex } from 'knex';
import type { ColumnsOf, RowOf } from '../db/row.ts';

export type OrganizationRow = RowOf<'organization'>;

const COLUMNS: ColumnsOf<'organization'> = { id: 'id', name: 'name', createdAt: 'created_at' };

export function createOrganizationStore(knex: Knex) {
  const select = (id: number, via = knex) => via('organization').where({ id });
  return {
    find: (id: number): Promise<OrganizationRow | undefined> => select(id).first(COLUMNS),

    /** Locks the organization until the end of the transaction. */
    lock: (via: Knex, id: number): Promise<OrganizationRow | undefined> =>
      select(id, via).forNoKeyUpdate().first(COLUMNS),

    rename: async (via: Knex, id: number, name: string): Promise<void> => {
      await select(id, via).update({ name });
    },
  };
}
