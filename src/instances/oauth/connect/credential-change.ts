import type { Config } from '../../../connector/contract.ts';
import { AppError } from '../../../errors.ts';
import { addressesOf, type EarlierSettings, findStrayingSecrets } from '../../place.ts';
import { tokenUrlOf } from '../endpoint/addresses.ts';
import { OAUTH_KEYS } from '../fields.ts';
import type { OAuthConnector } from '../grant.ts';

/** What tokens are bound to: with another of these, those that are there are worth nothing. */
function clientOf(connector: OAuthConnector, config: Config): readonly unknown[] {
  return [config[OAUTH_KEYS.clientId], tokenUrlOf(connector, config).href, addressesOf(connector, config)];
}

/** Where calls go within the provider's address, and with what. */
function placeOf(connector: OAuthConnector, config: Config): readonly unknown[] {
  const values = Object.keys(connector.auth.values ?? {}).map((key) => config[key]);
  // With client credentials every new token is asked for with the scope.
  const scope = connector.auth.grant === 'clientCredentials' ? config[OAUTH_KEYS.scope] : undefined;
  return [connector.baseUrl(config), values, scope];
}

export function isSamePlace(connector: OAuthConnector, before: Config, after: Config): boolean {
  return isSame(placeOf(connector, before), placeOf(connector, after));
}

export function isSameSecret(before: Config, after: Config): boolean {
  return before[OAUTH_KEYS.clientSecret] === after[OAUTH_KEYS.clientSecret];
}

/** Whether nothing changed that the provider would have to agree to. */
export function isSameAccess(connector: OAuthConnector, before: Config, after: Config): boolean {
  const isSameClient = isSame(clientOf(connector, before), clientOf(connector, after));
  return isSameClient && isSameSecret(before, after) && isSamePlace(connector, before, after);
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** @throws AppError REQUEST_INVALID where the tokens of before cannot go on */
export function assertSameClient(connector: OAuthConnector, earlier: EarlierSettings, after: Config): void {
  if (isSame(clientOf(connector, earlier.config), clientOf(connector, after))) return;
  const message = `${connector.name} granted access to another client, or at another address: send a new providerData.code with these settings.`;
  throw new AppError('REQUEST_INVALID', message, {
    details: [
      { path: '/body/providerData/code', message: 'is missing' },
      ...findStrayingSecrets(connector, earlier, after),
    ],
  });
}
