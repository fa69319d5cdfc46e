import type { Knex } from 'knex';
import { filterable, INSTANT, INTEGER, type Selection, TEXT } from '../../db/listing.ts';
import { shownInstant } from '../../events/filter.ts';
import type { ExecutionStatus } from '../model.ts';
import type { ExecutionKey, StepValue } from './model.ts';

/** An execution as lists show it. */
export interface StoredExecution extends ExecutionKey {
  readonly formulaInstanceId: number;
  readonly formulaAccountId: number;
  readonly formulaId: number;
  readonly formulaVersion: number;
  readonly status: ExecutionStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface StoredStep {
  readonly id: number;
  readonly executionId: number;
  readonly stepName: string;
  readonly status: 'success' | 'failed';
  readonly isFault: boolean;
  readonly isRestarted: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Null: not kept, or not asked for. */
  readonly content: readonly StepValue[] | null;
}

/** The executions of a list. */
export interface ExecutionScope {
  readonly accountId: number;
  readonly formulaInstanceId?: number | undefined;
  /** The executions of all instances of a formula. */
  readonly formulaId?: number | undefined;
  readonly status?: ExecutionStatus | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

export const FILTERABLE_EXECUTION = filterable({
  id: [INTEGER, 'id'],
  status: [TEXT, 'status'],
  createdDate: [INSTANT, shownInstant('created_at')],
  updatedDate: [INSTANT, shownInstant('updated_at')],
});

export type ExecutionStore = ReturnType<typeof createExecutionStore>;

/** The statements that show executions and their steps. */
export function createExecutionStore(knex: Knex) {
  return {
    list: async (
      via: Knex,
      scope: ExecutionScope,
      { condition, afterId, limit }: Selection,
    ): Promise<readonly StoredExecution[]> => {
      const [where, bindings] = within(scope, condition);
      if (afterId !== undefined) {
        where.push('id < ?');
        bindings.push(afterId);
      }
      const { rows } = await via.raw<{ rows: StoredExecution[] }>(
        `select ${COLUMNS} from formula_execution e where ${where.join(' and ')} order by id desc limit ?`,
        [...bindings, limit],
      );
      return rows;
    },

    count: async (via: Knex, scope: ExecutionScope, { condition }: Pick<Selection, 'condition'>): Promise<number> => {
      const [where, bindings] = within(scope, condition);
      const { rows } = await via.raw<{ rows: { count: number }[] }>(
        `select count(*)::bigint as count from formula_execution e where ${where.join(' and ')}`,
        bindings,
      );
      return rows[0]?.count ?? 0;
    },

    find: async ({ accountId, id }: ExecutionKey): Promise<StoredExecution | undefined> => {
      const { rows } = await knex.raw<{ rows: StoredExecution[] }>(
        `select ${COLUMNS} from formula_execution e where account_id = ? and id = ?`,
        [accountId, id],
      );
      return rows[0];
    },

    /** Returns steps of an execution in their order, without those of sub-formulas. */
    listSteps: async (
      via: Knex,
      { accountId, id, createdAt }: Pick<StoredExecution, 'accountId' | 'id' | 'createdAt'>,
      { afterId, limit, onlyFaults = false, withValues }: StepSelection,
    ): Promise<readonly StoredStep[]> => {
      const { rows } = await via.raw<{ rows: StoredStep[] }>(
        `select ${stepColumns(withValues)} from formula_step
         where account_id = ? and execution_id = ? and execution_at = ? and frame = 0 and step_name is not null
           and id > ? and (is_fault or not ?)
         order by id limit ?`,
        [accountId, id, createdAt, afterId ?? 0, onlyFaults, limit],
      );
      return rows;
    },

    countSteps: async (
      via: Knex,
      { accountId, id, createdAt }: Pick<StoredExecution, 'accountId' | 'id' | 'createdAt'>,
      { onlyFaults = false }: Pick<StepSelection, 'onlyFaults'>,
    ): Promise<number> => {
      const { rows } = await via.raw<{ rows: { count: number }[] }>(
        `select count(*)::bigint as count from formula_step
         where account_id = ? and execution_id = ? and execution_at = ? and frame = 0 and (is_fault or not ?)`,
        [accountId, id, createdAt, onlyFaults],
      );
      return rows[0]?.count ?? 0;
    },

    findStep: async (accountId: number, id: number): Promise<StoredStep | undefined> => {
      const { rows } = await knex.raw<{ rows: StoredStep[] }>(
        `select ${stepColumns(true)} from formula_step where account_id = ? and id = ? and frame = 0`,
        [accountId, id],
      );
      return rows[0];
    },

    /** Returns the failed steps of some executions, with their values. */
    listFaults: async (
      via: Knex,
      accountId: number,
      executionIds: readonly number[],
    ): Promise<readonly StoredStep[]> => {
      if (executionIds.length === 0) return [];
      const { rows } = await via.raw<{ rows: StoredStep[] }>(
        `select ${stepColumns(true)} from formula_step
         where account_id = ? and execution_id = any(?::bigint[]) and is_fault and frame = 0 order by id`,
        [accountId, [...executionIds]],
      );
      return rows;
    },

    /**
     * Cancels an execution that has not ended. One that nobody runs ends at once; otherwise its worker ends it.
     * @returns whether it was running, or waiting
     */
    cancel: async ({ accountId, id }: ExecutionKey, now: Date): Promise<boolean> =>
      knex.transaction(async (via) => {
        const marked = await via('formula_run')
          .where({ account_id: accountId, id, is_cancelled: false })
          .whereRaw("coalesce(position ->> 'isRetry', '') = ''")
          .update({ is_cancelled: true })
          .returning(['execution_at', 'lease_until']);
        const [run] = marked;
        if (run === undefined) return false;
        if (run.lease_until !== null && run.lease_until.getTime() > now.getTime()) return true;
        await via('formula_run').where({ account_id: accountId, id }).delete();
        await via('formula_execution')
          .where({ account_id: accountId, id, created_at: run.execution_at })
          .update({ status: 'cancelled', updated_at: now });
        return true;
      }),

    /** Forgets a planned retry. @returns whether there was one */
    forgetRetry: async ({ accountId, id }: ExecutionKey, now: Date): Promise<boolean> =>
      knex.transaction(async (via) => {
        const removed = await via('formula_run')
          .where({ account_id: accountId, id })
          .whereRaw("position ->> 'isRetry' = 'true'")
          .delete()
          .returning('execution_at');
        const [run] = removed;
        if (run === undefined) return false;
        await via('formula_execution')
          .where({ account_id: accountId, id, created_at: run.execution_at })
          .update({ status: 'cancelled', updated_at: now });
        return true;
      }),

    /**
     * Copies the steps before one to a new execution, which begins with it.
     * @returns the number of copied steps; undefined if the execution never ran that step
     */
    copySteps: async (
      via: Knex,
      from: StoredExecution,
      to: { readonly id: number; readonly createdAt: Date },
      stepName: string,
    ): Promise<number | undefined> => {
      const first = await via('formula_step')
        .where({
          account_id: from.accountId,
          execution_id: from.id,
          execution_at: from.createdAt,
          frame: 0,
          step_name: stepName,
        })
        .min({ ordinal: 'ordinal' })
        .first();
      const ordinal = first?.ordinal;
      if (ordinal === null || ordinal === undefined) return undefined;
      const { rowCount } = await via.raw<{ rowCount: number }>(COPY, [
        to.id,
        to.createdAt,
        from.accountId,
        from.id,
        from.createdAt,
        ordinal,
      ]);
      return rowCount;
    },
  };
}

interface StepSelection {
  readonly afterId?: number | undefined;
  readonly limit: number;
  readonly onlyFaults?: boolean;
  readonly withValues: boolean;
}

// An execution of a single-threaded instance waits for the older ones.
const COLUMNS = `
  e.account_id as "accountId", e.id, e.formula_instance_id as "formulaInstanceId", e.formula_account_id as "formulaAccountId",
  e.formula_id as "formulaId", e.formula_version as "formulaVersion", e.created_at as "createdAt", e.updated_at as "updatedAt",
  case when e.status = 'pending' and e.serial and exists (
    select from formula_run r where r.account_id = e.account_id and r.formula_instance_id = e.formula_instance_id and r.serial
      and r.id < e.id)
    then 'queued' else e.status end as status`;

function stepColumns(withValues: boolean): string {
  return `id, execution_id as "executionId", step_name as "stepName", status, is_fault as "isFault", is_restarted as "isRestarted", created_at as "createdAt",
    updated_at as "updatedAt", ${withValues ? 'content' : 'null::json as content'}`;
}

const COPY = `
  insert into formula_step (account_id, execution_id, execution_at, ordinal, frame, step_name, status, is_fault, is_restarted, created_at,
    updated_at, content)
  select account_id, ?, ?, row_number() over (order by ordinal) - 1, frame, step_name, status, false, is_restarted, created_at, updated_at,
    content
  from formula_step where account_id = ? and execution_id = ? and execution_at = ? and frame = 0 and ordinal < ?
  order by ordinal`;

function within(scope: ExecutionScope, condition: Selection['condition']): [string[], Knex.RawBinding[]] {
  const parts: readonly (readonly [string, Knex.RawBinding | undefined])[] = [
    ['account_id = ?', scope.accountId],
    ['formula_instance_id = ?', scope.formulaInstanceId],
    ['formula_id = ?', scope.formulaId],
    ['status = ?', scope.status],
    ['created_at >= ?', scope.from],
    ['created_at < ?', scope.to],
  ];
  const given = parts.filter(([, value]) => value !== undefined);
  const where = given.map(([sql]) => sql);
  const bindings = given.map(([, value]) => value ?? null);
  if (condition === undefined) return [where, bindings];
  return [
    [...where, `(${condition.sql})`],
    [...bindings, ...(condition.bindings as Knex.RawBinding[])],
  ];
}
