import { listPage, type PageQuery } from '../db/listing.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import { cronOf } from './derived.ts';
import type { FormulaInstances } from './formula-instances.ts';
import { createJobStore, FILTERABLE_JOB, type StoredFormulaJob } from './job-store.ts';
import type { FormulaInstanceKey } from './model.ts';
import type { FormulaCaller } from './templates.ts';

/** A formula instance that a schedule starts. */
export interface FormulaJob extends Omit<StoredFormulaJob, 'trigger' | 'configuration'> {
  readonly cron: string;
}

interface FormulaJobPorts {
  readonly formulaInstances: FormulaInstances;
}

/** Shows the schedules of an account as jobs (formulas.md, 15). */
export function createFormulaJobs(
  { knex, shares }: Pick<Platform, 'knex'> & { readonly shares: Pick<Platform['shares'], 'list'> },
  { formulaInstances }: FormulaJobPorts,
) {
  const store = createJobStore(knex);

  /** @throws AppError NOT_FOUND */
  async function get(key: FormulaInstanceKey): Promise<FormulaJob> {
    const found = await store.find(key);
    if (found === undefined) throw missing('job', key.id);
    return toJob(found);
  }

  return {
    get,

    /** @throws AppError WHERE_SYNTAX, WHERE_INVALID */
    list: async (accountId: number, query: Pick<PageQuery, 'where' | 'afterId' | 'limit'>) => {
      const { rows, last } = await listPage(FILTERABLE_JOB, query, (selection) =>
        shares.list(accountId, (via) => createJobStore(via).list(accountId, selection)),
      );
      return { rows: rows.map(toJob), last };
    },

    /** Ends the schedule of a formula instance by deactivating the instance. @throws AppError NOT_FOUND */
    end: async (caller: FormulaCaller, id: number): Promise<void> => {
      const { formulaId } = await get({ accountId: caller.accountId, id });
      await formulaInstances.deactivate(caller, { formulaId, id });
    },
  };
}

function toJob({ trigger, configuration, ...job }: StoredFormulaJob): FormulaJob {
  return { ...job, cron: cronOf(trigger ?? undefined, configuration) ?? '' };
}
