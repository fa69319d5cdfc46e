import { AppError } from '../errors.ts';

/** Encryption of list positions as text that callers can neither read nor change. */
export interface PageSeal {
  readonly seal: (plain: string, context: string) => string;
  readonly open: (sealed: string, context: string) => string | undefined;
}

/** Page tokens of one listing with its filters. The token of another listing is rejected. */
export interface PageTokens {
  /**
   * Reads a page token.
   * @throws AppError REQUEST_INVALID
   */
  readonly read: (token: string | undefined) => number | undefined;
  readonly write: (afterId: number | undefined) => string | undefined;
}

export function createPageTokens(pageSeal: PageSeal, context: string): PageTokens {
  const { read, write } = createPositionTokens(pageSeal, context);
  return {
    read: (token) => {
      const position = read(token);
      return position === undefined ? undefined : Number(position);
    },
    write: (afterId) => write(afterId?.toString()),
  };
}

/** Variant of `PageTokens` for lists whose positions are texts. */
export interface PositionTokens {
  /**
   * Reads a page token.
   * @throws AppError REQUEST_INVALID
   */
  readonly read: (token: string | undefined) => string | undefined;
  readonly write: (position: string | undefined) => string | undefined;
}

export function createPositionTokens({ seal, open }: PageSeal, context: string): PositionTokens {
  return {
    read: (token) => {
      if (token === undefined) return undefined;
      const position = open(token, context);
      if (position !== undefined) return position;
      const message =
        'nextPage does not belong to this listing. Send the token of the previous page, with the same filters.';
      throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/query/nextPage', message }] });
    },
    write: (position) => (position === undefined ? undefined : seal(position, context)),
  };
}
