import type { Knex } from 'knex';
import { json } from '../db/json.ts';
import type { RowOf } from '../db/row.ts';

/** What was set, by key; the rest has its default. */
export type StoredSettings = RowOf<'account_settings', 'settings'>['settings'];

export function createSettingsStore(knex: Knex) {
  return {
    read: async (accountId: number): Promise<StoredSettings> => {
      const row = await knex('account_settings').where({ account_id: accountId }).first('settings');
      return row?.settings ?? {};
    },

    replace: async (accountId: number, settings: StoredSettings): Promise<void> => {
      await knex('account_settings')
        .insert({ account_id: accountId, settings: json(knex, settings) })
        .onConflict('account_id')
        .merge({ settings: json(knex, settings), updated_at: knex.fn.now() });
    },

    remove: async (accountId: number): Promise<void> => {
      await knex('account_settings').where({ account_id: accountId }).delete();
    },

    /** Keys that are not given stay as they are. */
    merge: async (accountId: number, settings: StoredSettings): Promise<void> => {
      await knex('account_settings')
        .insert({ account_id: accountId, settings: json(knex, settings) })
        .onConflict('account_id')
        .merge({
          settings: knex.raw('account_settings.settings || excluded.settings'),
          updated_at: knex.fn.now(),
        });
    },
  };
}
