import { EgressError } from '../../../egress/index.ts';
import { AppError, type ErrorCode } from '../../../errors.ts';
import { type OAuthConnector, TokenError } from '../grant.ts';
import { AUTHORIZATION_MINUTES } from './authorizations.ts';

/** What a caller is told of a code that was not exchanged. Anything but a TokenError comes back as it is. */
export function describeCodeFailure(connector: OAuthConnector, error: unknown, isAuthorizationKnown: boolean): unknown {
  if (!(error instanceof TokenError)) return error;
  const { name, key } = connector;
  const again = `Get a new one with GET /elements/${key}/oauth/url.`;
  if (error.kind !== 'refused') return describeOutage(error, `${error.message} The code may be used up. ${again}`);
  const hint = isAuthorizationKnown
    ? 'A code can be used once, and only for a short time.'
    : `No authorization URL was asked for here in the last ${AUTHORIZATION_MINUTES} minutes with this client, callback URL and state.`;
  return refuse(error, `${name} refuses the code. ${hint} ${again} Nothing was stored.`);
}

/** What a caller is told of credentials that were not taken; `keys` names them. */
export function describeTokenFailure({ name }: OAuthConnector, error: unknown, keys: string): unknown {
  if (!(error instanceof TokenError)) return error;
  if (error.kind !== 'refused') return describeOutage(error, error.message);
  return refuse(error, `${name} refuses these credentials. Check ${keys}. Nothing was stored.`);
}

function refuse(error: TokenError, message: string): AppError {
  return new AppError('PROVIDER_CREDENTIALS_INVALID', message, { ...wordsOf(error), cause: error });
}

function describeOutage(error: TokenError, message: string): AppError {
  const { retryAfterMs } = error;
  return new AppError(codeOf(error), `${message} Nothing was stored.`, {
    ...wordsOf(error),
    ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
    cause: error,
  });
}

function wordsOf({ providerMessage, oauthError }: TokenError): { readonly providerMessage?: string } {
  const words = providerMessage ?? oauthError;
  return words === undefined ? {} : { providerMessage: words };
}

function codeOf({ cause }: TokenError): ErrorCode {
  if (cause instanceof AppError) return cause.code;
  if (cause instanceof EgressError) {
    if (cause.reason === 'timeout') return 'PROVIDER_TIMEOUT';
    return cause.reason === 'refused' || cause.reason === 'invalid' ? 'REQUEST_INVALID' : 'PROVIDER_UNAVAILABLE';
  }
  // An answer came, and was not one of a token endpoint.
  return cause === undefined ? 'PROVIDER_UNAVAILABLE' : 'PROVIDER_PROTOCOL';
}
