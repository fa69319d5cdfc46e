import manifest from '../../../package.json' with { type: 'json' };
import type { Clock } from '../../clock.ts';
import { type ReportingPorts, sendReported } from '../../connector/client/reporting.ts';
import { readProviderMessage, readWaitMs } from '../../connector/client/response.ts';
import type { SimulatorRoute } from '../../connector/client/url.ts';
import type { Config } from '../../connector/contract.ts';
import { type Egress, EgressError, type EgressRequest, type EgressResponse } from '../../egress/index.ts';
import { isAppError } from '../../errors.ts';
import {
  basicAuthorization,
  formEncode,
  readGrant,
  readOAuthError,
  readTokenMembers,
  type StandardGrant,
  showOAuthError,
  type TokenMembers,
  TokenResponseFault,
  tokensIn,
  tokenTextOf,
} from '../../oauth-tokens.ts';
import { createRedactor, type Redactor } from '../../redaction.ts';
import { refreshUrlOf, simulatorOf, tokenUrlOf } from './addresses.ts';
import { OAUTH_KEYS, type OAuthConnector, scopeOf } from './fields.ts';
import { noResponse, TokenError, type TokenFailureKind } from './token-failure.ts';
import { readValues, ValueFault } from './values.ts';

/**
 * The token endpoint of a provider. `exchangeRequest`, `refreshRequest` and `clientCredentialsRequest` make the request,
 * `processTokenResponse` judges the response, and `sendTokenRequest` sends between the two. Only `sendTokenRequest` needs a network.
 */

/** The client of a token request. `config` has `oauth.api.key` and `oauth.api.secret`, and `simulator` where it applies. */
export interface OAuthClient {
  readonly connector: OAuthConnector;
  readonly config: Config;
}

/** A request to a token endpoint, before it is encoded. */
export interface TokenRequest extends OAuthClient {
  readonly grantType: 'authorization_code' | 'refresh_token' | 'client_credentials';
  /** The parameters, including `grant_type`, without those that authenticate the client. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Values among the parameters that are secret. */
  readonly secrets: readonly string[];
}

/** A checked response of a token endpoint (RFC 6749, section 5.1). */
export interface TokenGrant extends StandardGrant {
  /** The values of `OAuth2Auth.values` that come from a token response, by configuration key. */
  readonly values: Readonly<Record<string, string>>;
}

/** `sendTokenRequest` with its ports. @throws TokenError */
export type RequestToken = (request: TokenRequest, signal: AbortSignal) => Promise<TokenGrant>;

/** A code with the data that its exchange needs. */
interface ReturnedGrant {
  readonly code: string;
  readonly callbackUrl: string;
  /** The PKCE verifier. Undefined without PKCE. */
  readonly verifier: string | undefined;
}

/** Returns the request that exchanges a code (RFC 6749, 4.1.3; RFC 7636, 4.5). */
export function exchangeRequest(client: OAuthClient, { code, callbackUrl, verifier }: ReturnedGrant): TokenRequest {
  const parameters = { code, redirect_uri: callbackUrl, code_verifier: verifier };
  return askFor(client, 'authorization_code', parameters, verifier === undefined ? [code] : [code, verifier]);
}

/** Returns the request that uses a refresh token (RFC 6749, section 6). */
export function refreshRequest(client: OAuthClient, refreshToken: string): TokenRequest {
  return askFor(client, 'refresh_token', { refresh_token: refreshToken }, [refreshToken]);
}

/** Returns the request for a grant by client credentials (RFC 6749, 4.4.2). */
export function clientCredentialsRequest(client: OAuthClient): TokenRequest {
  return askFor(client, 'client_credentials', { scope: scopeOf(client.connector, client.config) }, []);
}

function askFor(
  { connector, config }: OAuthClient,
  grantType: TokenRequest['grantType'],
  given: Readonly<Record<string, string | undefined>>,
  secrets: readonly string[],
): TokenRequest {
  const own = Object.entries(given).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const parameters = { ...connector.auth.tokenParameters, ...Object.fromEntries(own), grant_type: grantType };
  return { connector, config, grantType, parameters, secrets };
}

/** The parts of the platform that token requests are sent with. */
export interface TokenEndpointPorts extends ReportingPorts {
  readonly egress: Egress;
  readonly clock: Clock;
  /** Base URL of the simulators. Without it, requests with `simulator: true` are rejected. */
  readonly simulatorsUrl?: string | undefined;
}

/** Shorter than the lease of a refresh, so that no other process sends a request before this one ends. */
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 1024 * 1024;

/** Sends one request and never repeats it. @throws TokenError */
export async function sendTokenRequest(
  ports: TokenEndpointPorts,
  request: TokenRequest,
  signal: AbortSignal,
): Promise<TokenGrant> {
  const { connector } = request;
  const address = addressOf(ports.simulatorsUrl, request);
  const { url, simulator } = address;
  const redactor = createRedactor(secretsOf(request));
  // Headers and body are not part of the report, because everything in them grants access.
  const { headers, ...asked } = toHttpRequest(request, address);
  const sent = { element: connector.key, method: 'POST', url, toSimulator: simulator !== undefined, redactor, headers };
  try {
    const response = await sendReported(ports, sent, (tracedHeaders) =>
      ports.egress.request({ ...asked, headers: tracedHeaders, signal }),
    );
    return await processTokenResponse(request, { response, address, nowMs: ports.clock.now() });
  } catch (error) {
    throw error instanceof EgressError ? noResponse(connector, error) : error;
  }
}

/** The address of a token request. */
interface TokenAddress {
  /** The provider's URL. */
  readonly url: URL;
  readonly simulator: SimulatorRoute | undefined;
}

/** @throws TokenError where the settings result in no address */
function addressOf(simulatorsUrl: string | undefined, { connector, config, grantType }: TokenRequest): TokenAddress {
  const urlOf = grantType === 'refresh_token' ? refreshUrlOf : tokenUrlOf;
  try {
    return { url: urlOf(connector, config), simulator: simulatorOf(simulatorsUrl, connector, config) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    throw new TokenError('unreachable', error.message, { cause: error });
  }
}

/** An HTTP request whose headers are set. */
type HttpRequest = EgressRequest & Required<Pick<EgressRequest, 'headers'>>;

/** Encodes a token request as an HTTP request. */
export function toHttpRequest(request: TokenRequest, { url, simulator }: TokenAddress): HttpRequest {
  const { auth } = request.connector;
  const { clientId, clientSecret } = credentialsOf(request);
  const ofCode = request.grantType === 'authorization_code' ? auth.codeAuthentication : undefined;
  const inBody = (ofCode ?? auth.clientAuthentication) === 'body';
  const isJson = auth.tokenBody === 'json';
  const members = { ...request.parameters, ...(inBody && { client_id: clientId, client_secret: clientSecret }) };
  return {
    url: simulator?.enter(url) ?? url,
    method: 'POST',
    headers: {
      accept: 'application/json',
      // The type has no parameters (RFC 6749, appendix B), and some providers refuse one.
      'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
      'user-agent': `Causeway/${manifest.version}`,
      ...(!inBody && { authorization: basicAuthorization({ clientId, clientSecret }) }),
      ...(simulator !== undefined && { forwarded: simulator.forwarded(url) }),
    },
    body: isJson ? JSON.stringify(members) : new URLSearchParams(members).toString(),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    toSimulator: simulator !== undefined,
  };
}

function credentialsOf({ config }: OAuthClient) {
  return {
    clientId: String(config[OAUTH_KEYS.clientId] ?? ''),
    clientSecret: String(config[OAUTH_KEYS.clientSecret] ?? ''),
  };
}

/** Returns the secrets in the forms in which they are sent. For HTTP Basic, the client secret is form-encoded first. */
function secretsOf(request: TokenRequest): readonly string[] {
  const { clientSecret } = credentialsOf(request);
  return [clientSecret, formEncode(clientSecret), ...request.secrets];
}

/** A response of a token endpoint, with its address and time. */
interface TokenResponse {
  readonly response: EgressResponse;
  readonly address: TokenAddress;
  /** Time at which the response arrived, in milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * Judges a response.
 * @throws TokenError for a response that is no grant
 */
export async function processTokenResponse(
  request: TokenRequest,
  { response, address, nowMs }: TokenResponse,
): Promise<TokenGrant> {
  const { connector, config, grantType } = request;
  const text = tokenTextOf(response.body);
  const members = readMembers(connector, text);
  const redactor = createRedactor([...secretsOf(request), ...tokensIn(members)]);
  const failure = readFailure(connector, { ...response, members, text, redactor, nowMs });
  if (failure !== undefined) throw failure;
  try {
    const said = members ?? {};
    const standard = {
      ...said,
      token_type: typeIn(connector, said),
      expires_in: lifeIn(connector, said, Date.parse(response.headers.date ?? '') || nowMs),
    };
    const { url: origin, simulator } = address;
    const { clientId } = credentialsOf(request);
    const granted = await readGrant(standard, { tokenUrl: origin, clientId });
    const complete = grantType !== 'refresh_token';
    const values = readValues({ connector, config, from: 'token', said, origin, simulator, complete });
    return { ...granted, values };
  } catch (error) {
    if (!(error instanceof ValueFault)) throw asTokenError(connector, error);
    const message = `The token response of ${connector.name} cannot be used: ${error.message}.`;
    throw new TokenError('unknown', message, { cause: error });
  }
}

/** @throws TokenError */
function readMembers(connector: OAuthConnector, text: string): TokenMembers | undefined {
  try {
    return readTokenMembers(text);
  } catch (error) {
    throw asTokenError(connector, error);
  }
}

function asTokenError({ name }: OAuthConnector, error: unknown): unknown {
  if (!(error instanceof TokenResponseFault)) return error;
  return new TokenError('unknown', `The token response of ${name} ${error.message}`, { cause: error.cause });
}

function typeIn({ auth: { tokenType } }: OAuthConnector, { token_type: type }: TokenMembers): unknown {
  return tokenType !== undefined && type === tokenType ? 'bearer' : type;
}

/**
 * Returns the lifetime of the access token in seconds, as far as the response has it.
 * @param nowMs the time on the provider's clock, which sets the end of a token
 */
function lifeIn({ auth: { accessTokenEnd } }: OAuthConnector, members: TokenMembers, nowMs: number): unknown {
  const { expires_in: life } = members;
  if (accessTokenEnd === undefined || (life ?? '') !== '') return life;
  return Math.floor(Number(members[accessTokenEnd]) - nowMs / 1000);
}

/** Errors that will pass and say nothing about this request. */
const PASSING_ERRORS: ReadonlySet<string> = new Set(['temporarily_unavailable', 'slow_down']);

interface Judged extends EgressResponse {
  /** Undefined when the body is neither a JSON object nor a form. */
  readonly members: TokenMembers | undefined;
  readonly text: string;
  /** Redacts the secrets of the request and the tokens of the response. */
  readonly redactor: Redactor;
  readonly nowMs: number;
}

/** Returns the failure that a response reports. Undefined for one that may be a grant. */
function readFailure({ name }: OAuthConnector, judged: Judged): TokenError | undefined {
  const { status, headers, quotable, members, text, redactor, nowMs } = judged;
  const oauthError = readOAuthError(members, redactor);
  // Some providers write the member into every response, and leave it empty.
  if (status >= 200 && status < 300 && !members?.error) return undefined;
  const said =
    oauthError === undefined || !quotable
      ? `returned ${status}`
      : `returned ${status} with ${showOAuthError(oauthError)}`;
  return new TokenError(kindOf(judged, oauthError), `${name} ${said} at its token endpoint.`, {
    oauthError,
    providerMessage: quotable ? readProviderMessage(redactor, members ?? text) : undefined,
    retryAfterMs: readWaitMs(headers, nowMs),
  });
}

function kindOf({ status, members }: Judged, oauthError: string | undefined): TokenFailureKind {
  if (status === 429 || PASSING_ERRORS.has(oauthError ?? '')) return 'unreachable';
  if (status >= 500) return 'unknown';
  // Some providers call every refusal a server_error.
  if (status === 401) return 'refused';
  if (oauthError === 'server_error') return 'unknown';
  if (oauthError !== undefined || status === 400) return 'refused';
  // A 403 or 404 without the words of OAuth comes from something in front of the token endpoint.
  return status >= 300 ? 'unreachable' : members === undefined ? 'unknown' : 'refused';
}
