import {
  atHosts,
  type Call,
  createOAuthServer,
  Fault,
  json,
  type MovableClock,
  type RegisteredClient,
  type Routes,
  readBasic,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';

/** The Keap application that owns the data. */
export const TENANT = 'ab103.infusionsoft.com';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
/** A personal access token. */
export const DEMO_ACCESS_KEY = 'KeapAK-demo';

export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

export const API_HOSTS = ['api.infusionsoft.com', 'api.keap.com'];
const LOGIN_HOST = 'accounts.infusionsoft.com';
const TOKEN_HOST = 'api.infusionsoft.com';

const DAY_MS = 86_400_000;

/**
 * Creates the OAuth server. Each refresh token can be used once. A refresh requires the client credentials in a header, and the exchange of
 * a code requires them in the form.
 */
export function createLogin(memory: SimulatorMemory, clock: MovableClock) {
  const scope = `full|${TENANT}`;
  const server = createOAuthServer({
    title: 'Keap simulator',
    clients: CLIENTS,
    clock,
    memory,
    lifetimes: { accessMs: DAY_MS },
    defaultScope: 'full',
    accessTokens: [DEMO_ACCESS_TOKEN, DEMO_ACCESS_KEY],
    callback: { scope },
    tokenResponse: (standard) => ({ ...standard, token_type: 'bearer', scope }),
  });
  const routes: Routes = {
    'GET /app/oauth/authorize': atHosts([LOGIN_HOST], (call) =>
      // `code` is the default, and the only value.
      server.authorize({ ...call, query: new URLSearchParams([['response_type', 'code'], ...call.query]) }),
    ),
    'POST /token': atHosts([TOKEN_HOST], (call) => {
      const grant = call.body.form().get('grant_type');
      if (grant === null) {
        return json({ error: 'invalid_request', error_description: 'response_type or grant_type is required' }, 400);
      }
      // Each grant accepts the client credentials only where Keap's SDK sends them.
      if ((grant === 'refresh_token') !== (readBasic(call.headers.authorization) !== undefined)) {
        return json({ error: 'invalid_client', error_description: 'Client credentials are invalid' }, 401);
      }
      return server.token(call);
    }),
  };

  /**
   * Checks the credentials of a call.
   * @throws Fault 401 in the form of the gateway, which does not distinguish a missing token from a wrong one
   */
  function authenticate({ headers }: Call): void {
    const key = headers['x-keap-api-key'];
    const token = readBearer(headers.authorization) ?? (typeof key === 'string' ? key : undefined);
    if (token === undefined) throw new Fault(401, 'oauth.v2.InvalidAccessToken', 'Invalid access token');
    if (!server.accepts(token)) {
      throw new Fault(401, 'keymanagement.service.invalid_access_token', 'Invalid Access Token');
    }
  }

  return { routes, authenticate, commands: server.commands };
}
