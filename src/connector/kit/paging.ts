import type { ListInput, ListPage, ProviderRequest, ProviderResponse } from '../contract.ts';
import { unusable } from '../define.ts';
import { json } from './json.ts';

/** How a provider gives a list in parts. Names are those of its parameters; `ListOptions.request` puts them where they belong. */
export type Paging = WholePaging | OffsetPaging | NumberPaging | CursorPaging | LinkPaging;

/** Everything at once, in the same order every time. */
export interface WholePaging {
  readonly kind: 'whole';
}

/** Where a page is found without the one in front of it. */
interface ByPosition extends Ending {
  /** Pages of one query that may be under way at a time, see `ListOperation`. Default 4. */
  readonly atOnce?: number;
}

/** By the number of the first row, from 0. */
export interface OffsetPaging extends ByPosition {
  readonly kind: 'offset';
  readonly offset: string;
  readonly size: string;
  /** Most rows of a page. */
  readonly max: number;
}

/** By the number of the page. Pages begin at multiples of their size only, so one is asked for that holds the wanted rows. */
export interface NumberPaging extends ByPosition {
  readonly kind: 'number';
  readonly page: string;
  readonly size: string;
  readonly max: number;
  /** The number of the first page. Default 1. */
  readonly first?: number;
}

/** How a list by position shows that it ends. Without either it is asked for one row more than is shown. */
export interface Ending {
  /** The number of all rows of the query. An answer without it is an error. */
  readonly total?: (response: ProviderResponse) => unknown;
  /** Whether rows follow those of the page. */
  readonly more?: (response: ProviderResponse) => boolean;
}

/** By a text or number that comes with each page. */
export interface CursorPaging extends Following {
  readonly kind: 'cursor';
  readonly cursor: string;
}

/** By an address that comes with each page: see `nextLink`, or a member of the body. */
export interface LinkPaging extends Following {
  readonly kind: 'link';
  /** The rest of a call that follows a link, e.g. its headers. */
  readonly follow?: (input: Pick<ListInput<unknown>, 'limit'>) => Pick<ProviderRequest, 'headers'>;
}

interface Following {
  /** Left out where a client cannot wish for a number of rows. */
  readonly size?: string;
  readonly max: number;
  /** Where to go on. Null, empty text and the like at the end. */
  readonly next: (response: ProviderResponse) => unknown;
  readonly total?: (response: ProviderResponse) => unknown;
}

type PageInput = Pick<ListInput<unknown>, 'limit' | 'cursor'>;

/** Both halves of a page: what it is asked for with, and what of the answer belongs to it. */
export interface Pager {
  readonly maxPageSize: number;
  readonly parameters: (input: PageInput) => Readonly<Record<string, string | number>>;
  readonly end: (input: PageInput, answer: RowsOf) => ListPage;
  /** For lists by position. */
  readonly cursorAt?: (offset: number) => string;
  /** For those of them whose pages cost no more than their own rows. */
  readonly pagesAtOnce?: number;
}

interface RowsOf {
  readonly rows: readonly unknown[];
  readonly response: ProviderResponse;
}

/** Of an answer that holds everything, as many as the core takes with one call. */
const WHOLE_PAGE_SIZE = 5000;

export function createPager(paging: Paging): Pager {
  switch (paging.kind) {
    case 'whole':
      return {
        ...BY_POSITION,
        maxPageSize: WHOLE_PAGE_SIZE,
        parameters: () => ({}),
        end: (input, { rows }) => endAt(input, rows.slice(offsetOf(input)), { total: rows.length }),
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

/** Cursors are row numbers: a page number means nothing without its page size. */
const BY_POSITION = { cursorAt: String } satisfies Partial<Pager>;
/** Far below what providers let one client do at a time, so that callers have the rest. */
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
    end: (input, { rows, response }) => endAt(input, rows, endingOf(paging, response)),
  };
}

function pageByNumber(paging: NumberPaging): Pager {
  const { first = 1, max, atOnce = PAGES_AT_ONCE } = paging;
  const extra = extraRows(paging);
  const windowOf = (input: PageInput) => findWindow(offsetOf(input), input.limit + extra, max);
  return {
    ...BY_POSITION,
    pagesAtOnce: atOnce,
    maxPageSize: max - extra,
    parameters: (input) => {
      const { index, size } = windowOf(input);
      return { [paging.page]: first + index, [paging.size]: size };
    },
    end: (input, { rows, response }) => {
      const { size, skip } = windowOf(input);
      // A page that is too short for the wanted rows and full says nothing of what follows.
      const isOpen = size - skip < input.limit + extra && rows.length >= size;
      return endAt(input, rows.slice(skip), { more: isOpen, ...endingOf(paging, response) });
    },
  };
}

/** The one that is never shown, and tells by being there that the list goes on. */
function extraRows({ total, more }: Ending): number {
  return total === undefined && more === undefined ? 1 : 0;
}

interface Ended {
  readonly total?: number;
  readonly more?: boolean;
}

function endingOf({ total, more }: Ending, response: ProviderResponse): Ended {
  return {
    ...(total !== undefined && { total: json.count(total(response), 'the number of all rows') }),
    ...(more !== undefined && { more: more(response) }),
  };
}

/** `rows` begin with the first wanted one. */
function endAt(input: PageInput, rows: readonly unknown[], { total, more = false }: Ended): ListPage {
  const records = rows.slice(0, input.limit);
  const end = offsetOf(input) + records.length;
  const goesOn = total === undefined ? more || rows.length > records.length : end < total;
  return {
    records,
    ...(total !== undefined && { total }),
    ...(goesOn && records.length > 0 && { next: String(end) }),
  };
}

/** A page of a provider that begins `skip` rows before the wanted ones. */
interface PageWindow {
  /** From 0. */
  readonly index: number;
  readonly size: number;
  readonly skip: number;
}

/** The smallest page of at most `max` rows that holds `count` rows from `offset` on; where there is none, the one with the most of them. */
export function findWindow(offset: number, count: number, max: number): PageWindow {
  let best = windowAt(offset, count);
  for (let size = count; size <= max && best.size - best.skip < count; size++) {
    const next = windowAt(offset, size);
    if (next.size - next.skip > best.size - best.skip) best = next;
  }
  return best;
}

function windowAt(offset: number, size: number): PageWindow {
  const skip = offset % size;
  return { index: (offset - skip) / size, size, skip };
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

/** The address of the next page in the header `Link` (RFC 8288). */
export function nextLink({ headers }: ProviderResponse): string | undefined {
  const links = (headers.link ?? '').matchAll(/<([^<>]*)>((?:\s*;\s*[^\s=;,]+\s*=\s*(?:"[^"]*"|[^",;\s]+))*)/g);
  return [...links].find(([, , parameters = '']) =>
    /;\s*rel\s*=\s*"?(?:[^"]*\s)?next(?=["\s;]|$)/i.test(parameters),
  )?.[1];
}
