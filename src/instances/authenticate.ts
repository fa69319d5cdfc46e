import type { Knex } from 'knex';
import type { AccessTokens, ProviderCall, ProviderClient } from '../connector/client/index.ts';
import type { CodeExchange, Config, Connector } from '../connector/contract.ts';
import { AppError, isAppError } from '../errors.ts';
import { credentialsRejected } from '../shared-errors.ts';
import { exchangeCode, isPassing, withCodeForToken } from './code-exchange.ts';
import { exchangeOf, resolveConfiguration } from './configuration.ts';
import {
  assertSameClient,
  assertSecretsStay,
  type EarlierSettings,
  isSameAccess,
  isSameSecret,
  isSameTarget,
} from './credential-change.ts';
import type { InstanceKey } from './instance.ts';
import type { AuthorizationCaller, Authorizations } from './oauth/authorizations.ts';
import type { ProviderData } from './oauth/authorize.ts';
import { type ConnectNeighbours, connect, tokensIn, verifyClient } from './oauth/connect.ts';
import { isOAuthConnector, OAUTH_KEYS, type OAuthConnector, TOKEN_KEYS } from './oauth/fields.ts';
import type { TokenOwner, Tokens } from './oauth/tokens/tokens.ts';
import { assertGivenValues } from './oauth/values.ts';

interface AuthenticateNeighbours extends ConnectNeighbours {
  readonly client: ProviderClient;
  readonly authorizations: Authorizations;
  readonly tokens: Tokens;
}

/** Settings as the caller sent them, with the data to authenticate them. */
interface GivenCredentials {
  readonly caller: AuthorizationCaller;
  readonly given: Readonly<Record<string, unknown>>;
  /** Earlier settings. They stay unless new values are given. */
  readonly base: Config;
  readonly providerData: ProviderData | undefined;
  readonly signal: AbortSignal;
}

/** Settings for an existing instance. */
export interface GivenAgain extends GivenCredentials {
  readonly earlier: EarlierSettings;
}

/** Settings that were authenticated and may be stored. */
export interface Authenticated {
  readonly config: Config;
  /** Whether the provider has just granted a token with these settings. */
  readonly verified: boolean;
  /**
   * Stores the tokens and codes of the settings, in the same transaction.
   * @returns whether this removes the reason why the instance was invalid
   */
  readonly keep: (via: Knex, key: InstanceKey) => Promise<boolean>;
}

export type Authenticate = ReturnType<typeof createAuthenticate>;

const KEEP_NOTHING = async () => false;

/** Creates the verification of settings with the provider, before they are stored. */
export function createAuthenticate(neighbours: AuthenticateNeighbours) {
  const { client, authorizations, tokens, requestToken } = neighbours;

  async function withSecrets(
    connector: Connector,
    { caller, given, base, providerData, signal, earlier }: GivenCredentials & Partial<GivenAgain>,
  ): Promise<Authenticated> {
    const { accountId } = caller;
    assertNoCode(connector, providerData);
    const exchange = exchangeOf(connector);
    const settings = exchange === undefined ? { given, base } : withCodeForToken(exchange, { given, base });
    const config = resolveConfiguration(connector, settings.given, settings.base);
    assertSecretsStay(connector, earlier, config);
    const call = { connector, config, accountId, signal };
    const verified =
      exchange === undefined || config[exchange.code] === undefined
        ? await verifySettings(client, call)
        : await verifyByCode(exchange, call);
    return { config: verified, verified: true, keep: KEEP_NOTHING };
  }

  /**
   * A successful exchange proves that the provider accepts the settings. The code is spent then, so only a rejection makes the token
   * worthless.
   */
  async function verifyByCode(exchange: CodeExchange, call: ProviderCall): Promise<Config> {
    const config = await exchangeCode(client, exchange, call);
    try {
      return await verifySettings(client, { ...call, config }, call.config);
    } catch (error) {
      if (isPassing(error)) return config;
      throw error;
    }
  }

  async function withGrant(
    connector: OAuthConnector,
    credentials: GivenCredentials & Partial<GivenAgain>,
  ): Promise<Authenticated> {
    const { config, grant, authorization } = await connect(neighbours, { connector, ...credentials });
    const { caller, signal } = credentials;
    const shown = { connector, config, accountId: caller.accountId, tokens: onlyToken(grant.accessToken), signal };
    const verified = await verifySettings(client, shown);
    const keep = async (via: Knex, key: InstanceKey) => {
      await tokens.store(via, { ...key, connector }, grant);
      if (authorization !== undefined) await authorizations.use(via, authorization.key, authorization.returned);
      return true;
    };
    return { config: verified, verified: true, keep };
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
    if (isClientAsked) await verifyClient(requestToken, { connector, config }, signal);
    const keep = isClientAsked ? tokens.acceptClient : KEEP_NOTHING;
    if (isSameTarget(connector, owner.config, config)) return { config, verified: false, keep };
    const accessToken = await currentToken(owner, signal);
    const { accountId } = owner;
    const shown = { connector, config, accountId, tokens: onlyToken(accessToken), signal };
    const verified = await verifySettings(client, shown);
    return { config: verified, verified: true, keep };
  }

  /** Returns the current token of the earlier settings, because it is not known yet whether the new ones are valid. */
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
    /**
     * Authenticates a new instance.
     * @throws AppError when the settings are not usable, or the provider does not accept them
     */
    first: (connector: Connector, credentials: GivenCredentials) =>
      isOAuthConnector(connector) ? withGrant(connector, credentials) : withSecrets(connector, credentials),
    /**
     * Authenticates an instance again. It requests a grant only for a new code, token or client.
     * @throws AppError as `first`
     */
    again: (instance: TokenOwner, credentials: GivenAgain) => {
      const { connector } = instance;
      if (!isOAuthConnector(connector)) return withSecrets(connector, credentials);
      return needsGrant(connector, instance, credentials)
        ? withGrant(connector, credentials)
        : withoutGrant(instance, connector, credentials);
    },
  };
}

/** The provider may accept a client that it rejected before. The caller sends its secret again to request that. */
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

/** Returns the values without tokens. They are only masks here, and the stored tokens stay. */
function withoutTokens(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).filter(([key]) => !TOKEN_KEYS.includes(key)));
}

/** Returns a source of only this token, so that the provider's rejection is reported in its own words. */
function onlyToken(accessToken: string): AccessTokens {
  return { current: async () => accessToken, replace: async () => accessToken };
}

function assertNoCode(connector: Connector, providerData: ProviderData | undefined): void {
  if (providerData === undefined) return;
  const message = `${connector.name} does not use OAuth. Leave out providerData and send its configuration keys.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/providerData', message }] });
}

/**
 * Returns the settings to store after the provider accepted them, with the connector's findings about it.
 * @param given the settings that the message of a rejection names
 * @throws AppError PROVIDER_CREDENTIALS_INVALID when the provider rejects them or does not know the account; other failures unchanged
 */
async function verifySettings(client: ProviderClient, call: ProviderCall, given = call.config): Promise<Config> {
  try {
    await client.send(call, call.connector.probe);
    return await examined(client, call);
  } catch (error) {
    // A wrong account name shows as "not found" or "forbidden" at most providers: to the caller it is all one.
    if (!isAppError(error, 'INSTANCE_CREDENTIALS_FAILED', 'PROVIDER_REJECTED', 'NOT_FOUND')) throw error;
    const { connector } = call;
    const fields = connector.configuration.filter((field) => field.default === undefined && field.key in given);
    const keys = fields.map(({ key }) => key).join(', ');
    throw credentialsRejected(connector.name, keys, {
      ...(error.providerMessage !== undefined && { providerMessage: error.providerMessage }),
      cause: error,
    });
  }
}

async function examined(client: ProviderClient, call: ProviderCall): Promise<Config> {
  const { examine } = call.connector;
  if (examine === undefined) return call.config;
  const found = await client.execute({ run: examine }, undefined, { ...call, retry: false });
  const settings = Object.entries({ ...call.config, ...found }).filter(([, value]) => value !== undefined);
  return Object.freeze(Object.fromEntries(settings));
}
