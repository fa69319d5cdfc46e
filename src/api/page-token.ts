import { AppError } from '../errors.ts';

/** How listings carry the place to go on from: as text that callers cannot read or change. */
export interface PageSeal {
  readonly seal: (plain: string, context: string) => string;
  readonly open: (sealed: string, context: string) => string | undefined;
}

/** One listing with its filters: a token of another one does not open. */
export interface PageTokens {
  /** @throws AppError REQUEST_INVALID */
  readonly read: (token: string | undefined) => number | undefined;
  readonly write: (afterId: number | undefined) => string | undefined;
}

export function createPageTokens({ seal, open }: PageSeal, context: string): PageTokens {
  return {
    read: (token) => {
      if (token === undefined) return undefined;
      const plain = open(token, context);
      if (plain !== undefined) return Number(plain);
      const message =
        'nextPage does not belong to this listing: send the token of the page before, with the same filters.';
      throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/query/nextPage', message }] });
    },
    write: (afterId) => (afterId === undefined ? undefined : seal(String(afterId), context)),
  };
}
