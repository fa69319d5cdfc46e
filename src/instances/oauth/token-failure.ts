import { EgressError, type EgressReason } from '../../egress/index.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import { OAUTH_KEYS, type OAuthConnector } from './fields.ts';
import type { Refusal } from './tokens/token-store.ts';

/**
 * Reason why a token request returned no grant.
 * - `refused`: the provider rejected the request permanently (`invalid_grant`, `invalid_client`, …).
 * - `unreachable`: the provider did not process the request: no connection, or a response such as 429.
 * - `unknown`: the provider may have issued a grant: a time-out, a broken response, a 5xx.
 */
export type TokenFailureKind = 'refused' | 'unreachable' | 'unknown';

/** The error of a token request without a grant. Callers may read its message, which has no secrets. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly kind: TokenFailureKind;
  /** The `error` of the response (RFC 6749, 5.2), if there was one. It is redacted if the RFC does not define it. */
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

/** For requests without a response: `unknown` where the provider may have granted the request anyway. */
const KIND_OF_REASON: Readonly<Record<EgressReason, TokenFailureKind>> = {
  refused: 'unreachable',
  invalid: 'unreachable',
  connect: 'unreachable',
  tls: 'unreachable',
  reset: 'unknown',
  timeout: 'unknown',
  'too-large': 'unknown',
  'no-room': 'unknown',
  protocol: 'unknown',
  aborted: 'unknown',
};

export function noResponse({ name }: OAuthConnector, cause: EgressError): TokenError {
  const message = `The token endpoint of ${name} did not respond: ${cause.message}`;
  return new TokenError(KIND_OF_REASON[cause.reason], message, { cause });
}

/** RFC 6749, 5.2: a client is authenticated before its grant is looked at, so that the grant may be good yet. */
const CLIENT_ERRORS: ReadonlySet<string | undefined> = new Set(['invalid_client', 'unauthorized_client']);

/** Returns whether the provider rejected the client, and said nothing about the grant. */
function isClientRefusal({ kind, oauthError }: TokenError): boolean {
  return kind === 'refused' && CLIENT_ERRORS.has(oauthError);
}

/**
 * Returns whether the provider accepted the client and rejected only the grant. A rejection without an error code may
 * be about the client.
 */
export function isGrantRefusal(error: TokenError): boolean {
  return error.kind === 'refused' && error.oauthError !== undefined && !isClientRefusal(error);
}

/**
 * Returns the error that a caller gets when a code was not exchanged. Errors other than `TokenError` are returned
 * unchanged.
 */
export function describeCodeFailure(connector: OAuthConnector, error: unknown, isOpen: boolean): unknown {
  if (!(error instanceof TokenError)) return error;
  const { name, key } = connector;
  const again = `Get a new one with GET /elements/${key}/oauth/url.`;
  if (error.kind !== 'refused') return describeOutage(error, `${error.message} The code may be used up. ${again}`);
  const hint = isOpen ? 'A code can be used once, and only for a short time.' : describeUnknownOrigin(connector);
  return invalidCredentials(error, `${name} refuses the code. ${hint} ${again} Nothing was stored.`);
}

/** Returns the hint for a code without an open authorization of the user who sent it. */
function describeUnknownOrigin({ auth: { siteAddressKey, sandboxKey } }: OAuthConnector): string {
  const keys = [siteAddressKey, sandboxKey].filter((key) => key !== undefined);
  const settings = keys.length === 0 ? '' : ` Send ${keys.join(' and ')} as its URL had it.`;
  return `This user has no open authorization with this client, callback URL and state, so Causeway sent the code to the address in the configuration. The code must come from a URL of this account with the same client and callback URL.${settings}`;
}

/**
 * Returns the error that a caller gets when credentials were rejected; `keys` names them. Errors other than
 * `TokenError` are returned unchanged.
 */
export function describeTokenFailure({ name }: OAuthConnector, error: unknown, keys: string): unknown {
  if (!(error instanceof TokenError)) return error;
  if (error.kind !== 'refused') return describeOutage(error, error.message);
  return invalidCredentials(error, `${name} rejects these credentials. Check ${keys}. Nothing was stored.`);
}

function invalidCredentials(error: TokenError, message: string): AppError {
  const words = error.providerMessage ?? error.oauthError;
  return new AppError('PROVIDER_CREDENTIALS_INVALID', message, { ...quote(words), cause: error });
}

function describeOutage(error: TokenError, message: string): AppError {
  const { retryAfterMs, providerMessage, oauthError } = error;
  return new AppError(codeOf(error), `${message} Nothing was stored.`, {
    ...quote(providerMessage ?? oauthError),
    ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
    cause: error,
  });
}

function quote(words: string | undefined): { readonly providerMessage?: string } {
  return words === undefined ? {} : { providerMessage: words };
}

function codeOf({ cause }: TokenError): ErrorCode {
  if (cause instanceof AppError) return cause.code;
  if (cause instanceof EgressError) {
    if (cause.reason === 'timeout') return 'PROVIDER_TIMEOUT';
    return cause.reason === 'refused' || cause.reason === 'invalid' ? 'REQUEST_INVALID' : 'PROVIDER_UNAVAILABLE';
  }
  // A response came, and was not one of a token endpoint.
  return cause === undefined ? 'PROVIDER_UNAVAILABLE' : 'PROVIDER_PROTOCOL';
}

/** Returns the reason why an instance is no longer valid, as a text for people: what happened, and what to do. */
export function describeRefusal(error: TokenError, interrupted: boolean): Refusal {
  return isClientRefusal(error)
    ? { kind: 'client', reason: describeClientRefusal(error) }
    : { kind: 'grant', reason: describeGrantRefusal(error, interrupted) };
}

function describeClientRefusal(error: TokenError): string {
  return `The provider refuses the client id or secret of this instance (${wordsOf(error)}). Correct ${OAUTH_KEYS.clientSecret} in its configuration. You don't need to authenticate the instance again.`;
}

function describeGrantRefusal(error: TokenError, interrupted: boolean): string {
  const words = wordsOf(error);
  if (interrupted && error.oauthError === 'invalid_grant') {
    return `A token refresh was interrupted before its result could be stored, and the provider rejects the previous refresh token (${words}). Authenticate this instance again.`;
  }
  return `The provider refuses to refresh the access of this instance (${words}). Authenticate it again.`;
}

const MAX_WORDS = 300;

function wordsOf({ oauthError, providerMessage, message }: TokenError): string {
  const words = [oauthError, providerMessage].filter((part) => part !== undefined).join(': ');
  return (words === '' ? message : words).slice(0, MAX_WORDS);
}

interface Named {
  readonly connector: { readonly name: string };
  readonly id: number;
}

export function credentialsFailed({ connector, id }: Named, reason: string): AppError {
  return new AppError('INSTANCE_CREDENTIALS_FAILED', `Instance ${id} cannot call ${connector.name}. ${reason}`);
}

export function accessTokenRefused(owner: Named): AppError {
  return credentialsFailed(
    owner,
    'The provider refuses its access token, and no other token is available. Authenticate this instance again.',
  );
}

/**
 * Creates the error of a refresh that is not possible now.
 * @param cause the failure at the token endpoint
 */
export function refreshUnavailable({ connector }: Named, waitMs: number, cause?: TokenError): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new AppError(
    'PROVIDER_UNAVAILABLE',
    `${connector.name} did not renew the access of this instance. Try again in ${seconds} s.`,
    { retryAfterSeconds: seconds, cause, ...quote(cause?.providerMessage) },
  );
}
