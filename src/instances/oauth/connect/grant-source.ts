import { toShowable } from '../../../connector/client/response.ts';
import { AppError } from '../../../errors.ts';
import { createRedactor, type Redactor } from '../../../redaction.ts';
import { MASK } from '../../configuration.ts';
import { OAUTH_KEYS, TOKEN_KEYS } from '../fields.ts';
import type { OAuthConnector } from '../grant.ts';

/** What came to the callback URL: `code`, `state` and whatever else the provider added, or `error`. */
export type ProviderData = Readonly<Record<string, string>>;

interface Given {
  readonly connector: OAuthConnector;
  readonly given: Readonly<Record<string, unknown>>;
  readonly providerData: ProviderData | undefined;
}

/** Where the grant comes from. */
export type GrantSource =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'refreshToken'; readonly refreshToken: string }
  | { readonly kind: 'accessToken'; readonly accessToken: string }
  | { readonly kind: 'client' };

/** @throws AppError REQUEST_INVALID that says how to get a code */
export function chooseSource({ connector, given, providerData }: Given): GrantSource {
  if (connector.auth.grant === 'clientCredentials') {
    assertNoProviderData(connector, providerData);
    return { kind: 'client' };
  }
  const { code } = providerData ?? {};
  if (code !== undefined && code !== '') return { kind: 'code', code };
  if (providerData === undefined) {
    const { refreshToken, accessToken } = tokensIn(given);
    if (refreshToken !== undefined) return { kind: 'refreshToken', refreshToken };
    if (accessToken !== undefined) return { kind: 'accessToken', accessToken };
  }
  throw codeMissing(connector, given, providerData);
}

function assertNoProviderData({ name }: OAuthConnector, providerData: ProviderData | undefined): void {
  if (providerData === undefined) return;
  const message = `${name} needs no user to authorize, so there is no code: leave out providerData.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/providerData', message }] });
}

/** Tokens that were obtained elsewhere; a mask is none. */
export function tokensIn(given: Readonly<Record<string, unknown>>) {
  return { refreshToken: tokenIn(given, OAUTH_KEYS.refreshToken), accessToken: tokenIn(given, OAUTH_KEYS.accessToken) };
}

function tokenIn(given: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const token = given[key];
  return typeof token === 'string' && token !== '' && token !== MASK ? token : undefined;
}

function codeMissing(
  { key, name }: OAuthConnector,
  given: Given['given'],
  { error, error_description }: ProviderData = {},
) {
  const path = '/body/providerData/code';
  const how = `Open the oauthUrl of GET /elements/${key}/oauth/url, authorize there, and send the code that comes back as providerData.code.`;
  const words = [error, error_description].filter((part) => part !== undefined && part !== '');
  const message =
    words.length === 0
      ? `${name} uses OAuth: providerData.code is missing. ${how}`
      : `${name} was not authorized, so there is no code. ${how}`;
  return new AppError('REQUEST_INVALID', message, {
    details: [{ path, message: 'is missing' }],
    ...(words.length > 0 && { providerMessage: toShowable(redactorOf(given), words.join(': '), MAX_WORDS) }),
  });
}

const MAX_WORDS = 500;

/** Of what the provider may quote when it did not give a code. */
function redactorOf(given: Given['given']): Redactor {
  return createRedactor([OAUTH_KEYS.clientSecret, ...TOKEN_KEYS].map((key) => String(given[key] ?? '')));
}
