import type { Knex } from 'knex';
import type { ExecutionStatus } from '../model.ts';
import type { ExecutionKey } from './model.ts';

/** How far an execution is for which a request waits. */
export interface AnswerState {
  readonly status: ExecutionStatus;
  readonly hasAnswer: boolean;
  /** What its last step left. */
  readonly answer: unknown;
}

export type AnswerStore = ReturnType<typeof createAnswerStore>;

export function createAnswerStore(knex: Knex) {
  return {
    find: async ({ accountId, id, createdAt }: ExecutionKey & { readonly createdAt: Date }) => {
      const { rows } = await knex.raw<{ rows: AnswerState[] }>(
        `select e.status, a.execution_id is not null as "hasAnswer", a.answer
         from formula_execution e left join formula_answer a on a.account_id = e.account_id and a.execution_id = e.id
         where e.account_id = ? and e.created_at = ? and e.id = ?`,
        [accountId, createdAt, id],
      );
      return rows[0];
    },

    /** Returns the message of the first failed step of an execution. */
    findFault: async ({ accountId, id, createdAt }: ExecutionKey & { readonly createdAt: Date }) => {
      const { rows } = await knex.raw<{ rows: { stepName: string; content: unknown }[] }>(
        `select step_name as "stepName", content from formula_step
         where account_id = ? and execution_at = ? and execution_id = ? and is_fault and frame = 0 order by ordinal limit 1`,
        [accountId, createdAt, id],
      );
      return rows[0];
    },

    /** Deletes the answers that were stored before a time. */
    purge: async (before: Date): Promise<number> => knex('formula_answer').where('created_at', '<', before).delete(),
  };
}
