import {
  atHosts,
  createOAuthServer,
  DAY_MS,
  fault,
  type Guard,
  type MovableClock,
  type RegisteredClient,
  readBasic,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';

export const INSTANCE = 'demo';
export const HOST = `${INSTANCE}.service-now.com`;
export const USERNAME = 'admin';
export const PASSWORD = 'demo-password';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

/** The registered clients. Refresh tokens never change. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = { 'demo-client': { secret: 'demo-secret' } };

const ACCESS_MS = 1_800_000;

/** The error for every failed request of a token. */
const DENIED = ['server_error', 'access_denied', 401] as const;

export function createLogin(memory: SimulatorMemory | undefined, clock: MovableClock) {
  const server = createOAuthServer({
    title: 'ServiceNow simulator',
    clients: CLIENTS,
    clock,
    memory,
    clientAuthentication: 'body',
    lifetimes: { accessMs: ACCESS_MS, refreshMs: 100 * DAY_MS },
    accessTokens: [DEMO_ACCESS_TOKEN],
    errors: {
      ...{ unknownClient: DENIED, wrongSecret: DENIED, unknownCode: DENIED, otherClient: DENIED },
      ...{ otherRedirect: DENIED, wrongVerifier: DENIED, unknownRefreshToken: DENIED, unsupportedGrant: DENIED },
    },
    tokenResponse: ({ access_token, refresh_token }, { body }) => ({
      access_token,
      // The response repeats the refresh token that was used.
      refresh_token: refresh_token ?? body.form().get('refresh_token'),
      scope: 'useraccount',
      token_type: 'Bearer',
      expires_in: ACCESS_MS / 1000,
    }),
  });
  const assertUser: Guard = ({ headers: { authorization } }) => {
    const user = readBasic(authorization);
    const isUser = user?.username === USERNAME && user.password === PASSWORD;
    if (isUser || server.accepts(readBearer(authorization) ?? '')) return;
    throw fault(401, 'Unauthorized', { headers: { 'www-authenticate': 'BASIC realm="Service-now"' } });
  };
  return {
    assertUser,
    commands: server.commands,
    routes: {
      'GET /oauth_auth.do': atHosts([HOST], server.authorize),
      'POST /oauth_token.do': atHosts([HOST], server.token),
    },
  };
}
