import {
  atHosts,
  type Call,
  createBody,
  createOAuthServer,
  DAY_MS,
  empty,
  type MovableClock,
  type RegisteredClient,
  type Routes,
  type SimulatorMemory,
} from '#connector/simulator';

export const REALM_ID = '4620816365212402';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

const HOUR_MS = 3_600_000;
const REFRESH_SECONDS = 8_726_400;

/** The registered clients. The refresh token changes once a day, and the previous one remains valid for another day. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: { afterMs: DAY_MS, graceMs: DAY_MS } },
};

export function createLogin(memory: SimulatorMemory | undefined, clock: MovableClock) {
  // The successor of each refresh token. A client that uses an old token within its grace period receives the newest one.
  const successors = new Map<string, string>();
  let connected = true;

  function newestAfter(token: string): string {
    const next = successors.get(token);
    return next === undefined ? token : newestAfter(next);
  }

  const server = createOAuthServer({
    title: 'QuickBooks simulator',
    clients: CLIENTS,
    clock,
    memory,
    clientAuthentication: 'basic',
    lifetimes: { accessMs: HOUR_MS, refreshMs: REFRESH_SECONDS * 1000 },
    accessTokens: [DEMO_ACCESS_TOKEN],
    callback: { realmId: REALM_ID },
    tokenResponse: ({ access_token, refresh_token }, { body }) => {
      const used = body.form().get('refresh_token') ?? '';
      if (used === '') connected = true;
      if (refresh_token !== undefined && used !== '') successors.set(used, refresh_token);
      return {
        token_type: 'bearer',
        access_token,
        expires_in: HOUR_MS / 1000,
        // Every response contains the refresh token, even if it did not change.
        refresh_token: refresh_token ?? newestAfter(used),
        x_refresh_token_expires_in: REFRESH_SECONDS,
      };
    },
  });

  return {
    accepts: server.accepts,
    isConnected: () => connected,
    commands: {
      ...server.commands,
      /** Ends the connection as an administrator of the company can do it. Until the next log-in the tokens are rejected. */
      'POST /simulate/disconnect': () => {
        connected = false;
        return empty();
      },
    } satisfies Routes,
    routes: {
      'GET /connect/oauth2': atHosts(['appcenter.intuit.com'], server.authorize),
      'POST /oauth2/v1/tokens/bearer': atHosts(['oauth.platform.intuit.com'], server.token),
      'POST /v2/oauth2/tokens/revoke': atHosts(['developer.api.intuit.com'], (call) => server.revoke(asForm(call))),
    },
  };
}

/** Returns the call with its body as a form. QuickBooks accepts JSON and forms for a revocation. */
function asForm(call: Call): Call {
  if (call.body.type !== 'application/json') return call;
  const form = new URLSearchParams({ token: String(call.body.object().token ?? '') });
  return { ...call, body: createBody(Buffer.from(form.toString()), 'application/x-www-form-urlencoded') };
}
