import type { Knex } from 'knex';
import { filterable, INSTANT, INTEGER, type Selection, selectPage, TEXT } from '../db/listing.ts';
import type { FormulaInstanceKey, Trigger } from './model.ts';

/** A formula instance that a schedule starts, as it is stored. */
export interface StoredFormulaJob {
  /** The id of the formula instance. */
  readonly id: number;
  readonly name: string;
  readonly formulaId: number;
  readonly configuration: Readonly<Record<string, string>>;
  readonly trigger: Trigger | null;
  readonly nextDue: Date;
  readonly createdAt: Date;
}

export const FILTERABLE_JOB = filterable({
  id: [INTEGER, 'id'],
  name: [TEXT, 'name'],
  formulaId: [INTEGER, 'formula_id'],
  nextRunDate: [INSTANT, "date_trunc('milliseconds', next_due)"],
});

/** The statements that read schedules. An active instance of an active scheduled formula has a time when it is due. */
export function createJobStore(via: Knex) {
  const jobsOf = (accountId: number) =>
    via('formula_instance')
      .where({ account_id: accountId })
      .whereNotNull('next_due')
      .select<Omit<StoredFormulaJob, 'trigger'>[]>({
        id: 'id',
        name: 'name',
        formulaId: 'formula_id',
        configuration: 'configuration',
        nextDue: 'next_due',
        createdAt: 'created_at',
      })
      .select<StoredFormulaJob[]>(via.raw(TRIGGER));

  return {
    list: async (accountId: number, selection: Selection): Promise<readonly StoredFormulaJob[]> =>
      selectPage(jobsOf(accountId), selection),

    find: async ({ accountId, id }: FormulaInstanceKey): Promise<StoredFormulaJob | undefined> => {
      const [job] = await jobsOf(accountId).where({ id });
      return job;
    },
  };
}

const TRIGGER = `(select content -> 'triggers' -> 0 from formula
  where account_id = formula_instance.formula_account_id and id = formula_instance.formula_id) as trigger`;
