import type { PageQuery } from '../db/listing.ts';
import { AppError } from '../errors.ts';
import { listHeaders } from '../http/response.ts';

/** Encryption of list positions as text that callers can neither read nor change. */
export interface PageSeal {
  readonly seal: (plain: string, context: string) => string;
  readonly open: (sealed: string, context: string) => string | undefined;
}

/** The page size of a request that names none: the default of the spec. */
export const PAGE_SIZE = 200;

interface PageListing<Row, View> {
  /** Values that identify the list independently of its pages. A page token is valid only for a list with the same values. */
  readonly context: readonly unknown[];
  /** Reads a page, whose rows are in the order of their ids, and the `last` row unless it is the last page. */
  readonly read: (
    page: PageQuery,
  ) => Promise<{ readonly rows: readonly Row[]; readonly last: { readonly id: number } | undefined }>;
  readonly toView: (row: Row) => View;
}

/** The part of a request that selects a page. */
export interface PageRequest {
  readonly query: {
    readonly where?: string | undefined;
    readonly pageSize?: number | undefined;
    readonly nextPage?: string | undefined;
  };
  readonly url: string;
}

/**
 * Returns the response with one page of a list.
 * @throws AppError REQUEST_INVALID for a token of another list, and what `read` throws
 */
export async function respondWithPage<Row, View>(
  seal: PageSeal,
  { query: { where, pageSize: limit = PAGE_SIZE, nextPage }, url }: PageRequest,
  { context, read, toView }: PageListing<Row, View>,
) {
  const tokens = createPageTokens(seal, JSON.stringify(context));
  const { rows, last } = await read({ where, limit, afterId: tokens.read(nextPage) });
  return { body: rows.map(toView), headers: listHeaders(rows.length, { url, token: tokens.write(last?.id) }) };
}

/** Creates the page tokens of one listing with its filters. The token of another listing is rejected. */
export function createPageTokens(pageSeal: PageSeal, context: string) {
  const { read, write } = createPositionTokens(pageSeal, context);
  return {
    /**
     * Reads a page token.
     * @throws AppError REQUEST_INVALID
     */
    read: (token: string | undefined): number | undefined => {
      const position = read(token);
      return position === undefined ? undefined : Number(position);
    },
    write: (afterId: number | undefined) => write(afterId?.toString()),
  };
}

/** Variant of `createPageTokens` for lists whose positions are texts. */
export function createPositionTokens({ seal, open }: PageSeal, context: string) {
  return {
    read: (token: string | undefined): string | undefined => {
      if (token === undefined) return undefined;
      const position = open(token, context);
      if (position !== undefined) return position;
      const message =
        'nextPage does not belong to this listing. Send the token of the previous page, with the same filters.';
      throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/query/nextPage', message }] });
    },
    write: (position: string | undefined) => (position === undefined ? undefined : seal(position, context)),
  };
}
