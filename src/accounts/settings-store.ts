import type { Knex } from 'knex';

/** What was set, by key; the rest has its default. */
export type StoredSettings = Readonly<Record<string, unknown>>;

export function createSettingsStore(knex: Knex) {
  return {
    read: async (accountId: number): Promise<StoredSettings> => {
      const row = await knex('account_settings').where({ account_id: accountId }).first('settings');
      return row?.settings ?? {};
    },

    replace: async (accountId: number, settings: StoredSettings): Promise<void> => {
      await knex('account_settings')
        .insert({ account_id: accountId, settings: JSON.stringify(settings) })
        .onConflict('account_id')
        .merge({ settings: JSON.stringify(settings), updated_at: knex.fn.now() });
    },

    /** Keys that are not given stay as they are. */
    merge: async (accountId: number, settings: StoredSettings): Promise<void> => {
      await knex('account_settings')
        .insert({ account_id: accountId, settings: JSON.stringify(settings) })
        .onConflict('account_id')
        .merge({
          settings: knex.raw('account_settings.settings || excluded.settings'),
          updated_at: knex.fn.now(),
        });
    },
  };
}
