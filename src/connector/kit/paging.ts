import type { ListInput, ListPage, ProviderRequest, ProviderResponse } from '../contract.ts';
import { unusable } from '../define.ts';
import { json } from './json.ts';

/** A description of a provider's paging. The names are those of its parameters; `ListOptions.request` puts them into the request. */
export type Paging = WholePaging | OffsetPaging | NumberPaging | CursorPaging | LinkPaging;

/** A list that arrives as a whole, in the same order every time. */
export interface WholePaging {
  readonly kind: 'whole';
}

/** A page that can be requested without the one before it. */
interface ByPosition extends Ending {
  /** Maximum number of pages of one query that are requested at a time, see `ListOperation.pagesAtOnce`. Default 4. */
  readonly atOnce?: number;
}

/** Pages that begin at the number of a row, counted from 0. */
export interface OffsetPaging extends ByPosition {
  readonly kind: 'offset';
  /** The name of the parameter for the first row. */
  readonly offset: string;
  /** The name of the parameter for the number of rows. */
  readonly size: string;
  /** Maximum number of rows per page. */
  readonly max: number;
}

/** Pages that have a number. A page can only begin at a multiple of its size, so the kit requests one that holds the wanted rows. */
export interface NumberPaging extends ByPosition {
  readonly kind: 'number';
  /** The name of the parameter for the page number. */
  readonly page: string;
  /** The name of the parameter for the number of rows. */
  readonly size: string;
  /** Maximum number of rows per page. */
  readonly max: number;
  /** The number of the first page. Default 1. */
  readonly first?: number;
}

/** The sign in a response that rows follow. Without either member, the kit requests one row more than it returns. */
export interface Ending {
  /** Returns the number of all rows of the query, as number or digits. A response without it is an error. */
  readonly total?: (response: ProviderResponse) => unknown;
  /** Returns whether more rows follow the page. */
  readonly more?: (response: ProviderResponse) => boolean;
}

/** Pages that are requested by a text or a number from the page before. */
export interface CursorPaging extends Following {
  readonly kind: 'cursor';
  /** The name of the parameter for the cursor. */
  readonly cursor: string;
}

/** Pages that are requested by an address from the page before: see `nextLink`, or a member of the body. */
export interface LinkPaging extends Following {
  readonly kind: 'link';
  /** Returns the rest of a request that follows a link, such as its headers. */
  readonly follow?: (input: Pick<ListInput<unknown>, 'limit'>) => Pick<ProviderRequest, 'headers'>;
}

interface Following {
  /** The name of the parameter for the number of rows. Leave it out where the provider decides. */
  readonly size?: string;
  /** Maximum number of rows per page. */
  readonly max: number;
  /** Returns the cursor or the address of the next page. Null, undefined and empty text end the list. */
  readonly next: (response: ProviderResponse) => unknown;
  /** Returns the number of all rows of the query, where the response has it. */
  readonly total?: (response: ProviderResponse) => unknown;
}

type PageInput = Pick<ListInput<unknown>, 'limit' | 'cursor'>;

/** The parts of a list operation that depend on the paging: the parameters of a page, and the rows of its response. */
export interface Pager {
  readonly maxPageSize: number;
  readonly parameters: (input: PageInput) => Readonly<Record<string, string | number>>;
  readonly end: (input: PageInput, response: RowsOf) => ListPage;
  /** Returns the cursor of a row, counted from 0. Only pages by position have it. */
  readonly cursorAt?: (offset: number) => string;
  /** Maximum number of pages at a time. Only pages by position whose cost depends on their own rows have it. */
  readonly pagesAtOnce?: number;
}

interface RowsOf {
  readonly rows: readonly unknown[];
  readonly response: ProviderResponse;
}

/** Maximum number of rows per page of a list that arrives as a whole: the number that the core accepts from one call. */
const WHOLE_PAGE_SIZE = 5000;

/** Returns the paging parameters of a request, and the page of a response, for each kind of paging. */
export function createPager(paging: Paging): Pager {
  switch (paging.kind) {
    case 'whole':
      return {
        ...BY_POSITION,
        maxPageSize: WHOLE_PAGE_SIZE,
        parameters: () => ({}),
        end: (input, { rows, response }) =>
          endAt({ total: () => rows.length }, input, { rows: rows.slice(offsetOf(input)), response }),
      };
    case 'offset':
      return pageByOffset(paging);
    case 'number':
      return pageByNumber(paging);
    case 'cursor':
      return {
        maxPageSize: paging.max,
        parameters: (input) => ({
          ...sizeOf(paging, input),
          ...(input.cursor !== undefined && { [paging.cursor]: input.cursor }),
        }),
        end: endFollowed(paging),
      };
    case 'link':
      return { maxPageSize: paging.max, parameters: (input) => sizeOf(paging, input), end: endFollowed(paging) };
  }
}

/** Cursors are row numbers, because a page number has no meaning without its page size. */
const BY_POSITION = { cursorAt: String } satisfies Partial<Pager>;
/** Well below the number of concurrent requests that providers allow, so that other callers are not slowed down. */
const PAGES_AT_ONCE = 4;

function offsetOf({ cursor }: PageInput): number {
  return Number(cursor ?? 0);
}

function pageByOffset(paging: OffsetPaging): Pager {
  const extra = extraRows(paging);
  return {
    ...BY_POSITION,
    pagesAtOnce: paging.atOnce ?? PAGES_AT_ONCE,
    maxPageSize: paging.max - extra,
    parameters: (input) => ({ [paging.offset]: offsetOf(input), [paging.size]: input.limit + extra }),
    end: (input, page) => endAt(paging, input, page),
  };
}

function pageByNumber(paging: NumberPaging): Pager {
  const { first = 1, max, atOnce = PAGES_AT_ONCE } = paging;
  const extra = extraRows(paging);
  return {
    ...BY_POSITION,
    pagesAtOnce: atOnce,
    maxPageSize: max - extra,
    parameters: (input) => {
      const { index, size } = findWindow(offsetOf(input), input.limit + extra, max);
      return { [paging.page]: first + index, [paging.size]: size };
    },
    end: (input, { rows, response }) => {
      const wanted = input.limit + extra;
      const { size, skip } = findWindow(offsetOf(input), wanted, max);
      // A page that is too short for the wanted rows and full says nothing of what follows.
      const isOpen = size - skip < wanted && rows.length >= size;
      return endAt(paging, input, { rows: rows.slice(skip), response }, isOpen);
    },
  };
}

/** Returns 1 where an extra row, which is never returned, shows whether the list continues. */
function extraRows({ total, more }: Ending): number {
  return total === undefined && more === undefined ? 1 : 0;
}

/** `rows` begins with the first wanted row. `isOpen` decides whether the list continues where the ending does not show it. */
function endAt(
  { total: totalIn, more }: Ending,
  input: PageInput,
  { rows, response }: RowsOf,
  isOpen = false,
): ListPage {
  const records = rows.slice(0, input.limit);
  const end = offsetOf(input) + records.length;
  const total = totalIn && json.count(totalIn(response), 'the number of all rows');
  const hasMore = more?.(response) ?? isOpen;
  const goesOn = total === undefined ? hasMore || rows.length > records.length : end < total;
  const next = goesOn && records.length > 0 ? { next: String(end) } : undefined;
  return total === undefined ? { records, ...next } : { records, total, ...next };
}

/** A page of the provider that begins `skip` rows before the wanted ones. */
interface PageWindow {
  /** The number of the page, from 0. */
  readonly index: number;
  readonly size: number;
  readonly skip: number;
}

/**
 * Returns the smallest page of at most `max` rows that holds `count` rows from `offset` on. Where there is none, it returns the page with
 * the most of them.
 */
export function findWindow(offset: number, count: number, max: number): PageWindow {
  let best = { index: 0, size: count, skip: Number.POSITIVE_INFINITY };
  for (let size = count; ; size++) {
    const skip = offset % size;
    if (size - skip > best.size - best.skip) best = { index: (offset - skip) / size, size, skip };
    if (best.size - best.skip >= count || size >= max) return best;
  }
}

function sizeOf({ size }: Following, { limit }: PageInput): Readonly<Record<string, number>> {
  return size === undefined ? {} : { [size]: limit };
}

function endFollowed({ next, total }: Following): Pager['end'] {
  return ({ cursor }, { rows, response }) => {
    const onward = toText(next(response));
    if (onward !== undefined && onward === cursor) {
      throw unusable('The provider returned the current page as the next one, so the list would never end.');
    }
    const all = Number(total?.(response) ?? Number.NaN);
    return {
      records: rows,
      ...(Number.isSafeInteger(all) && { total: all }),
      ...(onward !== undefined && { next: onward }),
    };
  };
}

function toText(cursor: unknown): string | undefined {
  return json.findText(typeof cursor === 'number' ? String(cursor) : cursor);
}

/** Returns the address of the next page from the header `Link` (RFC 8288), or undefined. */
export function nextLink({ headers }: ProviderResponse): string | undefined {
  const links = (headers.link ?? '').matchAll(/<([^<>]*)>((?:\s*;\s*[^\s=;,]+\s*=\s*(?:"[^"]*"|[^",;\s]+))*)/g);
  return [...links].find(([, , parameters = '']) =>
    /;\s*rel\s*=\s*"?(?:[^"]*\s)?next(?=["\s;]|$)/i.test(parameters),
  )?.[1];
}
