import {
  atHosts,
  type Call,
  createOAuthServer,
  Fault,
  type MovableClock,
  type RegisteredClient,
  type Routes,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';

/** A token that is valid from the start, as an OAuth app or as a personal access token. */
export const DEMO_ACCESS_TOKEN = 'gho_demo';

/** An OAuth app, whose tokens do not expire, and a GitHub App with expiring tokens. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret' },
  'demo-app': { secret: 'demo-secret', rotates: {} },
};

const HOUR_MS = 3_600_000;
const BAD_CLIENT = [
  'incorrect_client_credentials',
  'The client_id and/or client_secret passed are incorrect.',
  200,
] as const;
const BAD_CODE = ['bad_verification_code', 'The code passed is incorrect or expired.', 200] as const;
const ERRORS = {
  ...{ unknownClient: BAD_CLIENT, wrongSecret: BAD_CLIENT, unknownCode: BAD_CODE, otherClient: BAD_CODE },
  otherRedirect: [
    'redirect_uri_mismatch',
    'The redirect_uri MUST match the registered callback URL for this application.',
    200,
  ],
  unknownRefreshToken: ['bad_refresh_token', 'The refresh token passed is incorrect or expired.', 200],
  unsupportedGrant: ['unsupported_grant_type', 'The grant_type is not supported.', 200],
} as const;

/**
 * Creates the log-in. Errors of the token endpoint have the status 200, and responses are forms unless the request accepts JSON. Sources:
 * "Authorizing OAuth apps", "Refreshing user access tokens", "Troubleshooting OAuth app access token request errors".
 */
export function createLogin(memory: (name: string) => SimulatorMemory, clock: MovableClock) {
  const common = { title: 'GitHub simulator', clients: CLIENTS, clock, errors: ERRORS } as const;
  const form = {
    clientAuthentication: 'body',
    tokenRedirect: 'unsaid',
    responseType: 'unsaid',
    isFormResponse: ({ headers }: Call) => !/\bjson\b/.test(String(headers.accept)),
  } as const;
  const named = (scope: string) => ({ token_type: 'bearer', scope: scope.split(/[ ,]+/).join(',') });
  const app = createOAuthServer({
    ...{ ...common, ...form, memory: memory('app'), accessTokens: [DEMO_ACCESS_TOKEN], isLasting: () => false },
    prefixes: { access: 'gho_' },
    tokenResponse: ({ scope, ...standard }) => ({ ...standard, ...named(scope) }),
  });
  const expiring = createOAuthServer({
    ...{ ...common, ...form, memory: memory('expiring') },
    prefixes: { access: 'ghu_', refresh: 'ghr_' },
    lifetimes: { accessMs: 8 * HOUR_MS, refreshMs: 4392 * HOUR_MS },
    tokenResponse: ({ scope: _, ...standard }) => ({ ...standard, refresh_token_expires_in: 15_811_200, ...named('') }),
  });
  const serverOf = (clientId: string | null) => (clientId === 'demo-app' ? expiring : app);
  const routes: Routes = {
    'GET /login/oauth/authorize': atHosts(['github.com'], (call) =>
      serverOf(call.query.get('client_id')).authorize(call),
    ),
    'POST /login/oauth/access_token': atHosts(['github.com'], (call) => {
      const sent = call.body.form();
      if (sent.has('grant_type') || !sent.has('code')) return serverOf(sent.get('client_id')).token(call);
      // The exchange of a code needs no grant type.
      sent.set('grant_type', 'authorization_code');
      return serverOf(sent.get('client_id')).token({ ...call, body: { ...call.body, form: () => sent } });
    }),
  };

  function authenticate({ headers, host }: Call): void {
    if (host !== undefined && host !== 'api.github.com') throw new Fault(404, 'NOT_FOUND', 'Not Found');
    if (headers['user-agent'] === undefined)
      throw new Fault(
        403,
        'FORBIDDEN',
        'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.',
      );
    const version = headers['x-github-api-version'];
    if (version !== undefined && !VERSIONS.includes(String(version)))
      throw new Fault(400, 'BAD_REQUEST', `The API version '${version}' is not supported.`);
    const token = readBearer(headers.authorization, ['Bearer', 'token']);
    if (token === undefined) throw new Fault(401, 'UNAUTHORIZED', 'Requires authentication');
    if (!app.accepts(token) && !expiring.accepts(token)) throw new Fault(401, 'UNAUTHORIZED', 'Bad credentials');
  }

  const commands: Routes = {
    'POST /simulate/end-sessions': () => {
      for (const server of [app, expiring]) server.endSessions();
      return { status: 204 };
    },
  };
  return { routes, authenticate, commands };
}

/** Source: "API Versions". */
const VERSIONS = ['2022-11-28', '2026-03-10'];
