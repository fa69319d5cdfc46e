import fc from 'fast-check';
import type { Filter } from '../src/where/ast.ts';
import type { ApiAnswer } from '../test/support/app.ts';
import type { Effort } from './effort.ts';
import { filtersOn, predicatesFor, printFilter } from './filters.ts';
import { literalsFor } from './literals.ts';
import { evaluate } from './reference.ts';
import {
  budgetOf,
  getOk,
  idOnly,
  idsOf,
  LARGEST_BUDGET,
  type Listing,
  listAll,
  type Row,
  type Target,
} from './target.ts';

/** A query whose pages are tested. */
export interface PagedQuery {
  readonly kind: string;
  readonly where?: string;
  readonly orderBy?: string;
  /** Number of rows of the query. */
  readonly rows: number;
}

/**
 * Finds queries of each kind: all rows; filters that match some tens of rows, or one or two; evaluated by the provider alone, and with a
 * residual filter; sorted.
 */
export async function findQueries(
  target: Target,
  listing: Listing,
  { candidates, tried, everyKind, seed }: Pick<Effort, 'candidates' | 'tried' | 'everyKind' | 'seed'>,
): Promise<readonly PagedQuery[]> {
  const costly = findCostly(listing);
  const samples = fc
    .sample(filtersOn(listing), { numRuns: candidates, seed })
    .filter((filter) => !costly.some((name) => printFilter(filter).includes(name)));
  const counted = samples.map((filter) => ({ filter, rows: countMatches(listing, filter) }));
  const isSome = ({ rows }: { readonly rows: number }) => rows >= 9 && rows <= 60;
  const some = counted.filter(isSome).slice(0, tried);
  const sparse = counted.filter(({ rows }) => rows === 1 || rows === 2);
  const found = await Promise.all([
    findQuery(target, listing, {
      candidates: some,
      pushdown: /full/,
      kind: 'pushed',
    }),
    findQuery(target, listing, { candidates: some, pushdown: /partial|none/, kind: 'residual' }),
    findQuery(target, listing, {
      candidates: sparse.slice(0, tried),
      pushdown: /partial|none/,
      kind: 'sparse',
    }),
  ]);
  const [pushed, residual] = found;
  return [
    { kind: 'everything', rows: listing.rows.length },
    ...found.flatMap((query) => query ?? []),
    ...(pushed === undefined && everyKind ? await findPushed(target, listing, { tried, isSome }) : []),
    ...(residual === undefined ? [] : findOrders(listing).map((orderBy) => ({ ...residual, kind: 'sorted', orderBy }))),
  ];
}

/**
 * Returns the fields that may need calls of their own for one page: lists on demand. These tests count the calls of a page, so they avoid
 * such fields.
 */
function findCostly({ object }: Listing): readonly string[] {
  return Object.keys(object.fields).filter((name) => {
    const { onDemand, type } = object.fields[name] ?? {};
    return onDemand === true && type === 'array';
  });
}

/** Returns a field that the provider sorts by, and one that it does not, if there are such fields. */
function findOrders({ object, idField }: Listing): readonly string[] {
  const simple = Object.entries(object.fields).filter(
    ([name, { type }]) => /^\w+$/.test(name) && type !== 'object' && type !== 'array',
  );
  const found = [true, false].map((pushed) =>
    simple.find(([name, { sortable }]) => name !== idField && (sortable === true) === pushed),
  );
  return found.flatMap((entry) => (entry === undefined ? [] : [`${entry[0]} desc`]));
}

/** Finds a single predicate, because a provider with few abilities rarely evaluates a whole random filter. */
async function findPushed(
  target: Target,
  listing: Listing,
  { tried, isSome }: { readonly tried: number; readonly isSome: (counted: { readonly rows: number }) => boolean },
): Promise<readonly PagedQuery[]> {
  const alone = claimedAlone(listing).map((filter) => ({ filter, rows: countMatches(listing, filter) }));
  const candidates = alone.filter(isSome).slice(0, tried);
  const query = await findQuery(target, listing, { candidates, pushdown: /full/, kind: 'pushed' });
  return query === undefined ? [] : [query];
}

/** Returns one predicate for each literal of each operator that is declared exact. */
function claimedAlone({ object, rows }: Listing): readonly Filter[] {
  return Object.entries(object.fields).flatMap(([name, spec]) =>
    Object.entries(spec.filter ?? {})
      .filter(([, exactness]) => exactness === 'exact')
      .flatMap(([operator]) => predicatesFor(operator, name, literalsFor(name, spec, rows))),
  );
}

function countMatches({ rows, object }: Listing, filter: Filter): number {
  return rows.filter((row) => evaluate(filter, row, object.fields) === true).length;
}

interface Wanted {
  readonly candidates: readonly { readonly filter: Filter; readonly rows: number }[];
  readonly pushdown: RegExp;
  readonly kind: string;
}

async function findQuery(target: Target, listing: Listing, { candidates, pushdown, kind }: Wanted) {
  for (const { filter, rows } of candidates) {
    const where = printFilter(filter);
    const { headers } = await getOk(target, listing.path, { query: { where, pageSize: 1, ...idOnly(listing) } });
    if (pushdown.test(headers.get('elements-query-pushdown') ?? '')) return { kind, where, rows };
  }
  return undefined;
}

type Caller = Pick<Target, 'call'>;

/** A way to walk over the pages of a query. */
interface Walk {
  readonly pageSize: number;
  readonly by: 'nextPage' | 'page';
  readonly maxProviderCalls?: number;
}

/** Walks over the pages of a query in several ways, and returns the faults. */
export async function walkPages(
  target: Caller,
  listing: Listing,
  query: PagedQuery,
  { walks, pages: mostPages }: Pick<Effort, 'walks' | 'pages'>,
): Promise<readonly string[]> {
  // The list follows page tokens, because one response may not reach all rows within its budget, e.g. if it needs many queries to the
  // provider.
  const whole = await listAll(target, listing.path, toParameters(listing, query, { pageSize: 5000 }));
  const meant = idsOf(listing, whole);
  const faults: string[] = [];
  for (const walk of walksFor(query, mostPages).slice(0, walks)) {
    const pages =
      walk.by === 'page'
        ? await walkByNumber(target, listing, query, walk)
        : await walkByToken(target, listing, query, walk);
    const found = pages.flatMap(({ body }) => idsOf(listing, body));
    const what = `${listing.name} (${query.kind}) where ${query.where ?? '-'} in pages of ${walk.pageSize} by ${walk.by}${walk.maxProviderCalls === undefined ? '' : ` with ${walk.maxProviderCalls} provider calls each`}`;
    faults.push(...compareRows(found, meant).map((fault) => `${what}: ${fault}`));
    faults.push(
      ...pages
        .flatMap((page, index) => judgePage(page, { walk, query, isLast: index === pages.length - 1 }))
        .map((fault) => `${what}: ${fault}`),
    );
  }
  return faults;
}

/** Compares the rows of pages with those of one page: two pages of n rows are one page of 2n, in the same order (D3). */
function compareRows(found: readonly string[], whole: readonly string[]): readonly string[] {
  const isSame = (one: readonly string[], other: readonly string[]) => JSON.stringify(one) === JSON.stringify(other);
  if (isSame(found, whole)) return [];
  return isSame([...found].sort(), [...whole].sort())
    ? ['the rows of one page, in another order']
    : [`${found.length} rows (${new Set(found).size} different), but one page has ${whole.length}`];
}

/** Returns the ways to walk. Pages of one row are used only if there are few rows. */
function walksFor({ rows, orderBy }: PagedQuery, mostPages: number): readonly Walk[] {
  const least = Math.ceil(rows / mostPages);
  const small: readonly Walk[] = rows > 30 || least > 1 ? [] : [{ pageSize: 1, by: 'nextPage' }];
  return [
    ...small,
    { pageSize: Math.max(7, least), by: 'nextPage' },
    { pageSize: 200, by: 'nextPage' },
    { pageSize: Math.max(rows, 1), by: 'nextPage' },
    { pageSize: rows > 100 ? 70 : 7, by: 'page' },
    { pageSize: 200, by: 'page' },
    // Rows that Causeway sorts are needed all at once, so a small budget causes an error.
    ...(orderBy === undefined ? [1, 2, 3] : []).map(
      (maxProviderCalls): Walk => ({ pageSize: 25, by: 'nextPage', maxProviderCalls }),
    ),
  ];
}

function toParameters(
  listing: Listing,
  { where, orderBy }: PagedQuery,
  paging: Readonly<Record<string, string | number | undefined>>,
) {
  return { where, orderBy, ...idOnly(listing), ...paging };
}

const MOST_PAGES = 1000;

async function walkByToken(target: Caller, listing: Listing, query: PagedQuery, { pageSize, maxProviderCalls }: Walk) {
  const headers = maxProviderCalls === undefined ? {} : budgetOf(maxProviderCalls);
  const pages: ApiAnswer[] = [];
  for (let nextPage: string | undefined; pages.length < MOST_PAGES; ) {
    const page = await getOk(target, listing.path, {
      query: toParameters(listing, query, { pageSize, nextPage }),
      headers,
    });
    pages.push(page);
    nextPage = page.headers.get('elements-next-page-token') ?? undefined;
    if (nextPage === undefined) return pages;
  }
  throw new Error(`${listing.name} (${query.kind}): the pages do not end.`);
}

/**
 * Reads pages by number, up to the last one and one beyond it. A page by number is found from the first row, so a budget that is used up on
 * the way has no next number. The budget is therefore the largest.
 */
async function walkByNumber(target: Caller, listing: Listing, query: PagedQuery, { pageSize }: Walk) {
  const headers = budgetOf(LARGEST_BUDGET);
  const pages: ApiAnswer[] = [];
  for (let page = 1; page < MOST_PAGES; page++) {
    const response = await getOk(target, listing.path, {
      query: toParameters(listing, query, { pageSize, page }),
      headers,
    });
    pages.push(response);
    if (!response.headers.has('elements-next-page-token')) break;
  }
  const beyond = await getOk(target, listing.path, {
    query: toParameters(listing, query, { pageSize, page: pages.length + 1 }),
    headers,
  });
  return beyond.body.length === 0 && !beyond.headers.has('elements-next-page-token') ? pages : [...pages, beyond];
}

interface Context {
  readonly walk: Walk;
  readonly query: PagedQuery;
  readonly isLast: boolean;
}

function judgePage({ body, headers }: ApiAnswer, { walk, query, isLast }: Context): readonly string[] {
  const rows: readonly Row[] = body;
  const total = headers.get('elements-total-count');
  const isCut = headers.get('elements-partial-result') === 'scan-budget';
  const hasNext = headers.has('elements-next-page-token');
  const calls = Number(headers.get('elements-provider-calls'));
  const when = (condition: boolean, fault: string) => (condition ? [fault] : []);
  return [
    ...when(rows.length > walk.pageSize, `a page of at most ${walk.pageSize} rows has ${rows.length}`),
    ...when(
      headers.get('elements-returned-count') !== String(rows.length),
      'Elements-Returned-Count is not the number of rows',
    ),
    ...when(
      hasNext && rows.length < walk.pageSize && !isCut,
      `a page before the last has only ${rows.length} rows, and is not marked as partial`,
    ),
    ...when(isCut && (!hasNext || rows.length === walk.pageSize), 'a full page, or the last one, is marked as partial'),
    ...when(isLast && hasNext, 'the last page has a token'),
    ...when(
      isLast && rows.length === 0 && query.rows > 0 && walk.maxProviderCalls === undefined,
      'the last page is empty: the page before should have had no token',
    ),
    ...when(
      total !== null && Number(total) !== query.rows,
      `Elements-Total-Count is ${total}, but there are ${query.rows} rows`,
    ),
    ...when(walk.maxProviderCalls !== undefined && calls > walk.maxProviderCalls, `${calls} provider calls`),
    ...when(headers.has('link') !== hasNext, 'Link and Elements-Next-Page-Token do not agree'),
  ];
}
