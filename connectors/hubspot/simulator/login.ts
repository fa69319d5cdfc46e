import { randomUUID } from 'node:crypto';
import {
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
import { NOT_FOUND } from './faults.ts';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
/** The token of a private app, which does not expire. */
export const DEMO_PRIVATE_TOKEN = 'pat-na1-demo';

export const CLIENTS: Readonly<Record<string, RegisteredClient>> = { 'demo-client': { secret: 'demo-secret' } };

/** The account. */
export const PORTAL_ID = 8472;

/** Creates the log-in. Access tokens are valid for 30 minutes, and refresh tokens can be used again. */
export function createLogin(memory: SimulatorMemory, clock: MovableClock) {
  const server = createOAuthServer({
    ...{ title: 'HubSpot simulator', clients: CLIENTS, clock, memory, clientAuthentication: 'body' },
    ...{ responseType: 'unsaid', lifetimes: { accessMs: 1_800_000 } },
    accessTokens: [DEMO_ACCESS_TOKEN, DEMO_PRIVATE_TOKEN],
    // The description requires the refresh token also in the response to a refresh.
    tokenResponse: ({ scope, token_type: _, ...standard }, { body }) => ({
      ...{ token_type: 'bearer', refresh_token: body.form().get('refresh_token'), ...standard },
      ...{ token_use: 'access_token', hub_id: PORTAL_ID, user_id: 17, scopes: scope.split(' ') },
    }),
  });
  const routes: Routes = {
    'GET /oauth/authorize': (call) => {
      if (call.host !== undefined && call.host !== 'app.hubspot.com') throw new Fault(404, 'NOT_FOUND', NOT_FOUND);
      return server.authorize(call);
    },
    'POST /oauth/v1/token': async (call) => {
      const response = await server.token(call);
      if ((response.status ?? 200) < 400) return response;
      const { error, error_description: message } = JSON.parse(String(response.body));
      const status = STATUSES[`${error} ${call.body.form().get('grant_type')}`] ?? error;
      return json({ status, message, correlationId: randomUUID() }, 400);
    },
  };

  /**
   * Checks the token of a call.
   * @throws Fault 401
   */
  function authenticate({ headers, host }: Call): void {
    if (host !== undefined && host !== 'api.hubapi.com') throw new Fault(404, 'NOT_FOUND', NOT_FOUND);
    const token = readBearer(headers.authorization);
    if (token !== undefined && server.accepts(token)) return;
    const about = 'https://developers.hubspot.com/docs/methods/auth/oauth-overview';
    const message = `Authentication credentials not found. This API supports OAuth 2.0 authentication and you can find more details at ${about}`;
    throw new Fault(401, 'INVALID_AUTHENTICATION', message);
  }

  return { routes, authenticate, commands: server.commands };
}

const STATUSES: Readonly<Record<string, string>> = {
  'invalid_client authorization_code': 'BAD_CLIENT_ID',
  'invalid_client refresh_token': 'BAD_CLIENT_ID',
  'invalid_grant authorization_code': 'BAD_AUTH_CODE',
  'invalid_grant refresh_token': 'BAD_REFRESH_TOKEN',
};
