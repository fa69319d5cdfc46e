import { LRUCache } from 'lru-cache';
import type { ProviderClient, RequestPreview } from '../connector/client/index.ts';
import type { ListInput, ListOperation, ListPage } from '../connector/index.ts';
import { defined } from '../connector/kit/kinds.ts';
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

/** The position of a page of a query: a page of the provider, and the rows to skip from there. */
export interface Position {
  /** The index of the query in the plan. It is absent for the first. */
  readonly query?: number;
  /** The id after which this stretch of the query begins: that of the last row of the stretch before. It is absent in the first stretch. */
  readonly after?: string;
  /** The provider's cursor of the page. It is absent for the first page. */
  readonly cursor?: string;
  /** Number of rows of the query, or of its stretch, before that page. It is absent for the first page. */
  readonly rowsBefore?: number;
  /** Number of rows of that page to skip. */
  readonly skipRows: number;
  /** Number of matching rows to skip. */
  readonly skipMatches: number;
  /** Number of rows requested per page of the provider. It stays the same during a query, because cursors may depend on it. */
  readonly limit: number;
  /** The state of the provider's job, in a walk that uses one. */
  readonly native?: NativeStep;
}

/** The progress of a walk with a job of the provider. */
export interface NativeStep {
  /** The id of the provider's job. It is absent before the job is started. */
  readonly id?: string;
  /** Number of requests for its state so far. */
  readonly looks: number;
  /** Whether its rows can be read. Then the cursor of the position is that of one of its pages. */
  readonly isDone?: true;
}

/** The query that a token belongs to. The token is rejected with any other. */
interface TokenScope {
  readonly accountId: number;
  readonly instanceId: number;
  readonly object: string;
  /** The query in canonical spelling. */
  readonly query: string;
}

const MOST_KEPT_TOKENS = 1_000;
/** Maximum number of characters of query and position that are cached. */
const LONGEST_KEPT = 2_048;

/**
 * Creates the encryption of positions as page tokens. Setting up the cipher takes as long as mapping a page of rows, and most tokens belong
 * to pages that are requested repeatedly, so the last ones are cached.
 */
export function createPageTokens({ seal, open }: Pick<PlatformKeys, 'seal' | 'open'>) {
  const kept = new LRUCache<string, string>({ max: MOST_KEPT_TOKENS });
  return {
    seal: (position: Position, scope: TokenScope): string => {
      const plain = JSON.stringify(position);
      const { accountId, instanceId, object, query } = scope;
      // One for each scope and position: JSON ends where its braces do, and the length says where the object does.
      const key = `${accountId} ${instanceId} ${plain} ${object.length} ${object}${query}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const token = seal(plain, contextOf(scope));
      if (key.length <= LONGEST_KEPT) kept.set(key, token);
      return token;
    },

    /**
     * Decrypts a token.
     * @throws AppError REQUEST_INVALID for a token that was changed, or made for another query
     */
    open: (token: string, scope: TokenScope): Position => {
      const plain = open(token, contextOf(scope));
      // A token that can be decrypted was made here, so its form is known.
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

interface PageWanted {
  readonly page: number;
  readonly pageSize: number;
  readonly resultWindow?: number | undefined;
}

/** Returns the position at which a page begins. */
export function firstPosition(
  { plan, isDirect }: Pick<Query, 'plan' | 'isDirect'>,
  list: ListOperation<unknown>,
  { page, pageSize, resultWindow = Number.POSITIVE_INFINITY }: PageWanted,
): Position {
  const largest = Math.min(list.maxPageSize, resultWindow);
  // With a residual filter, the provider's rows are not those of the response, so its largest page needs the fewest calls.
  const limit = isDirect ? Math.min(pageSize, largest) : largest;
  const skip = (page - 1) * pageSize;
  const canJump =
    isDirect &&
    plan.queries.length === 1 &&
    skip > 0 &&
    skip % limit === 0 &&
    skip + limit <= resultWindow &&
    list.cursorAt !== undefined;
  if (canJump) return { cursor: list.cursorAt?.(skip), rowsBefore: skip, skipRows: 0, skipMatches: 0, limit };
  return { skipRows: 0, skipMatches: skip, limit };
}

/**
 * Returns the position of the page after a given one before that one has arrived, on the assumption that it is full.
 * @returns undefined where the position cannot be predicted, and where the provider returns no such page
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
  /** Maximum number of rows that pages of one query can reach. */
  readonly resultWindow?: number | undefined;
  readonly parentId?: string | undefined;
}

/** The inputs of first pages. They are frozen, so that a connector builds its request once (`kit/list.ts`). */
const firstInputs = new WeakMap<Query, ListInput<unknown>>();

/** Returns the input of the connector's list for a page of a query. */
export function toListInput(started: Started, position: PagePosition): ListInput<unknown> {
  const { query = 0, after, cursor } = position;
  if (query > 0 || after !== undefined || cursor !== undefined || started.parentId !== undefined)
    return createListInput(started, position);
  const known = firstInputs.get(started.query);
  if (known?.limit === started.start.limit) return known;
  const input = Object.freeze(createListInput(started, position));
  firstInputs.set(started.query, input);
  return input;
}

function createListInput(
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

/** The position of a page, without the rows to skip. */
export type PagePosition = Pick<Position, 'query' | 'after' | 'cursor' | 'rowsBefore'>;

interface Onward {
  /** Absent at the end. */
  readonly next: PagePosition | undefined;
  /** Whether the query has, or may have, rows that the provider does not return. */
  readonly isCut: boolean;
}

/**
 * Returns the next page of the same query, the first page behind the provider's result window, or the first page of the next query.
 * `lastRow` is the last row of the page.
 */
export function goOn(
  { query: { plan }, resultWindow = Number.POSITIVE_INFINITY, start }: Started,
  { query = 0, after, rowsBefore = 0 }: PagePosition,
  page: ListPage,
  lastRow: Row | undefined,
): Onward {
  const { next, records } = page;
  const seen = rowsBefore + records.length;
  // A provider that stops at its result window may not report that there are more rows.
  const isCut = next === undefined ? seen >= resultWindow && seen !== totalOf(page) : seen + start.limit > resultWindow;
  const stretch = after === undefined ? { query } : { query, after };
  if (next !== undefined && !isCut) return { next: { ...stretch, cursor: next, rowsBefore: seen }, isCut };
  const id = isCut ? lastId(plan, lastRow) : undefined;
  // A provider that returns the same row again would be requested for ever.
  const further = id === undefined || id === after ? undefined : plan.goOnAfter?.queryAfter(query, id);
  if (id !== undefined && further !== undefined) return { next: { query, after: id }, isCut: false };
  return { next: query + 1 < plan.queries.length ? { query: query + 1 } : undefined, isCut };
}

/** Returns the id behind which the query can continue. Undefined where it cannot. */
function lastId({ goOnAfter }: Plan, lastRow: Row | undefined): string | undefined {
  if (goOnAfter === undefined || lastRow === undefined) return undefined;
  const id = reader(goOnAfter.idField.name)(lastRow);
  return id == null ? undefined : String(id);
}

/** Returns the number of rows of the query, if the provider's number is plausible. */
export function totalOf({ total }: ListPage): number | undefined {
  return Number.isSafeInteger(total) && Number(total) >= 0 ? total : undefined;
}

/** An explanation of a query, for people. */
interface QueryExplanation {
  readonly parsed?: string;
  readonly pushed?: string;
  readonly residual?: string;
  /** Set where the possible values of the fields decide the filter. */
  readonly holds?: Constant;
  readonly pushdown: Plan['pushdown'];
  readonly predicates: readonly Decision[];
  readonly parameters: Readonly<Record<string, string | boolean>>;
  readonly sort: { readonly orderBy?: string; readonly pushed: boolean };
  readonly limit: { readonly providerPageSize: number; readonly pushed: boolean; readonly reason?: string };
  /** Absent when the connector needs several calls for a list, and when there is no call. */
  readonly request?: RequestPreview;
  readonly estimatedProviderCalls: number;
  /** The way in which a bulk job would find the rows. It is absent where the provider has no jobs for the object. */
  readonly bulk?: BulkExplanation;
}

/** The way in which a bulk job would find the rows of a query. */
export type BulkExplanation =
  /** The provider has a job that returns the rows. It is used from this number of rows on. */
  | { readonly way: 'native'; readonly fromRows: number; readonly request: RequestPreview }
  | { readonly way: 'paging'; readonly reason: string };

/** The page size of the API when a request names none. */
const PAGE_SIZE = 200;

/** Returns how a query would be processed, without sending it. */
export function explainQuery(
  client: ProviderClient,
  input: {
    readonly instance: ConnectedInstance;
    readonly operation: ListOperation<unknown>;
    readonly query: Query;
    readonly resultWindow: number | undefined;
  },
): QueryExplanation {
  const { instance, operation, query, resultWindow } = input;
  const { plan, condition, isDirect } = query;
  const isNever = plan.holds === 'never';
  const start = firstPosition(query, operation, { page: 1, pageSize: PAGE_SIZE, resultWindow });
  const listInput = toListInput({ query, start }, {});
  return {
    ...defined({
      parsed: condition && print(condition),
      pushed: plan.pushed && print(plan.pushed),
      residual: plan.residual && print(plan.residual),
      holds: plan.holds,
    }),
    pushdown: plan.pushdown,
    predicates: plan.decisions,
    parameters: Object.fromEntries(Object.entries(plan.parameters).map(([name, value]) => [name, plainValue(value)])),
    sort: { ...(plan.orderBy.length > 0 && { orderBy: printOrder(plan) }), pushed: plan.sortPushed },
    limit: { providerPageSize: start.limit, pushed: isDirect, ...limitReason(query) },
    ...('request' in operation &&
      !isNever && { request: client.preview(instance, operation.request(listInput, instance.config)) }),
    estimatedProviderCalls: isNever
      ? 0
      : Math.max(plan.queries.length, isDirect ? Math.ceil(PAGE_SIZE / start.limit) : 1),
  };
}

function plainValue(value: Value): string | boolean {
  return value.kind === 'string' || value.kind === 'boolean' ? value.value : value.text;
}

function printOrder({ orderBy }: Plan): string {
  return orderBy.map(({ field, direction }) => `${field.name} ${direction}`).join(', ');
}

function limitReason({ plan, isDirect }: Query): { readonly reason?: string } {
  if (isDirect) return {};
  return { reason: plan.sortPushed ? 'rows are checked again in the service' : 'rows are sorted in the service' };
}
