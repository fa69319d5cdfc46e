import type { Knex } from 'knex';
import { json } from '../db/json.ts';
import type { RowOf } from '../db/row.ts';

/** Values that an account has set, by key. Other settings have their default. */
type StoredSettings = RowOf<'account_settings', 'settings'>['settings'];

export type SettingsStore = ReturnType<typeof createSettingsStore>;

export function createSettingsStore(knex: Knex) {
  return {
    read: async (accountId: number): Promise<StoredSettings> => {
      const row = await knex('account_settings').where({ account_id: accountId }).first('settings');
      return row?.settings ?? {};
    },

    /** Reads the settings and locks them until the end of the transaction. */
    readForChange: async (accountId: number): Promise<StoredSettings> => {
      const row = await knex('account_settings').where({ account_id: accountId }).forNoKeyUpdate().first('settings');
      return row?.settings ?? {};
    },

    replace: async (accountId: number, settings: StoredSettings): Promise<void> => {
      await knex('account_settings')
        .insert({ account_id: accountId, settings: json(knex, settings) })
        .onConflict('account_id')
        .merge({ settings: json(knex, settings), updated_at: knex.raw('excluded.updated_at') });
    },

    remove: async (accountId: number): Promise<void> => {
      await knex('account_settings').where({ account_id: accountId }).delete();
    },

    /** Adds or replaces the given settings. Keys that are not given keep their values. */
    merge: async (accountId: number, settings: StoredSettings): Promise<void> => {
      await knex('account_settings')
        .insert({ account_id: accountId, settings: json(knex, settings) })
        .onConflict('account_id')
        .merge({
          settings: knex.raw('account_settings.settings || excluded.settings'),
          updated_at: knex.raw('excluded.updated_at'),
        });
    },
  };
}
