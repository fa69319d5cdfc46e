import { AppError } from './errors.ts';

/**
 * Maximum number of pairs in a form or a query string. Providers send about a hundred in a webhook; Node's own parser of query
 * strings silently drops what follows the thousandth.
 */
export const MOST_PAIRS = 1_000;

/** Returns whether a form or a query string has more than the given number of pairs. It only counts separators, without decoding. */
export function hasMorePairs(text: string, most = MOST_PAIRS): boolean {
  let pairs = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) if (++pairs > most) return true;
  return false;
}

/** Decodes a form (`application/x-www-form-urlencoded`). @throws AppError PAYLOAD_TOO_LARGE for more than 1,000 pairs */
export function decodeForm(text: string): URLSearchParams {
  if (!hasMorePairs(text)) return new URLSearchParams(text);
  throw new AppError('PAYLOAD_TOO_LARGE', `The form has more than ${MOST_PAIRS} fields.`);
}

/** Returns the query string of a URL or a path, without the question mark. */
export function searchOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

/** Refuses a query string of too many parameters before it is decoded. @throws AppError REQUEST_INVALID */
export function assertFewParameters(query: string): void {
  if (!hasMorePairs(query)) return;
  throw new AppError('REQUEST_INVALID', `The query string has more than ${MOST_PAIRS} parameters.`);
}

/** Decodes a query string, with or without its question mark. @throws AppError REQUEST_INVALID for more than 1,000 parameters */
export function decodeQuery(query: string): URLSearchParams {
  assertFewParameters(query);
  return new URLSearchParams(query);
}

/**
 * Returns the cookies of a request as `name=value`. It uses no pattern: one with blanks on both sides takes seconds for a header of blanks.
 */
export function cookiesIn(header: string): readonly string[] {
  return header.split(';').map((pair) => pair.trim());
}

/** Returns the value of a cookie. Undefined where there is none, or several, because then another party set one of them. */
export function findCookie(header: string, name: string): string | undefined {
  const start = `${name}=`;
  const [found, ...others] = cookiesIn(header).filter((pair) => pair.startsWith(start));
  return others.length > 0 ? undefined : found?.slice(start.length);
}
