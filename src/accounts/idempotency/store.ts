import type { Knex } from 'knex';
import { removeRows } from '../../db/removal.ts';
import { columnsOf, type RowOf, type RowWith } from '../../db/row.ts';

export type IdempotencyKey = RowOf<'idempotency_record', 'account_id' | 'user_id' | 'key_hash'>;

const COLUMNS = columnsOf('idempotency_record', ['request_hash', 'state', 'response']);

export function createIdempotencyStore(knex: Knex) {
  const rows = ({ accountId, userId, keyHash }: IdempotencyKey) =>
    knex('idempotency_record').where({ account_id: accountId, user_id: userId, key_hash: keyHash });

  return {
    /**
     * Claims a key. Of several requests with one key, one gets it. Expired records do not count.
     * @returns whether the key was free
     */
    claim: async (key: IdempotencyKey, requestHash: Buffer, keepHours: number): Promise<boolean> => {
      await rows(key).whereRaw('created_at < now() - make_interval(hours => ?)', [keepHours]).delete();
      const inserted = await knex('idempotency_record')
        .insert({ account_id: key.accountId, user_id: key.userId, key_hash: key.keyHash, request_hash: requestHash })
        .onConflict(['account_id', 'user_id', 'key_hash'])
        .ignore()
        .returning('account_id');
      return inserted.length > 0;
    },

    find: (key: IdempotencyKey): Promise<RowWith<'idempotency_record', typeof COLUMNS> | undefined> =>
      rows(key).first(COLUMNS),

    finish: async (key: IdempotencyKey, status: number, response: string): Promise<void> => {
      await rows(key).update({ state: 'done', status, response });
    },

    release: async (key: IdempotencyKey): Promise<void> => {
      await rows(key).delete();
    },

    removeSome: (accountId: number) => removeRows(knex, 'idempotency_record', accountId),

    purge: (before: Date): Promise<number> => knex('idempotency_record').where('created_at', '<', before).delete(),
  };
}
