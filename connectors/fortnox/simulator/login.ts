import { randomUUID } from 'node:crypto';
import {
  atHosts,
  type Call,
  createOAuthServer,
  DAY_MS,
  Fault,
  fault,
  json,
  type MovableClock,
  type RegisteredClient,
  type RouteHandler,
  type Routes,
  readBearer,
  type SimulatedResponse,
  type SimulatorMemory,
  shareMemory,
} from '#connector/simulator';
import { badLogin } from './faults.ts';

const API_HOST = 'api.fortnox.se';
const LOGIN_HOST = 'apps.fortnox.se';

export const CLIENT_SECRET = 'demo-client-secret';
/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const ACCESS_TOKEN = 'demo-access-token';
/** An authorization code. After each start, every code that begins with `demo-` works once. */
export const DEMO_AUTHORIZATION_CODE = 'demo-authorization-code';

/** The registered clients. Each refresh token can be used once. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

const HOUR_MS = 3_600_000;

/** Creates the OAuth server. If the documents have no text, the text is our own. */
export function createOAuthLogin(memory: SimulatorMemory | undefined, clock: MovableClock) {
  const server = createOAuthServer({
    title: 'Fortnox simulator',
    clients: CLIENTS,
    clock,
    memory: shareMemory(memory, 'oauth'),
    clientAuthentication: 'basic',
    lifetimes: { accessMs: HOUR_MS, refreshMs: 45 * DAY_MS },
    accessTokens: [ACCESS_TOKEN],
    errors: { unknownRefreshToken: ['invalid_grant', 'Invalid refresh token'] },
    tokenResponse: ({ access_token, refresh_token, scope }) => ({
      ...{ access_token, refresh_token, scope, expires_in: HOUR_MS / 1000, token_type: 'bearer' },
    }),
  });
  return {
    accepts: server.accepts,
    commands: server.commands,
    routes: {
      'GET /oauth-v1/auth': atHosts([LOGIN_HOST], (call) => {
        for (const name of ['state', 'scope']) {
          if (!call.query.get(name)) throw new Fault(400, 'BAD_REQUEST', `${name} is missing`);
        }
        return server.authorize(call);
      }),
      'POST /oauth-v1/token': atHosts([LOGIN_HOST], server.token),
    } satisfies Routes,
  };
}

interface LoginOptions {
  readonly memory: SimulatorMemory | undefined;
  /** Whether the second use of a code revokes the token of its first use. */
  readonly deactivatesOnReuse: boolean;
  /** Returns whether OAuth issued the access token. */
  readonly acceptsBearer: (accessToken: string) => boolean;
}

/** Creates the flow before OAuth, which exchanges a code of the user for a token that does not expire. */
export function createLogin({ memory, deactivatesOnReuse, acceptsBearer }: LoginOptions) {
  const saved = shareMemory(memory, 'tokens');
  const byCode = new Map<string, string>();
  let tokens = new Set([ACCESS_TOKEN, ...readTokens(saved.load())]);

  function keep(changed: ReadonlySet<string>): void {
    tokens = new Set(changed);
    saved.save([...tokens]);
  }

  /**
   * Exchanges a code for a token.
   * @throws Fault 403
   */
  function exchange({ headers }: Call, code: string): SimulatedResponse {
    if (headers['client-secret'] !== CLIENT_SECRET || !code.startsWith('demo-')) throw badLogin();
    const issued = byCode.get(code);
    if (issued !== undefined) {
      if (deactivatesOnReuse) keep(tokens.difference(new Set([issued])));
      throw badLogin();
    }
    const token = randomUUID();
    byCode.set(code, token);
    keep(tokens.union(new Set([token])));
    return json({ Authorization: { AccessToken: token } });
  }

  return {
    authenticate: (call: Call): void => {
      if ((call.host ?? API_HOST) !== API_HOST) throw fault(404, 'Not Found');
      if (isExchange(call)) return;
      const { authorization, 'access-token': token, 'client-secret': secret } = call.headers;
      const bearer = readBearer(authorization);
      if (bearer !== undefined) {
        if (tokens.has(bearer) || acceptsBearer(bearer)) return;
        throw fault(401, 'unauthorized');
      }
      if (token === undefined || secret === undefined)
        throw new Fault(403, '2000311', 'Kan inte logga in, access-token eller client-secret saknas(2).');
      if (!tokens.has(String(token)) || secret !== CLIENT_SECRET) throw badLogin();
    },
    /** Wraps the routes, so that a GET with a code exchanges the code. */
    exchanging: (routes: Routes): Routes =>
      Object.fromEntries(
        Object.entries(routes).map(([route, handle]): [string, RouteHandler] => [
          route,
          (call) => (isExchange(call) ? exchange(call, String(call.headers['authorization-code'])) : handle(call)),
        ]),
      ),
    /** Revokes all tokens, as when the user removes the integration. */
    deactivate: () => keep(new Set()),
  };
}

function isExchange({ method, headers }: Call): boolean {
  return method === 'GET' && headers['authorization-code'] !== undefined;
}

function readTokens(saved: unknown): readonly string[] {
  return Array.isArray(saved) ? saved.map(String) : [];
}
