import {
  atHosts,
  createOAuthServer,
  fault,
  type Guard,
  type MovableClock,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';

export const CLIENTS = { 'demo-client': { secret: 'demo-secret' } };
/** An access token of the log-in that never expires. */
export const DEMO_ACCESS_TOKEN = 'v1u:demo-access-token';
/** The API token of a user, which has 40 hexadecimal digits. */
export const DEMO_API_TOKEN = '0123456789abcdef0123456789abcdef01234567';

const LOGIN = 'oauth.pipedrive.com';
/** The host for API tokens, and that of the account. */
const API = 'api.pipedrive.com';
const ACCOUNT = 'demo.pipedrive.com';

/** Creates the log-in. Sources: "OAuth authorization", "Authentication". */
export function createLogin(clock: MovableClock, memory: SimulatorMemory | undefined) {
  const server = createOAuthServer({
    title: 'Pipedrive',
    clients: CLIENTS,
    clock,
    memory,
    clientAuthentication: 'basic',
    accessTokens: [DEMO_ACCESS_TOKEN],
    prefixes: { access: 'v1u:' },
    lifetimes: { codeMs: 300_000, accessMs: 3_600_000 },
    tokenResponse: (standard) => ({ ...standard, api_domain: `https://${ACCOUNT}` }),
  });
  const authenticate: Guard = ({ headers, host }) => {
    const key = headers['x-api-token'];
    const token = readBearer(headers.authorization);
    const isAllowed = key === undefined ? token !== undefined && server.accepts(token) : key === DEMO_API_TOKEN;
    if (!isAllowed) throw fault(401, 'unauthorized access');
    // Tokens of the log-in work at both hosts, although the guide names that of the account.
    const isKnown = host === undefined || host === API || (key === undefined && host === ACCOUNT);
    if (!isKnown) throw fault(404, `There is nothing at ${host}.`);
  };
  return {
    authenticate,
    commands: server.commands,
    routes: {
      'GET /oauth/authorize': atHosts([LOGIN], server.authorize),
      'POST /oauth/token': atHosts([LOGIN], server.token),
    },
  };
}
