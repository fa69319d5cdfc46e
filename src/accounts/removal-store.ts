import type { Knex } from 'knex';
import { changeInTurn } from '../db/change.ts';

export interface RemovedAccount {
  readonly id: number;
  readonly deletedAt: Date;
}

/** Creates the store of deleted accounts whose data is still to be removed. */
export function createRemovalStore(knex: Knex) {
  return {
    /** Claims a removal that is due. No other process claims it before `until`. */
    claim: async (now: Date, until: Date): Promise<RemovedAccount | undefined> => {
      // By its id: the nodes of a distributed database that each have a copy would choose for themselves.
      const due = await knex('account').where('removal_due', '<=', now).orderBy('removal_due').first('id');
      if (due === undefined) return undefined;
      const { rows } = await changeInTurn(knex, (via) =>
        via.raw<{ rows: RemovedAccount[] }>(
          `update account set removal_due = ? where id = ? and removal_due <= ? returning id, deleted_at as "deletedAt"`,
          [until, due.id, now],
        ),
      );
      return rows[0];
    },

    /** Sets when the removal continues; null when it is complete. */
    setDue: async (id: number, due: Date | null): Promise<void> => {
      await changeInTurn(knex, (via) =>
        via('account').where({ id }).whereNotNull('deleted_at').update({ removal_due: due }),
      );
    },
  };
}
