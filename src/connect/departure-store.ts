import type { Knex } from 'knex';
import { nextId } from '../db/next-id.ts';
import { columnsOf, type RowOf, type RowWith, toColumns } from '../db/row.ts';

/** A departure of a browser to a provider. Its request is encrypted. */
export type DepartureRow = RowWith<'connect_authorization', typeof COLUMNS>;

type NewDepartureRow = RowOf<
  'connect_authorization',
  'account_id' | 'id' | 'session_id' | 'state_hash' | 'request' | 'created_at'
>;

const COLUMNS = columnsOf('connect_authorization', [
  'account_id',
  'id',
  'session_id',
  'browser_hash',
  'request',
  'created_at',
]);

export function createDepartureStore(knex: Knex) {
  const rows = ({ accountId, id }: Pick<DepartureRow, 'accountId' | 'id'>) =>
    knex('connect_authorization').where({ account_id: accountId, id });

  return {
    nextId: (): Promise<number> => nextId(knex, 'connect_authorization'),

    insert: async (row: NewDepartureRow): Promise<void> => {
      await knex('connect_authorization').insert(toColumns('connect_authorization', row));
    },

    find: (key: Pick<DepartureRow, 'accountId' | 'id'>): Promise<DepartureRow | undefined> => rows(key).first(COLUMNS),

    /** Finds a departure for a browser, which only has the state. */
    findByState: (stateHash: Buffer): Promise<DepartureRow | undefined> =>
      knex('connect_authorization').where({ state_hash: stateHash }).first(COLUMNS),

    /** Returns false when a browser has already departed. */
    setBrowser: async (key: Pick<DepartureRow, 'accountId' | 'id'>, browserHash: Buffer): Promise<boolean> =>
      (await rows(key).whereNull('browser_hash').update({ browser_hash: browserHash })) > 0,

    /** Returns false when the browser has already returned. */
    setReturned: async (key: Pick<DepartureRow, 'accountId' | 'id'>, at: Date): Promise<boolean> =>
      (await rows(key).whereNull('returned_at').update({ returned_at: at })) > 0,

    /** Deletes old departures of all accounts. */
    purge: (before: Date): Promise<number> => knex('connect_authorization').where('created_at', '<', before).delete(),
  };
}
