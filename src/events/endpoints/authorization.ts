import { LRUCache } from 'lru-cache';
import { atMost } from '../../bounded.ts';
import type { Clock } from '../../clock.ts';
import { type Egress, EgressError, type EgressResponse } from '../../egress/index.ts';
import {
  basicAuthorization,
  formEncode,
  readGrant,
  readOAuthError,
  readTokenMembers,
  showOAuthError,
  TokenResponseFault,
  tokensIn,
  tokenTextOf,
} from '../../oauth-tokens.ts';
import { createRedactor } from '../../redaction.ts';
import type { EndpointAuthentication } from '../model.ts';

type OAuth2 = Extract<EndpointAuthentication, { readonly type: 'oauth2' }>;

/** The endpoint whose receiver is called. */
interface AuthorizedEndpoint {
  readonly accountId: number;
  readonly id: number;
  readonly authentication: EndpointAuthentication | undefined;
}

/** The header of one request, and the secrets in it. */
interface EndpointAuthorization {
  readonly header: string | undefined;
  readonly secrets: readonly string[];
}

interface AuthorizationPorts {
  readonly egress: Pick<Egress, 'request'>;
  readonly clock: Pick<Clock, 'steady'>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A token endpoint returned no token. The message may be shown: it contains nothing that the endpoint sent, except an error code. */
export class TokenRefusedError extends Error {
  override readonly name = 'TokenRefusedError';
  readonly kind: 'refused' | 'unreachable';

  constructor(kind: TokenRefusedError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

interface Token {
  readonly accessToken: string;
  readonly expiresAtMs: number;
}

const KEPT_TOKENS = 10_000;
/** A token is renewed this long before its end, so that it does not expire on its way. */
const EARLY_MS = 30_000;
/** Lifetime in milliseconds of a token whose response has no `expires_in`. A 401 ends it earlier. */
const UNTOLD_MS = 3_600_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Creates the headers by which endpoints know the service. Tokens are in memory only, until they expire or are refused. */
export function createAuthorizer({ egress, clock, timeoutMs, signal }: AuthorizationPorts) {
  const tokens = new LRUCache<string, Token>(atMost(KEPT_TOKENS));
  const requests = new Map<string, Promise<Token>>();

  async function tokenOf(endpoint: AuthorizedEndpoint, authentication: OAuth2): Promise<Token> {
    const key = keyOf(endpoint, authentication);
    const known = tokens.get(key);
    if (known !== undefined && known.expiresAtMs > clock.steady()) return known;
    const pending = requests.get(key) ?? request(authentication).finally(() => requests.delete(key));
    requests.set(key, pending);
    const token = await pending;
    tokens.set(key, token);
    return token;
  }

  async function request(authentication: OAuth2): Promise<Token> {
    const { tokenUrl } = authentication;
    const { host } = new URL(tokenUrl);
    try {
      const response = await egress.request({
        url: tokenUrl,
        method: 'POST',
        ...toTokenRequest(authentication),
        timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        signal,
      });
      return await readToken(authentication, response, clock.steady());
    } catch (error) {
      if (!(error instanceof EgressError) || error.reason === 'aborted') throw error;
      throw new TokenRefusedError('unreachable', `No token came from ${host}: ${error.message}`, { cause: error });
    }
  }

  return {
    /** Returns the header of a request. @throws TokenRefusedError, EgressError when aborted */
    authorize: async (endpoint: AuthorizedEndpoint): Promise<EndpointAuthorization> => {
      const { authentication } = endpoint;
      if (authentication === undefined) return { header: undefined, secrets: [] };
      if (authentication.type !== 'oauth2') return { header: staticHeader(authentication), secrets: [] };
      const { accessToken } = await tokenOf(endpoint, authentication);
      return { header: `Bearer ${accessToken}`, secrets: [accessToken] };
    },

    /** Forgets a token that the receiver refused. Returns whether a new one may help. */
    refuse: (endpoint: AuthorizedEndpoint, { header }: EndpointAuthorization): boolean => {
      const { authentication } = endpoint;
      if (authentication?.type !== 'oauth2') return false;
      const key = keyOf(endpoint, authentication);
      // Another push may have renewed it meanwhile.
      if (`Bearer ${tokens.get(key)?.accessToken}` === header) tokens.delete(key);
      return true;
    },
  };
}

function keyOf({ accountId, id }: AuthorizedEndpoint, authentication: OAuth2): string {
  return `${accountId}:${id}:${JSON.stringify(authentication)}`;
}

function staticHeader(authentication: Exclude<EndpointAuthentication, OAuth2>): string {
  if (authentication.type === 'bearer') return `Bearer ${authentication.token}`;
  return `Basic ${basicOf(authentication)}`;
}

function basicOf({ username, password }: { readonly username: string; readonly password: string }): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

/** Returns everything in an authentication that texts must not contain. */
export function secretsOf(authentication: EndpointAuthentication | undefined): readonly string[] {
  switch (authentication?.type) {
    case undefined:
      return [];
    case 'basic':
      return [authentication.password, basicOf(authentication)];
    case 'bearer':
      return [authentication.token];
    case 'oauth2':
      return [authentication.clientSecret];
  }
}

/** Returns the request of client credentials (RFC 6749, section 4.4.2). */
export function toTokenRequest(authentication: OAuth2) {
  const { clientId, clientSecret, scope, audience, clientAuthentication = 'basic' } = authentication;
  const inBody = clientAuthentication === 'body';
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    ...(inBody && { client_id: clientId, client_secret: clientSecret }),
  });
  return {
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Causeway',
      ...(!inBody && { authorization: basicAuthorization({ clientId, clientSecret }) }),
    },
    body: body.toString(),
  };
}

/** A token as it can stand in a header. */
const HEADER_TOKEN = /^[\x21-\x7e]+$/;

/** Reads the response of a token endpoint. @throws TokenRefusedError */
export async function readToken(
  { tokenUrl, clientId, clientSecret }: Pick<OAuth2, 'tokenUrl' | 'clientId' | 'clientSecret'>,
  { status, body, quotable }: Pick<EgressResponse, 'status' | 'body' | 'quotable'>,
  nowMs: number,
): Promise<Token> {
  const url = new URL(tokenUrl);
  const refused = (reason: string, options?: ErrorOptions) =>
    new TokenRefusedError('refused', `The token endpoint at ${url.host} returned ${reason}`, options);
  try {
    const members = readTokenMembers(tokenTextOf(body));
    const error = readOAuthError(
      members,
      createRedactor([clientSecret, formEncode(clientSecret), ...tokensIn(members)]),
    );
    if (status < 200 || status >= 300 || error !== undefined) {
      const reason = error === undefined || !quotable ? '' : ` (${showOAuthError(error)})`;
      throw refused(`${status}${reason}.`);
    }
    if (!isBearer(members?.token_type)) throw refused('a token of another type than Bearer.');
    const { accessToken, expiresInSeconds } = await readGrant(members ?? {}, { tokenUrl: url, clientId });
    if (!HEADER_TOKEN.test(accessToken)) throw refused('an access token that no header can have.');
    const lifetimeMs = expiresInSeconds === undefined ? UNTOLD_MS : expiresInSeconds * 1000;
    // A short-lived one is used for half of its time at least.
    return { accessToken, expiresAtMs: nowMs + Math.max(lifetimeMs - EARLY_MS, lifetimeMs / 2) };
  } catch (error) {
    if (!(error instanceof TokenResponseFault)) throw error;
    throw refused(`a response that ${error.message}`, { cause: error.cause });
  }
}

function isBearer(type: unknown): boolean {
  return typeof type !== 'string' || type.toLowerCase() === 'bearer';
}
