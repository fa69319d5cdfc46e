import { AppError } from '../errors.ts';

/** Returns the headers of a list (decisions D3): the counts, and the next page. */
export function listHeaders(
  count: number,
  next: { readonly url: string; readonly token: string | undefined },
): Record<string, string | number | undefined> {
  return {
    'Elements-Returned-Count': count,
    ...(next.token !== undefined && {
      'Elements-Next-Page-Token': next.token,
      Link: `<${nextUrl(next.url, next.token)}>; rel="next"`,
    }),
  };
}

/** Returns the URL of the same request with the token in place of its page. */
function nextUrl(given: string, token: string): string {
  // Sent as they are by lax clients; in a Link header they would end the address.
  const url = /[<>"#]/.test(given) ? given.replace(/[<>"#]/g, encodeURIComponent) : given;
  // Most requests have no page yet, and parsing a long URL costs more than the rest of the headers.
  if (!/[?&](?:page|nextPage)=/.test(url)) return `${url}${url.includes('?') ? '&' : '?'}nextPage=${token}`;
  const next = new URL(url);
  next.searchParams.delete('page');
  next.searchParams.set('nextPage', token);
  return next.href;
}

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
