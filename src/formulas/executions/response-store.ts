import type { Knex } from 'knex';
import type { ExecutionStatus } from '../model.ts';
import type { ExecutionKey } from './model.ts';

/** The state of an execution for which a request waits. */
export interface ResponseState {
  readonly status: ExecutionStatus;
  readonly hasResponse: boolean;
  /** The values that the last step left, from which the response is made. */
  readonly response: unknown;
}

export type ResponseStore = ReturnType<typeof createResponseStore>;

export function createResponseStore(knex: Knex) {
  return {
    find: async ({ accountId, id, createdAt }: ExecutionKey & { readonly createdAt: Date }) => {
      const { rows } = await knex.raw<{ rows: ResponseState[] }>(
        `select e.status, a.execution_id is not null as "hasResponse", a.answer as response
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

    /** Deletes the responses that were stored before a time. */
    purge: async (before: Date): Promise<number> => knex('formula_answer').where('created_at', '<', before).delete(),
  };
}
