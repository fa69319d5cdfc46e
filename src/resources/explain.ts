import type { ProviderClient, RequestPreview } from '../connector/client/index.ts';
import type { ListOperation } from '../connector/index.ts';
import { type Constant, type Decision, type Plan, print, type Value } from '../where/index.ts';
import type { ConnectedInstance } from './ports.ts';
import type { Query } from './query-cache.ts';
import { firstPosition, isDirect, toListInput } from './scan.ts';

/** How a query would be answered, for people. */
export interface QueryExplanation {
  readonly parsed?: string;
  readonly pushed?: string;
  readonly residual?: string;
  /** Where the filter is decided by what its fields can hold. */
  readonly holds?: Constant;
  readonly pushdown: Plan['pushdown'];
  readonly predicates: readonly Decision[];
  readonly parameters: Readonly<Record<string, string | boolean>>;
  readonly sort: { readonly orderBy?: string; readonly pushed: boolean };
  readonly limit: { readonly providerPageSize: number; readonly pushed: boolean; readonly reason?: string };
  /** Absent when the connector needs more than one call for a list, and when none is made. */
  readonly request?: RequestPreview;
  readonly estimatedProviderCalls: number;
}

/** The page size of the API when a caller names none. */
const PAGE_SIZE = 200;

export function explainQuery(
  client: Pick<ProviderClient, 'preview'>,
  input: {
    readonly instance: ConnectedInstance;
    readonly operation: ListOperation<unknown>;
    readonly query: Query;
    readonly resultWindow: number | undefined;
  },
): QueryExplanation {
  const { instance, operation, query, resultWindow } = input;
  const { plan, condition } = query;
  const isNever = plan.holds === 'never';
  const start = firstPosition(plan, operation, { page: 1, pageSize: PAGE_SIZE, resultWindow });
  const listInput = toListInput({ plan, steps: query.steps, start }, {});
  return {
    ...(condition !== undefined && { parsed: print(condition) }),
    ...(plan.pushed !== undefined && { pushed: print(plan.pushed) }),
    ...(plan.residual !== undefined && { residual: print(plan.residual) }),
    ...(plan.holds !== undefined && { holds: plan.holds }),
    pushdown: plan.pushdown,
    predicates: plan.decisions,
    parameters: Object.fromEntries(Object.entries(plan.parameters).map(([name, value]) => [name, plainValue(value)])),
    sort: { ...(plan.orderBy.length > 0 && { orderBy: printOrder(plan) }), pushed: plan.sortPushed },
    limit: { providerPageSize: start.limit, pushed: isDirect(plan), ...limitReason(plan) },
    ...('request' in operation &&
      !isNever && { request: client.preview(instance, operation.request(listInput, instance.config)) }),
    estimatedProviderCalls: isNever
      ? 0
      : Math.max(plan.queries.length, isDirect(plan) ? Math.ceil(PAGE_SIZE / start.limit) : 1),
  };
}

function plainValue(value: Value): string | boolean {
  return value.kind === 'string' || value.kind === 'boolean' ? value.value : value.text;
}

function printOrder({ orderBy }: Plan): string {
  return orderBy.map(({ field, direction }) => `${field.name} ${direction}`).join(', ');
}

function limitReason(plan: Plan): { readonly reason?: string } {
  if (isDirect(plan)) return {};
  return { reason: plan.sortPushed ? 'rows are checked again in the service' : 'rows are sorted in the service' };
}
