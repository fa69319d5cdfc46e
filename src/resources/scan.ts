import { toUnreadable } from '../connector/client/index.ts';
import type { ListInput, ListOperation, ListPage } from '../connector/index.ts';
import { AppError } from '../errors.ts';
import { createPacer } from '../pace.ts';
import { compareValues, type OrderBy, type Plan, type ProviderQuery, type Row, reader } from '../where/index.ts';
import type { InstanceCall } from './call.ts';
import type { Position } from './page-token.ts';
import { sizeOf } from './row-size.ts';
import type { RowSteps } from './row-steps.ts';
import { createTopRows } from './top-rows.ts';

/** Why a page ended before it was full: the budget of provider calls or of bytes, or the provider shows no more rows of the query. */
export type PartialReason = 'scan-budget' | 'bytes' | 'result-window';

/** One page of a query. */
export interface ScanResult {
  readonly records: readonly Row[];
  /** Where to go on; absent when there is no more. */
  readonly next?: Position;
  readonly total?: number;
  readonly cutBy?: PartialReason;
}

export interface ScanInput {
  readonly list: ListOperation<unknown>;
  readonly plan: Plan;
  readonly steps: RowSteps;
  readonly pageSize: number;
  readonly start: Position;
  readonly maxProviderCalls: number;
  /** Rows that the provider lets one query page through. */
  readonly resultWindow?: number | undefined;
  readonly parentId?: string | undefined;
}

/** Whether the provider's rows are the answer's, so that page size and position can be passed on. */
export function isDirect(plan: Plan): boolean {
  return plan.residual === undefined && plan.sortPushed;
}

interface PageWanted {
  readonly page: number;
  readonly pageSize: number;
  readonly resultWindow?: number | undefined;
}

/** Where the given page begins. */
export function firstPosition(
  plan: Plan,
  list: ListOperation<unknown>,
  { page, pageSize, resultWindow = Number.POSITIVE_INFINITY }: PageWanted,
): Position {
  const largest = Math.min(list.maxPageSize, resultWindow);
  // Under a residual the provider's rows are not the answer's: its largest page needs the fewest calls.
  const limit = isDirect(plan) ? Math.min(pageSize, largest) : largest;
  const skip = (page - 1) * pageSize;
  const canJump =
    isDirect(plan) &&
    plan.queries.length === 1 &&
    skip > 0 &&
    skip % limit === 0 &&
    skip + limit <= resultWindow &&
    list.cursorAt !== undefined;
  if (canJump) return { cursor: list.cursorAt?.(skip), rowsBefore: skip, skipRows: 0, skipMatches: 0, limit };
  return { skipRows: 0, skipMatches: skip, limit };
}

/**
 * Follows the provider's pages, of which there are none where no row can pass the filter, until the page is full and one more match shows that there is a next one, the rows end,
 * or the budget does.
 * @throws AppError WHERE_UNSUPPORTED when the rows must be sorted here and the budget does not reach their end
 */
export function scan(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  if (input.plan.holds === 'never') return Promise.resolve({ records: [], total: 0 });
  return input.plan.sortPushed ? scanInOrder(call, input) : scanAndSort(call, input);
}

/** What is kept of providers' answers for one answer of ours. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

async function scanInOrder(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  const { steps, plan, pageSize } = input;
  const isChecked = plan.residual !== undefined;
  const pacer = createPacer(call.signal);
  const records: Row[] = [];
  let position = input.start;
  let bytes = 0;
  let total: number | undefined;
  const end = (next?: Position, cutBy?: PartialReason): ScanResult => {
    call.keep(bytes);
    return toResult({ records, next, total, cutBy });
  };
  for (;;) {
    const { query = 0 } = position;
    const page = await fetchPage(call, input, position);
    pacer.begin();
    if (!isChecked && plan.queries.length === 1 && position.after === undefined) total = page.total ?? total;
    let { skipMatches } = position;
    for (let index = position.skipRows; index < page.records.length; index++) {
      if (pacer.isDue()) await pacer.pause();
      const row = steps.map(page.read(page.records[index]));
      if (!steps.matches(row, query)) continue;
      if (skipMatches > 0) {
        skipMatches--;
        continue;
      }
      const record = steps.project(row);
      bytes += sizeOf(record);
      const isFull = records.length === pageSize;
      const isCut = bytes > MAX_KEPT_BYTES && records.length > 0;
      if (isFull || isCut) return end({ ...position, skipRows: index, skipMatches: 0 }, isFull ? undefined : 'bytes');
      records.push(record);
    }
    call.keep(bytes);
    const { next, isCut } = goOn(input, position, page);
    const after = next && { ...next, skipRows: 0, skipMatches, limit: position.limit };
    if (isCut) return end(after, 'result-window');
    if (after === undefined) return end();
    position = after;
    // Without a residual the provider's next page is known to hold rows of the query; another query may have none.
    const isFull = records.length === pageSize;
    if (isFull && !isChecked && page.next !== undefined) return end(position);
    if (call.providerCalls() >= input.maxProviderCalls) return end(position, isFull ? undefined : 'scan-budget');
  }
}

type Place = Pick<Position, 'query' | 'after' | 'cursor' | 'rowsBefore'>;

interface Onward {
  /** Absent at the end. */
  readonly next: Place | undefined;
  /** The query has, or may have, rows that the provider does not show. */
  readonly isCut: boolean;
}

/** The next page of the same query, the first behind what the provider shows of it, or the first of the next one. */
function goOn(
  input: Pick<ScanInput, 'plan' | 'resultWindow' | 'start' | 'steps'>,
  { query = 0, after, rowsBefore = 0 }: Place,
  page: FetchedPage,
): Onward {
  const { plan, resultWindow = Number.POSITIVE_INFINITY, start } = input;
  const { next, records, total } = page;
  const seen = rowsBefore + records.length;
  // A provider that stops at its window may not say that there is more.
  const isCut = next === undefined ? seen >= resultWindow && seen !== total : seen + start.limit > resultWindow;
  const stretch = after === undefined ? { query } : { query, after };
  if (next !== undefined && !isCut) return { next: { ...stretch, cursor: next, rowsBefore: seen }, isCut };
  const id = isCut ? lastId(input, page) : undefined;
  // A provider that shows the same row again would be asked for ever.
  const further = id === undefined || id === after ? undefined : plan.goOnAfter?.queryAfter(query, id);
  if (id !== undefined && further !== undefined) return { next: { query, after: id }, isCut: false };
  return { next: query + 1 < plan.queries.length ? { query: query + 1 } : undefined, isCut };
}

/** The id behind which the query can go on; undefined where it cannot. */
function lastId(
  { plan: { goOnAfter }, steps }: Pick<ScanInput, 'plan' | 'steps'>,
  page: FetchedPage,
): string | undefined {
  if (goOnAfter === undefined || page.records.length === 0) return undefined;
  const id = reader(goOnAfter.idField.name)(steps.map(page.read(page.records.at(-1))));
  return id == null ? undefined : String(id);
}

type Outcome = { readonly [Part in keyof ScanResult]: ScanResult[Part] | undefined } & Pick<ScanResult, 'records'>;

function toResult({ records, next, total, cutBy }: Outcome): ScanResult {
  return {
    records,
    ...(next !== undefined && { next }),
    ...(total !== undefined && { total }),
    ...(cutBy !== undefined && { cutBy }),
  };
}

/** A page with its numbers judged, and how its rows are read. */
type FetchedPage = ListPage & { readonly read: (record: unknown) => unknown };

async function fetchPage(call: InstanceCall, input: ScanInput, place: Place): Promise<FetchedPage> {
  const { total, ...page } = await call.execute(input.list, toListInput(input, place));
  const isTotal = Number.isSafeInteger(total) && Number(total) >= 0;
  return { ...page, ...(isTotal && { total }), read: (record) => readRecord(call, input.list, record) };
}

function readRecord({ instance }: InstanceCall, list: ListOperation<unknown>, record: unknown): unknown {
  try {
    return list.readRecord === undefined ? record : list.readRecord(record);
  } catch (error) {
    throw toUnreadable(instance, error);
  }
}

/** What the connector is told of a query. */
export function toListInput(
  { plan, steps, start, parentId }: Pick<ScanInput, 'plan' | 'steps' | 'start' | 'parentId'>,
  { query = 0, after, cursor }: Place,
): ListInput<unknown> {
  const { pushed, native } = (after === undefined ? plan.queries[query] : queryAfter(plan, query, after)) ?? {};
  return {
    ...(pushed !== undefined && { filter: native }),
    parameters: plan.parameters,
    fields: steps.fields,
    orderBy: plan.providerOrder,
    limit: start.limit,
    ...(cursor !== undefined && { cursor }),
    ...(parentId !== undefined && { parentId }),
  };
}

function queryAfter({ goOnAfter }: Plan, query: number, after: string): ProviderQuery {
  const found = goOnAfter?.queryAfter(query, after);
  if (found === undefined) throw new Error(`The query cannot go on after '${after}', as it did before.`);
  return found;
}

/** The provider cannot sort so: all rows are fetched and sorted here, as long as the budget reaches their end. */
async function scanAndSort(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  const { plan, steps, pageSize, start } = input;
  const pacer = createPacer(call.signal);
  const from = start.skipMatches;
  const rows = createTopRows(createOrder(plan.orderBy), from + pageSize);
  for (let place: Place | undefined = {}; place !== undefined; ) {
    const isFirst = place.query === undefined;
    if (!isFirst && call.providerCalls() >= input.maxProviderCalls) throw tooManyToSort(plan, input);
    const page: FetchedPage = await fetchPage(call, input, place);
    pacer.begin();
    for (const native of page.records) {
      if (pacer.isDue()) await pacer.pause();
      const row = steps.map(page.read(native));
      if (!steps.matches(row, place.query ?? 0)) continue;
      rows.add(row, sizeOf(row));
      if (rows.bytes() > MAX_KEPT_BYTES) throw tooLargeToSort(plan);
    }
    call.keep(rows.bytes());
    const { next, isCut } = goOn(input, place, page);
    if (isCut) throw hiddenFromSort(plan, input);
    place = next;
  }
  const more = from + pageSize < rows.count();
  const next = more ? { skipRows: 0, skipMatches: from + pageSize, limit: start.limit } : undefined;
  const records: Row[] = [];
  const kept = rows.bytes();
  for (let index = Math.min(rows.count(), from + pageSize); index > from; index--) {
    if (pacer.isDue()) await pacer.pause();
    const row = rows.takeLast();
    if (row !== undefined) records.push(steps.project(row));
  }
  call.keep(kept - rows.bytes());
  return toResult({ records: records.reverse(), next, total: rows.count(), cutBy: undefined });
}

function tooManyToSort(plan: Plan, input: ScanInput): AppError {
  return notSortable(
    plan,
    `there are more rows than ${input.maxProviderCalls} provider calls can fetch to sort them here. Narrow the filter, or raise Elements-Max-Provider-Calls.`,
  );
}

function hiddenFromSort(plan: Plan, { resultWindow }: ScanInput): AppError {
  return notSortable(
    plan,
    `there are more rows than the ${resultWindow} of one query that it shows, so that they cannot be sorted here. Narrow the filter.`,
  );
}

function tooLargeToSort(plan: Plan): AppError {
  return notSortable(
    plan,
    'the rows up to the end of this page are more than 64 MB, too many to sort them here. Narrow the filter, or ask for fewer fields or a smaller page.',
  );
}

function notSortable({ orderBy }: Plan, why: string): AppError {
  const names = orderBy.map(({ field }) => `'${field.name}'`).join(', ');
  return new AppError('WHERE_UNSUPPORTED', `The provider cannot sort by ${names}, and ${why}`, {
    details: [{ path: '/query/orderBy', message: 'Not sortable at the provider.' }],
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
