import * as oauth from 'oauth4webapi';
import manifest from '../../../package.json' with { type: 'json' };
import type { Clock } from '../../clock.ts';
import { type ReportingPorts, sendReported } from '../../connector/client/reporting.ts';
import { readProviderMessage, readWaitMs } from '../../connector/client/response.ts';
import type { SimulatorRoute } from '../../connector/client/url.ts';
import type { Config } from '../../connector/contract.ts';
import { type Egress, EgressError, type EgressRequest, type EgressResponse } from '../../egress/index.ts';
import { isAppError } from '../../errors.ts';
import { parseJson } from '../../numbers/exact-json.ts';
import { isWithinShape, type JsonShape } from '../../numbers/json-shape.ts';
import { hasMorePairs } from '../../pairs.ts';
import { createRedactor, type Redactor } from '../../redaction.ts';
import { refreshUrlOf, simulatorOf, tokenUrlOf } from './addresses.ts';
import { OAUTH_KEYS, type OAuthConnector, scopeOf } from './fields.ts';
import { noResponse, TokenError, type TokenFailureKind } from './token-failure.ts';
import { readValues, ValueFault } from './values.ts';

/**
 * The token endpoint of a provider: `exchangeRequest`, `refreshRequest` and `clientCredentialsRequest` say what is asked for,
 * `processTokenResponse` judges what came back, and `sendTokenRequest` sends between the two. None of the others needs a network.
 */

/** Who asks: `config` has `oauth.api.key` and `oauth.api.secret`, and `simulator` where it applies. */
export interface OAuthClient {
  readonly connector: OAuthConnector;
  readonly config: Config;
}

export interface TokenRequest extends OAuthClient {
  readonly grantType: 'authorization_code' | 'refresh_token' | 'client_credentials';
  /** Form parameters, `grant_type` included. The ones that authenticate the client are not part of them. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Values among the parameters that are secret. */
  readonly secrets: readonly string[];
}

/** Checked response of a token endpoint (RFC 6749, section 5.1). */
export interface TokenGrant {
  readonly accessToken: string;
  /** Absent: the one that was used stays good (RFC 6749, 6). */
  readonly refreshToken?: string;
  /** Seconds from the response; absent: until the provider refuses the token. */
  readonly expiresInSeconds?: number;
  /** `OAuth2Auth.values` of kind `token`, by configuration key. */
  readonly values: Readonly<Record<string, string>>;
}

/** `sendTokenRequest` with its ports. @throws TokenError */
export type RequestToken = (request: TokenRequest, signal: AbortSignal) => Promise<TokenGrant>;

export interface ReturnedGrant {
  readonly code: string;
  readonly callbackUrl: string;
  /** Undefined without PKCE. */
  readonly verifier: string | undefined;
}

/** RFC 6749, 4.1.3, and RFC 7636, 4.5. */
export function exchangeRequest(client: OAuthClient, { code, callbackUrl, verifier }: ReturnedGrant): TokenRequest {
  const parameters = { code, redirect_uri: callbackUrl, code_verifier: verifier };
  return askFor(client, 'authorization_code', parameters, verifier === undefined ? [code] : [code, verifier]);
}

/** RFC 6749, 6. */
export function refreshRequest(client: OAuthClient, refreshToken: string): TokenRequest {
  return askFor(client, 'refresh_token', { refresh_token: refreshToken }, [refreshToken]);
}

/** RFC 6749, 4.4.2. */
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

export interface TokenEndpointPorts extends ReportingPorts {
  readonly egress: Pick<Egress, 'request'>;
  readonly clock: Pick<Clock, 'now' | 'steady'>;
  /** Base URL of the simulators. Without it, requests with `simulator: true` are rejected. */
  readonly simulatorsUrl?: string | undefined;
}

/** Shorter than a refresh has its instance for itself, so that nobody else asks before it ends. */
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
  // Nothing of headers and body is kept by whoever is told: whatever is in them grants access.
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

/** Address that a token request is sent to. */
export interface TokenAddress {
  /** The provider's. */
  readonly url: URL;
  readonly simulator: SimulatorRoute | undefined;
}

/** @throws TokenError where the settings lead nowhere */
function addressOf(simulatorsUrl: string | undefined, { connector, config, grantType }: TokenRequest): TokenAddress {
  const urlOf = grantType === 'refresh_token' ? refreshUrlOf : tokenUrlOf;
  try {
    return { url: urlOf(connector, config), simulator: simulatorOf(simulatorsUrl, connector, config) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    throw new TokenError('unreachable', error.message, { cause: error });
  }
}

/** A request of which the headers are known. */
type HttpRequest = EgressRequest & Required<Pick<EgressRequest, 'headers'>>;

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
      ...(!inBody && { authorization: basicOf(clientId, clientSecret) }),
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

/**
 * RFC 6749, 2.3.1 wants both parts form-encoded. The library also encodes what a form need not, such as hyphens, and a
 * provider that decodes nothing would not know the client.
 */
function basicOf(clientId: string, clientSecret: string): string {
  return `Basic ${btoa(`${formEncode(clientId)}:${formEncode(clientSecret)}`)}`;
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** As they are sent: for HTTP Basic the client secret is encoded as a form first. */
function secretsOf(request: TokenRequest): readonly string[] {
  const { clientSecret } = credentialsOf(request);
  return [clientSecret, formEncode(clientSecret), ...request.secrets];
}

export interface TokenResponse {
  readonly response: EgressResponse;
  readonly address: TokenAddress;
  /** Time at which the response arrived, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** @throws TokenError for whatever is no grant */
export async function processTokenResponse(
  request: TokenRequest,
  { response, address, nowMs }: TokenResponse,
): Promise<TokenGrant> {
  const { connector, config, grantType } = request;
  const text = response.body
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trim();
  const members = readJsonObject(connector, text) ?? readForm(text);
  const redactor = createRedactor([...secretsOf(request), ...tokensIn(members)]);
  const failure = readFailure(connector, { ...response, members, text, redactor, nowMs });
  if (failure !== undefined) throw failure;
  try {
    const said = members ?? {};
    const standard = { ...said, expires_in: lifeIn(connector, said, Date.parse(response.headers.date ?? '') || nowMs) };
    const granted = await checkGrant(request, address, standard);
    const { url: origin, simulator } = address;
    const complete = grantType !== 'refresh_token';
    const values = readValues({ connector, config, from: 'token', said, origin, simulator, complete });
    return { ...granted, values };
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    const message = `The token response of ${connector.name} cannot be used: ${error.message}.`;
    throw new TokenError('unknown', message, { cause: error });
  }
}

type TokenMembers = Readonly<Record<string, unknown>>;

const MOST_MEMBERS: JsonShape = { depth: 100, members: 10_000, ownMembers: 1_000 };

/** A grant has a dozen members. @throws TokenError before anything is made of a text that has far more */
function assertFewMembers({ name }: OAuthConnector, text: string): void {
  if (isWithinShape(Buffer.from(text), MOST_MEMBERS)) return;
  const { members, ownMembers, depth } = MOST_MEMBERS;
  const message = `The token response of ${name} has more than ${ownMembers} members, ${members} with those inside others, or more than ${depth} levels.`;
  throw new TokenError('unknown', message);
}

function readJsonObject(connector: OAuthConnector, text: string): TokenMembers | undefined {
  if (!text.startsWith('{')) return undefined;
  assertFewMembers(connector, text);
  try {
    return Object(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

// The names of RFC 6749, 5: a page or a sentence has none of them in front of a `=`.
const FORM = /^(?:[\w.-]+=[^&\s]*&)*(?:access_token|error)=[^\s]*$/;

/** As some providers answer, with the content type of a form, a text or a page. */
function readForm(text: string): TokenMembers | undefined {
  const isForm = !hasMorePairs(text) && FORM.test(text);
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : undefined;
}

/** A response that is no grant may hold some all the same. */
function tokensIn(members: TokenMembers = {}): readonly string[] {
  const tokens = ['access_token', 'refresh_token', 'id_token'].map((name) => members[name]);
  return tokens.filter((token) => typeof token === 'string');
}

/**
 * In seconds, as far as the answer says it.
 * @param nowMs of the provider, whose clock the end of a token is told by
 */
function lifeIn({ auth: { accessTokenEnd } }: OAuthConnector, members: TokenMembers, nowMs: number): unknown {
  const { expires_in: life } = members;
  if (accessTokenEnd === undefined || (life ?? '') !== '') return life;
  return Math.floor(Number(members[accessTokenEnd]) - nowMs / 1000);
}

/** What the library takes for a grant (RFC 6749, 5.1). @throws TokenError */
async function checkGrant(
  request: TokenRequest,
  { url }: TokenAddress,
  members: TokenMembers,
): Promise<Omit<TokenGrant, 'values'>> {
  const server = { issuer: url.origin, token_endpoint: url.href };
  const client = { client_id: credentialsOf(request).clientId };
  try {
    const {
      access_token: accessToken,
      refresh_token: refreshToken,
      expires_in: expiresInSeconds,
    } = await oauth.processGenericTokenEndpointResponse(server, client, toStandardResponse(members));
    return {
      accessToken,
      ...(refreshToken !== undefined && { refreshToken }),
      ...(expiresInSeconds !== undefined && { expiresInSeconds }),
    };
  } catch (cause) {
    const message = `The token response of ${request.connector.name} is not one of OAuth 2.0.`;
    throw new TokenError('unknown', message, { cause });
  }
}

/**
 * The response as RFC 6749, 5.1 has it, for the library to judge: numbers in text, members of no value and a missing
 * `token_type` are put right; what is not used (an id_token, which nobody checks here) is left out.
 */
function toStandardResponse({ access_token, token_type, expires_in, refresh_token }: TokenMembers): Response {
  const seconds = typeof expires_in === 'string' ? Number(expires_in) : expires_in;
  const body = {
    access_token,
    token_type: token_type ?? 'bearer',
    // 0 and less, or a word: it says nothing, so the token is good until it is refused.
    ...(typeof seconds === 'number' && seconds > 0 && Number.isFinite(seconds) && { expires_in: seconds }),
    ...(refresh_token !== '' && refresh_token !== null && { refresh_token }),
  };
  return new Response(JSON.stringify(body), { status: 200, headers: { 'content-type': 'application/json' } });
}

/** RFC 6749, 4.1.2.1 and 5.2; RFC 8628, 3.5. */
const STANDARD_ERRORS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'slow_down',
]);

/** Of a client or a user: what RFC 6749 calls an error, and yet says nothing about this request. */
const PASSING_ERRORS: ReadonlySet<string> = new Set(['temporarily_unavailable', 'slow_down']);

interface Judged extends EgressResponse {
  /** Undefined when the body is neither a JSON object nor a form. */
  readonly members: TokenMembers | undefined;
  readonly text: string;
  /** Knows what was sent. */
  readonly redactor: Redactor;
  readonly nowMs: number;
}

/** The failure that a response is; undefined for one that may be a grant. */
function readFailure({ name }: OAuthConnector, judged: Judged): TokenError | undefined {
  const { status, headers, quotable, members, text, redactor, nowMs } = judged;
  const oauthError = readOAuthError(members, redactor);
  // Some providers write the member into every response, and leave it empty.
  if (status >= 200 && status < 300 && !members?.error) return undefined;
  const said =
    oauthError === undefined || !quotable ? `returned ${status}` : `returned ${status} with ${showCode(oauthError)}`;
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

/** What decides is no secret, though somebody may have chosen it for one. */
function readOAuthError(members: TokenMembers | undefined, { redact }: Redactor): string | undefined {
  const error = members?.error;
  if (typeof error !== 'string' || error === '') return undefined;
  return STANDARD_ERRORS.has(error) ? error : redact(error);
}

/** RFC 6749, 5.2 allows printable ASCII; a code is a word. */
function showCode(oauthError: string): string {
  return /^[\w.:-]{1,64}$/.test(oauthError) ? oauthError : 'an error';
}
