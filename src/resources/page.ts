import { LRUCache } from 'lru-cache';
import type { ProviderClient, RequestPreview } from '../connector/client/index.ts';
import type { ListInput, ListOperation, ListPage } from '../connector/index.ts';
import type { PlatformKeys } from '../db/platform-keys.ts';
import { AppError } from '../errors.ts';
import {
  type Constant,
  type Decision,
  type Plan,
  type ProviderQuery,
  print,
  type Row,
  reader,
  type Value,
} from '../where/index.ts';
import type { ConnectedInstance } from './call.ts';
import type { Query } from './query.ts';

/** Where a query goes on: a place in the provider's paging, and what is still to be passed over from there. */
export interface Position {
  /** Which of the plan's queries; absent for the first. */
  readonly query?: number;
  /** The id of the last row of an earlier stretch of the query, behind which this one begins; absent in the first. */
  readonly after?: string;
  /** The provider's cursor of the page; absent for the first. */
  readonly cursor?: string;
  /** Rows of the query, or of its stretch, before that page; absent for the first. */
  readonly rowsBefore?: number;
  /** Rows of that page to pass over. */
  readonly skipRows: number;
  /** Matching rows to pass over. */
  readonly skipMatches: number;
  /** Rows asked of the provider per page; stays the same over a query, because cursors may depend on it. */
  readonly limit: number;
  /** Of a walk that leaves the work to a job of the provider. */
  readonly native?: NativeStep;
}

/** How far a walk is with a job of the provider. */
export interface NativeStep {
  /** Of the provider's job; absent before it is started. */
  readonly id?: string;
  /** How often it was asked for its state. */
  readonly looks: number;
  /** Its rows can be read: the cursor of the position is one of its pages. */
  readonly isDone?: true;
}

/** What a token belongs to; with anything else it does not open. */
export interface TokenScope {
  readonly accountId: number;
  readonly instanceId: number;
  readonly object: string;
  /** The query in canonical spelling. */
  readonly query: string;
}

const MOST_KEPT_TOKENS = 1_000;
/** Characters, of the query and the position. */
const LONGEST_KEPT = 2_048;

/**
 * Seals and opens positions. To set up the cipher takes as long as to map a page of rows, and most tokens are those of pages that are asked for again
 * and again: the last of them are kept.
 */
export function createPageTokens({ seal, open }: Pick<PlatformKeys, 'seal' | 'open'>) {
  const kept = new LRUCache<string, string>({ max: MOST_KEPT_TOKENS });
  return {
    seal: (position: Position, scope: TokenScope): string => {
      const plain = JSON.stringify(position);
      const context = contextOf(scope);
      const key = context + plain;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const token = seal(plain, context);
      if (key.length <= LONGEST_KEPT) kept.set(key, token);
      return token;
    },

    /** @throws AppError REQUEST_INVALID for a token that was changed, or made for another query. */
    open: (token: string, scope: TokenScope): Position => {
      const plain = open(token, contextOf(scope));
      // What opens was sealed here, so its form is known.
      if (plain !== undefined) return JSON.parse(plain) as Position;
      const message =
        'nextPage does not belong to this query. Send the token of the previous page, with the same instance, object, where, orderBy and fields.';
      throw new AppError('REQUEST_INVALID', message, {
        details: [{ path: '/query/nextPage', message: 'Not a token of this query.' }],
      });
    },
  };
}

function contextOf({ accountId, instanceId, object, query }: TokenScope): string {
  return JSON.stringify(['page', accountId, instanceId, object, query]);
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
 * Where the page behind that of a position begins if that one is full, before it has come.
 * @returns undefined where that does not show, and where the provider shows no such page
 */
export function predictNext(
  { cursorAt }: Pick<ListOperation<unknown>, 'cursorAt'>,
  { query = 0, after, rowsBefore = 0, limit }: Position,
  resultWindow = Number.POSITIVE_INFINITY,
): Position | undefined {
  const seen = rowsBefore + limit;
  if (cursorAt === undefined || seen + limit > resultWindow) return undefined;
  const stretch = after === undefined ? { query } : { query, after };
  return { ...stretch, cursor: cursorAt(seen), rowsBefore: seen, skipRows: 0, skipMatches: 0, limit };
}

/** A query on its way through the provider's pages. */
export interface Started {
  readonly query: Query;
  readonly start: Position;
  /** Rows that the provider lets one query page through. */
  readonly resultWindow?: number | undefined;
  readonly parentId?: string | undefined;
}

/** What the connector is told of a query. */
export function toListInput(
  { query: { plan, steps }, start, parentId }: Started,
  { query = 0, after, cursor }: PagePosition,
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
  if (found === undefined) throw new Error(`The query cannot continue after '${after}', because the plan has changed.`);
  return found;
}

export type PagePosition = Pick<Position, 'query' | 'after' | 'cursor' | 'rowsBefore'>;

interface Onward {
  /** Absent at the end. */
  readonly next: PagePosition | undefined;
  /** The query has, or may have, rows that the provider does not show. */
  readonly isCut: boolean;
}

/** The next page of the same query, the first behind what the provider shows of it, or the first of the next one. `lastRow` is the page's. */
export function goOn(
  { query: { plan }, resultWindow = Number.POSITIVE_INFINITY, start }: Started,
  { query = 0, after, rowsBefore = 0 }: PagePosition,
  page: ListPage,
  lastRow: Row | undefined,
): Onward {
  const { next, records } = page;
  const seen = rowsBefore + records.length;
  // A provider that stops at its window may not say that there is more.
  const isCut = next === undefined ? seen >= resultWindow && seen !== totalOf(page) : seen + start.limit > resultWindow;
  const stretch = after === undefined ? { query } : { query, after };
  if (next !== undefined && !isCut) return { next: { ...stretch, cursor: next, rowsBefore: seen }, isCut };
  const id = isCut ? lastId(plan, lastRow) : undefined;
  // A provider that shows the same row again would be asked for ever.
  const further = id === undefined || id === after ? undefined : plan.goOnAfter?.queryAfter(query, id);
  if (id !== undefined && further !== undefined) return { next: { query, after: id }, isCut: false };
  return { next: query + 1 < plan.queries.length ? { query: query + 1 } : undefined, isCut };
}

/** The id behind which the query can go on; undefined where it cannot. */
function lastId({ goOnAfter }: Plan, lastRow: Row | undefined): string | undefined {
  if (goOnAfter === undefined || lastRow === undefined) return undefined;
  const id = reader(goOnAfter.idField.name)(lastRow);
  return id == null ? undefined : String(id);
}

/** How many rows the query has, where what the provider says can be. */
export function totalOf({ total }: ListPage): number | undefined {
  return Number.isSafeInteger(total) && Number(total) >= 0 ? total : undefined;
}

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
  /** How a bulk job would find the rows; absent where the provider has no jobs of its own for the object. */
  readonly bulk?: BulkExplanation;
}

export type BulkExplanation =
  /** By a job of the provider, from so many rows on. */
  | { readonly way: 'native'; readonly fromRows: number; readonly request: RequestPreview }
  | { readonly way: 'paging'; readonly reason: string };

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
  const listInput = toListInput({ query, start }, {});
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
