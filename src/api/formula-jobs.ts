import type { FormulaJob } from '../formulas/jobs.ts';
import { listHeaders } from '../http/response.ts';
import type { ApiServices } from './api-services.ts';
import { callerOf } from './formulas.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { createPageTokens, type PageSeal } from './page-tokens.ts';

/** The page size of a request that names none: the default of the spec. */
const PAGE_SIZE = 200;

export function createFormulaJobHandlers({ formulas: { jobs } }: ApiServices, seal: PageSeal) {
  return {
    listJobs: async ({ principal: { accountId }, query, url }) => {
      const { where, pageSize: limit = PAGE_SIZE, nextPage } = query;
      const tokens = createPageTokens(seal, JSON.stringify(['jobs', accountId, where]));
      const page = await jobs.list(accountId, { where, limit, afterId: tokens.read(nextPage) });
      const body = page.jobs.map(toJobView);
      return { body, headers: listHeaders(body.length, { url, token: tokens.write(page.nextAfterId) }) };
    },

    getJob: async ({ principal: { accountId }, path: { id } }) => ({
      body: toJobView(await jobs.get({ accountId, id })),
    }),

    deleteJob: async ({ principal, path: { id } }) => {
      await jobs.end(callerOf(principal), id);
      return { body: { id } };
    },
  } satisfies Partial<Handlers>;
}

function toJobView({ id, name, formulaId, cron, nextDue, createdAt }: FormulaJob): OperationResult<'getJob'> {
  return {
    id,
    name,
    description: `formula ${formulaId}, instance ${id}`,
    formulaId,
    formulaInstanceId: id,
    cron,
    nextRunDate: nextDue.toISOString(),
    createdDate: createdAt.toISOString(),
  };
}
