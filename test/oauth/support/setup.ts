import { join } from 'node:path';
import { type ApiAnswer, type ApiCall, useApp } from '../../support/app.ts';
import { startAuthorizationServer } from '../../support/authorization-server.ts';
import { useStarted } from '../../support/started.ts';

/** The connectors of this folder: `granted`, `machine` and others, loaded as those outside this repository are. */
export const OAUTH_CONNECTORS = join(import.meta.dirname, '../connectors');

/** A service and an authorization server for the suite that calls this. */
export function useOAuth() {
  const service = useApp({ CONNECTORS_PATH: OAUTH_CONNECTORS });
  const server = useStarted(startAuthorizationServer, ({ close }) => close());

  /** The client of an instance of `granted`. */
  const configuration = () => ({
    'oauth.api.key': server.clientId,
    'oauth.api.secret': server.clientSecret,
    'oauth.callback.url': server.callbackUrl,
  });

  async function oauthUrl(query: ApiCall['query'] = {}, headers: ApiCall['headers'] = {}): Promise<string> {
    const { url, clientId, callbackUrl } = server;
    const response = await service.call('/elements/granted/oauth/url', {
      query: { apiKey: clientId, callbackUrl, siteAddress: url, ...query },
      headers,
    });
    if (response.status !== 200) throw new Error(JSON.stringify(response.body));
    return response.body.oauthUrl;
  }

  return {
    service,
    server,
    configuration,
    oauthUrl,
    /** What came to the callback URL when a user has authorized. */
    authorize: async (query?: ApiCall['query'], headers?: ApiCall['headers']): Promise<Record<string, string>> => {
      const back = await server.authorize(await oauthUrl(query, headers));
      return Object.fromEntries(back.searchParams);
    },
    create: (providerData: unknown, more: object = {}, headers: ApiCall['headers'] = {}): Promise<ApiAnswer> => {
      const body = {
        element: { key: 'granted' },
        name: 'Ada',
        configuration: { ...configuration(), ...more },
        ...(providerData !== undefined && { providerData }),
      };
      return service.call('/instances', { method: 'POST', body, headers });
    },
  };
}
