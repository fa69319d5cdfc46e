import { type ApiError, api, ask, type Schemas } from '../api.ts';
import type { Sent } from '../oauth-channel.ts';
import { CALLBACK_URL, type WindowLogIn } from './authorization.ts';
import type { Values } from './form-values.ts';

type Element = Schemas['ElementDetail'];
type Proxy = Schemas['OAuthProxy'];

/** The values of a form for an instance. */
export interface Given {
  readonly name: string;
  /** Tags, separated by commas. */
  readonly tags: string;
  readonly values: Values;
  readonly isSimulated: boolean;
  /** The OAuth proxy that has the key and the secret of the application. */
  readonly proxy: Proxy | undefined;
}

/** The result of a log-in. */
export interface Grant {
  readonly providerData: Sent;
  /** The keys that the log-in has set. They must not be sent again. */
  readonly settled: readonly string[];
  readonly callbackUrl: string;
}

export function tagsOf(text: string): readonly string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}

/**
 * Lets the user log in at the provider.
 * @throws NotAuthorized, ApiError
 */
export async function logInOf(element: Element, given: Given, authorize: WindowLogIn['authorize']): Promise<Grant> {
  const { siteAddressKey = '', sandboxKey = '', merchantIdKey = '' } = element.authentication;
  const { values, proxy, isSimulated } = given;
  const begin = async (state: string) => {
    const { oauthUrl } = await ask(
      api.POST('/elements/{keyOrId}/oauth/url', {
        params: { path: { keyOrId: element.key } },
        body: {
          state,
          ...(proxy === undefined
            ? { apiKey: textOf(values['oauth.api.key']), callbackUrl: CALLBACK_URL }
            : { oauthProxyName: proxy.name }),
          ...(isSimulated && { simulator: true }),
          ...(values[sandboxKey] === true && { sandbox: true }),
          ...(textOf(values[siteAddressKey]) !== '' && { siteAddress: textOf(values[siteAddressKey]) }),
          ...(textOf(values[merchantIdKey]) !== '' && { merchantId: textOf(values[merchantIdKey]) }),
          ...(textOf(values['oauth.scope']) !== '' && { scope: textOf(values['oauth.scope']) }),
        },
      }),
    );
    return oauthUrl;
  };
  // An OAuth proxy redirects the browser to the URL in the state.
  const stateOf = proxy === undefined ? undefined : (random: string) => `${CALLBACK_URL}?window=${random}`;
  const { window: _, ...providerData } = await authorize(element.name, begin, stateOf);
  return {
    providerData,
    settled: [siteAddressKey, sandboxKey, merchantIdKey, 'oauth.scope'],
    callbackUrl: proxy?.proxyUrl ?? CALLBACK_URL,
  };
}

function textOf(value: string | boolean | undefined): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns the faults that the API reports, by configuration key. */
export function faultsOf({ details }: ApiError, { authentication }: Element): Readonly<Record<string, string>> {
  const { siteAddressKey = '', sandboxKey = '', merchantIdKey = '' } = authentication;
  const ofUrl: Readonly<Record<string, string>> = {
    siteAddress: siteAddressKey,
    sandbox: sandboxKey,
    merchantId: merchantIdKey,
    apiKey: 'oauth.api.key',
    scope: 'oauth.scope',
  };
  return Object.fromEntries(
    details.flatMap(({ path = '', message }) => {
      // A JSON pointer, such as `/body/configuration/company.name`.
      const [, , first = '', second] = path.split('/').map(unescapePointer);
      const key = first === 'configuration' ? second : ofUrl[first];
      return key === undefined || key === '' ? [] : [[key, message]];
    }),
  );
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
