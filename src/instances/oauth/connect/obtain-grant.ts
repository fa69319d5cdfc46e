import type { Config } from '../../../connector/contract.ts';
import { pointer } from '../../../errors.ts';
import { invalidConfiguration } from '../../configuration.ts';
import { OAUTH_KEYS } from '../fields.ts';
import { isClientRefusal, type OAuthConnector, type TokenEndpoint, TokenError, type TokenGrant } from '../grant.ts';
import type { AuthorizationKey } from './authorization-store.ts';
import type { ReturnedCode } from './authorizations.ts';
import { describeCodeFailure, describeTokenFailure } from './connect-failure.ts';
import type { GrantSource } from './grant-source.ts';

/** Settings that a grant is asked for with. */
export interface Undertaking {
  readonly connector: OAuthConnector;
  readonly config: Config;
  readonly signal: AbortSignal;
}

/** What a code came from. */
export interface Authorization {
  readonly key: AuthorizationKey;
  readonly returned: ReturnedCode;
  readonly verifier: string | undefined;
  /** Configuration keys that its URL was made with. */
  readonly settings: Config;
}

/** @throws AppError PROVIDER_CREDENTIALS_INVALID when the provider refuses; PROVIDER_* when it cannot answer */
export function obtainGrant(
  endpoint: TokenEndpoint,
  undertaking: Undertaking,
  source: GrantSource,
  authorization: Authorization | undefined,
): Promise<TokenGrant> {
  switch (source.kind) {
    case 'code':
      return exchange(endpoint, undertaking, source.code, authorization);
    case 'refreshToken':
      return refresh(endpoint, undertaking, source.refreshToken);
    case 'accessToken':
      return take(undertaking, source.accessToken);
    case 'client':
      return request(endpoint, undertaking);
  }
}

async function exchange(
  endpoint: TokenEndpoint,
  undertaking: Undertaking,
  code: string,
  authorization: Authorization | undefined,
): Promise<TokenGrant> {
  const callbackUrl = String(undertaking.config[OAUTH_KEYS.callbackUrl]);
  try {
    return await endpoint.exchangeCode({ ...undertaking, code, callbackUrl, verifier: authorization?.verifier });
  } catch (error) {
    throw describeCodeFailure(undertaking.connector, error, authorization !== undefined);
  }
}

async function refresh(endpoint: TokenEndpoint, undertaking: Undertaking, refreshToken: string): Promise<TokenGrant> {
  const { connector, config } = undertaking;
  try {
    const grant = await endpoint.refresh({ ...undertaking, refreshToken });
    assertNoValueIsMissing(connector, { ...config, ...grant.values });
    return { ...grant, refreshToken: grant.refreshToken ?? refreshToken };
  } catch (error) {
    throw describeTokenFailure(connector, error, OAUTH_KEYS.refreshToken);
  }
}

async function take({ connector, config }: Undertaking, accessToken: string): Promise<TokenGrant> {
  assertNoValueIsMissing(connector, config);
  return { accessToken, values: {} };
}

async function request(endpoint: TokenEndpoint, undertaking: Undertaking): Promise<TokenGrant> {
  try {
    return await endpoint.requestClientCredentials(undertaking);
  } catch (error) {
    const keys = `${OAUTH_KEYS.clientId} and ${OAUTH_KEYS.clientSecret}`;
    throw describeTokenFailure(undertaking.connector, error, keys);
  }
}

/** Nobody has been given it: a good client is refused the grant and nothing else. */
const NO_REFRESH_TOKEN = 'no-token-but-a-question-about-the-client';

/** @throws AppError PROVIDER_CREDENTIALS_INVALID when the provider refuses them; PROVIDER_* when it cannot answer */
export async function verifyClient(endpoint: TokenEndpoint, undertaking: Undertaking): Promise<void> {
  try {
    await endpoint.refresh({ ...undertaking, refreshToken: NO_REFRESH_TOKEN });
  } catch (error) {
    if (error instanceof TokenError && isGrantRefusal(error)) return;
    throw describeTokenFailure(undertaking.connector, error, OAUTH_KEYS.clientSecret);
  }
}

/** A refusal without a word may be of the client. */
function isGrantRefusal(error: TokenError): boolean {
  return error.kind === 'refused' && error.oauthError !== undefined && !isClientRefusal(error);
}

/** What a code would have brought has to be given with a token from elsewhere. */
function assertNoValueIsMissing(connector: OAuthConnector, config: Config): void {
  const missing = Object.entries(connector.auth.values ?? {}).filter(
    ([key, { required }]) => required !== false && config[key] === undefined,
  );
  if (missing.length === 0) return;
  throw invalidConfiguration(
    connector,
    missing.map(([key, { description }]) => ({
      path: pointer('body', 'configuration', key),
      message: `'${key}' is required with a token that was obtained elsewhere: ${description}`,
    })),
  );
}
