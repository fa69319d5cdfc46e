import { AppError } from '../../errors.ts';
import type { ProviderRequest } from '../contract.ts';
import type { Binding } from './binding.ts';
import { matchesHost } from './hosts.ts';
import { appendQuery } from './query.ts';

/**
 * The provider's URL of a request. A simulator's links are turned back into the provider's, so that the same rules hold for both.
 * @throws AppError PROVIDER_PROTOCOL when a URL from an answer leaves the connector's hosts.
 */
export function resolveTarget(binding: Binding, request: ProviderRequest): URL {
  if (request.url === undefined) return resolvePath(binding, request);
  const url = followLink(binding, request.url, `${binding.base}/`);
  const query = appendQuery(url.search, request.query);
  return query === url.search ? url : new URL(query, url);
}

/** Below the base URL: as the path begins with a slash, it cannot change the host. */
function resolvePath(binding: Binding, request: ProviderRequest): URL {
  const path = request.path ?? '';
  if (path !== '' && !path.startsWith('/')) throw new Error(`A provider path must begin with '/': '${path}'`);
  return new URL(appendQuery(binding.base + path, request.query));
}

/** Dots that climb, plain or encoded, alone or with a parameter behind them (`..;x`), which some servers drop before they resolve them. */
const CLIMBING = /(?:^|\/)(?:\.|%2e){1,2}(?:;[^/]*)?(?=\/|$)/i;
/** A slash, a backslash or a control character in disguise; what a segment is must be plain. */
const DISGUISED = /%(?:2f|5c|[01][0-9a-f]|7f)/i;
const ABSOLUTE = /^\/(?:\/|[a-z][a-z0-9+.-]*:\/)/i;

/**
 * The provider's URL of a path that a caller wrote, percent-encoded, with its query.
 * @throws AppError REQUEST_INVALID for one that does not plainly stay below the base URL
 */
export function resolveBelow(binding: Binding, path: string, search: string): URL {
  const url = isPlain(path) && !CONTROL.test(search) ? URL.parse(binding.base + path + search) : null;
  if (url?.origin === binding.origin && url.href === new URL(binding.base).href.replace(/\/$/, '') + path + url.search)
    return url;
  const message = `The path is not one below the address of ${binding.connector.name}: it has segments of its own, without '.' and '..', encoded slashes, control characters or an address in it.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/path/path', message }] });
}

const CONTROL = /\p{Cc}/u;

function isPlain(path: string): boolean {
  return (
    path.startsWith('/') &&
    ![CLIMBING, DISGUISED, ABSOLUTE, CONTROL, /[\\#?]/, /%(?![0-9a-f]{2})/i].some((bad) => bad.test(path))
  );
}

/** A link in a provider's answer, absolute or relative to `from`, checked against the connector's hosts. */
export function followLink(binding: Binding, link: string, from: string): URL {
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

function parseLink(binding: Binding, link: string, from: string): URL {
  // The URL parser would drop line breaks and go on.
  const url = /\p{Cc}/u.test(link) ? null : URL.parse(link, from);
  if (url === null || url.username !== '' || url.password !== '') {
    throw protocolError(binding, 'contains a link that cannot be followed');
  }
  return url;
}

function leaveSimulator(binding: Binding, url: URL): URL {
  const path = binding.simulator?.leave(url);
  return path === undefined ? url : new URL(binding.origin + path);
}

function protocolError(binding: Binding, what: string): AppError {
  return new AppError('PROVIDER_PROTOCOL', `The answer of ${binding.connector.name} ${what}.`);
}
