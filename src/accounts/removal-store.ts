import type { Knex } from 'knex';

export interface RemovedAccount {
  readonly id: number;
  readonly deletedAt: Date;
}

/** Creates the store of deleted accounts whose data is still to be removed. */
export function createRemovalStore(knex: Knex) {
  return {
    /** Claims a removal that is due. No other process claims it before `until`. */
    claim: async (now: Date, until: Date): Promise<RemovedAccount | undefined> => {
      const { rows } = await knex.raw<{ rows: RemovedAccount[] }>(
        `update account set removal_due = ? where id = (
           select id from account where removal_due <= ? order by removal_due limit 1 for update skip locked
         ) returning id, deleted_at as "deletedAt"`,
        [until, now],
      );
      return rows[0];
    },

    /** Sets when the removal continues; null when it is complete. */
    setDue: async (id: number, due: Date | null): Promise<void> => {
      await knex('account').where({ id }).whereNotNull('deleted_at').update({ removal_due: due });
    },
  };
}
