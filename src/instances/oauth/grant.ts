import type { Config, Connector, OAuth2Auth } from '../../connector/contract.ts';

/** A connector whose authentication is OAuth. */
export type OAuthConnector = Connector & { readonly auth: OAuth2Auth };

/** What a token endpoint granted, read and checked. */
export interface TokenGrant {
  readonly accessToken: string;
  /** Absent: the one that was used stays good (RFC 6749, 6). */
  readonly refreshToken?: string;
  /** Seconds from the answer; absent: until the provider refuses the token. */
  readonly expiresInSeconds?: number;
  /** `OAuth2Auth.values` of kind `token`, by configuration key. */
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Why there is no grant.
 * - `refused`: the provider said no for good (`invalid_grant`, `invalid_client`, …).
 * - `unreachable`: it was not asked: no connection, or an answer such as 429 that says nothing was done.
 * - `unknown`: it may have granted: a time-out, a broken answer, a 5xx.
 */
export type TokenFailureKind = 'refused' | 'unreachable' | 'unknown';

/** A token request without a grant. The message is fit for a caller, and free of secrets. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly kind: TokenFailureKind;
  /** The `error` of RFC 6749, 5.2, where there was one; redacted when it is none of the RFC's. */
  readonly oauthError: string | undefined;
  /** The provider's own words, redacted. */
  readonly providerMessage: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: TokenFailureKind,
    message: string,
    details: {
      readonly oauthError?: string | undefined;
      readonly providerMessage?: string | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.oauthError = details.oauthError;
    this.providerMessage = details.providerMessage;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** RFC 6749, 5.2: a client is authenticated before its grant is looked at, so that the grant may be good yet. */
const CLIENT_ERRORS: ReadonlySet<string | undefined> = new Set(['invalid_client', 'unauthorized_client']);

/** Whether the client was refused, and nothing said of the grant. */
export function isClientRefusal({ kind, oauthError }: TokenError): boolean {
  return kind === 'refused' && CLIENT_ERRORS.has(oauthError);
}

interface TokenRequest {
  readonly connector: OAuthConnector;
  /** With `oauth.api.key` and `oauth.api.secret`, and `simulator` where it applies. */
  readonly config: Config;
  readonly signal: AbortSignal;
}

export interface CodeExchange extends TokenRequest {
  readonly code: string;
  readonly callbackUrl: string;
  /** Absent without PKCE, or when the authorization was begun elsewhere. */
  readonly verifier?: string | undefined;
}

/** The token endpoint of a provider. Each call sends one request and never repeats it. @throws TokenError */
export interface TokenEndpoint {
  readonly exchangeCode: (request: CodeExchange) => Promise<TokenGrant>;
  readonly refresh: (request: TokenRequest & { readonly refreshToken: string }) => Promise<TokenGrant>;
  readonly requestClientCredentials: (request: TokenRequest) => Promise<TokenGrant>;
}
