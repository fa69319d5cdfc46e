import { join } from 'node:path';
import { type ApiAnswer, type ApiCall, type TestApp, useApp } from '../../support/app.ts';
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from '../../support/authorization-server.ts';

/** The connectors of this folder: `granted`, `machine` and others, loaded as those outside this repository are. */
export const OAUTH_CONNECTORS = join(import.meta.dirname, '../connectors');

export interface OAuthSetup {
  readonly service: TestApp;
  readonly server: AuthorizationServer;
  /** The configuration of an instance of `granted`. */
  readonly configuration: () => Record<string, unknown>;
  readonly oauthUrl: (query?: ApiCall['query'], headers?: ApiCall['headers']) => Promise<string>;
  /** What came to the callback URL when a user has authorized. */
  readonly authorize: (query?: ApiCall['query'], headers?: ApiCall['headers']) => Promise<Record<string, string>>;
  readonly create: (providerData: unknown, more?: object, headers?: ApiCall['headers']) => Promise<ApiAnswer>;
}

/** A service and an authorization server for the suite that calls this. */
export function useOAuth(options: AuthorizationServerOptions = {}): OAuthSetup {
  const service = useApp({ CONNECTORS_PATH: OAUTH_CONNECTORS });
  let started: AuthorizationServer | undefined;

  before('the authorization server', async () => {
    started = await startAuthorizationServer(options);
  });

  after(async () => {
    await started?.close();
  });

  const current = (): AuthorizationServer => {
    if (started === undefined) throw new Error('The authorization server of this suite has not started yet.');
    return started;
  };

  async function oauthUrl(query: ApiCall['query'] = {}, headers: ApiCall['headers'] = {}): Promise<string> {
    const { url, clientId, callbackUrl } = current();
    const answer = await service.call('/elements/granted/oauth/url', {
      query: { apiKey: clientId, callbackUrl, siteAddress: url, ...query },
      headers,
    });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body.oauthUrl;
  }

  return {
    service,
    get server() {
      return current();
    },
    configuration: () => ({
      'oauth.api.key': current().clientId,
      'oauth.api.secret': current().clientSecret,
      'oauth.callback.url': current().callbackUrl,
    }),
    oauthUrl,
    authorize: async (query, headers) => {
      const back = await current().authorize(await oauthUrl(query, headers));
      return Object.fromEntries(back.searchParams);
    },
    create: (providerData, more = {}, headers = {}) => {
      const { clientId, clientSecret, callbackUrl } = current();
      const configuration = {
        'oauth.api.key': clientId,
        'oauth.api.secret': clientSecret,
        'oauth.callback.url': callbackUrl,
        ...more,
      };
      const body = {
        element: { key: 'granted' },
        name: 'Ada',
        configuration,
        ...(providerData !== undefined && { providerData }),
      };
      return service.call('/instances', { method: 'POST', body, headers });
    },
  };
}
