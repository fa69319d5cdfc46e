import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import Provider, { type Configuration } from 'oidc-provider';
import { listen } from '../../suite/listen.ts';
import { stopServer } from '../../suite/stop-server.ts';

interface TokenRequest {
  readonly headers: IncomingMessage['headers'];
  readonly parameters: Readonly<Record<string, string>>;
}

/** A mishap of a token request. The server has done its work in every case except `refuse`. */
export interface TokenMishap {
  /** The response that is sent instead of doing the work. */
  readonly refuse?: { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> };
  /** Waits before the response is sent. */
  readonly until?: Promise<void>;
  /** Changes the response, such as its `expires_in`. */
  readonly rewrite?: (response: Record<string, unknown>) => unknown;
}

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>;

const CLIENT_ID = 'causeway-tests';
const CLIENT_SECRET = 'client-secret-of-the-authorization-server';
const MACHINE = { clientId: 'causeway-machine', clientSecret: 'machine-secret-of-the-authorization-server' };
const CALLBACK_URL = 'https://app.example.com/callback';
const DENY_HEADER = 'x-deny';
const MAX_REDIRECTS = 10;

const CONFIGURATION: Configuration = {
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [CALLBACK_URL],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
    {
      client_id: MACHINE.clientId,
      client_secret: MACHINE.clientSecret,
      redirect_uris: [],
      grant_types: ['client_credentials'],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  scopes: ['openid', 'offline_access', 'items.read', 'items.write'],
  features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
  pkce: { required: () => true },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 60,
    ClientCredentials: 3600,
    Grant: 3600,
    IdToken: 3600,
    Interaction: 60,
    RefreshToken: 3600,
    Session: 60,
  },
  cookies: { keys: ['of the tests'] },
};

/** Starts a real authorization server (npm oidc-provider) with an API of its own. PKCE is required, and refresh tokens are used once. */
export async function startAuthorizationServer() {
  const tokenRequests: TokenRequest[] = [];
  const apiTokens: string[] = [];
  const mishaps: TokenMishap[] = [];
  const issued = new Set<string>();
  const expired = new Set<string>();
  const grants = new Set<string>();

  const server = createServer();
  const url = `http://127.0.0.1:${await listen(server)}`;
  const provider = new Provider(url, CONFIGURATION);
  const callbackUrls = new Set([CALLBACK_URL]);
  provider.Client.prototype.redirectUriAllowed = (callbackUrl) => callbackUrls.has(callbackUrl);
  let clientSecret = CLIENT_SECRET;
  const { compareClientSecret } = provider.Client.prototype;
  provider.Client.prototype.compareClientSecret = function compare(given) {
    return this.clientId === CLIENT_ID ? given === clientSecret : compareClientSecret.call(this, given);
  };
  const serveProvider = provider.callback();
  provider.on('access_token.saved', (token) => {
    issued.add(token.jti);
    if (token.grantId !== undefined) grants.add(token.grantId);
  });
  provider.on('client_credentials.saved', (token) => void issued.add(token.jti));

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response).catch((error: Error) => response.destroy(error));
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', url);
    if (pathname.startsWith('/interaction/')) return decide(provider, request, response);
    if (pathname.startsWith('/api/')) return serveApi(request, response, pathname);
    if (pathname === '/token') return serveToken(request, response);
    await serveProvider(request, response);
  }

  async function serveToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await buffer(request)).toString();
    const parameters = Object.fromEntries(new URLSearchParams(text));
    tokenRequests.push({ headers: request.headers, parameters });
    const mishap = mishaps.shift() ?? {};
    if (mishap.refuse !== undefined) {
      const { status, body, headers = {} } = mishap.refuse;
      return sendJson(response, status, body, headers);
    }
    changeAnswer(response, mishap);
    // oidc-provider reads a body that was parsed already from this member.
    await serveProvider(Object.assign(request, { body: parameters }), response);
  }

  async function serveApi(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<void> {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    apiTokens.push(token);
    const known = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
    if (known === undefined || expired.has(known.jti)) return sendJson(response, 401, { message: 'Token not valid' });
    const rows = [
      { id: 1, name: 'Anvil' },
      { id: 2, name: 'Rope' },
    ];
    sendJson(response, 200, pathname === '/api/items' ? { records: rows } : { name: 'Ada' });
  }

  return {
    /** URL without a slash at the end. Below it are /auth, /token, and the API /api/me and /api/items. */
    url,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    /** The callback URL that is registered for the client. Nothing listens there. */
    callbackUrl: CALLBACK_URL,
    /** Registers a further callback URL, such as that of a proxy. */
    addCallbackUrl: (callbackUrl: string) => void callbackUrls.add(callbackUrl),
    /** Changes the secret at the server. `clientSecret` keeps the old one. */
    changeClientSecret: (secret: string) => {
      clientSecret = secret;
    },
    /** A client that may use `client_credentials` and nothing else. */
    machine: MACHINE,
    tokenRequests,
    /** The access tokens that the API was called with. */
    apiTokens,
    /** Plays the user's browser: logs in, and consents or denies. @returns the URL that the browser is sent back to */
    authorize: (oauthUrl: string, decision: 'allow' | 'deny' = 'allow') => browse(url, oauthUrl, decision),
    /** Applies mishaps to the next token requests, in turn. */
    mishap: (...more: readonly TokenMishap[]) => void mishaps.push(...more),
    /** Makes the API reject every access token issued so far. Refresh tokens stay valid. */
    expireAccessTokens: () => {
      for (const id of issued) expired.add(id);
    },
    /** Revokes everything that was granted so far, including refresh tokens. */
    revokeGrants: async () => {
      for (const grantId of grants) {
        await provider.RefreshToken.revokeByGrantId(grantId);
        await provider.AccessToken.revokeByGrantId(grantId);
      }
    },
    close: () => stopServer(server),
  };
}

/** Submits the login page and the consent page as the user. */
async function decide(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params, grantId } = await provider.interactionDetails(request, response);
  if (request.headers[DENY_HEADER] !== undefined) {
    const denial = { error: 'access_denied', error_description: 'Ada said no & closed the page' };
    return provider.interactionFinished(request, response, denial);
  }
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'ada' } });
  }
  const clientId = String(params.client_id);
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = known ?? new provider.Grant({ accountId: 'ada', clientId });
  grant.addOIDCScope(String(params.scope));
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

async function browse(server: string, start: string, decision: 'allow' | 'deny'): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        ...(decision === 'deny' && { [DENY_HEADER]: '1' }),
      },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
    if (url.origin !== server) return url;
  }
  throw new Error('The authorization server redirects in circles.');
}

/** Delays or changes the body of a response. The rest of the response is the server's. */
function changeAnswer(response: ServerResponse, { until, rewrite }: TokenMishap): void {
  const end = response.end.bind(response);
  response.end = ((body?: unknown) => {
    void (async () => {
      await until;
      if (rewrite === undefined) return end(body);
      const text = JSON.stringify(rewrite(JSON.parse(String(body))));
      response.setHeader('content-length', Buffer.byteLength(text));
      end(text);
    })();
    return response;
  }) as ServerResponse['end'];
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown = {},
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
