import type { Knex } from 'knex';
import type { StepValue } from '../executions/model.ts';

/** Something that executions caused and that the engine has yet to act on. */
export interface Notice {
  readonly accountId: number;
  readonly id: number;
  readonly formulaInstanceId: number;
  readonly kind: 'failed' | 'recovered' | 'email';
  readonly data: Readonly<Record<string, unknown>>;
  /** Number of tries to send it. */
  readonly attempts: number;
}

interface NoticeKey {
  readonly accountId: number;
  readonly id: number;
}

/** A formula instance, as far as notices are about it. */
export interface NotifiedInstance {
  readonly name: string;
  readonly active: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly failures: number;
  readonly formulaId: number;
  readonly formulaName: string;
}

export interface NewMail {
  readonly accountId: number;
  readonly formulaInstanceId: number;
  readonly data: object;
  readonly due: Date;
}

export function createNoticeStore(knex: Knex) {
  return {
    /** Lists notices that are due, the oldest first. */
    listDue: async (now: Date, limit: number): Promise<readonly Notice[]> => {
      const { rows } = await knex.raw<{ rows: Notice[] }>(
        `select account_id as "accountId", id, formula_instance_id as "formulaInstanceId", kind, data, attempts
         from formula_notice where due <= ? order by due, id limit ?`,
        [now, limit],
      );
      return rows;
    },

    /** Returns when the next notice is due. */
    nextDue: async (): Promise<Date | undefined> => {
      const { rows } = await knex.raw<{ rows: { due: Date | null }[] }>('select min(due) as due from formula_notice');
      return rows[0]?.due ?? undefined;
    },

    findInstance: async (accountId: number, id: number): Promise<NotifiedInstance | undefined> => {
      const { rows } = await knex.raw<{ rows: NotifiedInstance[] }>(
        `select i.name, i.active, i.settings, i.failures, f.id as "formulaId", f.name as "formulaName"
         from formula_instance i join formula f on f.account_id = i.formula_account_id and f.id = i.formula_id
         where i.account_id = ? and i.id = ?`,
        [accountId, id],
      );
      return rows[0];
    },

    /** Returns the first failed step of executions, by the id of the execution. */
    findFaults: async (
      accountId: number,
      executionIds: readonly number[],
    ): Promise<ReadonlyMap<number, { readonly stepName: string; readonly content: readonly StepValue[] | null }>> => {
      if (executionIds.length === 0) return new Map();
      const { rows } = await knex.raw<{
        rows: { executionId: number; stepName: string; content: readonly StepValue[] | null }[];
      }>(
        `select distinct on (execution_id) execution_id as "executionId", step_name as "stepName", content from formula_step
         where account_id = ? and execution_id = any(?::bigint[]) and is_fault and frame = 0 order by execution_id, ordinal`,
        [accountId, [...executionIds]],
      );
      return new Map(rows.map((row) => [row.executionId, row]));
    },

    /** Deletes notices in the order of their ids. @returns the ids of those that no other process has deleted */
    take: async (via: Knex, accountId: number, ids: readonly number[]): Promise<ReadonlySet<number>> => {
      const { rows } = await via.raw<{ rows: { id: number }[] }>(
        `delete from formula_notice where account_id = ? and id in (
           select id from formula_notice where account_id = ? and id = any(?::bigint[]) order by id for update)
         returning id`,
        [accountId, accountId, [...ids]],
      );
      return new Set(rows.map(({ id }) => id));
    },

    /** Locks a formula instance, and returns its failures in a row. Undefined: it was deleted. */
    lockFailures: async (
      via: Knex,
      accountId: number,
      id: number,
    ): Promise<Pick<NotifiedInstance, 'failures' | 'active'> | undefined> =>
      via('formula_instance').where({ account_id: accountId, id }).forUpdate().first('failures', 'active'),

    setFailures: async (via: Knex, accountId: number, id: number, failures: number): Promise<void> => {
      await via('formula_instance').where({ account_id: accountId, id }).update({ failures });
    },

    deactivate: async (via: Knex, accountId: number, id: number, warning: string): Promise<void> => {
      await via('formula_instance')
        .where({ account_id: accountId, id })
        .update({ active: false, next_due: null, warning, updated_at: via.fn.now() });
    },

    addMail: async (via: Knex, mails: readonly NewMail[]): Promise<void> => {
      if (mails.length === 0) return;
      await via('formula_notice').insert(
        mails.map(({ accountId, formulaInstanceId, data, due }) => ({
          account_id: accountId,
          formula_instance_id: formulaInstanceId,
          kind: 'email' as const,
          data: JSON.stringify(data),
          due,
        })),
      );
    },

    /** Reserves a mail until a time. @returns false: another process has it, or it was sent */
    reserve: async ({ accountId, id }: NoticeKey, now: Date, until: Date): Promise<boolean> => {
      const count = await knex('formula_notice')
        .where({ account_id: accountId, id })
        .where('due', '<=', now)
        .update({ due: until, attempts: knex.raw('attempts + 1') });
      return count > 0;
    },

    postpone: async ({ accountId, id }: NoticeKey, due: Date): Promise<void> => {
      await knex('formula_notice').where({ account_id: accountId, id }).update({ due });
    },

    remove: async ({ accountId, id }: NoticeKey): Promise<void> => {
      await knex('formula_notice').where({ account_id: accountId, id }).delete();
    },
  };
}
