import {
  type Answer,
  type Call,
  createBody,
  createOAuthServer,
  DAY_MS,
  Fault,
  type MovableClock,
  type OAuthServer,
  type RegisteredClient,
  type Routes,
  type SimulatorMemory,
} from '#connector/simulator';

export const MERCHANT_ID = 'TC4DGCJW1K4EW';
export const EMPLOYEE_ID = 'E000000000000';

/** Good from the start, for those who test something else than the login. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

/** The second cannot keep a secret, and proves itself by PKCE. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
  'low-trust-client': { rotates: {} },
};

const ACCESS_MS = 30 * 60_000;
const REFRESH_MS = 366 * DAY_MS;

const LOGIN_HOSTS = ['www.clover.com', 'www.eu.clover.com', 'www.la.clover.com', 'sandbox.dev.clover.com'];
export const API_HOSTS = ['api.clover.com', 'api.eu.clover.com', 'api.la.clover.com', 'apisandbox.dev.clover.com'];

/** The v2 flow: JSON in place of forms, its own address for refreshing, ends of tokens as times. */
export interface Login extends Pick<OAuthServer, 'accepts' | 'endSessions'> {
  readonly routes: Routes;
}

export function createLogin(memory: SimulatorMemory | undefined, clock: MovableClock): Login {
  // The token endpoint is not told the address that a code was sent to.
  const redirects = new Map<string, string>();
  const secondsAfter = (ms: number) => Math.floor((clock.now() + ms) / 1000);
  const server = createOAuthServer({
    title: 'Clover simulator',
    clients: CLIENTS,
    clock,
    memory,
    clientAuthentication: 'body',
    lifetimes: { accessMs: ACCESS_MS, refreshMs: REFRESH_MS },
    accessTokens: [DEMO_ACCESS_TOKEN],
    callback: { merchant_id: MERCHANT_ID, employee_id: EMPLOYEE_ID },
    answer: ({ access_token, refresh_token }) => ({
      access_token,
      access_token_expiration: secondsAfter(ACCESS_MS),
      refresh_token,
      refresh_token_expiration: secondsAfter(REFRESH_MS),
    }),
  });

  async function authorize(call: Call): Promise<Answer> {
    const query = new URLSearchParams(call.query);
    if (!query.has('response_type')) query.set('response_type', 'code');
    const answer = await server.authorize({ ...call, query });
    const { location } = answer.headers ?? {};
    if (location === undefined) return answer;
    const back = new URL(location);
    const code = back.searchParams.get('code');
    if (code !== null) redirects.set(code, query.get('redirect_uri') ?? '');
    back.searchParams.set('client_id', query.get('client_id') ?? '');
    return { ...answer, headers: { ...answer.headers, location: back.href } };
  }

  async function exchange(call: Call): Promise<Answer> {
    const body = readTexts(call);
    const redirect = redirects.get(body.code ?? '') ?? '';
    redirects.delete(body.code ?? '');
    const answer = await ask(call, { ...body, grant_type: 'authorization_code', redirect_uri: redirect });
    if (isGood(answer)) return answer;
    throw new Fault(401, 'UNAUTHORIZED', 'Failed to validate authentication code');
  }

  /** Without a secret: the refresh token is proof enough. */
  async function refresh(call: Call): Promise<Answer> {
    const { client_id = '', refresh_token = '' } = readTexts(call);
    const secret = Object.hasOwn(CLIENTS, client_id) ? CLIENTS[client_id]?.secret : undefined;
    const answer = await ask(call, {
      client_id,
      refresh_token,
      grant_type: 'refresh_token',
      ...(secret && { client_secret: secret }),
    });
    if (isGood(answer)) return answer;
    throw new Fault(401, 'UNAUTHORIZED', '401 Unauthorized');
  }

  function ask(call: Call, members: Readonly<Record<string, string>>) {
    const form = new URLSearchParams(members).toString();
    return server.token({ ...call, body: createBody(Buffer.from(form), 'application/x-www-form-urlencoded') });
  }

  return {
    accepts: server.accepts,
    endSessions: server.endSessions,
    routes: {
      'GET /oauth/v2/authorize': at(LOGIN_HOSTS, authorize),
      'POST /oauth/v2/token': at(API_HOSTS, exchange),
      'POST /oauth/v2/refresh': at(API_HOSTS, refresh),
    },
  };
}

function at(hosts: readonly string[], handler: (call: Call) => Promise<Answer>) {
  return (call: Call) => {
    if (call.host === undefined || hosts.includes(call.host)) return handler(call);
    throw new Fault(404, 'NOT_FOUND', 'Not Found');
  };
}

/** @throws Fault 415 for anything but JSON, 400 for what is no object of texts */
function readTexts({ body }: Call): Readonly<Record<string, string>> {
  if (body.type !== 'application/json') throw new Fault(415, 'UNSUPPORTED', '415 Unsupported Media Type');
  return Object.fromEntries(
    Object.entries(body.object()).map(([name, value]) => {
      if (typeof value === 'string') return [name, value];
      throw new Fault(400, 'BAD_REQUEST', `${name} must be a string`);
    }),
  );
}

function isGood({ status = 200 }: Answer): boolean {
  return status < 400;
}
