import { LRUCache } from 'lru-cache';
import { atMost } from '../../bounded.ts';
import type { Clock } from '../../clock.ts';
import { type Egress, EgressError } from '../../egress/index.ts';
import type { EndpointAuthentication } from '../model.ts';

type OAuth2 = Extract<EndpointAuthentication, { readonly type: 'oauth2' }>;

/** The endpoint whose receiver is called. */
export interface AuthorizedEndpoint {
  readonly accountId: number;
  readonly id: number;
  readonly authentication: EndpointAuthentication | undefined;
}

/** The header of one request, and the secrets in it. */
export interface EndpointAuthorization {
  readonly header: string | undefined;
  readonly secrets: readonly string[];
}

export interface AuthorizationPorts {
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
/** Error codes of RFC 6749, section 5.2, and others of this form. Anything else may contain secrets. */
const ERROR_CODE = /^[a-z_]{1,40}$/;

export type Authorizer = ReturnType<typeof createAuthorizer>;

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
    const host = new URL(tokenUrl).host;
    try {
      const response = await egress.request({
        url: tokenUrl,
        method: 'POST',
        ...toTokenRequest(authentication),
        timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        signal,
      });
      return readToken(host, response, clock.steady());
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
  // Section 2.3.1: both are encoded as in a form first.
  const username = formEncoded(clientId);
  const password = formEncoded(clientSecret);
  return {
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Causeway',
      ...(!inBody && { authorization: `Basic ${basicOf({ username, password })}` }),
    },
    body: body.toString(),
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}

/** Reads the response of a token endpoint. @throws TokenRefusedError */
export function readToken(
  host: string,
  { status, body }: { readonly status: number; readonly body: Buffer },
  nowMs: number,
): Token {
  const answer = readMembers(body);
  const { access_token: accessToken, token_type: type, expires_in: seconds, error } = answer;
  if (status !== 200) {
    const reason = typeof error === 'string' && ERROR_CODE.test(error) ? ` (${error})` : '';
    throw new TokenRefusedError('refused', `The token endpoint at ${host} returned ${status}${reason}.`);
  }
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/.test(accessToken))
    throw new TokenRefusedError('refused', `The token endpoint at ${host} returned no access token.`);
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer')
    throw new TokenRefusedError(
      'refused',
      `The token endpoint at ${host} returned a token of another type than Bearer.`,
    );
  const lifetimeMs = Number(seconds) > 0 ? Number(seconds) * 1000 : UNTOLD_MS;
  // A short-lived one is used for half of its time at least.
  return { accessToken, expiresAtMs: nowMs + Math.max(lifetimeMs - EARLY_MS, lifetimeMs / 2) };
}

function readMembers(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
