import manifest from '../../../package.json' with { type: 'json' };
import { AppError } from '../../errors.ts';
import { combineRedactors, createRedactor, type Redactor } from '../../redaction.ts';
import type { Auth, BasicAuth, Config, Connector } from '../contract.ts';
import { matchesHost } from './hosts.ts';
import type { ClientPorts } from './ports.ts';
import { createSimulatorRoute, type SimulatorRoute } from './simulator-route.ts';

type Headers = Readonly<Record<string, string>>;

/** What a connector and one configuration amount to; worked out once per configuration. */
export interface Binding {
  readonly connector: Connector;
  readonly config: Config;
  /** The provider's base URL, without a slash at the end. Never the simulator's. */
  readonly base: string;
  readonly origin: string;
  readonly protocol: string;
  readonly hosts: readonly string[];
  /** Of every request, with authentication. Lower-case names. */
  readonly headers: Headers;
  readonly headersWithoutAuth: Headers;
  readonly simulator: SimulatorRoute | undefined;
  /** Of the secrets that the provider is sent. */
  readonly redactor: Redactor;
}

type BindPorts = Pick<ClientPorts, 'simulatorsUrl'>;

/** A configuration that changes is another object, so an entry is never stale. */
export function createBindings(ports: BindPorts): (connector: Connector, config: Config) => Binding {
  const bindings = new WeakMap<Config, Binding>();
  return (connector, config) => {
    const known = bindings.get(config);
    if (known?.connector === connector) return known;
    const binding = bind(ports, connector, config);
    bindings.set(config, binding);
    return binding;
  };
}

/** @throws AppError REQUEST_INVALID when the configuration makes no base URL among the connector's hosts. */
function bind(ports: BindPorts, connector: Connector, config: Config): Binding {
  const base = getBaseUrl(connector, config);
  const hosts = typeof connector.hosts === 'function' ? connector.hosts(config) : connector.hosts;
  if (!matchesHost(base.host, hosts)) {
    throw new AppError(
      'REQUEST_INVALID',
      `The configuration leads to the host ${base.host}, which is not a host of ${connector.name}. Correct the address in the configuration.`,
    );
  }
  const simulator = config.simulator === true ? createSimulatorRoute(ports.simulatorsUrl, connector) : undefined;
  const authentication = lowerCaseNames(authenticate(connector.auth, config));
  const headersWithoutAuth = {
    accept: 'application/json',
    'user-agent': `Causeway/${manifest.version}`,
    ...lowerCaseNames(connector.headers),
  };
  return {
    connector,
    config,
    base: base.origin + base.pathname.replace(/\/+$/, ''),
    origin: base.origin,
    protocol: base.protocol,
    hosts,
    headers: { ...headersWithoutAuth, ...authentication },
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
      `The configuration makes no usable address of ${connector.name}. Correct the address in the configuration.`,
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
    // Access tokens come and go with every call, see `createTokenBinder`.
    case 'oauth2':
      return {};
  }
}

/** RFC 7617, as UTF-8. */
function authenticateBasic(credentials: ReturnType<BasicAuth['credentials']>): Headers {
  if (credentials === undefined) return {};
  const token = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  return { authorization: `Basic ${token}` };
}

function configuredSecrets(connector: Connector, config: Config): readonly string[] {
  const values = connector.configuration.filter((field) => field.secret === true).map((field) => config[field.key]);
  return values.filter((value) => typeof value === 'string');
}

type TokenBinder = (binding: Binding, accessToken: string) => Binding;

/** Adds an access token to a binding; while the token stays the same, nothing is worked out again. */
export function createTokenBinder(): TokenBinder {
  const bound = new WeakMap<Binding, { readonly accessToken: string; readonly binding: Binding }>();
  return (binding, accessToken) => {
    const known = bound.get(binding);
    if (known?.accessToken === accessToken) return known.binding;
    const authentication = lowerCaseNames(tokenHeaders(binding.connector.auth, accessToken, binding.config));
    const redactor = combineRedactors([binding.redactor, createRedactor([accessToken, ...secretsOf(authentication)])]);
    const withToken = { ...binding, headers: { ...binding.headers, ...authentication }, redactor };
    bound.set(binding, { accessToken, binding: withToken });
    return withToken;
  };
}

/** RFC 6750, 2.1, unless the connector has a way of its own. */
function tokenHeaders(auth: Auth, accessToken: string, config: Config): Headers {
  const own = auth.type === 'oauth2' ? auth.headers?.(accessToken, config) : undefined;
  return own ?? { authorization: `Bearer ${accessToken}` };
}

/** `Bearer abc` is quoted as a whole or without its scheme. */
function secretsOf(authentication: Headers): readonly string[] {
  return Object.values(authentication).flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)]);
}

export function lowerCaseNames(headers: Headers | undefined): Headers {
  if (headers === undefined) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
