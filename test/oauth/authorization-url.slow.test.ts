import { expect } from 'chai';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { authorizationOf, countRows, createTenants, readEverything } from '../api/support/tenants.ts';
import { useApp } from '../support/app.ts';
import { OAUTH_CONNECTORS } from './support/setup.ts';

const CALLBACK = 'https://app.example.com/cb?tenant=7';

describe('an authorization URL', () => {
  const service = useApp({ CONNECTORS_PATH: OAUTH_CONNECTORS });

  const ask = (query: Readonly<Record<string, string | number>>, element = 'sited') =>
    service.call(`/elements/${element}/oauth/url`, { query: { apiKey: 'my client', callbackUrl: CALLBACK, ...query } });

  async function parametersOf(query: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
    const { body } = await ask(query);
    const url = new URL(body.oauthUrl);
    return { address: url.origin + url.pathname, ...Object.fromEntries(url.searchParams) };
  }

  it('has what the provider needs, with its quirks, and the state unchanged', async () => {
    expect(await parametersOf({ state: 'a/b?c=d&e#f ü' })).to.deep.equal({
      address: 'https://login.sited.example/authorize',
      prompt: 'login',
      response_type: 'code',
      client_id: 'my client',
      redirect_uri: CALLBACK,
      scope: 'read,write',
      state: 'a/b?c=d&e#f ü',
      access_type: 'offline',
    });
    expect((await ask({})).body.element).to.equal('sited');
    expect(
      (await service.call('/elements/990103/oauth/url', { query: { apiKey: 'x', callbackUrl: CALLBACK } })).body,
    ).to.include({ element: 'sited' });
  });

  it('has the same challenge for all of a client, unless the provider accepts none', async () => {
    const challengeOf = async (query = {}, headers = {}) => {
      const response = await service.call('/elements/granted/oauth/url', {
        headers,
        query: { apiKey: 'my client', callbackUrl: CALLBACK, siteAddress: 'https://p.example', ...query },
      });
      return new URL(response.body.oauthUrl).searchParams.get('code_challenge');
    };
    const { colleague, sibling } = await createTenants(service);
    const challenge = await challengeOf();
    expect(challenge).to.match(/^[\w-]{43}$/);
    expect(await challengeOf({ state: 'x', siteAddress: 'https://q.example' })).to.equal(challenge);
    expect(await challengeOf({}, authorizationOf(colleague))).to.equal(challenge);
    const others = [
      await challengeOf({ apiKey: 'another' }),
      await challengeOf({ callbackUrl: 'https://app.example.com/' }),
      await challengeOf({}, authorizationOf(sibling)),
    ];
    expect(new Set([challenge, ...others]).size).to.equal(4);
    expect(await parametersOf()).not.to.have.property('code_challenge');
  });

  it('asks for the scope that is given', async () => {
    expect((await parametersOf({ scope: 'read offline' })).scope).to.equal('read offline');
  });

  it('leads to the sandbox, to the site and to the simulator', async () => {
    const places = [
      [{ sandbox: 'true' }, 'https://test.sited.example/authorize'],
      [{ siteAddress: 'https://acme.sited.example/' }, 'https://acme.sited.example/authorize'],
      [{ siteAddress: 'acme.sited.example' }, 'https://acme.sited.example/authorize'],
      [{ simulator: 'true' }, `${service.app.simulatorsUrl}/sited/authorize`],
    ] as const;
    for (const [query, address] of places) expect((await parametersOf(query)).address).to.equal(address);
  });

  it('keeps no secret', async () => {
    await ask({ siteAddress: 'https://p.example', apiSecret: 'secret-in-a-query' }, 'granted');
    expect(await readEverything(service)).not.to.include('secret-in-a-query');
  });

  const count = () => countRows(service, 'oauth_authorization');

  describe('is not made', () => {
    let before = 0;
    beforeEach(async () => {
      before = await count();
    });
    afterEach('and nothing is kept', async () => expect(await count()).to.equal(before));

    it('for an element without OAuth', async () => {
      expectProblem(
        await ask({}, 'bamboohr'),
        'REQUEST_INVALID',
        'BambooHR does not use OAuth, so it has no authorization page. Create its instances with POST /instances and the configuration keys of GET /elements/bamboohr.',
      );
      expectProblem(await ask({}, 'site'), 'NOT_FOUND', "There is no element 'site'. Did you mean 'sited'?");
    });

    it('without a client or a callback URL', async () => {
      const noClient = await service.call('/elements/sited/oauth/url', { query: { callbackUrl: CALLBACK } });
      expectProblem(noClient, 'REQUEST_INVALID', 'apiKey is missing: the client id registered with the provider.');
      expect(faultsOf(noClient)).to.have.keys('query.apiKey');
      const noCallback = await service.call('/elements/sited/oauth/url', { query: { apiKey: 'x' } });
      expect(faultsOf(noCallback)).to.have.keys('query.callbackUrl');
    });

    const CALLBACKS = [
      ...['/relative', 'app.example.com/cb', 'ftp://app.example.com/', 'javascript:alert(1)'],
      ...['https://user@app.example.com/', 'https://app.example.com/#x', 'https://app.example.com/\nx'],
      ...['https:\\\\app.example.com'],
    ];
    for (const callbackUrl of CALLBACKS) {
      it(`for the callback URL ${JSON.stringify(callbackUrl)}`, async () => {
        const response = await ask({ callbackUrl });
        expectProblem(response, 'REQUEST_INVALID', /must be an absolute http or https URL/);
        expect(faultsOf(response)).to.have.keys('query.callbackUrl');
      });
    }

    const SITES = [
      ...['https://evil.example', 'https://acme.sited.example.evil.example', 'https://a.b.sited.example'],
      ...['https://acme.sited.example:8443', 'https://acme.sited.example@evil.example'],
      ...['https://evil.example\\.sited.example', 'https://acme.sited.example/?x=1', 'sited.example', '[::1]'],
    ];
    for (const siteAddress of SITES) {
      it(`for the site ${siteAddress}`, async () => {
        const response = await ask({ siteAddress });
        expectProblem(response, 'REQUEST_INVALID', /^siteAddress /);
        expect(faultsOf(response)).to.have.keys('query.siteAddress');
      });
    }

    it('with what the element does not have, or without what it needs', async () => {
      const sandbox = await ask({ sandbox: 'true', siteAddress: 'https://p.example' }, 'granted');
      expectProblem(sandbox, 'REQUEST_INVALID', 'Granted has no sandbox: leave it out.');
      const message = 'siteAddress is missing: Granted has a host of its own for every customer.';
      expectProblem(await ask({}, 'granted'), 'REQUEST_INVALID', message);
      expectProblem(await ask({ sandbox: 'perhaps' }), 'REQUEST_INVALID', /sandbox/);
      expectProblem(await ask({ unknown: 'x' }), 'REQUEST_INVALID', /unknown/);
    });

    it('for a state that no database can keep', async () => {
      expectProblem(await ask({ state: 'a\0b' }), 'REQUEST_INVALID', /^state contains a character/);
    });

    it('for a proxy that is not named, or with a callback URL that is not its own', async () => {
      expectProblem(await ask({ isOauthProxy: 'true' }), 'REQUEST_INVALID', /^oauthProxyName is missing/);
      const proxy = { name: 'mine', apiKey: 'its-key', apiSecret: 'its-secret' };
      const { body } = await service.call('/elements/oauthProxies', { method: 'POST', body: proxy });
      const elsewhere = await ask({ oauthProxyName: 'mine', state: 'https://app.example.com/' });
      expectProblem(elsewhere, 'REQUEST_INVALID', /^callbackUrl is not the URL of the OAuth proxy 'mine'/);
      const noState = await ask({ oauthProxyName: 'mine', callbackUrl: body.proxyUrl });
      expect(faultsOf(noState)).to.have.keys('query.state');
    });
  });

  it('is not made without the secrets of the organization', async () => {
    const response = await service.call('/elements/sited/oauth/url', { headers: { authorization: 'User x' } });
    expectProblem(response, 'UNAUTHENTICATED');
  });

  it('shows in the element which keys an instance takes', async () => {
    const { body } = await service.call('/elements/sited');
    expect(body).to.include({ typeOauth: true });
    const secretOf = Object.fromEntries(
      body.configuration.map((field: { key: string; secret: boolean }) => [field.key, field.secret]),
    );
    expect(secretOf).to.include({
      'oauth.api.key': false,
      'oauth.api.secret': true,
      'oauth.callback.url': false,
      'oauth.scope': false,
      'oauth.user.refresh_token': true,
      'oauth.user.token': true,
      'authentication.type': false,
      'sited.sandbox': false,
    });
    const realm = (await service.call('/elements/realm')).body.configuration;
    expect(realm.map(({ key }: { key: string }) => key)).to.include.members(['realm.id', 'api.url']);
  });
});
