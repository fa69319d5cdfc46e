import type { Knex } from 'knex';
import type { Config } from '../../../connector/contract.ts';

/** What a code is asked for, and what it can be exchanged with. */
export interface AuthorizationKey {
  readonly accountId: number;
  readonly userId: number;
  readonly elementKey: string;
  readonly clientId: string;
  readonly callbackUrl: string;
}

export interface AuthorizationRow extends AuthorizationKey {
  readonly id: number;
  readonly state: string | null;
  /** Ciphertext, of an empty text without PKCE; null only in rows of an earlier release. */
  readonly verifier: string | null;
  readonly settings: Config;
}

export function createAuthorizationStore(knex: Knex) {
  return {
    /** Ids are needed before the row is written: they are part of what its ciphertext is bound to. */
    nextId: async (): Promise<number> => {
      const { rows } = await knex.raw("select nextval(pg_get_serial_sequence('oauth_authorization', 'id')) as id");
      return Number(rows[0].id);
    },

    insert: async ({ accountId, id, userId, elementKey, clientId, ...row }: AuthorizationRow): Promise<void> => {
      const { callbackUrl, state, verifier, settings } = row;
      await knex.raw(
        `insert into oauth_authorization
          (account_id, id, user_id, element_key, client_id, callback_url, state, verifier, settings)
          overriding system value values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [accountId, id, userId, elementKey, clientId, callbackUrl, state, verifier, JSON.stringify(settings)],
      );
    },

    /** The newest that is not older than that, with the state where one is given. */
    findNewest: async (
      { accountId, userId, elementKey, clientId, callbackUrl }: AuthorizationKey,
      { state, minutes }: { readonly state: string | undefined; readonly minutes: number },
    ): Promise<AuthorizationRow | undefined> => {
      const { rows } = await knex.raw<{ rows: AuthorizationRow[] }>(
        `select account_id as "accountId", id, user_id as "userId", element_key as "elementKey",
          client_id as "clientId", callback_url as "callbackUrl", state, verifier, settings
        from oauth_authorization
        where account_id = ? and user_id = ? and element_key = ? and client_id = ? and callback_url = ?
          and created_at > now() - ? * interval '1 minute' and (?::text is null or state = ?)
        order by id desc limit 1`,
        [accountId, userId, elementKey, clientId, callbackUrl, minutes, state ?? null, state ?? null],
      );
      return rows[0];
    },

    remove: async (via: Knex, accountId: number, id: number): Promise<void> => {
      await via('oauth_authorization').where({ account_id: accountId, id }).delete();
    },

    /** Of all accounts. */
    purge: (before: Date): Promise<number> => knex('oauth_authorization').where('created_at', '<', before).delete(),
  };
}
