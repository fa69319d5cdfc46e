import type { Knex } from 'knex';

export function createOriginStore(knex: Knex) {
  return {
    /** Lists the origins in alphabetical order. */
    list: (organizationId: number): Promise<string[]> =>
      knex('connect_origin').where({ organization_id: organizationId }).orderBy('origin').pluck('origin'),

    /** Locks the origins. Concurrent replacements take turns. */
    lock: async (organizationId: number): Promise<void> => {
      await knex('organization').where({ id: organizationId }).forNoKeyUpdate().first('id');
    },

    replace: async (organizationId: number, origins: readonly string[]): Promise<void> => {
      await knex('connect_origin').where({ organization_id: organizationId }).delete();
      if (origins.length === 0) return;
      await knex('connect_origin').insert(origins.map((origin) => ({ organization_id: organizationId, origin })));
    },
  };
}
