import type { Config } from '../../../connector/contract.ts';
import { AppError, pointer } from '../../../errors.ts';
import { OAUTH_KEYS } from '../fields.ts';
import type { OAuthConnector } from '../grant.ts';
import type { OpenAuthorizations } from './authorizations.ts';
import { settingsOfUrl } from './url-settings.ts';

interface Request {
  /** Settings that stay unless an authorization or the caller has others. */
  readonly base: Config;
  /** What the caller gave in the configuration: it holds whatever the authorizations were begun with. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly state: string | undefined;
}

/**
 * What the URL of a code was made with. Nothing in a code says which of several open authorizations it comes from, so they
 * must come to the same: sent to the wrong address it would be used up. Only the scope leads nowhere; one in which they
 * differ is left out.
 * @throws AppError REQUEST_INVALID that names the keys in which they differ
 */
export function agreeOnSettings(
  connector: OAuthConnector,
  { settings: [newest, ...others] }: OpenAuthorizations,
  { base, given, state }: Request,
): Config {
  const [first, ...rest] = [newest, ...others].map((settings) => ({
    ...settingsOfUrl(connector, { ...base, ...settings }),
    ...given,
  }));
  const keys = [...new Set([newest, ...others].flatMap(Object.keys))];
  const differing = keys.filter((key) => rest.some((settings) => !isSame(settings, first, key)));
  const leading = differing.filter((key) => key !== OAUTH_KEYS.scope);
  if (leading.length > 0) throw describeDifference(connector, leading, state);
  return Object.fromEntries(Object.entries(newest).filter(([key]) => !differing.includes(key)));
}

/** What is not set is as good as false. */
function isSame(one: Readonly<Record<string, unknown>>, other: typeof one | undefined, key: string): boolean {
  return (one[key] ?? false) === (other?.[key] ?? false);
}

function describeDifference({ name }: OAuthConnector, keys: readonly string[], state: string | undefined): AppError {
  const [of, way] =
    state === undefined
      ? ['client and callback URL', 'Send the state that came with the code as providerData.state']
      : ['client, callback URL and state', 'Begin each with a state of its own'];
  const differing = keys.join(', ');
  const message = `Several authorizations of ${name} are open with this ${of}, and they differ in ${differing}. ${way}, or send ${differing} in the configuration. The code was not used.`;
  return new AppError('REQUEST_INVALID', message, {
    details: [
      { path: '/body/providerData/state', message: state === undefined ? 'is missing' : 'fits several authorizations' },
      ...keys.map((key) => ({
        path: pointer('body', 'configuration', key),
        message: 'differs between the open authorizations',
      })),
    ],
  });
}
