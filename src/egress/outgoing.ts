import { EgressError } from './error.ts';

/** The target of a call, in the parts that the dispatcher needs. */
export interface EgressTarget {
  readonly origin: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly path: string;
}

const CONTROL = /\p{Cc}/u;
const PROTOCOLS: ReadonlySet<string> = new Set(['https:', 'http:']);

const parsedUrls = new WeakMap<URL, EgressTarget>();

/**
 * Parses the target of a call. A URL object is used as it is, and parsed once. A text is checked before the parser drops line breaks from
 * it.
 * @throws EgressError `invalid`
 */
export function parseTarget(url: string | URL): EgressTarget {
  const known = typeof url === 'string' ? undefined : parsedUrls.get(url);
  if (known !== undefined) return known;
  if (typeof url === 'string' && CONTROL.test(url)) throw invalid('The URL contains a control character.');
  const parsed = typeof url === 'string' ? parseUrl(url) : url;
  if (!PROTOCOLS.has(parsed.protocol)) throw invalid(`The protocol ${parsed.protocol} is not supported: use https.`);
  if (parsed.username !== '' || parsed.password !== '') throw invalid('The URL contains a user name or a password.');
  const { origin, protocol, hostname, pathname, search } = parsed;
  const target = { origin, protocol, hostname, path: pathname + search };
  parsedUrls.set(parsed, target);
  return target;
}

function parseUrl(text: string): URL {
  const parsed = URL.parse(text);
  if (parsed === null) throw invalid('The URL is not an absolute URL.');
  return parsed;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// The tab is the one control character RFC 9110 allows in a value.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

// They belong to the connection. A `host` of the caller's would also change the name TLS checks.
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

type Headers = Readonly<Record<string, string>>;

/** The completed headers, by the given ones. */
const completed = new WeakMap<Headers, { readonly encodings: string; readonly headers: Headers }>();

/**
 * Returns the headers to send: the given ones, and `accept-encoding` unless it is among them. A frozen object is checked only once.
 * @throws EgressError `invalid`, which names the header but never its value
 */
export function completeHeaders(given: Headers, encodings: string): Headers {
  const isLasting = Object.isFrozen(given);
  const known = isLasting ? completed.get(given) : undefined;
  if (known?.encodings === encodings) return known.headers;
  const headers = { 'accept-encoding': encodings, ...given };
  assertHeaders(headers);
  if (isLasting) completed.set(given, { encodings, headers });
  return headers;
}

function assertHeaders(headers: Headers): void {
  for (const name in headers) {
    if (!HEADER_NAME.test(name)) throw invalid('A header name contains a character that is not allowed there.');
    if (CONNECTION_HEADERS.has(name.toLowerCase()))
      throw invalid(`The header ${name} is set by the connection itself.`);
    const value = headers[name];
    if (value === undefined || !HEADER_VALUE.test(value)) {
      throw invalid(`The value of the header ${name} contains a character that is not allowed there.`);
    }
  }
}

function invalid(message: string): EgressError {
  return new EgressError('invalid', message);
}
