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

/** A query whose pages are tried. */
export interface PagedQuery {
  readonly kind: string;
  readonly where?: string;
  readonly orderBy?: string;
  /** How many rows there are. */
  readonly rows: number;
}

/** Everything; filters that leave some tens of rows, or one or two; answered by the provider alone, and with a recheck here; sorted. */
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

/** A list that is answered on demand may take calls of its own for one page; the calls of a page are counted here. */
function findCostly({ object }: Listing): readonly string[] {
  return Object.keys(object.fields).filter((name) => {
    const { onDemand, type } = object.fields[name] ?? {};
    return onDemand === true && type === 'array';
  });
}

/** By a field that the provider sorts, and by one that is sorted here, where there are such. */
function findOrders({ object, idField }: Listing): readonly string[] {
  const simple = Object.entries(object.fields).filter(
    ([name, { type }]) => /^\w+$/.test(name) && type !== 'object' && type !== 'array',
  );
  const found = [true, false].map((pushed) =>
    simple.find(([name, { sortable }]) => name !== idField && (sortable === true) === pushed),
  );
  return found.flatMap((entry) => (entry === undefined ? [] : [`${entry[0]} desc`]));
}

/** A predicate alone: few random filters are left whole to a provider that can do little. */
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

/** What is declared exact, one predicate each. */
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

/** One walk over the pages of a query. */
interface Walk {
  readonly pageSize: number;
  readonly by: 'nextPage' | 'page';
  readonly maxProviderCalls?: number;
}

/** What is wrong with the pages of a query, for as many ways to walk them as the effort is for. */
export async function walkPages(
  target: Caller,
  listing: Listing,
  query: PagedQuery,
  { walks, pages: mostPages }: Pick<Effort, 'walks' | 'pages'>,
): Promise<readonly string[]> {
  // In parts where the budget of one answer does not reach all rows, as with many provider queries of many windows each.
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

/** Two pages of n are one page of 2n: the same rows, in the same order (D3). */
function compareRows(found: readonly string[], whole: readonly string[]): readonly string[] {
  const isSame = (one: readonly string[], other: readonly string[]) => JSON.stringify(one) === JSON.stringify(other);
  if (isSame(found, whole)) return [];
  return isSame([...found].sort(), [...whole].sort())
    ? ['the rows of one page, in another order']
    : [`${found.length} rows (${new Set(found).size} different), but one page has ${whole.length}`];
}

/** Pages of one row only where there are few. */
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
    // What is sorted here needs all rows at once, and says so when the budget does not reach them.
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
 * Up to the first page that says that there is no more, and one beyond it. A page that is named by its number begins at the first row, and
 * where the budget ends on the way there is no next number to go on with; so the budget is the largest.
 */
async function walkByNumber(target: Caller, listing: Listing, query: PagedQuery, { pageSize }: Walk) {
  const headers = budgetOf(LARGEST_BUDGET);
  const pages: ApiAnswer[] = [];
  for (let page = 1; page < MOST_PAGES; page++) {
    const answer = await getOk(target, listing.path, {
      query: toParameters(listing, query, { pageSize, page }),
      headers,
    });
    pages.push(answer);
    if (!answer.headers.has('elements-next-page-token')) break;
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
    ...when(rows.length > walk.pageSize, `a page has ${rows.length} rows`),
    ...when(headers.get('elements-returned-count') !== String(rows.length), 'Elements-Returned-Count is not the count'),
    ...when(
      hasNext && rows.length < walk.pageSize && !isCut,
      `a page before the end has ${rows.length} rows only, and is not called partial`,
    ),
    ...when(isCut && (!hasNext || rows.length === walk.pageSize), 'a page that is full or the last is called partial'),
    ...when(isLast && hasNext, 'a token, although there is no more'),
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
