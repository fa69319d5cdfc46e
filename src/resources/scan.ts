import type { ListInput, ListOperation, ListPage } from '../connector/index.ts';
import { AppError } from '../errors.ts';
import { compareValues, type OrderBy, type Plan, type Row, reader } from '../where/index.ts';
import type { InstanceCall } from './call.ts';
import type { Position } from './page-token.ts';
import type { RowSteps } from './row-steps.ts';

/** One page of a query. */
export interface ScanResult {
  readonly records: readonly Row[];
  /** Where to go on; absent when there is no more. */
  readonly next?: Position;
  readonly total?: number;
  /** The budget of provider calls ended before the page was full. */
  readonly cutShort: boolean;
}

export interface ScanInput {
  readonly list: ListOperation<unknown>;
  readonly plan: Plan;
  readonly steps: RowSteps;
  readonly pageSize: number;
  readonly start: Position;
  readonly maxProviderCalls: number;
  readonly parentId?: string | undefined;
}

/** Whether the provider's rows are the answer's, so that page size and position can be passed on. */
export function isDirect(plan: Plan): boolean {
  return plan.residual === undefined && plan.sortPushed;
}

/** Where the given page begins. */
export function firstPosition(
  plan: Plan,
  list: ListOperation<unknown>,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Position {
  // Under a residual the provider's rows are not the answer's: its largest page needs the fewest calls.
  const limit = isDirect(plan) ? Math.min(pageSize, list.maxPageSize) : list.maxPageSize;
  const skip = (page - 1) * pageSize;
  const canJump =
    isDirect(plan) && plan.queries.length === 1 && skip > 0 && skip % limit === 0 && list.cursorAt !== undefined;
  if (canJump) return { cursor: list.cursorAt?.(skip), skipRows: 0, skipMatches: 0, limit };
  return { skipRows: 0, skipMatches: skip, limit };
}

/**
 * Follows the provider's pages until the page is full and one more match shows that there is a next one, the rows end,
 * or the budget does.
 * @throws AppError WHERE_UNSUPPORTED when the rows must be sorted here and the budget does not reach their end
 */
export function scan(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  return input.plan.sortPushed ? scanInOrder(call, input) : scanAndSort(call, input);
}

async function scanInOrder(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  const { steps, plan, pageSize, start } = input;
  const records: Row[] = [];
  let position = start;
  let total: number | undefined;
  for (;;) {
    const { query = 0 } = position;
    const page = await fetchPage(call, input, position);
    if (plan.residual === undefined && plan.queries.length === 1) total = page.total ?? total;
    let { skipMatches } = position;
    for (let index = position.skipRows; index < page.records.length; index++) {
      const row = steps.map(page.records[index]);
      if (!steps.matches(row, query)) continue;
      if (skipMatches > 0) {
        skipMatches--;
      } else if (records.length < pageSize) {
        records.push(steps.project(row));
      } else {
        return result(records, { ...position, skipRows: index, skipMatches: 0 }, total);
      }
    }
    const next = placeAfter(plan, position, page);
    if (next === undefined) return result(records, undefined, total);
    position = { ...next, skipRows: 0, skipMatches, limit: position.limit };
    // Without a residual the provider's next page is known to hold rows of the query; another query may have none.
    const full = records.length === pageSize;
    if (full && plan.residual === undefined && page.next !== undefined) return result(records, position, total);
    if (call.providerCalls() >= input.maxProviderCalls) return { ...result(records, position, total), cutShort: !full };
  }
}

/** The next page of the same query, or the first of the next one. */
function placeAfter(plan: Plan, { query = 0 }: Place, { next }: ListPage): Place | undefined {
  if (next !== undefined) return { query, cursor: next };
  return query + 1 < plan.queries.length ? { query: query + 1 } : undefined;
}

function result(records: readonly Row[], next: Position | undefined, total: number | undefined): ScanResult {
  return { records, cutShort: false, ...(next !== undefined && { next }), ...(total !== undefined && { total }) };
}

type Place = Pick<Position, 'query' | 'cursor'>;

function fetchPage(call: InstanceCall, input: ScanInput, place: Place): Promise<ListPage> {
  return call.execute(input.list, toListInput(input, place));
}

/** What the connector is told of a query. */
export function toListInput(
  { plan, steps, start, parentId }: Pick<ScanInput, 'plan' | 'steps' | 'start' | 'parentId'>,
  { query = 0, cursor }: Place,
): ListInput<unknown> {
  const { pushed, native } = plan.queries[query] ?? {};
  return {
    ...(pushed !== undefined && { filter: native }),
    parameters: plan.parameters,
    fields: steps.fields,
    orderBy: plan.sortPushed ? plan.orderBy : [],
    limit: start.limit,
    ...(cursor !== undefined && { cursor }),
    ...(parentId !== undefined && { parentId }),
  };
}

/** The provider cannot sort so: all rows are fetched and sorted here, as long as the budget reaches their end. */
async function scanAndSort(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  const { plan, steps, pageSize, start } = input;
  const rows: Row[] = [];
  for (let place: Place | undefined = {}; place !== undefined; ) {
    const isFirst = place.query === undefined;
    if (!isFirst && call.providerCalls() >= input.maxProviderCalls) throw tooManyToSort(plan, input);
    const page: ListPage = await fetchPage(call, input, place);
    for (const native of page.records) {
      const row = steps.map(native);
      if (steps.matches(row, place.query ?? 0)) rows.push(row);
    }
    place = placeAfter(plan, place, page);
  }
  rows.sort(createOrder(plan.orderBy));
  const from = start.skipMatches;
  const records = rows.slice(from, from + pageSize).map(steps.project);
  const more = from + pageSize < rows.length;
  const next = more ? { skipRows: 0, skipMatches: from + pageSize, limit: start.limit } : undefined;
  return result(records, next, rows.length);
}

function tooManyToSort(plan: Plan, input: ScanInput): AppError {
  const names = plan.orderBy.map(({ field }) => `'${field.name}'`).join(', ');
  const message = `The provider cannot sort by ${names}, and there are more rows than ${input.maxProviderCalls} provider calls can fetch to sort them here. Narrow the filter, or raise Elements-Max-Provider-Calls.`;
  return new AppError('WHERE_UNSUPPORTED', message, {
    details: [{ path: 'orderBy', message: 'Not sortable at the provider.' }],
  });
}

function createOrder(orderBy: readonly OrderBy[]): (a: Row, b: Row) => number {
  const terms = orderBy.map(({ field, direction }) => {
    const read = reader(field.name);
    const compare = compareValues(field);
    const sign = direction === 'desc' ? -1 : 1;
    return (a: Row, b: Row) => sign * compare(read(a), read(b));
  });
  return (a, b) => {
    for (const term of terms) {
      const order = term(a, b);
      if (order !== 0) return order;
    }
    return 0;
  };
}
