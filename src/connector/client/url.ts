import { AppError } from '../../errors.ts';
import type { Connector, ProviderRequest } from '../contract.ts';

/** The addresses that a connector may call with one configuration. */
export interface UrlBinding {
  readonly connector: Pick<Connector, 'name'>;
  /** The provider's base URL without a slash at the end, never the simulator's. */
  readonly base: string;
  readonly origin: string;
  readonly host: string;
  readonly protocol: string;
  readonly hosts: readonly string[];
  readonly simulator: SimulatorRoute | undefined;
}

type Addressed = Pick<ProviderRequest, 'path' | 'url' | 'query'>;

/**
 * Returns the provider's URL of a request. A simulator's links are converted to the provider's, so that the same rules hold for both.
 * @throws AppError PROVIDER_PROTOCOL when a URL from a response leaves the connector's hosts
 */
export function resolveTarget(binding: UrlBinding, { path = '', url: link, query }: Addressed): URL {
  if (link !== undefined) return resolveLink(binding, link, query);
  // The path begins with a slash, so it cannot change the host.
  if (path !== '' && !path.startsWith('/')) throw new Error(`A provider path must begin with '/': '${path}'`);
  const text = query === undefined ? binding.base + path : appendQuery(binding.base + path, query);
  const last = lastUrls.get(binding);
  if (last?.text === text) return last.url;
  const url = new URL(text);
  lastUrls.set(binding, { text, url });
  return url;
}

/** The last URL of each binding: many providers take all queries at one path. Nobody changes a URL. */
const lastUrls = new WeakMap<UrlBinding, { readonly text: string; readonly url: URL }>();

function resolveLink(binding: UrlBinding, link: string, query: Addressed['query']): URL {
  const url = followLink(binding, link, `${binding.base}/`);
  const search = appendQuery(url.search, query);
  return search === url.search ? url : new URL(search, url);
}

/**
 * Segments of dots, plain or encoded, alone or with a parameter behind them (`..;x`), which some servers remove before they resolve dots.
 */
const CLIMBING = /(?:^|\/)(?:\.|%2e){1,2}(?:;[^/]*)?(?=\/|$)/i;
/** An encoded slash, backslash or control character: a segment must be plain. */
const DISGUISED = /%(?:2f|5c|[01][0-9a-f]|7f)/i;
const ABSOLUTE = /^\/(?:\/|[a-z][a-z0-9+.-]*:\/)/i;

/**
 * Returns the provider's URL of a percent-encoded path and query that a caller wrote.
 * @throws AppError REQUEST_INVALID for a path that does not plainly stay below the base URL
 */
export function resolveBelow(binding: UrlBinding, path: string, search: string): URL {
  const url = isPlain(path) && !CONTROL.test(search) ? URL.parse(binding.base + path + search) : null;
  if (url?.origin === binding.origin && url.href === new URL(binding.base).href.replace(/\/$/, '') + path + url.search)
    return url;
  const message = `The path must stay below the address of ${binding.connector.name}: no '.' or '..' segments, encoded slashes, control characters or addresses in it.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/path/path', message }] });
}

const CONTROL = /\p{Cc}/u;

function isPlain(path: string): boolean {
  return (
    path.startsWith('/') &&
    ![CLIMBING, DISGUISED, ABSOLUTE, CONTROL, /[\\#?]/, /%(?![0-9a-f]{2})/i].some((bad) => bad.test(path))
  );
}

/**
 * Returns the URL of a link in a provider's response, absolute or relative to `from`.
 * @throws AppError PROVIDER_PROTOCOL for a link that leaves the connector's hosts, or TLS
 */
export function followLink(binding: UrlBinding, link: string, from: string): URL {
  const url = leaveSimulator(binding, parseLink(binding, link, from));
  if (!matchesHost(url.host, binding.hosts)) {
    throw protocolError(
      binding,
      `pointed to another host, ${url.host || url.protocol}, which Causeway does not follow`,
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== binding.protocol) {
    throw protocolError(binding, `pointed to an address without TLS at ${url.host}, which Causeway does not follow`);
  }
  return url;
}

function parseLink(binding: UrlBinding, link: string, from: string): URL {
  // The URL parser would remove line breaks and continue.
  const url = /\p{Cc}/u.test(link) ? null : URL.parse(link, from);
  if (url === null || url.username !== '' || url.password !== '') {
    throw protocolError(binding, 'contains a link that cannot be followed');
  }
  return url;
}

function leaveSimulator(binding: UrlBinding, url: URL): URL {
  const path = binding.simulator?.leave(url);
  return path === undefined ? url : new URL(binding.origin + path);
}

function protocolError(binding: UrlBinding, what: string): AppError {
  return new AppError('PROVIDER_PROTOCOL', `The response of ${binding.connector.name} ${what}.`);
}

type Query = NonNullable<ProviderRequest['query']>;

/** Encodes a query such as `a=1&b=x%20y`: blanks become %20, an array repeats its key, and `undefined` is left out. */
function encodeQuery(query: Query): string {
  return Object.entries(query)
    .flatMap(([key, value]) => encodeParameter(key, value))
    .join('&');
}

function encodeParameter(key: string, value: Query[string]): string[] {
  if (value === undefined) return [];
  const values = typeof value === 'object' ? value : [value];
  return values.map((single) => `${encodeKey(key)}=${encodeURIComponent(single)}`);
}

/** OData options ($filter) keep their dollar sign, because some servers do not decode it in a name. */
function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%24', '$');
}

/** Appends a query to a URL or path, which may have one already. */
export function appendQuery(url: string, query: Query | undefined): string {
  const encoded = query === undefined ? '' : encodeQuery(query);
  if (encoded === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${encoded}`;
}

/**
 * Returns whether a host matches one of the patterns: `host[:port]`, or `*.` for exactly one label. A host has a port only if it is not the
 * default of its scheme.
 */
export function matchesHost(host: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(host, pattern.toLowerCase()));
}

function matchesPattern(host: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return host === pattern;
  const suffix = pattern.slice(1);
  const label = host.slice(0, -suffix.length);
  return host.endsWith(suffix) && label !== '' && !label.includes('.');
}

/** The route from an instance with `simulator: true` to its provider's simulator. */
export interface SimulatorRoute {
  /** Returns the value of the header `forwarded` (RFC 7239), which names the provider's host for the simulator. */
  readonly forwarded: (provider: URL) => string;
  /** Returns the simulator's URL for a provider's URL. */
  readonly enter: (provider: URL) => URL;
  /** Returns the provider's path and query for a URL of the simulator; undefined for any other URL. */
  readonly leave: (url: URL) => string | undefined;
}

/**
 * Creates the route to a connector's simulator.
 * @throws AppError REQUEST_INVALID where this process knows no simulators
 */
export function createSimulatorRoute(
  simulatorsUrl: string | undefined,
  connector: Pick<Connector, 'key' | 'name'>,
): SimulatorRoute {
  if (simulatorsUrl === undefined) {
    throw new AppError(
      'REQUEST_INVALID',
      `This process has no access to the simulator of ${connector.name}. The operator sets SIMULATORS_PORT for the process that serves the simulators, and SIMULATORS_URL for the others.`,
    );
  }
  const root = new URL(`${simulatorsUrl.replace(/\/+$/, '')}/${connector.key}`);
  const entered = new WeakMap<URL, URL>();
  return {
    forwarded: ({ host }) => `host=${quoteHost(host)}`,
    enter: (provider) => {
      const url = entered.get(provider) ?? new URL(root.href + provider.pathname + provider.search);
      entered.set(provider, url);
      return url;
    },
    leave: ({ origin, pathname, search }) =>
      origin === root.origin && pathname.startsWith(`${root.pathname}/`)
        ? pathname.slice(root.pathname.length) + search
        : undefined,
  };
}

/** A bare value of `forwarded` must not contain a colon. */
function quoteHost(host: string): string {
  return host.includes(':') ? `"${host}"` : host;
}
