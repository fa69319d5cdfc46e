import type { FormulaJob } from '../formulas/jobs.ts';
import type { ApiServices } from './api-services.ts';
import { callerOf } from './formulas.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { type PageSeal, respondWithPage } from './page-tokens.ts';

export function createFormulaJobHandlers({ formulas: { jobs } }: ApiServices, seal: PageSeal) {
  return {
    listJobs: ({ principal: { accountId }, ...request }) =>
      respondWithPage(seal, request, {
        context: ['jobs', accountId, request.query.where],
        read: (page) => jobs.list(accountId, page),
        toView: toJobView,
      }),

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
