import { hash, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { ConsoleSession } from '../accounts/log-in/sessions.ts';
import { AppError } from '../errors.ts';
import { findCookie } from '../pairs.ts';

export type SessionCookie = ReturnType<typeof createSessionCookie>;

const NAME = 'causeway-session';
/** RFC 6265bis: browsers accept it from this host over HTTPS only, and no other host of the domain can set it. */
const HOST_PREFIX = '__Host-';
const CSRF_HEADER = 'x-csrf-token';
/** Fetch Metadata: `none` is what the user himself typed. */
const OWN_SITES: readonly string[] = ['same-origin', 'none'];

/** Creates the cookie that identifies log-ins of the console. Its checks keep other pages from using it. */
export function createSessionCookie(publicUrl: () => string) {
  const isSecure = () => publicUrl().startsWith('https:');
  const nameOf = (secure: boolean) => (secure ? `${HOST_PREFIX}${NAME}` : NAME);

  function print(value: string, ...more: readonly string[]): string {
    const secure = isSecure();
    const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(secure ? ['Secure'] : []), ...more];
    return [`${nameOf(secure)}=${value}`, ...attributes].join('; ');
  }

  return {
    /** Reads the token of a session. Undefined where there is no cookie, or several, because then another party set one of them. */
    read: ({ headers: { cookie = '' } }: Request): string | undefined => {
      if (!cookie.includes(NAME)) return undefined;
      return findCookie(cookie, nameOf(isSecure()));
    },
    /** Returns the value of `Set-Cookie`. */
    write: (token: string) => print(token),
    clear: () => print('', 'Max-Age=0'),
    /**
     * Asserts that the request comes from a page of this service.
     * @throws AppError FORBIDDEN
     */
    assertOwnPage: ({ headers }: Request): void => {
      const { origin, 'sec-fetch-site': site } = headers;
      const own = new URL(publicUrl()).origin;
      const isOwn =
        (origin === undefined || origin === own) && (site === undefined || OWN_SITES.includes(String(site)));
      if (!isOwn) throw new AppError('FORBIDDEN', `Only pages of ${own} may use a session of the console.`);
    },
  };
}

/**
 * Asserts that a request that can change something contains the session's CSRF token.
 * @throws AppError FORBIDDEN
 */
export function assertCsrfToken(request: Request, { csrfToken }: Pick<ConsoleSession, 'csrfToken'>): void {
  // A HEAD is the GET that it is worked on as.
  if (request.method === 'GET' || isEqual(request.get(CSRF_HEADER) ?? '', csrfToken)) return;
  const message = 'The session of the console needs its csrfToken in the header X-CSRF-Token of this request.';
  throw new AppError('FORBIDDEN', message);
}

function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
