import type { Knex } from 'knex';
import type { AccessTokens, ProviderClient } from '../connector/client/index.ts';
import type { Config, Connector } from '../connector/contract.ts';
import { AppError, isAppError } from '../errors.ts';
import { resolveConfiguration } from './configuration.ts';
import type { AuthorizationCaller, Authorizations } from './oauth/connect/authorizations.ts';
import type { Connect, Connection } from './oauth/connect/connect.ts';
import { assertSameClient, isSameAccess, isSamePlace, isSameSecret } from './oauth/connect/credential-change.ts';
import { type ProviderData, tokensIn } from './oauth/connect/grant-source.ts';
import { assertGivenValues } from './oauth/endpoint/values.ts';
import { isOAuthConnector, OAUTH_KEYS, TOKEN_KEYS } from './oauth/fields.ts';
import type { OAuthConnector } from './oauth/grant.ts';
import type { TokenKey, TokenOwner, Tokens } from './oauth/tokens/tokens.ts';
import { assertSecretsStay, type EarlierSettings } from './place.ts';
import { verifySettings } from './verify.ts';

export interface AuthenticatePorts {
  readonly client: ProviderClient;
  readonly connect: Connect;
  readonly authorizations: Pick<Authorizations, 'use'>;
  readonly tokens: Pick<Tokens, 'store' | 'acceptClient' | 'of'>;
}

/** Settings as they were given, with what goes along. */
export interface GivenCredentials {
  readonly caller: AuthorizationCaller;
  readonly given: Readonly<Record<string, unknown>>;
  /** Settings that stay unless they are given. */
  readonly base: Config;
  readonly providerData: ProviderData | undefined;
  readonly signal: AbortSignal;
}

/** Settings for an instance that is there. */
export interface GivenAgain extends GivenCredentials {
  readonly earlier: EarlierSettings;
}

/** Settings that may be stored. */
export interface Authenticated {
  readonly config: Config;
  /** The provider took a token with these settings, just now. */
  readonly verified: boolean;
  /**
   * Stores what goes along with the settings, in their transaction.
   * @returns whether they put right what the instance was invalid for
   */
  readonly keep: (via: Knex, key: TokenKey) => Promise<boolean>;
}

export interface Authenticate {
  /** @throws AppError when the settings are not usable, or the provider does not take them */
  readonly first: (connector: Connector, credentials: GivenCredentials) => Promise<Authenticated>;
  /** A grant is asked for only when there is a new code, token or client. @throws AppError as `first` */
  readonly again: (instance: TokenOwner, credentials: GivenAgain) => Promise<Authenticated>;
}

const KEEP_NOTHING = async () => false;

/** Shows settings to the provider before they are stored. */
export function createAuthenticate({ client, connect, authorizations, tokens }: AuthenticatePorts): Authenticate {
  async function withSecrets(
    connector: Connector,
    { caller, given, base, providerData, signal, earlier }: GivenCredentials & Partial<GivenAgain>,
  ): Promise<Authenticated> {
    const { accountId } = caller;
    assertNoCode(connector, providerData);
    const config = resolveConfiguration(connector, given, base);
    assertSecretsStay(connector, earlier, config);
    const verified = await verifySettings(client, { connector, config, accountId, signal });
    return { config: verified, verified: true, keep: KEEP_NOTHING };
  }

  async function withGrant(
    connector: OAuthConnector,
    credentials: GivenCredentials & Partial<GivenAgain>,
  ): Promise<Authenticated> {
    const connection = await connect.connect({ connector, ...credentials });
    const { config, grant } = connection;
    const { caller, signal } = credentials;
    const { accountId } = caller;
    const tokens = onlyToken(grant.accessToken);
    const verified = await verifySettings(client, { connector, config, accountId, tokens, signal });
    return { config: verified, verified: true, keep: (via, key) => keepGrant(connector, connection, via, key) };
  }

  async function keepGrant(
    connector: OAuthConnector,
    { grant, authorization }: Connection,
    via: Knex,
    key: TokenKey,
  ): Promise<boolean> {
    await tokens.store(via, { ...key, connector }, grant);
    if (authorization !== undefined) await authorizations.use(via, authorization.key, authorization.returned);
    return true;
  }

  async function withoutGrant(
    owner: TokenOwner,
    connector: OAuthConnector,
    { given, base, earlier, signal }: GivenAgain,
  ): Promise<Authenticated> {
    const config = resolveConfiguration(connector, withoutTokens(given), base);
    assertSameClient(connector, earlier, config);
    assertGivenValues(connector, config);
    const isNewSecret = !isSameSecret(owner.config, config);
    const isClientAsked = isNewSecret || isRetried(owner, earlier);
    if (isClientAsked) await connect.verifyClient({ connector, config, signal });
    const keep = isClientAsked ? tokens.acceptClient : KEEP_NOTHING;
    if (isSamePlace(connector, owner.config, config)) return { config, verified: false, keep };
    const accessToken = await currentToken(owner, signal);
    const { accountId } = owner;
    const shown = { connector, config, accountId, tokens: onlyToken(accessToken), signal };
    const verified = await verifySettings(client, shown);
    return { config: verified, verified: true, keep };
  }

  /** By the settings of before: those that are new are not known to be good. */
  async function currentToken(owner: TokenOwner, signal: AbortSignal): Promise<string> {
    try {
      return (await tokens.of(owner)?.current(signal)) ?? '';
    } catch (error) {
      if (!isAppError(error, 'INSTANCE_CREDENTIALS_FAILED')) throw error;
      const message = `${error.message} Send a new providerData.code with the new settings. Nothing was stored.`;
      throw new AppError('PROVIDER_CREDENTIALS_INVALID', message, { cause: error });
    }
  }

  return {
    first: (connector, credentials) =>
      isOAuthConnector(connector) ? withGrant(connector, credentials) : withSecrets(connector, credentials),
    again: (instance, credentials) => {
      const { connector } = instance;
      if (!isOAuthConnector(connector)) return withSecrets(connector, credentials);
      return needsGrant(connector, instance, credentials)
        ? withGrant(connector, credentials)
        : withoutGrant(instance, connector, credentials);
    },
  };
}

/** The provider may take a client again that it refused: its secret is shown once more to say so. */
function isRetried({ valid }: TokenOwner, { shown }: EarlierSettings): boolean {
  return !valid && shown.has(OAUTH_KEYS.clientSecret);
}

function needsGrant(
  connector: OAuthConnector,
  owner: TokenOwner,
  { given, base, providerData, earlier }: GivenAgain,
): boolean {
  if (connector.auth.grant === 'clientCredentials' && providerData === undefined) {
    if (isRetried(owner, earlier)) return true;
    return !isSameAccess(connector, earlier.config, resolveConfiguration(connector, withoutTokens(given), base));
  }
  const { refreshToken, accessToken } = tokensIn(given);
  return providerData !== undefined || refreshToken !== undefined || accessToken !== undefined;
}

/** Those that are masks: tokens stay where they are. */
function withoutTokens(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).filter(([key]) => !TOKEN_KEYS.includes(key)));
}

/** Asked for another one it has only the same, which shows the provider's refusal in its own words. */
function onlyToken(accessToken: string): AccessTokens {
  return { current: async () => accessToken, replace: async () => accessToken };
}

function assertNoCode(connector: Connector, providerData: ProviderData | undefined): void {
  if (providerData === undefined) return;
  const message = `${connector.name} does not use OAuth: leave out providerData and give its configuration keys.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/providerData', message }] });
}
