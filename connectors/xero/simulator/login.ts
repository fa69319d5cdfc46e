import {
  atHosts,
  type Call,
  createOAuthServer,
  Fault,
  json,
  type MovableClock,
  type RegisteredClient,
  type Routes,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

/** A refresh token works once. Xero accepts it again for 30 minutes, for clients that lost the response. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: { graceMs: 1_800_000 } },
};

/** Organisations. The user has the first one. */
export const TENANTS = ['Demo Company (NZ)', 'Second Company'].map((tenantName, index) => ({
  id: `e1eede29-f875-4a5d-8470-17f6a29a88b${index}`,
  authEventId: 'd99ecdfe-391d-43d2-b834-17636ba90e8d',
  tenantId: `70784a63-d24b-46a9-a4db-0e70a274b05${index}`,
  tenantType: 'ORGANISATION',
  tenantName,
  createdDateUtc: '2024-07-09T23:40:30.183313Z',
  updatedDateUtc: '2025-05-15T01:35:13.849116Z',
}));

export const API_HOST = 'api.xero.com';
const LIFETIME_MS = 1_800_000;
const REFRESH_MS = 60 * 86_400_000;

/** Creates the log-in and the list of connections. Source: "The standard authorization code flow". */
export function createLogin(memory: SimulatorMemory, clock: MovableClock) {
  const server = createOAuthServer({
    ...{ title: 'Xero simulator', clients: CLIENTS, clock, memory, clientAuthentication: 'basic' },
    lifetimes: { codeMs: 300_000, accessMs: LIFETIME_MS, refreshMs: REFRESH_MS },
    isLasting: (scope) => scope.split(' ').includes('offline_access'),
    accessTokens: [DEMO_ACCESS_TOKEN],
  });
  const routes: Routes = {
    'GET /identity/connect/authorize': atHosts(['login.xero.com'], server.authorize),
    'POST /connect/token': atHosts(['identity.xero.com'], server.token),
  };
  const ofUser = TENANTS.slice(0, 1);
  const list = () => json(ofUser);

  /**
   * Checks the token and the organisation.
   * @throws Fault 401 or 403
   */
  function authenticate(call: Call): void {
    const token = readBearer(call.headers.authorization);
    if (token === undefined || !server.accepts(token))
      throw new Fault(401, 'Unauthorized', 'AuthenticationUnsuccessful');
    if (!call.path.startsWith('/api.xro/')) return;
    if (!ofUser.some(({ tenantId }) => tenantId === call.headers['xero-tenant-id']))
      throw new Fault(403, 'Forbidden', 'AuthenticationUnsuccessful');
  }

  return {
    routes,
    authenticate,
    commands: server.commands,
    connections: { 'GET /Connections': list, 'GET /connections': list },
  };
}
