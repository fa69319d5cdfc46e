import type { Knex } from 'knex';

/** Every statement names the account. */
export function createInactiveElementStore(knex: Knex) {
  return {
    /** Their keys. */
    list: (accountId: number): Promise<string[]> =>
      knex('inactive_element').where({ account_id: accountId }).pluck('element_key'),

    /** False when it is there already. */
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

    /** False when it is not there. */
    remove: async (via: Knex, accountId: number, elementKey: string): Promise<boolean> =>
      (await via('inactive_element').where({ account_id: accountId, element_key: elementKey }).delete()) > 0,
  };
}
