import { decodeQuery } from '../../../pairs.ts';
import { parseRedirectUrl } from '../addresses.ts';
import type { RedirectRules } from './proxy-store.ts';

/** Reason why a browser is not redirected. */
export type RedirectRefusal = 'unknownProxy' | 'noState' | 'severalStates' | 'notAllowed';

interface RefusedRedirect {
  readonly kind: 'refused';
  readonly reason: RedirectRefusal;
}

export type Redirect = { readonly kind: 'redirect'; readonly url: string } | RefusedRedirect;

/** Reads the URL to which a provider's query redirects the browser: its `state`. */
export function readTarget(query: string): { readonly kind: 'target'; readonly url: URL } | RefusedRedirect {
  const states = parseQuery(query).getAll('state');
  const [state = ''] = states;
  if (state === '') return refused('noState');
  if (states.length > 1) return refused('severalStates');
  const url = parseRedirectUrl(state);
  return url === undefined ? refused('notAllowed') : { kind: 'target', url };
}

/** Decides whether a browser is redirected to a URL. */
export function judgeRedirect(rules: RedirectRules | undefined, url: URL, query: string): Redirect {
  if (rules === undefined) return refused('unknownProxy');
  if (!isAllowed(rules, url, query)) return refused('notAllowed');
  return { kind: 'redirect', url: appendProviderQuery(url, query) };
}

/**
 * A registered application URL may have any query, except the names that the provider sends. Anybody can write `state`, and a `code` in it
 * would come before the provider's.
 */
function isAllowed({ named, applicationUrls }: RedirectRules, url: URL, query: string): boolean {
  return named || (applicationUrls.includes(withoutQuery(url)) && !hasCommonParameter(url, query));
}

export function refused(reason: RedirectRefusal): RefusedRedirect {
  return { kind: 'refused', reason };
}

/** Returns the URL without its query, the form in which application URLs are stored. */
export function withoutQuery(url: URL): string {
  return url.origin + url.pathname;
}

/** Returns the URL with the provider's query behind its own, unchanged. */
function appendProviderQuery(url: URL, query: string): string {
  const extended = new URL(url);
  extended.search = `?${[url.search.slice(1), query].filter((part) => part !== '').join('&')}`;
  return extended.href;
}

/** `query` has no question mark. One at its beginning is a part of a name. */
function parseQuery(query: string): URLSearchParams {
  return decodeQuery(`?${query}`);
}

/** Returns whether both have the same parameter, because a reader of the redirect could read the wrong one. */
function hasCommonParameter(url: URL, query: string): boolean {
  const sent = new Set(parseQuery(query).keys());
  return [...decodeQuery(url.search).keys()].some((name) => sent.has(name));
}
