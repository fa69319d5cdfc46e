import {
  type Call,
  createOAuthServer,
  DAY_MS,
  fault,
  type Guard,
  type MovableClock,
  type OAuthOptions,
  type OAuthServer,
  type RegisteredClient,
  type Routes,
  readBasic,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';

export const INSTANCE = 'demo';
export const HOST = `${INSTANCE}.service-now.com`;
export const USERNAME = 'admin';
export const PASSWORD = 'demo-password';

/** Good from the start, for those who test something else than the login. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

/** Refresh tokens stay as they are. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = { 'demo-client': { secret: 'demo-secret' } };

const ACCESS_MS = 1_800_000;

/** Whatever is wrong, ServiceNow says the same. */
const DENIED = ['server_error', 'access_denied', 401] as const;
const ERRORS: OAuthOptions['errors'] = {
  unknownClient: DENIED,
  wrongSecret: DENIED,
  unknownCode: DENIED,
  otherClient: DENIED,
  otherRedirect: DENIED,
  wrongVerifier: DENIED,
  unknownRefreshToken: DENIED,
  unsupportedGrant: DENIED,
};

export interface Login extends Pick<OAuthServer, 'endSessions'> {
  readonly routes: Routes;
  readonly assertUser: Guard;
}

export function createLogin(memory: SimulatorMemory | undefined, clock: MovableClock): Login {
  const server = createOAuthServer({
    title: 'ServiceNow simulator',
    clients: CLIENTS,
    clock,
    memory,
    clientAuthentication: 'body',
    lifetimes: { accessMs: ACCESS_MS, refreshMs: 100 * DAY_MS },
    accessTokens: [DEMO_ACCESS_TOKEN],
    errors: ERRORS,
    answer: ({ access_token, refresh_token }, { body }) => ({
      access_token,
      // The one that was used is told again.
      refresh_token: refresh_token ?? body.form().get('refresh_token'),
      scope: 'useraccount',
      token_type: 'Bearer',
      expires_in: ACCESS_MS / 1000,
    }),
  });
  return {
    endSessions: server.endSessions,
    routes: { 'GET /oauth_auth.do': here(server.authorize), 'POST /oauth_token.do': here(server.token) },
    assertUser: (call) => {
      assertHost(call);
      const { authorization } = call.headers;
      const user = readBasic(authorization);
      const isUser = user?.username === USERNAME && user.password === PASSWORD;
      if (isUser || server.accepts(readBearer(authorization) ?? '')) return;
      throw fault(401, 'Unauthorized', { headers: { 'www-authenticate': 'BASIC realm="Service-now"' } });
    },
  };
}

function here(handler: OAuthServer['token']): OAuthServer['token'] {
  return (call) => {
    assertHost(call);
    return handler(call);
  };
}

/** Other instances are those of somebody else. */
function assertHost({ host, path }: Call): void {
  if ((host ?? HOST) !== HOST) throw fault(404, `There is nothing at ${path}.`);
}
