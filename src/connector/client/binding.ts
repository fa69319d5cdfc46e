import manifest from '../../../package.json' with { type: 'json' };
import type { EgressRequest } from '../../egress/index.ts';
import { AppError } from '../../errors.ts';
import { combineRedactors, createRedactor, type Redactor } from '../../redaction.ts';
import type { Auth, BasicAuth, Config, Connector, ProviderRequest } from '../contract.ts';
import { createSimulatorRoute, matchesHost, resolveTarget, type UrlBinding } from './url.ts';

type Headers = Readonly<Record<string, string>>;

/** The client's view of a connector with one configuration, computed once per configuration. */
export interface Binding extends UrlBinding {
  readonly connector: Connector;
  readonly config: Config;
  /**
   * Headers of every request to the host of the base URL, with authentication and lower-case names. They are frozen, as are those with a
   * type: an object that stays the same is checked once (src/egress/outgoing.ts).
   */
  readonly headers: Headers;
  /** The headers of requests with a body, by the content type of the body. */
  readonly headersOfType: Readonly<Record<BodyType, Headers>>;
  readonly headersWithoutAuth: Headers;
  /** Redacts the secrets that the provider receives. */
  readonly redactor: Redactor;
}

/**
 * Binds a connector to a configuration. It adds an access token where the connector uses OAuth and the request is not anonymous.
 * @throws AppError REQUEST_INVALID
 */
export type Bind = (connector: Connector, config: Config, accessToken?: string) => Binding;

interface Bound {
  readonly plain: Binding;
  /** The token of the last call. */
  token?: { readonly accessToken: string; readonly binding: Binding };
}

/**
 * Returns a function that binds connectors to configurations and caches the result. A changed configuration is another object, so the cache
 * is never stale. While a token stays the same, nothing is computed again.
 */
export function createBindings(simulatorsUrl: string | undefined): Bind {
  const bounds = new WeakMap<Config, Bound>();
  return (connector, config, accessToken) => {
    let bound = bounds.get(config);
    if (bound?.plain.connector !== connector) {
      bound = { plain: bind(simulatorsUrl, connector, config) };
      bounds.set(config, bound);
    }
    if (accessToken === undefined) return bound.plain;
    if (bound.token?.accessToken !== accessToken)
      bound.token = { accessToken, binding: withToken(bound.plain, accessToken) };
    return bound.token.binding;
  };
}

/** @throws AppError REQUEST_INVALID when the configuration results in no base URL among the connector's hosts */
function bind(simulatorsUrl: string | undefined, connector: Connector, config: Config): Binding {
  const base = getBaseUrl(connector, config);
  const hosts = typeof connector.hosts === 'function' ? connector.hosts(config) : connector.hosts;
  if (!matchesHost(base.host, hosts)) {
    throw new AppError(
      'REQUEST_INVALID',
      `The configuration results in the host ${base.host}, which is not a host of ${connector.name}. Correct the address in the configuration.`,
    );
  }
  const simulator = config.simulator === true ? createSimulatorRoute(simulatorsUrl, connector) : undefined;
  const authentication = lowerCaseNames(authenticate(connector.auth, config));
  const headersWithoutAuth = Object.freeze({
    accept: 'application/json',
    'user-agent': `Causeway/${manifest.version}`,
    ...lowerCaseNames(connector.headers),
    ...(simulator !== undefined && { forwarded: simulator.forwarded(base) }),
  });
  return {
    connector,
    config,
    base: base.origin + base.pathname.replace(/\/+$/, ''),
    origin: base.origin,
    host: base.host,
    protocol: base.protocol,
    hosts,
    ...withAuthentication(headersWithoutAuth, authentication),
    headersWithoutAuth,
    simulator,
    redactor: createRedactor([...configuredSecrets(connector, config), ...secretsOf(authentication)]),
  };
}

function getBaseUrl(connector: Connector, config: Config): URL {
  const url = URL.parse(connector.baseUrl(config));
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new AppError(
      'REQUEST_INVALID',
      `The configuration results in no usable address of ${connector.name}. Correct the address in the configuration.`,
    );
  }
  return url;
}

function authenticate(auth: Auth, config: Config): Headers {
  switch (auth.type) {
    case 'basic':
      return authenticateBasic(auth.credentials(config));
    case 'custom':
      return auth.headers(config);
    case 'none':
    // Access tokens change between calls, see `withToken`.
    case 'oauth2':
      return {};
  }
}

/** Returns the header of HTTP Basic (RFC 7617), encoded as UTF-8. */
function authenticateBasic(credentials: ReturnType<BasicAuth['credentials']>): Headers {
  if (credentials === undefined) return {};
  const token = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  return { authorization: `Basic ${token}` };
}

function configuredSecrets(connector: Connector, config: Config): readonly string[] {
  const values = connector.configuration.filter((field) => field.secret === true).map((field) => config[field.key]);
  return values.filter((value) => typeof value === 'string');
}

function withToken(binding: Binding, accessToken: string): Binding {
  const authentication = lowerCaseNames(tokenHeaders(binding.connector.auth, accessToken, binding.config));
  const redactor = combineRedactors([binding.redactor, createRedactor([accessToken, ...secretsOf(authentication)])]);
  return { ...binding, ...withAuthentication(binding.headers, authentication), redactor };
}

const TYPES = { json: 'application/json', csv: 'text/csv', form: 'application/x-www-form-urlencoded' } as const;

type BodyType = keyof typeof TYPES;

function withAuthentication(given: Headers, authentication: Headers): Pick<Binding, 'headers' | 'headersOfType'> {
  const headers = Object.freeze({ ...given, ...authentication });
  const ofType = (type: BodyType) => Object.freeze({ ...headers, 'content-type': TYPES[type] });
  return { headers, headersOfType: { json: ofType('json'), csv: ofType('csv'), form: ofType('form') } };
}

/** Returns the headers of an access token: those of RFC 6750, 2.1, unless the connector declares its own. */
function tokenHeaders(auth: Auth, accessToken: string, config: Config): Headers {
  const own = auth.type === 'oauth2' ? auth.headers?.(accessToken, config) : undefined;
  return own ?? { authorization: `Bearer ${accessToken}` };
}

/** A provider may quote `Bearer abc` as a whole or without its scheme. */
function secretsOf(authentication: Headers): readonly string[] {
  return Object.values(authentication).flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)]);
}

function lowerCaseNames(headers: Headers | undefined): Headers {
  if (headers === undefined) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The URLs of a request. */
export interface RequestUrls {
  /** The provider's URL, already checked. */
  readonly target: URL;
  /** The URL that receives the request: the simulator's, or `target`. */
  readonly receiver: URL;
}

/** The last binding of each frozen request, with the URLs for it. */
const urlsOf = new WeakMap<ProviderRequest, RequestUrls & { readonly binding: Binding }>();

/**
 * Returns the URLs of a request.
 * @throws AppError PROVIDER_PROTOCOL when a URL from a response leaves the connector's hosts
 */
export function resolveUrls(binding: Binding, request: ProviderRequest): RequestUrls {
  const known = urlsOf.get(request);
  if (known?.binding === binding) return known;
  const target = resolveTarget(binding, request);
  const urls = { binding, target, receiver: binding.simulator?.enter(target) ?? target };
  if (Object.isFrozen(request)) urlsOf.set(request, urls);
  return urls;
}

/** The part of a request that stays the same over retries and redirects. */
export interface Outgoing {
  readonly method: NonNullable<EgressRequest['method']>;
  readonly headers: Headers;
  /** The headers for a redirect to another origin. */
  readonly headersWithoutAuth: () => Headers;
  readonly body: string | undefined;
}

/** The last binding of each frozen request, with the method, headers and body for it. A frozen request is sent again and again. */
const outgoings = new WeakMap<ProviderRequest, { readonly binding: Binding; readonly outgoing: Outgoing }>();

/** Prepares method, headers and body of a request, without its URL. */
export function prepareOutgoing(binding: Binding, request: ProviderRequest): Outgoing {
  const known = outgoings.get(request);
  if (known?.binding === binding) return known.outgoing;
  const outgoing = createOutgoing(binding, request);
  if (Object.isFrozen(request)) outgoings.set(request, { binding, outgoing });
  return outgoing;
}

function createOutgoing(binding: Binding, request: ProviderRequest): Outgoing {
  const { method = 'GET', headers: given } = request;
  const [type, body] = encodeBody(request);
  const own: Headers = { ...(type !== undefined && { 'content-type': TYPES[type] }), ...lowerCaseNames(given) };
  const headersWithoutAuth = () => {
    const { authorization: _authorization, cookie: _cookie, ...ownWithoutAuth } = own;
    return { ...binding.headersWithoutAuth, ...ownWithoutAuth };
  };
  if (given !== undefined || request.anonymous === true) {
    const all = request.anonymous === true ? binding.headersWithoutAuth : binding.headers;
    return { method, headers: { ...all, ...own }, headersWithoutAuth, body };
  }
  return {
    method,
    headers: type === undefined ? binding.headers : binding.headersOfType[type],
    headersWithoutAuth,
    body,
  };
}

/** Returns the headers for a request to a URL. With a simulator, `forwarded` names the host of that URL. */
export function headersTo({ host, simulator }: Binding, headers: Headers, url: URL): Headers {
  return simulator === undefined || url.host === host ? headers : { ...headers, forwarded: simulator.forwarded(url) };
}

function encodeBody({ json, csv, form }: ProviderRequest): readonly [type?: BodyType, body?: string] {
  if (json !== undefined) return ['json', JSON.stringify(json)];
  if (csv !== undefined) return ['csv', csv];
  return form === undefined ? [] : ['form', new URLSearchParams(form).toString()];
}
