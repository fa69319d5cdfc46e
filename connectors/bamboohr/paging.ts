import type { ListInput, ListPage } from '#connector';

/** Rows of one dataset page, and of the answer to any other list in one piece. */
export const MAX_PAGE_SIZE = 1000;

/** The first row of a page, from 0. Cursors are row numbers, because a page number means nothing without its page size. */
export function getOffset(input: Pick<ListInput<unknown>, 'cursor'>): number {
  return Number(input.cursor ?? 0);
}

export const cursorAt: (offset: number) => string = String;

/** A page of BambooHR that begins `skip` rows before the wanted ones. */
export interface PageWindow {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly skip: number;
}

/**
 * The smallest page of BambooHR that holds the rows from `offset` on: its pages begin only at multiples of their size. Where no
 * page of at most 1,000 rows holds them all, the one that holds the most of them.
 */
export function findWindow(offset: number, limit: number): PageWindow {
  for (let pageSize = limit; pageSize <= MAX_PAGE_SIZE; pageSize++) {
    const skip = offset % pageSize;
    if (skip + limit <= pageSize) return { page: (offset - skip) / pageSize + 1, pageSize, skip };
  }
  const pageSize = findSizeWithLeastSkip(offset, limit);
  const skip = offset % pageSize;
  return { page: (offset - skip) / pageSize + 1, pageSize, skip };
}

function findSizeWithLeastSkip(offset: number, limit: number): number {
  let best = limit;
  for (let pageSize = limit; pageSize <= MAX_PAGE_SIZE; pageSize++) {
    if (pageSize - (offset % pageSize) > best - (offset % best)) best = pageSize;
  }
  return best;
}

/** The wanted rows of an answer that holds all of them, for the endpoints that do not page. */
export function takePage(all: readonly unknown[], input: ListInput<unknown>): ListPage {
  const offset = getOffset(input);
  const end = offset + input.limit;
  return {
    records: all.slice(offset, end),
    total: all.length,
    ...(end < all.length && { next: cursorAt(end) }),
  };
}
