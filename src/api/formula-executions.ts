import type { StoredExecution, StoredStep } from '../formulas/executions/execution-store.ts';
import type { CountedPage, InstanceOfFormula } from '../formulas/executions/executions.ts';
import { showValues } from '../formulas/executions/step-values.ts';
import { LIMITS } from '../formulas/model.ts';
import { listHeaders } from '../http/response.ts';
import type { ApiServices } from './api-services.ts';
import { callerOf } from './formulas.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { createPageTokens, PAGE_SIZE, type PageSeal } from './page-tokens.ts';

type ExecutionView = OperationResult<'getFormulaExecution'>;
type StepView = OperationResult<'getFormulaStepExecution'>;

interface Paged {
  readonly query: { readonly pageSize?: number | undefined; readonly nextPage?: string | undefined };
  readonly url: string;
}

/** Maximum number of steps in the response about one execution. */
const MOST_STEPS = 5_000;

export function createFormulaExecutionHandlers({ formulaRuns, formulas }: ApiServices, seal: PageSeal) {
  const { executions } = formulaRuns;

  /** One page of a list, with the headers of counted lists. */
  async function page<Row extends { readonly id: number }, Result extends CountedPage<Row>>(
    context: readonly unknown[],
    { query: { pageSize = PAGE_SIZE, nextPage }, url }: Paged,
    read: (query: { readonly afterId: number | undefined; readonly limit: number }) => Promise<Result>,
  ) {
    const tokens = createPageTokens(seal, JSON.stringify(context));
    const found = await read({ afterId: tokens.read(nextPage), limit: pageSize });
    const token = tokens.write(found.last?.id);
    return {
      found,
      headers: { ...listHeaders(found.rows.length, { url, token }), 'Elements-Total-Count': found.total },
    };
  }

  async function list(
    key: InstanceOfFormula,
    paged: Paged & { readonly query: { readonly where?: string | undefined } },
  ) {
    const { where } = paged.query;
    const context = ['formula-executions', key.accountId, key.formulaInstanceId, where];
    const { found, headers } = await page(context, paged, (query) => executions.list(key, { ...query, where }));
    return { body: found.rows.map(toExecutionView), headers };
  }

  async function start(key: InstanceOfFormula, body: unknown) {
    return { body: (await executions.start(key, body)).map((id) => ({ id })) };
  }

  function toPeriod({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) {
    return { from: from === undefined ? undefined : new Date(from), to: to === undefined ? undefined : new Date(to) };
  }

  async function showWhole(execution: StoredExecution): Promise<ExecutionView> {
    const { rows } = await executions.steps(execution, { limit: MOST_STEPS }, { withValues: false });
    return { ...toExecutionView(execution), stepExecutions: rows.map(toStepView) };
  }

  return {
    listFormulaExecutions: ({ principal: { accountId }, path: { instanceId: formulaInstanceId }, query, url }) =>
      list({ accountId, formulaInstanceId }, { query, url }),
    listExecutionsOfFormulaInstance: ({ principal: { accountId }, path, query, url }) =>
      list({ accountId, ...keyOf(path) }, { query, url }),
    startFormulaExecutions: ({ principal: { accountId }, path: { instanceId: formulaInstanceId }, body }) =>
      start({ accountId, formulaInstanceId }, body),
    startExecutionsOfFormulaInstance: ({ principal: { accountId }, path, body }) =>
      start({ accountId, ...keyOf(path) }, body),

    listFailedFormulaExecutions: async ({
      principal: { accountId },
      path: { instanceId: formulaInstanceId },
      query,
      url,
    }) => {
      await executions.getInstance({ accountId, formulaInstanceId });
      const scope = { accountId, formulaInstanceId, ...toPeriod(query) };
      const context = ['failed-executions', accountId, formulaInstanceId, query.from, query.to];
      const { found, headers } = await page(context, { query, url }, (wanted) => executions.listFailed(scope, wanted));
      const body = found.rows.map((row) => toFailedView(row, found.faults.get(row.id)));
      return { body, headers };
    },

    listFailedExecutionsOfFormula: async ({ principal, path: { id: formulaId }, query, url }) => {
      const { accountId } = principal;
      const { active } = await formulas.templates.get(callerOf(principal), formulaId);
      const scope = { accountId, formulaId, ...toPeriod(query) };
      const context = ['failed-executions-of', accountId, formulaId, query.from, query.to];
      const { found, headers } = await page(context, { query, url }, (wanted) => executions.listFailed(scope, wanted));
      const byInstance = Map.groupBy(found.rows, (row) => row.formulaInstanceId);
      const body = [...byInstance].map(([id, rows]) => ({
        id,
        formula: { id: formulaId, active },
        executions: rows.map((row) => toFailedView(row, found.faults.get(row.id))),
      }));
      return { body, headers };
    },

    getFormulaExecution: async ({ principal: { accountId }, path: { executionId: id } }) => ({
      body: await showWhole(await executions.get({ accountId, id })),
    }),

    cancelFormulaExecution: async ({ principal: { accountId }, path: { executionId: id } }) => ({
      body: await showWhole(await executions.cancel({ accountId, id })),
    }),

    listFormulaStepExecutions: async ({ principal: { accountId }, path: { executionId: id }, query, url }) => {
      const { includeValues: withValues = false } = query;
      const context = ['formula-steps', accountId, id, withValues];
      const { found, headers } = await page(context, { query, url }, (wanted) =>
        executions.steps({ accountId, id }, wanted, { withValues }),
      );
      return { body: found.rows.map(withValues ? toFullStepView : toStepView), headers };
    },

    listFormulaExecutionErrors: async ({ principal: { accountId }, path: { executionId: id }, query, url }) => {
      const context = ['formula-errors', accountId, id];
      const { found, headers } = await page(context, { query, url }, (wanted) =>
        executions.steps({ accountId, id }, wanted, { onlyFaults: true, withValues: true }),
      );
      return { body: found.rows.map(toFullStepView), headers };
    },

    getFormulaStepExecution: async ({ principal: { accountId }, path: { stepExecutionId: id } }) => ({
      body: toFullStepView(await executions.getStep(accountId, id)),
    }),

    listFormulaStepValues: async ({ principal: { accountId }, path: { stepExecutionId: id }, query, url }) => {
      const context = ['formula-values', accountId, id];
      const { found, headers } = await page(context, { query, url }, async ({ afterId = 0, limit }) => {
        const all = toValueViews(await executions.getStep(accountId, id));
        const rows = all.slice(afterId, afterId + limit);
        return { rows, last: all.length > afterId + limit ? rows.at(-1) : undefined, total: all.length };
      });
      return { body: [...found.rows], headers };
    },

    retryFormulaExecution: async ({ principal: { accountId }, path: { executionId: id }, query }) => ({
      body: await showWhole(await executions.retry({ accountId, id }, query.from)),
    }),

    forgetFormulaRetry: async ({ principal: { accountId }, path: { executionId: id } }) => ({
      body: await showWhole(await executions.forgetRetry({ accountId, id })),
    }),
  } satisfies Partial<Handlers>;
}

function keyOf({ id, instanceId }: { readonly id: number; readonly instanceId: number }) {
  return { formulaId: id, formulaInstanceId: instanceId };
}

function toExecutionView({
  id,
  formulaInstanceId,
  status,
  formulaVersion,
  createdAt,
  updatedAt,
}: StoredExecution): ExecutionView {
  return {
    id,
    formulaInstanceId,
    status,
    createdDate: createdAt.toISOString(),
    updatedDate: updatedAt.toISOString(),
    formulaVersion,
  };
}

function toFailedView(execution: StoredExecution, faults: readonly StoredStep[] = []): ExecutionView {
  return { ...toExecutionView(execution), stepExecutions: faults.map(toFullStepView) };
}

function toStepView({ id, stepName, status, isFault, isRestarted, createdAt, updatedAt }: StoredStep): StepView {
  return {
    id,
    stepName,
    status,
    fault: isFault,
    createdDate: createdAt.toISOString(),
    updatedDate: updatedAt.toISOString(),
    ...(isRestarted && { restarted: true }),
  };
}

function toFullStepView(step: StoredStep): StepView {
  return { ...toStepView(step), stepExecutionValues: toValueViews(step) };
}

function toValueViews({ stepName, content }: StoredStep) {
  return showValues(stepName, content ?? [], LIMITS.valueBytes);
}
