import { decodeQuery } from '../../../pairs.ts';
import { parseRedirectUrl } from '../addresses.ts';
import type { RedirectRules } from './proxy-store.ts';

/** Reason why a browser is not redirected. */
export type RedirectRefusal = 'unknownProxy' | 'noState' | 'severalStates' | 'notAllowed';

export interface RefusedRedirect {
  readonly kind: 'refused';
  readonly reason: RedirectRefusal;
}

export type Redirect = { readonly kind: 'redirect'; readonly url: string } | RefusedRedirect;

/** Reads the URL that the provider's query asks to redirect the browser to. */
export function readTarget(query: string): { readonly kind: 'target'; readonly url: URL } | RefusedRedirect {
  const states = parseQuery(query).getAll('state');
  const [state = ''] = states;
  if (state === '') return refused('noState');
  if (states.length > 1) return refused('severalStates');
  const url = parseRedirectUrl(state);
  return url === undefined ? refused('notAllowed') : { kind: 'target', url };
}

export function judgeRedirect(rules: RedirectRules | undefined, url: URL, query: string): Redirect {
  if (rules === undefined) return refused('unknownProxy');
  if (!isAllowed(rules, url, query)) return refused('notAllowed');
  return { kind: 'redirect', url: appendProviderQuery(url, query) };
}

/**
 * A registered application URL may come with any query, which is the application's own, save the names that the
 * provider sends: `state` is anybody's to write, and a `code` in it would stand before the provider's.
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

/** The URL with what the provider sent behind its own query: as often and in the order as sent. */
function appendProviderQuery(url: URL, query: string): string {
  const extended = new URL(url);
  extended.search = `?${[url.search.slice(1), query].filter((part) => part !== '').join('&')}`;
  return extended.href;
}

/** `query` is without the question mark: one that it begins with is part of a name. */
function parseQuery(query: string): URLSearchParams {
  return decodeQuery(`?${query}`);
}

/** Whether a parameter stands in both: whoever reads the redirect could take the wrong one. */
function hasCommonParameter(url: URL, query: string): boolean {
  const sent = new Set(parseQuery(query).keys());
  return [...decodeQuery(url.search).keys()].some((name) => sent.has(name));
}
