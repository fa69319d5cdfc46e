import { expect } from 'chai';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { arrive, type CreatedProxy, shareProxy } from '../api/support/oauth-proxies.ts';
import { authorizationOf, createTenants, createUser, type OtherTenants, withDatabase } from '../api/support/tenants.ts';
import { useApp } from '../support/app.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { json, startMisbehavingServer } from '../support/misbehaving-server.ts';

const APPLICATION = 'https://shop.example.com/connected?user=5';
/** Registered at the proxy. */
const REGISTERED = 'https://hub.example.com/connected?user=5';
const EVIL = 'https://evil.example.com/connected?user=5';

const WITHOUT_CLIENT = { 'oauth.api.key': undefined, 'oauth.api.secret': undefined };

describe('the flow through an OAuth proxy', () => {
  const service = useApp({ CONNECTORS_PATH: `${import.meta.dirname}/connectors`, SIMULATORS_PORT: 'off' });
  let server: AuthorizationServer;
  let proxy: CreatedProxy;
  let tenants: OtherTenants;

  before(async () => {
    server = await startAuthorizationServer();
    tenants = await createTenants(service);
    const configuration = JSON.stringify({ tokenOrigins: [server.url] });
    const body = { name: 'shop', apiKey: server.clientId, apiSecret: server.clientSecret, configuration, shared: true };
    proxy = (await service.call('/elements/oauthProxies', { method: 'POST', body })).body;
    server.addCallbackUrl(proxy.proxyUrl);
    const url = 'https://hub.example.com/connected';
    await service.call(`/elements/oauthProxies/${proxy.id}/applicationUrls`, { method: 'POST', body: { url } });
  });
  after(() => server.close());

  const askForUrl = (query: Readonly<Record<string, string>> = {}, headers = {}) =>
    service.call('/elements/granted/oauth/url', {
      headers,
      query: {
        isOauthProxy: 'true',
        callbackProxy: 'true',
        oauthProxyName: 'shop',
        state: APPLICATION,
        siteAddress: server.url,
        ...query,
      },
    });

  /** From the provider's page back to the proxy, and from there to where the browser ends. */
  async function browse(oauthUrl: string, decision: 'allow' | 'deny' = 'allow'): Promise<URL> {
    const callback = await server.authorize(oauthUrl, decision);
    expect(callback.origin + callback.pathname).to.equal(proxy.proxyUrl);
    const { status, headers } = await arrive(proxy, callback.search.slice(1));
    expect(status).to.equal(302);
    const arrival = new URL(headers.get('location') ?? '');
    expect(arrival.search).to.equal(`?user=5&${callback.search.slice(1)}`);
    return arrival;
  }

  const create = (code: string, configuration: object = {}, headers = {}) =>
    service.call('/instances', {
      method: 'POST',
      headers,
      body: {
        element: { key: 'granted' },
        name: 'Through a proxy',
        providerData: { code },
        configuration: {
          'authentication.type': 'oauth2',
          'oauth.api.key': server.clientId,
          'oauth.api.secret': server.clientSecret,
          'oauth.callback.url': proxy.proxyUrl,
          ...configuration,
        },
      },
    });

  it('makes an instance in the four steps of the contract', async () => {
    const { status, body } = await askForUrl({
      apiKey: server.clientId,
      apiSecret: server.clientSecret,
      callbackUrl: proxy.proxyUrl,
    });
    expect(status, JSON.stringify(body)).to.equal(200);
    const arrival = await browse(body.oauthUrl);
    expect(arrival.href.startsWith(`${APPLICATION}&`)).to.equal(true);
    expect(arrival.searchParams.getAll('state')).to.deep.equal([APPLICATION]);
    const created = await create(arrival.searchParams.get('code') ?? '');
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    const items = await service.call('/items', { token: created.body.token });
    expect(items.body).to.deep.equal([
      { id: 1, name: 'Anvil' },
      { id: 2, name: 'Rope' },
    ]);
  });

  it('needs neither key nor secret of a caller who names the proxy', async () => {
    const arrival = await browse((await askForUrl()).body.oauthUrl);
    const created = await create(arrival.searchParams.get('code') ?? '', WITHOUT_CLIENT);
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    expect((await service.call('/items', { token: created.body.token })).status).to.equal(200);
  });

  it('works for every account of the organization, with an application URL and without knowing the secret', async () => {
    const sibling = authorizationOf(tenants.sibling);
    const arrival = await browse((await askForUrl({ state: REGISTERED }, sibling)).body.oauthUrl);
    expect(arrival.href.startsWith(`${REGISTERED}&`)).to.equal(true);
    const created = await create(arrival.searchParams.get('code') ?? '', WITHOUT_CLIENT, sibling);
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
  });

  it('works for no other account once it is not shared any more, while instances go on', async () => {
    const sibling = authorizationOf(tenants.sibling);
    const authorize = async () => {
      const arrival = await browse((await askForUrl({ state: REGISTERED }, sibling)).body.oauthUrl);
      return arrival.searchParams.get('code') ?? '';
    };
    const made = await create(await authorize(), WITHOUT_CLIENT, sibling);
    expect(made.status, JSON.stringify(made.body)).to.equal(200);
    const code = await authorize();
    await shareProxy(service, { id: proxy.id, shared: false });
    expectProblem(await askForUrl({ state: REGISTERED }, sibling), 'NOT_FOUND', "There is no OAuth proxy 'shop'.");
    const requests = server.tokenRequests.length;
    const refused = await create(code, WITHOUT_CLIENT, sibling);
    expect(faultsOf(refused)).to.include.all.keys(
      'body.configuration.oauth.api.key',
      'body.configuration.oauth.api.secret',
    );
    expect(server.tokenRequests.length).to.equal(requests);
    const headers = authorizationOf(tenants.sibling, made.body.token);
    expect((await service.call('/items', { headers })).status).to.equal(200);
    await shareProxy(service, proxy);
    expect((await create(code, WITHOUT_CLIENT, sibling)).status).to.equal(200);
  });

  it('works for no other organization', async () => {
    const stranger = await askForUrl({}, authorizationOf(tenants.stranger));
    expectProblem(stranger, 'NOT_FOUND', "There is no OAuth proxy 'shop'.");
  });

  it('needs neither 15 minutes nor the same user, in either account, as the verifier is that of the account', async () => {
    for (const [accountId, beginner] of [
      [1, {}],
      [tenants.sibling.accountId, authorizationOf(tenants.sibling)],
    ] as const) {
      const other = authorizationOf(await createUser(service, { accountId, name: `of-${accountId}`, role: 'admin' }));
      const arrival = await browse((await askForUrl({ state: REGISTERED }, beginner)).body.oauthUrl);
      await withDatabase(service, (knex) => knex('oauth_authorization').where({ account_id: accountId }).delete());
      const code = arrival.searchParams.get('code') ?? '';
      const created = await create(code, { ...WITHOUT_CLIENT, 'base.url': server.url }, other);
      expect(created.status, JSON.stringify(created.body)).to.equal(200);
    }
  });

  describe('of another account of the organization', () => {
    const sibling = () => authorizationOf(tenants.sibling);

    it('ends at no URL that only this account named, whoever is sent on the way', async () => {
      const refused = await askForUrl({ state: EVIL }, sibling());
      const message = `The OAuth proxy 'shop' belongs to account 1 of your organization. From other accounts, state must be one of its application URLs, which account 1 adds with POST /elements/oauthProxies/${proxy.id}/applicationUrls.`;
      expectProblem(refused, 'FORBIDDEN', message);
      expect(Object.keys(faultsOf(refused))).to.deep.equal(['query.state']);
      // The victim of the own account, on a page with a state that the attacker wrote.
      const page = new URL((await askForUrl()).body.oauthUrl);
      page.searchParams.set('state', EVIL);
      const callback = await server.authorize(page.href);
      const { status, headers } = await arrive(proxy, callback.search.slice(1));
      expect([status, headers.has('location')]).to.deep.equal([400, false]);
    });

    it('ends at no URL beside an application URL', async () => {
      for (const state of [
        'https://hub.example.com/',
        'https://hub.example.com/connected/x',
        'http://hub.example.com/connected',
        APPLICATION,
      ]) {
        expectProblem(await askForUrl({ state }, sibling()), 'FORBIDDEN');
      }
    });

    it('makes nothing of a code that somebody else was given', async () => {
      const arrival = await browse((await askForUrl({ state: REGISTERED })).body.oauthUrl);
      const code = arrival.searchParams.get('code') ?? '';
      await withDatabase(service, (knex) =>
        knex('oauth_authorization').where({ account_id: tenants.sibling.accountId }).delete(),
      );
      // The code belongs to the verifier of the other account.
      const stolen = await create(code, { ...WITHOUT_CLIENT, 'base.url': server.url }, sibling());
      expectProblem(stolen, 'PROVIDER_CREDENTIALS_INVALID');
      await askForUrl({ state: REGISTERED }, sibling());
      expectProblem(await create(code, WITHOUT_CLIENT, sibling()), 'PROVIDER_CREDENTIALS_INVALID');
    });

    it('makes nothing of a code that its user did not begin, where the provider accepts no PKCE', async () => {
      const configuration = { 'oauth.callback.url': proxy.proxyUrl };
      const body = { element: { key: 'sited' }, name: 'x', providerData: { code: 'found-somewhere' }, configuration };
      const response = await service.call('/instances', { method: 'POST', body, headers: sibling() });
      const message =
        "The OAuth proxy 'shop' belongs to account 1 of your organization. From other accounts, it accepts a code only of an authorization that the caller started with GET /elements/sited/oauth/url in the last 15 minutes, or oauth.api.secret.";
      expectProblem(response, 'FORBIDDEN', message);
    });

    it('gets nothing for the client alone, nor for a token from elsewhere', async () => {
      const base = { ...WITHOUT_CLIENT, 'oauth.callback.url': proxy.proxyUrl, 'base.url': server.url };
      for (const [key, more] of [
        ['machine', {}],
        ['granted', { 'oauth.user.refresh_token': 'found-somewhere' }],
      ] as const) {
        const body = { element: { key }, name: 'x', configuration: { ...base, ...more } };
        const response = await service.call('/instances', { method: 'POST', body, headers: sibling() });
        expectProblem(response, 'FORBIDDEN', /belongs to account 1/);
      }
    });
  });

  it('never shows the secret to an address that a caller chose', async () => {
    const evil = await startMisbehavingServer({ otherwise: json({ access_token: 'x', token_type: 'bearer' }) });
    for (const headers of [{}, authorizationOf(tenants.sibling)]) {
      await askForUrl({ state: REGISTERED, siteAddress: evil.url }, headers);
      const response = await create('invented', { ...WITHOUT_CLIENT, 'base.url': evil.url }, headers);
      const message = `'oauth.api.secret' is missing: the settings lead to ${evil.url}, and the OAuth proxy 'shop' sends its secret only where "tokenOrigins" of its configuration says.`;
      expectProblem(response, 'REQUEST_INVALID', message);
      expect(Object.keys(faultsOf(response))).to.deep.equal(['body.configuration.oauth.api.secret']);
    }
    expect(evil.requests).to.deep.equal([]);
    await evil.close();
  });

  it('never uses a secret beside which the database was changed', async () => {
    const evil = await startMisbehavingServer({ otherwise: json({ access_token: 'x', token_type: 'bearer' }) });
    const setConfiguration = (origin: string) =>
      withDatabase(service, (knex) =>
        knex('oauth_proxy')
          .where({ id: proxy.id })
          .update({ configuration: JSON.stringify({ tokenOrigins: [origin] }) }),
      );
    await setConfiguration(evil.url);
    await askForUrl({ siteAddress: evil.url });
    expectProblem(
      await create('invented', { ...WITHOUT_CLIENT, 'base.url': evil.url }),
      'CONFLICT',
      "The OAuth proxy 'shop' cannot be used: its stored data cannot be read, or was changed outside of the service. Delete the proxy and create it again.",
    );
    expect(evil.requests).to.deep.equal([]);
    await evil.close();
    await setConfiguration(server.url);
  });

  it('passes a denial on', async () => {
    const arrival = await browse((await askForUrl()).body.oauthUrl, 'deny');
    expect(arrival.searchParams.get('error')).to.equal('access_denied');
    expect(arrival.searchParams.get('error_description')).to.equal('Ada said no & closed the page');
    expect(arrival.searchParams.has('code')).to.equal(false);
  });

  it('names the nearest proxy to one that is not there', async () => {
    const response = await askForUrl({ oauthProxyName: 'shpo' });
    expectProblem(response, 'NOT_FOUND', "There is no OAuth proxy 'shpo'. Did you mean 'shop'?");
  });

  it('needs a URL to go on to that a browser may be sent to', async () => {
    for (const state of [
      ...['', 'granted', '/connected', 'javascript:alert(1)', 'https://a@shop.example.com/'],
      ...['https://shop.example.com/#a'],
    ]) {
      expectProblem(await askForUrl({ state }), 'REQUEST_INVALID');
    }
  });

  it('ends at a page when the URL was named too long ago', async () => {
    const { body } = await askForUrl();
    await withDatabase(service, (knex) =>
      knex.raw("update oauth_proxy_target set created_at = created_at - interval '25 hours'"),
    );
    const callback = await server.authorize(body.oauthUrl);
    expect((await arrive(proxy, callback.search.slice(1))).status).to.equal(400);
  });

  describe('whose secret changed at the provider', () => {
    const NEXT = 'the-next-secret-of-the-proxy';
    const REAUTHENTICATED = { 'oauth.api.secret': '' };
    let earlier: { readonly id: number; readonly token: string };

    const authorize = async (headers = {}) => {
      const arrival = await browse((await askForUrl({ state: REGISTERED }, headers)).body.oauthUrl);
      return arrival.searchParams.get('code') ?? '';
    };
    const change = (apiSecret: string) =>
      service.call(`/elements/oauthProxies/${proxy.id}`, { method: 'PATCH', body: { apiSecret } });

    before(async () => {
      await withDatabase(service, (knex) => knex('oauth_authorization').delete());
      const sibling = authorizationOf(tenants.sibling);
      earlier = (await create(await authorize(sibling), WITHOUT_CLIENT, sibling)).body;
      server.changeClientSecret(NEXT);
    });
    after(async () => {
      server.changeClientSecret(server.clientSecret);
      await change(server.clientSecret);
    });

    it('works at the same URL with the new one', async () => {
      expectProblem(await create(await authorize(), WITHOUT_CLIENT), 'PROVIDER_CREDENTIALS_INVALID');
      expect((await change(NEXT)).body).to.include({ proxyUrl: proxy.proxyUrl, apiKey: server.clientId });
      expect((await create(await authorize(), WITHOUT_CLIENT)).status).to.equal(200);
    });

    it('leaves instances with the old one, until they are authenticated again with an empty one', async () => {
      const headers = authorizationOf(tenants.sibling);
      const update = (body: object) => service.call(`/instances/${earlier.id}`, { method: 'PATCH', headers, body });
      const code = await authorize(headers);
      expectProblem(await update({ providerData: { code } }), 'PROVIDER_CREDENTIALS_INVALID');
      const again = await authorize(headers);
      const { status, body } = await update({ configuration: REAUTHENTICATED, providerData: { code: again } });
      expect([status, body.token]).to.deep.equal([200, earlier.token]);
      expect(server.tokenRequests.at(-1)?.headers.authorization).to.include('Basic ');
    });
  });

  it('writes neither code nor secret to the log', async () => {
    const arrival = await browse((await askForUrl()).body.oauthUrl);
    const code = arrival.searchParams.get('code') ?? '';
    expect((await create(code, { 'base.url': server.url })).status).to.equal(200);
    const text = service.logged.join('\n');
    expect(text).to.include('/oauth/proxy/');
    expect([text.includes(code), text.includes(server.clientSecret)]).to.deep.equal([false, false]);
  });
});
