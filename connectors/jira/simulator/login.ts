import {
  type Call,
  createOAuthServer,
  fault,
  json,
  type MovableClock,
  type RegisteredClient,
  type Routes,
  readBasic,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
export const DEMO_EMAIL = 'demo@example.com';
export const DEMO_TOKEN = 'demo-api-token';
export const SITE = 'demo';
export const CLOUD_ID = '1324a887-45db-1bf4-1e99-ef0ff456d421';

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Refresh tokens rotate. An old one works for ten more minutes. Source: "OAuth 2.0 (3LO) apps", rotating refresh tokens. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: { graceMs: TEN_MINUTES_MS } },
};

const [LOGIN, GATEWAY] = ['auth.atlassian.com', 'api.atlassian.com'];
const PREFIX = `/ex/jira/${CLOUD_ID}`;

/** Returns the path of the site's own API, without the prefix of the gateway. */
export const withoutPrefix = (path: string): string =>
  path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path;

/** Returns routes that also exist behind the gateway. */
export function alsoBehindGateway(routes: Routes): Routes {
  const entries = Object.entries(routes);
  return Object.fromEntries([...entries, ...entries.map(([key, route]) => [key.replace(' ', ` ${PREFIX}`), route])]);
}

/** Creates the log-in of apps, and the check of API tokens at the site. */
export function createLogin(memory: SimulatorMemory, clock: MovableClock) {
  const server = createOAuthServer({
    ...{ title: 'Atlassian simulator', clients: CLIENTS, clock, memory, clientAuthentication: 'body' },
    lifetimes: { accessMs: HOUR_MS, refreshMs: 90 * DAY_MS },
    accessTokens: [DEMO_ACCESS_TOKEN],
    isLasting: (scope) => scope.split(' ').includes('offline_access'),
  });
  const sites = [
    { id: 'b0a7f5f2-3c8d-4a47-8a1e-000000000001', name: 'other' },
    { id: CLOUD_ID, name: SITE },
  ];
  const routes: Routes = {
    'GET /authorize': (call) => {
      assertHost(call, LOGIN);
      const isComplete = call.query.get('audience') === GATEWAY && call.query.has('state');
      if (!isComplete) throw fault(400, 'audience must be api.atlassian.com, and state is required.');
      return server.authorize(call);
    },
    'POST /oauth/token': (call) => {
      assertHost(call, LOGIN);
      // The documents show JSON, and clients also send forms.
      if (call.body.type !== 'application/json') return server.token(call);
      const form = new URLSearchParams();
      for (const [name, value] of Object.entries(call.body.object())) form.set(name, String(value));
      return server.token({ ...call, body: { ...call.body, form: () => form } });
    },
    'GET /oauth/token/accessible-resources': (call) => {
      assertHost(call, GATEWAY);
      assertBearer(call);
      const scopes = ['read:jira-work', 'write:jira-work', 'read:jira-user', 'manage:jira-webhook'];
      return json(
        sites.map(({ id, name }) => ({ id, name, url: `https://${name}.atlassian.net`, scopes, avatarUrl: '' })),
      );
    },
  };

  function assertBearer({ headers }: Call): void {
    const token = readBearer(headers.authorization);
    if (token === undefined || !server.accepts(token)) throw fault(401, 'Unauthorized');
  }

  /**
   * Checks an API token at the site, or an access token at the gateway.
   * @throws Fault 401, and 404 for another site
   */
  function authenticate(call: Call): void {
    if (call.path.startsWith('/ex/jira/')) {
      assertHost(call, GATEWAY);
      assertBearer(call);
      if (!call.path.startsWith(`${PREFIX}/`)) throw fault(404, 'Not Found');
      return;
    }
    assertHost(call, `${SITE}.atlassian.net`);
    const { username, password } = readBasic(call.headers.authorization) ?? {};
    if (username === DEMO_EMAIL && password === DEMO_TOKEN) return;
    throw fault(401, 'Client must be authenticated to access this resource.');
  }

  return { routes, authenticate, commands: server.commands };
}

function assertHost({ host, path }: Call, expected: string): void {
  if (host !== undefined && host !== expected) throw fault(404, `There is nothing at ${host}${path}.`);
}

/** Returns whether a call comes from an app, which alone may register webhooks. */
export const isApp = ({ path }: Pick<Call, 'path'>): boolean => path.startsWith(PREFIX);
