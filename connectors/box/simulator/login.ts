import {
  atHosts,
  createOAuthServer,
  DAY_MS,
  type MovableClock,
  type RegisteredClient,
  type SimulatorMemory,
} from '#connector/simulator';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

/** The registered clients. Each refresh token can be used once. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

export const LOGIN_HOSTS = ['account.box.com'];
export const API_HOSTS = ['api.box.com'];
export const UPLOAD_HOSTS = ['upload.box.com', 'upload.app.box.com'];
export const DOWNLOAD_HOST = 'dl.boxcloud.com';

const CODE_MS = 30_000;
const ACCESS_MS = 60 * 60_000;
const REFRESH_MS = 60 * DAY_MS;

/** Creates the OAuth 2.0 server. Clients authenticate in the body, and the exchange of a code does not name the redirect URI. */
export function createLogin(memory: SimulatorMemory | undefined, clock: MovableClock) {
  const server = createOAuthServer({
    title: 'Box simulator',
    clients: CLIENTS,
    clock,
    memory,
    clientAuthentication: 'body',
    tokenRedirect: 'unsaid',
    lifetimes: { codeMs: CODE_MS, accessMs: ACCESS_MS, refreshMs: REFRESH_MS },
    accessTokens: [DEMO_ACCESS_TOKEN],
    tokenResponse: ({ access_token, expires_in, refresh_token }) => ({
      ...{ access_token, expires_in, restricted_to: [], refresh_token, token_type: 'bearer' },
    }),
    errors: {
      denied: ['access_denied', 'The user denied access to your application'],
      unknownClient: ['invalid_client', 'The client credentials are invalid', 400],
      wrongSecret: ['invalid_client', 'The client credentials are invalid', 400],
      unknownCode: ['invalid_grant', "Auth code doesn't exist or is invalid for the client"],
      otherClient: ['invalid_grant', "Auth code doesn't exist or is invalid for the client"],
      unknownRefreshToken: ['invalid_grant', 'Invalid refresh token'],
      unsupportedGrant: ['unsupported_grant_type', 'Invalid grant_type parameter or parameter missing'],
    },
  });

  return {
    accepts: server.accepts,
    commands: server.commands,
    routes: {
      'GET /api/oauth2/authorize': atHosts(LOGIN_HOSTS, server.authorize),
      'POST /oauth2/token': atHosts(API_HOSTS, server.token),
      'POST /oauth2/revoke': atHosts(API_HOSTS, server.revoke),
    },
  };
}
