import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../../src/clock.ts';
import type { Config, OAuth2Auth, OAuthValue } from '../../../src/connector/index.ts';
import { createEgress, type Egress } from '../../../src/egress/index.ts';
import type { OAuthConnector } from '../../../src/instances/oauth/fields.ts';
import {
  clientCredentialsRequest,
  exchangeRequest,
  processTokenResponse,
  refreshRequest,
  sendTokenRequest,
  type TokenRequest,
  toHttpRequest,
} from '../../../src/instances/oauth/token-endpoint.ts';
import { TokenError } from '../../../src/instances/oauth/token-failure.ts';
import { failureOf } from '../../support/failures.ts';
import { leastConnector } from '../../support/least-connector.ts';
import {
  type Behaviour,
  brokenJson,
  garbage,
  hang,
  html,
  json,
  redirect,
  resetBeforeAnswer,
  startMisbehavingServer,
  status,
  useMisbehavingServer,
} from '../../support/misbehaving-server.ts';

const GRANTED = {
  access_token: 'the-access-token',
  token_type: 'Bearer',
  expires_in: 3600,
  refresh_token: 'the-refresh-token',
};
const CONFIG: Config = { 'oauth.api.key': 'my-client', 'oauth.api.secret': 'se cret:/+ä' };
const CODE = { code: 'the-code', callbackUrl: 'https://app.example.com/cb', verifier: 'the-verifier' };

describe('the token endpoint', () => {
  const nowMs = Date.parse('2026-03-02T12:00:00Z');
  let egress: Egress;
  const server = useMisbehavingServer();

  before(() => {
    egress = createEgress({ allow: ['127.0.0.0/8'], simulatorsUrl: server.url });
  });

  after(() => egress.close());

  const connectorWith = (auth: Partial<OAuth2Auth> = {}, hosts = [server.host]): OAuthConnector =>
    leastConnector({
      auth: { type: 'oauth2', tokenUrl: () => `${server.url}/token`, ...auth },
      baseUrl: () => server.url,
      hosts,
    });

  const send = (request: TokenRequest, signal = AbortSignal.timeout(3000)) =>
    sendTokenRequest(
      { egress, clock: { ...SYSTEM_CLOCK, now: () => nowMs }, simulatorsUrl: server.url },
      request,
      signal,
    );

  async function exchange(behaviour: Behaviour, auth: Partial<OAuth2Auth> = {}, config = CONFIG) {
    server.answer('/token', behaviour);
    return send(exchangeRequest({ connector: connectorWith(auth), config }, CODE));
  }

  const sent = () => server.requests.at(-1);
  const form = () => Object.fromEntries(new URLSearchParams(sent()?.body));

  const refusalOf = (work: Promise<unknown>) => failureOf(work, TokenError);

  describe('asks', () => {
    it('with a form and Basic, both parts encoded where they must be and nowhere else (RFC 6749, 2.3.1)', async () => {
      await exchange(json(GRANTED));
      expect(form()).to.deep.equal({
        grant_type: 'authorization_code',
        code: 'the-code',
        redirect_uri: 'https://app.example.com/cb',
        code_verifier: 'the-verifier',
      });
      const basic = String(sent()?.headers.authorization).replace('Basic ', '');
      expect(Buffer.from(basic, 'base64').toString()).to.equal('my-client:se+cret%3A%2F%2B%C3%A4');
      expect(sent()?.headers.accept).to.equal('application/json');
      expect(sent()?.headers['content-type']).to.equal('application/x-www-form-urlencoded');
    });

    it('with the secret in the body', async () => {
      await exchange(json(GRANTED), { clientAuthentication: 'body' });
      expect(form()).to.include({ client_id: 'my-client', client_secret: 'se cret:/+ä' });
      expect(sent()?.headers).not.to.have.property('authorization');
    });

    it('with the secret in the body for a code, and with Basic for a refresh', async () => {
      await exchange(json(GRANTED), { codeAuthentication: 'body' });
      expect(form()).to.include({ client_id: 'my-client', client_secret: 'se cret:/+ä' });
      expect(sent()?.headers).not.to.have.property('authorization');
      await send(refreshRequest({ connector: connectorWith({ codeAuthentication: 'body' }), config: CONFIG }, 'old'));
      expect(form()).to.deep.equal({ grant_type: 'refresh_token', refresh_token: 'old' });
      expect(sent()?.headers.authorization).to.match(/^Basic /);
    });

    it('with JSON', async () => {
      await exchange(json(GRANTED), { tokenBody: 'json', clientAuthentication: 'body' });
      expect(sent()?.headers['content-type']).to.equal('application/json');
      expect(JSON.parse(sent()?.body ?? '')).to.include({ grant_type: 'authorization_code', client_id: 'my-client' });
    });

    it('with more parameters, and with none that is empty', async () => {
      await exchange(json(GRANTED), { tokenParameters: { audience: 'a b' } });
      expect(form()).to.include({ audience: 'a b' });
      const client = { connector: connectorWith(), config: CONFIG };
      await send(exchangeRequest(client, { ...CODE, verifier: undefined }));
      expect(form()).not.to.have.property('code_verifier');
      await send(refreshRequest(client, 'old'));
      expect(form()).to.deep.equal({ grant_type: 'refresh_token', refresh_token: 'old' });
      await send(clientCredentialsRequest(client));
      expect(form()).to.deep.equal({ grant_type: 'client_credentials' });
    });

    it('for scopes with the separator, or as the caller wrote them', async () => {
      const connector = connectorWith({ scopes: ['a', 'b'], scopeSeparator: ',' });
      await send(clientCredentialsRequest({ connector, config: CONFIG }));
      expect(form().scope).to.equal('a,b');
      await send(clientCredentialsRequest({ connector, config: { ...CONFIG, 'oauth.scope': 'c d' } }));
      expect(form().scope).to.equal('c d');
    });

    it('the simulator, and tells it which host was meant', async () => {
      server.answer('/shop/oauth/token', json({ ...GRANTED, url: `${server.url}/shop` }));
      const value: OAuthValue = { from: 'token', name: 'url', type: 'url', description: '' };
      const auth = { tokenUrl: () => 'https://login.shop.example/oauth/token', values: { 'shop.url': value } };
      const connector = connectorWith(auth, ['login.shop.example']);
      const config = { ...CONFIG, simulator: true };
      const { values } = await send(exchangeRequest({ connector, config }, CODE));
      expect(sent()).to.deep.include({ url: '/shop/oauth/token', method: 'POST' });
      expect(sent()?.headers.forwarded).to.equal('host=login.shop.example');
      expect(values).to.deep.equal({ 'shop.url': 'https://login.shop.example' });
    });

    it('nobody but a host of the connector', async () => {
      const connector = connectorWith({ tokenUrl: () => 'https://evil.example/token' });
      const before = server.requests.length;
      const error = await refusalOf(send(exchangeRequest({ connector, config: CONFIG }, CODE)));
      expect(error.kind).to.equal('unreachable');
      expect(error.message).to.include('the host evil.example, which is not a host of Shop');
      expect(server.requests.length).to.equal(before);
    });
  });

  describe('takes for a grant', () => {
    const GRANT = {
      accessToken: 'the-access-token',
      refreshToken: 'the-refresh-token',
      expiresInSeconds: 3600,
      values: {},
    };
    const FORMS: Readonly<Record<string, readonly [Behaviour, object]>> = {
      'an answer as RFC 6749 has it': [json(GRANTED), GRANT],
      'an expires_in in text': [json({ ...GRANTED, expires_in: '3600' }), GRANT],
      'no token_type': [json({ ...GRANTED, token_type: undefined }), GRANT],
      'an id_token that nobody can check': [json({ ...GRANTED, id_token: 'x.y.z' }), GRANT],
      'a scope in a list': [json({ ...GRANTED, scope: ['a'] }), GRANT],
      'an error that is empty': [json({ ...GRANTED, error: null, error_description: '' }), GRANT],
      'a 201': [json(GRANTED, 201), GRANT],
      'a form': [
        status(
          200,
          { 'content-type': 'text/plain' },
          new URLSearchParams({ ...GRANTED, expires_in: '3600' }).toString(),
        ),
        GRANT,
      ],
      'JSON that is said to be a page': [status(200, { 'content-type': 'text/html' }, JSON.stringify(GRANTED)), GRANT],
      'an answer without refresh token and without end': [
        json({ access_token: 'the-access-token', token_type: 'bearer', refresh_token: '', expires_in: 0 }),
        { accessToken: 'the-access-token', values: {} },
      ],
      'an end that is a word': [
        json({ access_token: 'the-access-token', refresh_token: null, expires_in: 'never' }),
        { accessToken: 'the-access-token', values: {} },
      ],
    };
    for (const [name, [behaviour, grant]] of Object.entries(FORMS)) {
      it(name, async () => expect(await exchange(behaviour)).to.deep.equal(grant));
    }

    it('a token of the type that the connector names, and of no other', async () => {
      const answer = json({ ...GRANTED, token_type: 'bot' });
      expect(await exchange(answer, { tokenType: 'bot' })).to.deep.equal(GRANT);
      expect((await refusalOf(exchange(answer))).kind).to.equal('unknown');
      expect(await exchange(json(GRANTED), { tokenType: 'bot' })).to.deep.equal(GRANT);
    });

    it('the end of an access token as a moment, by the clock of the provider', async () => {
      const { expires_in: _, ...granted } = GRANTED;
      const at = Date.parse('2026-03-02T12:30:00Z') / 1000;
      const lifeOf = async (members: object, date?: string) => {
        const response = JSON.stringify({ ...granted, ...members });
        const headers = { 'content-type': 'application/json', ...(date !== undefined && { date }) };
        return (await exchange(status(200, headers, response), { accessTokenEnd: 'ends' })).expiresInSeconds;
      };
      const noon = 'Mon, 02 Mar 2026 12:00:00 GMT';
      expect(await lifeOf({ ends: at }, noon)).to.equal(1800);
      expect(await lifeOf({ ends: String(at) }, 'Mon, 02 Mar 2026 12:20:00 GMT')).to.equal(600);
      expect(await lifeOf({ ends: at }, 'today')).to.equal(1800);
      expect(await lifeOf({ ends: at, expires_in: 60 }, noon)).to.equal(60);
      for (const ends of [undefined, null, 'soon', at - 3600]) expect(await lifeOf({ ends }, noon)).to.equal(undefined);
    });
  });

  describe('judges', () => {
    const error = (code: string, words?: string) => ({ error: code, error_description: words });
    const page = (code: number) => status(code, { 'content-type': 'text/html' }, '<html><body>Blocked</body></html>');
    const JUDGEMENTS: Readonly<Record<string, readonly [Behaviour, TokenError['kind'], string?]>> = {
      'invalid_grant as refused': [json(error('invalid_grant', 'expired'), 400), 'refused', 'invalid_grant'],
      'invalid_client with a challenge as refused': [
        json(error('invalid_client'), 401, { 'www-authenticate': 'Basic realm="x"' }),
        'refused',
        'invalid_client',
      ],
      'an error with status 200 as refused': [json(error('bad_verification_code')), 'refused', 'bad_verification_code'],
      'an error in a form as refused': [
        status(200, {}, 'error=bad_verification_code&error_description=no'),
        'refused',
        'bad_verification_code',
      ],
      'an error of its own form as refused': [json({ error: { message: 'No such code' } }, 400), 'refused'],
      'an error object with status 200 as refused': [json({ error: { message: 'No such code' } }), 'refused'],
      'a 401 with a page as refused': [page(401), 'refused'],
      'a 403 with a page as unreachable': [page(403), 'unreachable'],
      'a 404 as unreachable': [page(404), 'unreachable'],
      'a redirect as unreachable': [redirect('https://evil.example/'), 'unreachable'],
      'too many requests as unreachable': [json({}, 429, { 'retry-after': '7' }), 'unreachable'],
      'temporarily_unavailable as unreachable': [
        json(error('temporarily_unavailable'), 400),
        'unreachable',
        'temporarily_unavailable',
      ],
      'a 401 with server_error as refused': [json(error('server_error'), 401), 'refused', 'server_error'],
      'server_error as unknown': [json(error('server_error'), 400), 'unknown', 'server_error'],
      'a 500 as unknown': [json({}, 500), 'unknown'],
      'a 503 with invalid_grant as unknown': [json(error('invalid_grant'), 503), 'unknown', 'invalid_grant'],
      'a page as unknown': [html, 'unknown'],
      'broken JSON as unknown': [brokenJson, 'unknown'],
      'JSON that is no object as unknown': [json([1]), 'unknown'],
      'no token as unknown': [json({ token_type: 'bearer' }), 'unknown'],
      'a token that is a number as unknown': [json({ access_token: 1 }), 'unknown'],
      'a kind of token that nobody can send as unknown': [json({ ...GRANTED, token_type: 'mac' }), 'unknown'],
      'a broken connection as unknown': [resetBeforeAnswer, 'unknown'],
      'an answer that is not HTTP as unknown': [garbage, 'unknown'],
      'more than 1 MB as unknown': [status(200, {}, 'x'.repeat(1024 * 1024 + 1)), 'unknown'],
    };
    for (const [name, [behaviour, kind, oauthError]] of Object.entries(JUDGEMENTS)) {
      it(name, async () => {
        const requests = server.requests.length;
        const failure = await refusalOf(exchange(behaviour));
        expect([failure.kind, failure.oauthError]).to.deep.equal([kind, oauthError]);
        expect(server.requests.length).to.equal(requests + 1);
      });
    }

    it('a signal that aborts while it waits as unknown', async () => {
      server.answer('/token', hang);
      const controller = new AbortController();
      const request = exchangeRequest({ connector: connectorWith(), config: CONFIG }, CODE);
      const requests = server.requests.length;
      const work = refusalOf(send(request, controller.signal));
      while (server.requests.length === requests) await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect((await work).kind).to.equal('unknown');
    });

    it('a port where nobody listens as unreachable', async () => {
      const gone = await startMisbehavingServer();
      await gone.close();
      const connector = connectorWith({ tokenUrl: () => `${gone.url}/token` }, [gone.host]);
      const work = send(refreshRequest({ connector, config: CONFIG }, 'x'));
      expect((await refusalOf(work)).kind).to.equal('unreachable');
    });

    it("passes on what the provider says, and when to come back, without anybody's secrets", async () => {
      const words = 'code the-code of my-client with se cret:/+ä is unknown';
      const failure = await refusalOf(exchange(json(error('invalid_grant', words), 400, { 'retry-after': '7' })));
      expect(failure.providerMessage).to.equal('code [redacted] of my-client with [redacted] is unknown');
      expect(failure.retryAfterMs).to.equal(7000);
      expect(failure.message).to.equal('Shop returned 400 with invalid_grant at its token endpoint.');
    });

    it('and without the tokens of an answer that is none', async () => {
      const words = 'no tokens-of-an-answer for you';
      const body = { access_token: 'tokens-of-an-answer', error_description: words };
      for (const code of ['invalid_scope', 'tokens-of-an-answer', 'not with tokens-of-an-answer']) {
        const failure = await refusalOf(exchange(json({ ...body, error: code }, 400)));
        expect(failure.providerMessage).to.equal('no [redacted] for you');
        expect([failure.message, failure.oauthError].join()).to.not.contain('tokens-of');
      }
    });

    it('and knows which error it is, though somebody chose its name for a secret', async () => {
      const config = { ...CONFIG, 'oauth.api.secret': 'invalid_client' };
      const failure = await refusalOf(exchange(json({ error: 'invalid_client' }, 401), {}, config));
      expect(failure.oauthError).to.equal('invalid_client');
    });
  });

  describe('reads values', () => {
    const URL_VALUE: OAuthValue = { from: 'token', name: 'api', type: 'url', description: '' };
    const valuesOf = async (said: unknown, value: OAuthValue = URL_VALUE) =>
      (await exchange(json({ ...GRANTED, api: said }), { values: { 'shop.api': value } })).values;

    it('of hosts of the connector', async () => {
      expect(await valuesOf(`${server.url}/v1/`)).to.deep.equal({ 'shop.api': `${server.url}/v1` });
      expect(await valuesOf(`https://${server.host}`)).to.deep.equal({ 'shop.api': `https://${server.host}` });
    });

    it('of a pattern, and numbers as text', async () => {
      const value: OAuthValue = { ...URL_VALUE, type: 'string', pattern: /[a-z]+\d*|\d+/ };
      expect(await valuesOf('realm7', value)).to.deep.equal({ 'shop.api': 'realm7' });
      expect(await valuesOf(12, value)).to.deep.equal({ 'shop.api': '12' });
      expect((await refusalOf(valuesOf('realm7/../x', value))).message).to.include("'api' is not as expected");
    });

    it('unless they may be missing', async () => {
      expect(await valuesOf(undefined, { ...URL_VALUE, required: false })).to.deep.equal({});
      expect((await refusalOf(valuesOf(''))).message).to.equal(
        "The token response of Shop cannot be used: 'api' is missing.",
      );
      expect((await refusalOf(valuesOf({ a: 1 }))).kind).to.equal('unknown');
    });

    it('that are missing at a refresh as those of before', async () => {
      server.answer('/token', json(GRANTED));
      const connector = connectorWith({ values: { 'shop.api': URL_VALUE } });
      expect((await send(refreshRequest({ connector, config: CONFIG }, 'x'))).values).to.deep.equal({});
    });

    it('that cannot be used at a refresh as those of before, so that the tokens are not lost with them', async () => {
      server.answer('/token', json({ ...GRANTED, api: 'https://evil.example' }));
      const connector = connectorWith({ values: { 'shop.api': URL_VALUE } });
      const grant = await send(refreshRequest({ connector, config: CONFIG }, 'x'));
      expect(grant.values).to.deep.equal({});
      expect(grant.accessToken).to.equal(GRANTED.access_token);
    });

    const HOSTILE = (host: string) => [
      ...['https://evil.example', `https://${host}@evil.example/`, `https://user:pass@${host}/`],
      ...[`https://${host}.evil.example/`, `https://evil.example/${host}`, `https://evil.example#${host}`],
      ...[`https://evil.example\\@${host}`, `https:\\\\evil.example`, `//${host}/x`, 'https://127.0.0.1:1/'],
      ...['https://127.0.0.1/', `ftp://${host}/`, `javascript:alert(1)//${host}`, `https://${host}\r\n.evil.example`],
      ...[`https://${host}\t/`, ' https://evil.example', 'https://127.0.0.1%2eevil.example/', 'not a url'],
    ];
    for (const [index] of HOSTILE('h').entries()) {
      it(`but never ${JSON.stringify(HOSTILE('the-host')[index])}`, async () => {
        const failure = await refusalOf(valuesOf(HOSTILE(server.host)[index]));
        expect(failure.kind).to.equal('unknown');
        expect(failure.message).to.match(/^The token response of Shop cannot be used: 'api' /);
      });
    }
  });

  describe('without a network', () => {
    const client = {
      connector: connectorWith({ tokenUrl: () => 'https://shop.example/token' }, ['shop.example']),
      config: CONFIG,
    };
    const address = { url: new URL('https://shop.example/token'), simulator: undefined };
    const answered = (code: number, body: object) => ({
      response: {
        status: code,
        headers: { 'retry-after': '7' },
        body: Buffer.from(JSON.stringify(body)),
        quotable: true,
      },
      address,
      nowMs,
    });

    it('is asked by a request that can be looked at', () => {
      const { url, method, headers, body, toSimulator } = toHttpRequest(refreshRequest(client, 'old'), address);
      expect({ url, method, toSimulator }).to.deep.equal({ url: address.url, method: 'POST', toSimulator: false });
      expect(headers).to.include.keys('authorization', 'user-agent').and.not.have.property('forwarded');
      expect(body).to.equal('refresh_token=old&grant_type=refresh_token');
    });

    it('is judged by its response alone', async () => {
      const request = refreshRequest(client, 'old-token');
      const { values, ...grant } = await processTokenResponse(request, answered(200, GRANTED));
      expect(values).to.deep.equal({});
      expect(grant).to.deep.equal({
        accessToken: 'the-access-token',
        refreshToken: 'the-refresh-token',
        expiresInSeconds: 3600,
      });
      const refused = answered(400, { error: 'invalid_grant', error_description: 'old-token is over' });
      const failure = await refusalOf(processTokenResponse(request, refused));
      expect([failure.kind, failure.providerMessage, failure.retryAfterMs]).to.deep.equal([
        'refused',
        '[redacted] is over',
        7000,
      ]);
    });

    it('is not looked through where it has far more members than a grant', async () => {
      const request = refreshRequest(client, 'old-token');
      const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`m${n}`, n]));
      const deep = { scopes: Array.from({ length: 10_001 }, (_, n) => n) };
      for (const more of [many, deep]) {
        const failure = await refusalOf(processTokenResponse(request, answered(200, { ...GRANTED, ...more })));
        expect([failure.kind, failure.message]).to.deep.equal([
          'unknown',
          'The token response of Shop has more than 1000 members, 10000 with those inside others, or more than 100 levels.',
        ]);
      }
      const form = Buffer.from(`${'a=1&'.repeat(1_000)}access_token=x&token_type=bearer`);
      const { address, response, nowMs } = answered(200, {});
      const asForm = { address, nowMs, response: { ...response, body: form } };
      const failure = await refusalOf(processTokenResponse(request, asForm));
      expect([failure.kind, failure.message]).to.deep.equal([
        'unknown',
        'The token response of Shop is not one of OAuth 2.0.',
      ]);
    });
  });
});
