import { AppError } from '../../../errors.ts';
import { OAUTH_KEYS } from '../fields.ts';
import { isClientRefusal, type TokenError } from '../grant.ts';
import type { Refusal } from './token-store.ts';

const MAX_WORDS = 300;

interface Named {
  readonly connector: { readonly name: string };
  readonly id: number;
}

/** Why an instance is no longer valid, for people as well: what happened and what to do. */
export function describeRefusal(error: TokenError, interrupted: boolean): Refusal {
  return isClientRefusal(error)
    ? { kind: 'client', reason: describeClientRefusal(error) }
    : { kind: 'grant', reason: describeGrantRefusal(error, interrupted) };
}

function describeClientRefusal(error: TokenError): string {
  return `The provider refuses the client id or secret of this instance (${wordsOf(error)}). Change ${OAUTH_KEYS.clientSecret} in its configuration; it need not be authenticated again.`;
}

function describeGrantRefusal(error: TokenError, interrupted: boolean): string {
  const words = wordsOf(error);
  if (interrupted && error.oauthError === 'invalid_grant') {
    return `A refresh of the access was cut off before its result could be stored, and the provider no longer takes the refresh token from before (${words}). Authenticate this instance again.`;
  }
  return `The provider refuses to refresh the access of this instance (${words}). Authenticate it again.`;
}

function wordsOf({ oauthError, providerMessage, message }: TokenError): string {
  const words = [oauthError, providerMessage].filter((part) => part !== undefined).join(': ');
  return (words === '' ? message : words).slice(0, MAX_WORDS);
}

export function credentialsFailed({ connector, id }: Named, reason: string): AppError {
  return new AppError('INSTANCE_CREDENTIALS_FAILED', `Instance ${id} cannot call ${connector.name}. ${reason}`);
}

export function accessTokenRefused(owner: Named): AppError {
  return credentialsFailed(
    owner,
    'The provider refuses its access token, and there is no other to be had. Authenticate this instance again.',
  );
}

/** @param cause what the token endpoint did */
export function refreshUnavailable({ connector }: Named, waitMs: number, cause?: TokenError): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const details = { retryAfterSeconds: seconds, cause };
  const providerMessage = cause?.providerMessage;
  return new AppError(
    'PROVIDER_UNAVAILABLE',
    `${connector.name} did not renew the access of this instance. Try again in ${seconds} s.`,
    { ...details, ...(providerMessage !== undefined && { providerMessage }) },
  );
}
