import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import {
  bearer,
  createMovableClock,
  createOAuthServer,
  type Fault,
  json,
  type OAuthOptions,
  type Simulator,
  type SimulatorMemory,
  SYSTEM_CLOCK,
  simulate,
} from '#connector/simulator';
import { type Served, serve } from './serve.ts';

const REDIRECT = 'https://app.example.com/callback';
const DAY_MS = 86_400_000;

const CLIENTS = {
  kept: { secret: 's+e c:r%t' },
  single: { secret: 'single', rotates: {} },
  graceful: { secret: 'graceful', rotates: { graceMs: 60_000 } },
  daily: { secret: 'daily', rotates: { afterMs: DAY_MS } },
  public: {},
} as const;

type ClientId = keyof typeof CLIENTS;

const print = ({ status, message, headers }: Fault) => json({ message }, status, headers);

/** What a client that somebody else wrote makes of the login. */
describe('a simulated login, to oauth4webapi', () => {
  // Goes on only when it is moved.
  const clock = createMovableClock({ ...SYSTEM_CLOCK, now: () => Date.UTC(2030, 0, 1) });
  let served: Served;
  let options: Partial<OAuthOptions> = {};
  let memory: SimulatorMemory;

  const create = (baseUrl: string): Simulator => {
    const login = createOAuthServer({ title: 'Toy', clients: CLIENTS, clock, memory, ...options });
    const open = {
      'GET /authorize': login.authorize,
      'POST /token': login.token,
      'POST /revoke': login.revoke,
    };
    const commands = {
      'POST /simulate/end-sessions': () => {
        login.endSessions();
        return { status: 204 };
      },
    };
    const routes = { 'GET /me': () => json({ name: 'Dana' }) };
    return simulate({ open, routes, commands, print, clock, authenticate: bearer(login.accepts) }, { baseUrl });
  };

  const start = async (more: Partial<OAuthOptions> = {}) => {
    options = more;
    served = await serve(create);
  };

  beforeEach(() => {
    let saved: unknown;
    memory = {
      load: () => saved,
      save: (value) => {
        saved = JSON.parse(JSON.stringify(value));
      },
    };
  });
  afterEach(() => served.stop());

  const server = (): oauth.AuthorizationServer => ({
    issuer: served.url,
    authorization_endpoint: `${served.url}/authorize`,
    token_endpoint: `${served.url}/token`,
    revocation_endpoint: `${served.url}/revoke`,
  });
  const allow = { [oauth.allowInsecureRequests]: true };
  const authOf = (id: ClientId, how = oauth.ClientSecretBasic) => {
    const client = CLIENTS[id];
    return 'secret' in client ? how(client.secret) : oauth.None();
  };

  /** @returns the parameters that the user comes back with */
  async function authorize(id: ClientId, more: Record<string, string> = {}): Promise<URL> {
    const query = new URLSearchParams({
      client_id: id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      state: 'a&b',
      auto: 'approve',
      ...more,
    });
    const response = await fetch(`${served.url}/authorize?${query}`, { redirect: 'manual' });
    const location = response.headers.get('location');
    if (location === null) throw new Error(await response.text());
    return new URL(location);
  }

  async function logIn(id: ClientId, how = oauth.ClientSecretBasic): Promise<oauth.TokenEndpointResponse> {
    const verifier = oauth.generateRandomCodeVerifier();
    const challenge = await oauth.calculatePKCECodeChallenge(verifier);
    const back = await authorize(id, { code_challenge: challenge, code_challenge_method: 'S256', scope: 'read write' });
    const client = { client_id: id };
    const parameters = oauth.validateAuthResponse(server(), client, back, 'a&b');
    const response = await oauth.authorizationCodeGrantRequest(
      server(),
      client,
      authOf(id, how),
      parameters,
      REDIRECT,
      verifier,
      allow,
    );
    return oauth.processAuthorizationCodeResponse(server(), client, response);
  }

  async function refresh(id: ClientId, refreshToken = ''): Promise<oauth.TokenEndpointResponse> {
    const client = { client_id: id };
    const response = await oauth.refreshTokenGrantRequest(server(), client, authOf(id), refreshToken, allow);
    return oauth.processRefreshTokenResponse(server(), client, response);
  }

  async function errorOf(attempt: Promise<unknown>): Promise<string> {
    try {
      await attempt;
    } catch (error) {
      if (error instanceof oauth.ResponseBodyError) return error.error;
      if (error instanceof Error) return error.message;
    }
    return 'none';
  }

  const statusOf = async (token: string) =>
    (await fetch(`${served.url}/me`, { headers: { authorization: `Bearer ${token}` } })).status;

  it('needs a response type, unless the provider has only one', async () => {
    const query = new URLSearchParams({ client_id: 'kept', redirect_uri: REDIRECT, auto: 'approve' });
    const statusOf = async (more: Partial<OAuthOptions>) => {
      await start(more);
      const { status } = await fetch(`${served.url}/authorize?${query}`, { redirect: 'manual' });
      return status;
    };
    expect(await statusOf({ responseType: 'unsaid' })).to.equal(302);
    await served.stop();
    expect(await statusOf({})).to.equal(400);
  });

  it('gives tokens for a code with PKCE, to clients that authenticate themselves either way, or cannot', async () => {
    await start();
    for (const tokens of [await logIn('kept'), await logIn('kept', oauth.ClientSecretPost), await logIn('public')]) {
      expect(tokens).to.include({ token_type: 'bearer', scope: 'read write' });
      expect(tokens).not.to.have.property('expires_in');
      expect(await statusOf(tokens.access_token)).to.equal(200);
    }
    expect(await statusOf('made-up')).to.equal(401);
  });

  it('takes one way of authentication, where the provider has one', async () => {
    await start({ clientAuthentication: 'basic' });
    expect(await errorOf(logIn('kept'))).to.equal('none');
    expect(await errorOf(logIn('kept', oauth.ClientSecretPost))).to.equal('invalid_client');
    await served.stop();
    await start({ clientAuthentication: 'body' });
    expect(await errorOf(logIn('kept', oauth.ClientSecretPost))).to.equal('none');
    expect(await errorOf(logIn('kept'))).to.equal('invalid_client');
  });

  it('takes a code once, from the client, redirect and verifier it was issued for, in time', async () => {
    await start();
    const grant = async (code: string, more: Record<string, string> = {}) => {
      const form = {
        grant_type: 'authorization_code',
        code,
        client_id: 'single',
        client_secret: 'single',
        redirect_uri: REDIRECT,
        ...more,
      };
      const response = await fetch(`${served.url}/token`, { method: 'POST', body: new URLSearchParams(form) });
      return Object(await response.json()).error;
    };
    const codeOf = async (more: Record<string, string> = {}) =>
      (await authorize('single', more)).searchParams.get('code') ?? '';
    const code = await codeOf();
    expect([await grant(code), await grant(code)]).to.deep.equal([undefined, 'invalid_grant']);
    expect(await grant(await codeOf(), { redirect_uri: `${REDIRECT}/` })).to.equal('invalid_grant');
    expect(await grant(await codeOf(), { client_id: 'daily', client_secret: 'daily' })).to.equal('invalid_grant');
    expect(await grant(await codeOf(), { client_secret: 'wrong' })).to.equal('invalid_client');
    expect(await grant(await codeOf(), { grant_type: 'password' })).to.equal('unsupported_grant_type');
    const challenged = {
      code_challenge: await oauth.calculatePKCECodeChallenge('v'.repeat(43)),
      code_challenge_method: 'S256',
    };
    expect(await grant(await codeOf(challenged), { code_verifier: 'w'.repeat(43) })).to.equal('invalid_grant');
    expect(await grant(await codeOf(challenged), { code_verifier: 'v'.repeat(43) })).to.equal(undefined);
    expect(await grant(await codeOf(), { code_verifier: 'v'.repeat(43) })).to.equal('invalid_grant');
    const late = await codeOf();
    clock.move(600_000);
    expect(await grant(late)).to.equal('invalid_grant');
  });

  it('demands PKCE of public clients, or of all', async () => {
    await start();
    expect(await errorOf(authorize('public'))).to.match(/code_challenge_method=S256 is required/);
    expect(await errorOf(authorize('kept', { code_challenge: 'x', code_challenge_method: 'plain' }))).to.match(/S256/);
    expect(await errorOf(authorize('kept'))).to.equal('none');
    await served.stop();
    await start({ pkce: 'required' });
    expect(await errorOf(authorize('kept'))).to.match(/is required/);
  });

  it('sends who denies back with an error, and who comes from nowhere not at all', async () => {
    await start({ callback: { realmId: '42' } });
    const denied = await authorize('kept', { auto: 'deny' });
    expect(Object.fromEntries(denied.searchParams)).to.include({ error: 'access_denied', state: 'a&b' });
    expect((await authorize('kept')).searchParams.get('realmId')).to.equal('42');
    const page = await fetch(
      `${served.url}/authorize?client_id=kept&redirect_uri=${REDIRECT}&response_type=code&scope=%3Cb%3E`,
    );
    expect(await page.text()).to.match(/asks for: &lt;b>.*auto=approve.*Allow/s);
    for (const [name, value] of [
      ['client_id', 'constructor'],
      ['redirect_uri', 'nowhere'],
      ['response_type', 'token'],
    ] as const) {
      expect(await errorOf(authorize('kept', { [name]: value })), name).to.match(/invalid_request/);
    }
  });

  it('keeps a refresh token', async () => {
    await start();
    const { refresh_token: token } = await logIn('kept');
    const [first, second] = [await refresh('kept', token), await refresh('kept', token)];
    expect([first.refresh_token, second.refresh_token]).to.deep.equal([undefined, undefined]);
    expect(await errorOf(refresh('single', token))).to.equal('invalid_grant');
  });

  it('rotates a refresh token, used once', async () => {
    await start();
    const { refresh_token: first, access_token: access } = await logIn('single');
    const { refresh_token: second } = await refresh('single', first);
    expect(await errorOf(refresh('single', first))).to.equal('invalid_grant');
    expect((await refresh('single', second)).refresh_token).to.be.a('string');
    expect(await statusOf(access)).to.equal(200);
  });

  it('rotates a refresh token, whose predecessor stays good for a while', async () => {
    await start();
    const { refresh_token: first } = await logIn('graceful');
    const { refresh_token: second } = await refresh('graceful', first);
    clock.move(59_000);
    const { refresh_token: third } = await refresh('graceful', first);
    clock.move(1000);
    expect(await errorOf(refresh('graceful', first))).to.equal('invalid_grant');
    expect(await errorOf(refresh('graceful', second))).to.equal('none');
    expect(await errorOf(refresh('graceful', third))).to.equal('none');
  });

  it('changes a refresh token when it has become old', async () => {
    await start();
    const { refresh_token: first } = await logIn('daily');
    expect((await refresh('daily', first)).refresh_token).to.equal(undefined);
    clock.move(DAY_MS);
    const { refresh_token: second } = await refresh('daily', first);
    expect(second).to.be.a('string').that.does.not.equal(first);
    expect(await errorOf(refresh('daily', first))).to.equal('invalid_grant');
  });

  it('ends tokens when their time is over', async () => {
    await start({ lifetimes: { accessMs: 3_600_000, refreshMs: DAY_MS } });
    const { access_token: access, refresh_token: token, expires_in: seconds } = await logIn('kept');
    expect(seconds).to.equal(3600);
    clock.move(3_599_999);
    expect(await statusOf(access)).to.equal(200);
    clock.move(1);
    expect(await statusOf(access)).to.equal(401);
    expect(await errorOf(refresh('kept', token))).to.equal('none');
    clock.move(DAY_MS);
    expect(await errorOf(refresh('kept', token))).to.equal('invalid_grant');
  });

  it('revokes an access token alone, and with a refresh token all it gave', async () => {
    await start();
    const revoke = async (token = '') => {
      const client = { client_id: 'kept' };
      return oauth.processRevocationResponse(
        await oauth.revocationRequest(server(), client, authOf('kept'), token, allow),
      );
    };
    const { access_token: access, refresh_token: token } = await logIn('kept');
    await revoke(access);
    expect(await statusOf(access)).to.equal(401);
    const { access_token: next } = await refresh('kept', token);
    await revoke(token);
    expect([await statusOf(next), await errorOf(refresh('kept', token))]).to.deep.equal([401, 'invalid_grant']);
    expect(await errorOf(revoke('made-up'))).to.equal('unsupported_token_type');
  });

  it('remembers tokens over a restart, and nothing that is none', async () => {
    await start();
    const { access_token: access, refresh_token: token } = await logIn('single');
    await served.stop();
    served = await serve(create);
    expect(await statusOf(access)).to.equal(200);
    expect(await errorOf(refresh('single', token))).to.equal('none');
    await served.stop();
    memory.save({ sessions: [null, { clientId: 'single', scope: '', refreshToken: 'x', accessTokens: ['y'] }] });
    served = await serve(create);
    expect(await statusOf('y')).to.equal(401);
  });

  it('ends sessions, whose refresh tokens stay good', async () => {
    await start();
    const { access_token: access, refresh_token: token } = await logIn('kept');
    await fetch(`${served.url}/simulate/end-sessions`, { method: 'POST' });
    expect([await statusOf(access), await errorOf(refresh('kept', token))]).to.deep.equal([401, 'none']);
  });

  it('answers as oddly as the provider', async () => {
    await start({
      isLasting: (scope) => scope.includes('offline'),
      tokenResponse: ({ access_token }, { origin }) => ({ access_token, instance: origin }),
      isFormResponse: ({ headers }) => headers.accept === 'text/plain',
      errors: { wrongSecret: ['bad_secret', 'No.', 403] },
      prefixes: { access: 'toy!', code: 'c-' },
      accessTokens: ['from-the-start'],
    });
    const grant = async (secret: string, accept: string) => {
      const code = (await authorize('single')).searchParams.get('code') ?? '';
      expect(code).to.match(/^c-/);
      const form = {
        grant_type: 'authorization_code',
        code,
        client_id: 'single',
        client_secret: secret,
        redirect_uri: REDIRECT,
      };
      const response = await fetch(`${served.url}/token`, {
        method: 'POST',
        headers: { accept },
        body: new URLSearchParams(form),
      });
      return { status: response.status, text: await response.text() };
    };
    expect(Object.fromEntries(new URLSearchParams((await grant('single', 'text/plain')).text))).to.include({
      instance: served.url,
    });
    const tokens = JSON.parse((await grant('single', '*/*')).text);
    expect(Object.keys(tokens)).to.deep.equal(['access_token', 'instance']);
    expect(tokens.access_token).to.match(/^toy!/);
    expect(await grant('wrong', '*/*')).to.deep.equal({
      status: 403,
      text: '{"error":"bad_secret","error_description":"No."}',
    });
    expect(await statusOf('from-the-start')).to.equal(200);
  });
});
