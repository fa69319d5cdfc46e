import type { Knex } from 'knex';
import { json } from '../../db/json.ts';
import { type Removal, removeRows } from '../../db/removal.ts';
import { type RowOf, toColumns } from '../../db/row.ts';

/** The settings of an authorization, with which its code can be exchanged. */
export type AuthorizationKey = RowOf<
  'oauth_authorization',
  'account_id' | 'user_id' | 'element_key' | 'client_id' | 'callback_url'
>;

/** The seal shows whether the settings were changed in the database. */
type SealedSettings = RowOf<'oauth_authorization', 'settings' | 'seal'>;

/** Rows with the same settings. */
interface SettingsRow extends SealedSettings {
  /** Whether at least one of them has a code that was not exchanged. */
  readonly unused: boolean;
}

interface RecentOptions {
  /** The state of the authorization. Undefined: any state. */
  readonly state: string | undefined;
  readonly minutes: number;
}

const RECENT = `account_id = ? and user_id = ? and element_key = ? and client_id = ? and callback_url = ?
  and created_at > now() - ? * interval '1 minute' and (?::text is null or state = ?)`;

function bindRecent(key: AuthorizationKey, { state, minutes }: RecentOptions) {
  const { accountId, userId, elementKey, clientId, callbackUrl } = key;
  return [accountId, userId, elementKey, clientId, callbackUrl, minutes, state ?? null, state ?? null];
}

export function createAuthorizationStore(knex: Knex) {
  return {
    insert: async (row: AuthorizationKey & SealedSettings & RowOf<'oauth_authorization', 'state'>): Promise<void> => {
      const values = toColumns('oauth_authorization', { ...row, settings: json(knex, row.settings) });
      await knex('oauth_authorization').insert(values);
    },

    /** Returns the settings of recent authorizations, the newest first and without duplicates. */
    findSettings: async (
      key: AuthorizationKey,
      { most, ...options }: RecentOptions & { readonly most: number },
    ): Promise<readonly SettingsRow[]> => {
      const { rows } = await knex.raw<{ rows: SettingsRow[] }>(
        `select settings, seal, bool_or(not is_used) as unused from oauth_authorization
        where ${RECENT} group by settings, seal order by max(id) desc limit ?`,
        [...bindRecent(key, options), most],
      );
      return rows;
    },

    /** Marks the oldest unused authorization as used, if there is one. Concurrent calls mark different ones. */
    use: async (via: Knex, key: AuthorizationKey, options: RecentOptions) => {
      await via.raw(
        `update oauth_authorization set is_used = true where account_id = ? and id = (
          select id from oauth_authorization where ${RECENT} and not is_used
          order by id limit 1 for no key update skip locked)`,
        [key.accountId, ...bindRecent(key, options)],
      );
    },

    /** Returns false when the code is there already. */
    insertCode: async (accountId: number, codeHash: Buffer): Promise<boolean> => {
      const inserted = await knex('oauth_code')
        .insert({ account_id: accountId, code_hash: codeHash })
        .onConflict()
        .ignore()
        .returning('account_id');
      return inserted.length > 0;
    },

    removeCode: async (accountId: number, codeHash: Buffer): Promise<void> => {
      await knex('oauth_code').where({ account_id: accountId, code_hash: codeHash }).delete();
    },

    hasCode: async (accountId: number, codeHash: Buffer): Promise<boolean> => {
      const row = await knex('oauth_code').where({ account_id: accountId, code_hash: codeHash }).first('created_at');
      return row !== undefined;
    },

    removeSome: async (accountId: number): Promise<Removal> => {
      const removals = [
        await removeRows(knex, 'oauth_authorization', accountId),
        await removeRows(knex, 'oauth_code', accountId),
      ];
      return removals.includes('more') ? 'more' : 'done';
    },

    /**
     * Deletes authorizations and codes of all accounts from before a time.
     * @returns their number
     */
    purge: async (before: Date): Promise<number> => {
      const purgeTable = (table: 'oauth_authorization' | 'oauth_code') =>
        knex(table).where('created_at', '<', before).delete();
      return (await purgeTable('oauth_authorization')) + (await purgeTable('oauth_code'));
    },
  };
}
