import {
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

/** The application whose data it is. */
export const TENANT = 'ab103.infusionsoft.com';

/** Good from the start, for those who test something else than the login. */
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

/** Refresh tokens are used once. Refreshing takes the client's proof in a header alone, a code takes it in the form alone. */
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
    'GET /app/oauth/authorize': (call) => {
      assertHost(call, [LOGIN_HOST]);
      // It is the default, and there is no other.
      return server.authorize({ ...call, query: new URLSearchParams([['response_type', 'code'], ...call.query]) });
    },
    'POST /token': (call) => {
      assertHost(call, [TOKEN_HOST]);
      const grant = call.body.form().get('grant_type');
      if (grant === null) {
        return json({ error: 'invalid_request', error_description: 'response_type or grant_type is required' }, 400);
      }
      // Each as Keap's SDK sends it, and no other way.
      if ((grant === 'refresh_token') !== (readBasic(call.headers.authorization) !== undefined)) {
        return json({ error: 'invalid_client', error_description: 'Client credentials are invalid' }, 401);
      }
      return server.token(call);
    },
  };

  /** @throws Fault 401 as the gateway says it, which tells no token from a wrong one */
  function authenticate(call: Call): void {
    assertHost(call, API_HOSTS);
    const key = call.headers['x-keap-api-key'];
    const token = readBearer(call.headers.authorization) ?? (typeof key === 'string' ? key : undefined);
    if (token === undefined) throw new Fault(401, 'oauth.v2.InvalidAccessToken', 'Invalid access token');
    if (!server.accepts(token)) {
      throw new Fault(401, 'keymanagement.service.invalid_access_token', 'Invalid Access Token');
    }
  }

  return { routes, authenticate, commands: server.commands };
}

function assertHost({ host, path }: Call, hosts: readonly string[]): void {
  if (host === undefined || hosts.includes(host)) return;
  throw new Fault(404, 'NOT_FOUND', `There is nothing at ${host}${path}.`);
}
