import { matchesHost } from './client/url.ts';
import type { Config, Connector, OAuth2Auth, OAuthValue } from './contract.ts';
import { when } from './problems.ts';

/** Parameters of the flow itself. A connector must not set them. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  'response_type',
  'client_id',
  'client_secret',
  'redirect_uri',
  'state',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'grant_type',
  'refresh_token',
]);

/** Returns the problems of an OAuth 2.0 declaration; none for a connector without one. */
export function oauthProblems(connector: Connector): readonly string[] {
  const { auth } = connector;
  if (auth.type !== 'oauth2') return [];
  return [...grantProblems(auth), ...keyProblems(connector, auth), ...addressProblems(connector, auth)];
}

function grantProblems(auth: OAuth2Auth): readonly string[] {
  const parameters = { authorizeParameters: auth.authorizeParameters, tokenParameters: auth.tokenParameters };
  return [
    ...when(auth.grant !== 'clientCredentials' && auth.authorizeUrl === undefined, 'it has no authorizeUrl'),
    ...when((auth.accessTokenSeconds ?? 1) <= 0, 'accessTokenSeconds is not above 0'),
    ...Object.entries(parameters).flatMap(([option, given = {}]) =>
      Object.keys(given)
        .filter((name) => OWN_PARAMETERS.has(name))
        .map((name) => `${option} sets '${name}', which belongs to the flow`),
    ),
  ];
}

function keyProblems({ configuration }: Connector, auth: OAuth2Auth): readonly string[] {
  const typeOf = (key: string) => configuration.find((field) => field.key === key)?.type;
  const { siteAddressKey: site, sandboxKey: sandbox, merchantIdKey: merchant, values = {} } = auth;
  const merchantField = configuration.find(({ key }) => key === merchant);
  return [
    ...when(site !== undefined && !['string', 'url'].includes(typeOf(site) ?? ''), keyProblem('siteAddressKey', site)),
    ...when(sandbox !== undefined && typeOf(sandbox) !== 'boolean', keyProblem('sandboxKey', sandbox)),
    ...when(
      merchant !== undefined && (merchantField?.pattern === undefined || merchantField.example === undefined),
      `merchantIdKey '${merchant}' is not a configuration key with a pattern and an example`,
    ),
    ...Object.entries(values).flatMap(([key, value]) => [
      ...when(typeOf(key) !== undefined, `the value '${key}' is a configuration key already`),
      ...valueProblems(key, value, auth),
    ]),
  ];
}

function keyProblem(option: string, key: string | undefined): string {
  const type = option === 'sandboxKey' ? 'boolean' : 'string or url';
  return `${option} '${key}' is not a configuration key of the type ${type}`;
}

function valueProblems(key: string, { from, name }: OAuthValue, { grant }: OAuth2Auth): readonly string[] {
  return [
    ...when(/^oauth\.|^authentication\.type$|^simulator$/.test(key), `the value '${key}' belongs to the platform`),
    ...when(name === '', `the value '${key}' has no name at the provider`),
    ...when(
      from === 'callback' && grant === 'clientCredentials',
      `the value '${key}' comes with a callback, and client credentials have no callback`,
    ),
  ];
}

/** Checks addresses, as far as that is possible without the configuration of an instance. */
function addressProblems(connector: Connector, auth: OAuth2Auth): readonly string[] {
  const { hosts, configuration } = connector;
  const dependsOnSettings = typeof hosts === 'function' || configuration.some(({ required }) => required === true);
  if (dependsOnSettings) return [];
  const config = Object.fromEntries(configuration.map((field) => [field.key, field.default]));
  const { authorizeUrl, tokenUrl, refreshUrl } = auth;
  const addresses = { authorizeUrl, tokenUrl, refreshUrl };
  return Object.entries(addresses).flatMap(([option, addressOf]) =>
    addressOf === undefined ? [] : addressProblem(option, addressOf, config, hosts),
  );
}

function addressProblem(
  option: string,
  addressOf: (config: Config) => string,
  config: Config,
  hosts: readonly string[],
): readonly string[] {
  const url = URL.parse(addressOf(config));
  if (url === null) return [`${option} returns no URL`];
  return [
    ...when(url.protocol !== 'https:', `${option} is not https`),
    ...when(!matchesHost(url.host, hosts), `${option} leads to ${url.host}, which is not one of its hosts`),
  ];
}
