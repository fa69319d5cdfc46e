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

/** Good from the start, for those who test something else than the login. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';

const HOUR_MS = 3_600_000;
const REFRESH_SECONDS = 8_726_400;

/** The refresh token changes once a day; the one before stays good for another day. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: { afterMs: DAY_MS, graceMs: DAY_MS } },
};

export function createLogin(memory: SimulatorMemory | undefined, clock: MovableClock) {
  // Which refresh token came after which: whoever uses one in its grace is given the newest.
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
        // Said every time, whether it is new or not.
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
      /** As when an administrator of the company ends the connection of the app: until the next log-in, tokens open nothing. */
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

/** A token is revoked by JSON or by a form. */
function asForm(call: Call): Call {
  if (call.body.type !== 'application/json') return call;
  const form = new URLSearchParams({ token: String(call.body.object().token ?? '') });
  return { ...call, body: createBody(Buffer.from(form.toString()), 'application/x-www-form-urlencoded') };
}
