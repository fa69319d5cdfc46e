import {
  atHosts,
  type Call,
  createBody,
  createOAuthServer,
  DAY_MS,
  Fault,
  type MovableClock,
  type RegisteredClient,
  type SimulatedResponse,
  type SimulatorMemory,
} from '#connector/simulator';

export const MERCHANT_ID = 'TC4DGCJW1K4EW';
export const EMPLOYEE_ID = 'E000000000000';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

/** The registered clients. The second one cannot keep a secret, and authenticates with PKCE. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
  'low-trust-client': { rotates: {} },
};

const ACCESS_MS = 30 * 60_000;
const REFRESH_MS = 366 * DAY_MS;

const LOGIN_HOSTS = ['www.clover.com', 'www.eu.clover.com', 'www.la.clover.com', 'sandbox.dev.clover.com'];
export const API_HOSTS = ['api.clover.com', 'api.eu.clover.com', 'api.la.clover.com', 'apisandbox.dev.clover.com'];

/**
 * Creates the server of Clover's OAuth v2 flow. It uses JSON instead of forms, has a separate address for refreshing, and returns expiry as
 * times.
 */
export function createLogin(memory: SimulatorMemory | undefined, clock: MovableClock) {
  const secondsAfter = (ms: number) => Math.floor((clock.now() + ms) / 1000);
  const server = createOAuthServer({
    title: 'Clover simulator',
    clients: CLIENTS,
    clock,
    memory,
    clientAuthentication: 'body',
    ...{ tokenRedirect: 'unsaid', responseType: 'unsaid' },
    lifetimes: { accessMs: ACCESS_MS, refreshMs: REFRESH_MS },
    accessTokens: [DEMO_ACCESS_TOKEN],
    callback: ({ query }) => ({
      ...{ merchant_id: MERCHANT_ID, employee_id: EMPLOYEE_ID, client_id: query.get('client_id') ?? '' },
    }),
    tokenResponse: ({ access_token, refresh_token }) => ({
      access_token,
      access_token_expiration: secondsAfter(ACCESS_MS),
      refresh_token,
      refresh_token_expiration: secondsAfter(REFRESH_MS),
    }),
  });

  async function ask(call: Call, form: Readonly<Record<string, string>>, message: string): Promise<SimulatedResponse> {
    const body = createBody(Buffer.from(new URLSearchParams(form).toString()), 'application/x-www-form-urlencoded');
    const response = await server.token({ ...call, body });
    if ((response.status ?? 200) < 400) return response;
    throw new Fault(401, 'UNAUTHORIZED', message);
  }

  const exchange = (call: Call) =>
    ask(call, { ...readTexts(call), grant_type: 'authorization_code' }, 'Failed to validate authentication code');

  /** Refreshes without a secret: the refresh token is sufficient. */
  const refresh = (call: Call) => {
    const { client_id = '', refresh_token = '' } = readTexts(call);
    const client_secret = Object.hasOwn(CLIENTS, client_id) ? CLIENTS[client_id]?.secret : undefined;
    const form = { client_id, refresh_token, grant_type: 'refresh_token', ...(client_secret && { client_secret }) };
    return ask(call, form, '401 Unauthorized');
  };

  return {
    accepts: server.accepts,
    commands: server.commands,
    routes: {
      'GET /oauth/v2/authorize': atHosts(LOGIN_HOSTS, server.authorize),
      'POST /oauth/v2/token': atHosts(API_HOSTS, exchange),
      'POST /oauth/v2/refresh': atHosts(API_HOSTS, refresh),
    },
  };
}

/**
 * Reads the texts of a JSON body.
 * @throws Fault 415 for anything but JSON, 400 for JSON that is not an object
 */
function readTexts({ body }: Call): Readonly<Record<string, string>> {
  if (body.type !== 'application/json') throw new Fault(415, 'UNSUPPORTED', '415 Unsupported Media Type');
  return Object.fromEntries(Object.entries(body.object()).map(([name, value]) => [name, String(value)]));
}
