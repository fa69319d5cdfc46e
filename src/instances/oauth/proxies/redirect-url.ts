import { AppError, inWords } from '../../../errors.ts';

/**
 * Where a browser may be sent, by the parsed form (WHATWG URL): two texts that browsers take for the same address are
 * the same URL here, and only the parsed form ever gets into a `Location` header.
 */

/** Browsers drop tabs and line breaks from a URL and read a backslash as a slash: what people see is not where it leads. */
const DECEPTIVE = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\\]/u;
/** Browsers also take `https:host` and `https:///host`; nobody means them. */
const WEB_URL = /^https?:\/\/[^/]/i;

/** A web address without user name, password and fragment; undefined for anything else. */
export function parseRedirectUrl(text: string): URL | undefined {
  if (DECEPTIVE.test(text) || text.includes('#') || !text.isWellFormed() || !WEB_URL.test(text)) return undefined;
  const url = URL.parse(text);
  return url === null || url.username !== '' || url.password !== '' ? undefined : url;
}

/** @throws AppError REQUEST_INVALID that says what the URL must be like; `path` is its place in the request */
export function readRedirectUrl(text: string, path: string): URL {
  const url = parseRedirectUrl(text);
  if (url !== undefined) return url;
  const message = `${inWords(path)} must be an absolute http or https URL without user name, password, fragment, blank, backslash or control character.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path, message }] });
}

export function withoutQuery(url: URL): string {
  return url.origin + url.pathname;
}

/** The URL with what the provider sent behind its own query: as often and in the order as sent. */
export function appendProviderQuery(url: URL, query: string): string {
  const extended = new URL(url);
  extended.search = `?${[url.search.slice(1), query].filter((part) => part !== '').join('&')}`;
  return extended.href;
}

/** `query` is without the question mark: one that it begins with is part of a name. */
export function parseQuery(query: string): URLSearchParams {
  return new URLSearchParams(`?${query}`);
}

/** Whether a parameter stands in both: whoever reads the redirect could take the wrong one. */
export function hasCommonParameter(url: URL, query: string): boolean {
  const sent = parseQuery(query);
  return [...url.searchParams.keys()].some((name) => sent.has(name));
}
