import {
  type ComparisonOperator,
  type Config,
  type Domain,
  isNotFound,
  type Json,
  json,
  type ListInput,
  type ListOperation,
  type ListPage,
  nextLink,
  type ProviderRequest,
  type ProviderResponse,
  rejected,
  type Translator,
  unusable,
  type Value,
} from '#connector';

/** The two ends of a range, both inclusive: numbers, or milliseconds since 1970. */
interface Range {
  readonly from?: number;
  readonly to?: number;
}

/** A search: words and ranges that are joined by AND. */
export interface Search {
  readonly words: readonly string[];
  /** Ranges by qualifier. Two bounds of the same qualifier become one range. */
  readonly ranges: Readonly<Record<string, Range>>;
  /** Number of operators OR inside the words, and how deep their parentheses are. */
  readonly operators: number;
  readonly depth: number;
  /** Whether a range inside the words is one whose meaning GitHub does not document. */
  readonly isOdd: boolean;
}

/** Maximum number of results of a search. Source: "REST API endpoints for search", "About search". */
const MOST_RESULTS = 1000;
const MOST_ROWS = 100;
/** Source: the same page, "Limitations on query length". */
const LONGEST_QUERY = 256;
const MOST_OPERATORS = 5;
/** Source: "Filtering and searching issues and pull requests", "Using parentheses for more complicated filters". */
const MOST_LEVELS = 5;

/** Texts that need no quotes inside quotes. GitHub does not document how to write others. */
const QUOTABLE = /^[^"\\\p{Cc}]+$/u;
export const QUOTED: Domain = {
  text: { nonEmpty: true, askable: (text) => QUOTABLE.test(text) && text.trim() === text },
};
/** Logins of people, and of applications with `[bot]` at their end. */
export const LOGINS: Domain = {
  text: { nonEmpty: true, possible: (text) => /^[A-Za-z0-9][A-Za-z0-9_-]*(?:\[bot\])?$/.test(text) },
};

/** Returns a login as a search has it. Source: "Searching issues and pull requests", "Search by author". */
export function searchedLogin(login: string): string {
  return login.endsWith('[bot]') ? `app/${login.slice(0, -'[bot]'.length)}` : login;
}

/** Returns a text in quotes. @throws AppError PROVIDER_REJECTED for a text that cannot be written */
export function quote(text: string): string {
  if (!QUOTABLE.test(text)) throw rejected(`GitHub cannot search for '${text}', because of its quotes.`);
  return `"${text}"`;
}

/** The qualifiers of an object's search, by native field. */
interface Qualifiers {
  /** Qualifiers of ranges. Dates have whole seconds. */
  readonly ranges: Readonly<Record<string, string>>;
  /** Returns the word for `=`. */
  readonly words: Readonly<Record<string, (text: string) => string>>;
  /** The words for IS NULL and IS NOT NULL. */
  readonly missing?: Readonly<Record<string, readonly [isNull: string, isNotNull?: string]>>;
  /** Number of characters that the rest of the query needs. */
  readonly reserved: number;
}

const SECOND_MS = 1000;

/** A search that names a user or a repository that does not exist fails as a whole. */
const FALLIBLE = /(?:^|[ (-])(?:author|assignee|repo):/;

/** Returns the translator of an object. Source: "Searching issues and pull requests", and "Building advanced filters for issues". */
export function searchBy({ ranges, words, missing = {}, reserved }: Qualifiers): Translator<Search> {
  return {
    compare: (field, operator, value) => {
      const range = ranges[field.native];
      if (range !== undefined) return { ...NOTHING, ranges: { [range]: rangeOf(operator, value) } };
      return wordsOf(`${operator === '!=' ? '-' : ''}${present(words[field.native], field.native)(textOf(value))}`);
    },
    isNull: ({ native }, isNegated) => wordsOf(present(missing[native]?.[isNegated ? 1 : 0], native)),
    and: (operands) => operands.reduce(joinSearches, NOTHING),
    or: (operands) => ({
      words: [`(${operands.map(groupOf).join(' OR ')})`],
      ranges: {},
      operators: operands.length - 1 + operands.reduce((sum, { operators }) => sum + operators, 0),
      isOdd: operands.some(isOdd),
      depth: 1 + Math.max(...operands.map((operand) => operand.depth + Number(termsIn(operand) > 1))),
    }),
    fault: (search) => {
      if (search.operators > MOST_OPERATORS) return `GitHub accepts at most ${MOST_OPERATORS} operators in a search`;
      if (search.depth > MOST_LEVELS) return `GitHub accepts at most ${MOST_LEVELS} levels of parentheses in a search`;
      if (printSearch(search).length > LONGEST_QUERY - reserved)
        return `GitHub accepts at most ${LONGEST_QUERY} characters in a search`;
      if (search.words.some((word) => word.startsWith('(') && FALLIBLE.test(word)))
        return 'GitHub rejects a whole search because of one user or repository that it does not know';
      return isOdd(search) ? 'GitHub does not document a range that ends before it begins' : undefined;
    },
  };
}

const NOTHING: Search = { words: [], ranges: {}, operators: 0, depth: 0, isOdd: false };

const wordsOf = (...words: readonly string[]): Search => ({ ...NOTHING, words });

function present<Entry>(entry: Entry, native: string): NonNullable<Entry> {
  if (entry == null) throw new Error(`The field '${native}' declares an operator, but has no qualifier for it.`);
  return entry;
}

function textOf(value: Value): string {
  return value.kind === 'string' || value.kind === 'boolean' ? String(value.value) : value.text;
}

function rangeOf(operator: ComparisonOperator, value: Value): Range {
  const [at, step] = value.kind === 'datetime' ? [value.epochMs, SECOND_MS] : [Number(textOf(value)), 1];
  if (operator === '=') return { from: at, to: at };
  if (operator.startsWith('>')) return { from: operator === '>' ? at + step : at };
  return { to: operator === '<' ? at - step : at };
}

function joinRanges(one: Range = {}, other: Range = {}): Range {
  const from = Math.max(one.from ?? Number.NEGATIVE_INFINITY, other.from ?? Number.NEGATIVE_INFINITY);
  const to = Math.min(one.to ?? Number.POSITIVE_INFINITY, other.to ?? Number.POSITIVE_INFINITY);
  return { ...(Number.isFinite(from) && { from }), ...(Number.isFinite(to) && { to }) };
}

function joinSearches(one: Search, other: Search): Search {
  const names = [...new Set([...Object.keys(one.ranges), ...Object.keys(other.ranges)])];
  return {
    words: [...one.words, ...other.words],
    ranges: Object.fromEntries(names.map((name) => [name, joinRanges(one.ranges[name], other.ranges[name])])),
    operators: one.operators + other.operators,
    depth: Math.max(one.depth, other.depth),
    isOdd: one.isOdd || other.isOdd,
  };
}

/** Qualifiers of ranges that are numbers, not instants. */
const NUMBERS: ReadonlySet<string> = new Set(['comments', 'stars', 'forks', 'size']);

function printSearch({ words, ranges }: Search): string {
  const printed = Object.entries(ranges).map(([name, { from, to }]) => {
    const print = (at: number) => (NUMBERS.has(name) ? String(at) : instantText(at));
    if (to !== undefined && to < 0 && NUMBERS.has(name)) return `${name}:<0`;
    if (from === undefined) return `${name}:<=${print(to ?? 0)}`;
    return to === undefined ? `${name}:>=${print(from)}` : `${name}:${print(from)}..${print(to)}`;
  });
  return [...words, ...printed].join(' ');
}

function isOdd({ isOdd: isOddInside, ranges }: Search): boolean {
  const isEmpty = ({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: Range) => from > to;
  return isOddInside || Object.values(ranges).some(isEmpty);
}

/** Returns an operand of OR. Terms without an operator between them are joined by AND. */
function groupOf(search: Search): string {
  const text = printSearch(search);
  return termsIn(search) > 1 ? `(${text})` : text;
}

function termsIn({ words, ranges }: Search): number {
  return words.length + Object.keys(ranges).length;
}

export function instantText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}

/** An object that is listed as a whole or searched. */
interface Source {
  /** The path of the search. */
  readonly search: string;
  /** Returns the qualifiers of every search. */
  readonly base: (config: Config, input: ListInput<Search>) => readonly string[];
  /** Returns the request of a list without a search, or undefined where only a search finds the rows. */
  readonly plain: (config: Config, input: ListInput<Search>) => ProviderRequest | undefined;
  /** The words for `sort` by native field. A walk over more than 1,000 results continues by a range of the same name. */
  readonly sorts: Readonly<Record<string, string>>;
  /** Whether `sorts` are instants, by which a walk can continue. */
  readonly continues: boolean;
  /** Returns whether a row of a list is a record of the object. */
  readonly isRow?: (row: Json, input: ListInput<Search>) => boolean;
  /** Returns the native record of a row. */
  readonly toRecord: (row: Json) => Json;
}

/** The position of a page. */
interface Position {
  /** GitHub's address of the page. It is absent for the first page of a search that continues another one. */
  readonly url?: string;
  /** The instant behind which a search continues. */
  readonly after?: number;
  /** The last instant of the page before, and the ids of the rows with it, which a search that continues finds again. */
  readonly last?: number | undefined;
  readonly seen?: readonly string[];
  /** Number of rows of the search so far. */
  readonly count?: number;
}

/** Returns the list of an object. Pages are at the addresses of the header `Link`. */
export function listOf(source: Source): ListOperation<Search> {
  const request = (input: ListInput<Search>, config: Config) => {
    const { url, after } = readPosition(input);
    return url === undefined ? firstRequest(source, input, { config, after }) : { url };
  };
  const read = (response: ProviderResponse, input: ListInput<Search>) => readPage(source, response, input);
  return {
    maxPageSize: MOST_ROWS,
    request,
    read,
    run: async ({ send, config }, input) => {
      try {
        return read(await send(request(input, config)), input);
      } catch (error) {
        // GitHub rejects the names of unknown users. See `classify`.
        if (isNotFound(error) && FALLIBLE.test(input.filter?.words.join(' ') ?? '')) return { records: [] };
        throw error;
      }
    },
  };
}

function readPosition({ cursor }: Pick<ListInput<Search>, 'cursor'>): Position {
  return cursor === undefined ? {} : JSON.parse(cursor);
}

interface Sorting {
  readonly sort?: string | undefined;
  /** The native field by which the rows are sorted. */
  readonly native?: string | undefined;
  readonly direction: 'asc' | 'desc';
}

function sortingOf({ sorts }: Source, { orderBy: [term] }: ListInput<Search>): Sorting {
  const native = term?.field.native ?? Object.keys(sorts)[0];
  return { native, sort: sorts[native ?? ''], direction: term?.direction ?? 'asc' };
}

interface Start {
  readonly config: Config;
  readonly after: number | undefined;
}

function firstRequest(source: Source, input: ListInput<Search>, { config, after }: Start): ProviderRequest {
  const plain = source.plain(config, input);
  if (plain !== undefined) return { ...plain, query: { ...plain.query, per_page: input.limit } };
  const { sort, direction } = sortingOf(source, input);
  const isSorted = source.continues || input.orderBy.length > 0;
  const bound = { [direction === 'asc' ? 'from' : 'to']: after };
  const rest = after === undefined || sort === undefined ? NOTHING : { ...NOTHING, ranges: { [sort]: bound } };
  return {
    path: source.search,
    query: {
      q: [...source.base(config, input), printSearch(joinSearches(input.filter ?? NOTHING, rest))].join(' ').trim(),
      ...(isSorted && { sort, order: direction }),
      ...(source.continues && { advanced_search: 'true' }),
      per_page: input.limit,
    },
  };
}

function readPage(source: Source, response: ProviderResponse, input: ListInput<Search>): ListPage {
  const { body } = response;
  const isWhole = Array.isArray(body);
  const rows = json.objects(isWhole ? body : json.at(body, 'items'), 'the records');
  const position = readPosition(input);
  const records = rows.filter((row) => source.isRow?.(row, input) !== false).map(source.toRecord);
  const url = nextLink(response);
  if (url !== undefined && url === position.url) throw unusable('GitHub returned the same page as the next one.');
  if (isWhole) return url === undefined ? { records } : { records, next: JSON.stringify({ url } satisfies Position) };
  const total = json.count(json.at(body, 'total_count'), 'the number of results');
  const reached = reachedBy(source, records, { input, position });
  const count = (position.count ?? 0) + rows.length;
  const isCut = rows.length > 0 && total > count && (source.continues || count >= MOST_RESULTS);
  const next =
    url === undefined ? continueAfter(source, isCut, { position, reached }) : { ...position, ...reached, count, url };
  const fresh = records.filter(({ id }) => position.seen?.includes(String(id)) !== true);
  return {
    records: fresh,
    ...(next !== undefined && { next: JSON.stringify(next) }),
    ...(input.cursor === undefined && { total }),
  };
}

type Reached = Pick<Position, 'last' | 'seen'>;

interface Walk {
  readonly input: ListInput<Search>;
  readonly position: Position;
}

/** Returns the last instant of a page, and the ids of all rows so far that have it. */
function reachedBy(source: Source, records: readonly Json[], { input, position }: Walk): Reached {
  const { native } = sortingOf(source, input);
  const instantOf = (record: Json | undefined) => Date.parse(String(record?.[native ?? '']));
  const last = instantOf(records.at(-1));
  if (!source.continues || Number.isNaN(last)) return {};
  const seen = records.filter((record) => instantOf(record) === last).map(({ id }) => String(id));
  return { last, seen: last === position.last ? [...(position.seen ?? []), ...seen] : seen };
}

interface End {
  readonly position: Position;
  readonly reached: Reached;
}

/**
 * Returns the beginning of a further search behind the 1,000 results that GitHub shows of one search.
 * @throws AppError where there is none
 */
function continueAfter({ continues }: Source, isCut: boolean, { position, reached }: End): Position | undefined {
  if (!isCut) return undefined;
  if (!continues)
    throw rejected(`GitHub shows ${MOST_RESULTS} results of a search, and this one has more. Narrow the filter.`);
  if (reached.last === undefined || reached.last === position.after)
    throw unusable(`More than ${MOST_RESULTS} records have the same time, and GitHub shows no more of them.`);
  return { ...reached, after: reached.last };
}
