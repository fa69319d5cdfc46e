import type { Knex } from 'knex';

/** Creates the store of inactive elements. Every statement names the account. */
export function createInactiveElementStore(knex: Knex) {
  return {
    /** Lists the keys of the inactive elements. */
    list: (accountId: number): Promise<string[]> =>
      knex('inactive_element').where({ account_id: accountId }).pluck('element_key'),

    /** Returns false when the element is already inactive. */
    add: async (via: Knex, accountId: number, elementKey: string): Promise<boolean> => {
      const added = await via('inactive_element')
        .insert({ account_id: accountId, element_key: elementKey })
        .onConflict(['account_id', 'element_key'])
        .ignore()
        .returning('element_key');
      return added.length > 0;
    },

    removeAll: async (accountId: number): Promise<void> => {
      await knex('inactive_element').where({ account_id: accountId }).delete();
    },

    /** Returns false when the element is not inactive. */
    remove: async (via: Knex, accountId: number, elementKey: string): Promise<boolean> =>
      (await via('inactive_element').where({ account_id: accountId, element_key: elementKey }).delete()) > 0,
  };
}
