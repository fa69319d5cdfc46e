import { expect } from 'chai';
import { expectProblem } from '../api/support/expect-problem.ts';
import { arrive, type CreatedProxy } from '../api/support/oauth-proxies.ts';
import { authorizationOf, createTenants, type OtherTenants, withDatabase } from '../api/support/tenants.ts';
import { useApp } from '../support/app.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';

const APPLICATION = 'https://shop.example.com/connected?user=5';

describe('the flow through an OAuth proxy', () => {
  const service = useApp({ CONNECTORS_PATH: `${import.meta.dirname}/connectors`, SIMULATORS_PORT: 'off' });
  let server: AuthorizationServer;
  let proxy: CreatedProxy;
  let tenants: OtherTenants;

  before(async () => {
    server = await startAuthorizationServer();
    tenants = await createTenants(service);
    const body = { name: 'shop', apiKey: server.clientId, apiSecret: server.clientSecret, configuration: '{}' };
    proxy = (await service.call('/elements/oauthProxies', { method: 'POST', body })).body;
    server.addCallbackUrl(proxy.proxyUrl);
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
    const configuration = { 'oauth.api.key': undefined, 'oauth.api.secret': undefined };
    const created = await create(arrival.searchParams.get('code') ?? '', configuration);
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    expect((await service.call('/items', { token: created.body.token })).status).to.equal(200);
  });

  it('works for every account of the organization, and for no other', async () => {
    const sibling = authorizationOf(tenants.sibling);
    const arrival = await browse((await askForUrl({}, sibling)).body.oauthUrl);
    expect((await create(arrival.searchParams.get('code') ?? '', {}, sibling)).status).to.equal(200);
    const stranger = await askForUrl({}, authorizationOf(tenants.stranger));
    expectProblem(stranger, 'NOT_FOUND', "There is no OAuth proxy 'shop'.");
  });

  it('passes a denial on', async () => {
    const arrival = await browse((await askForUrl()).body.oauthUrl, 'deny');
    expect(arrival.searchParams.get('error')).to.equal('access_denied');
    expect(arrival.searchParams.get('error_description')).to.equal('Ada said no & closed the page');
    expect(arrival.searchParams.has('code')).to.equal(false);
  });

  it('names the nearest proxy to one that is not there', async () => {
    const answer = await askForUrl({ oauthProxyName: 'shpo' });
    expectProblem(answer, 'NOT_FOUND', "There is no OAuth proxy 'shpo'. Did you mean 'shop'?");
  });

  it('needs a URL to go on to that a browser may be sent to', async () => {
    for (const state of [
      '',
      'granted',
      '/connected',
      'javascript:alert(1)',
      'https://a@shop.example.com/',
      'https://shop.example.com/#a',
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

  it('writes neither code nor secret to the log', async () => {
    const arrival = await browse((await askForUrl()).body.oauthUrl);
    const code = arrival.searchParams.get('code') ?? '';
    await create(code);
    const text = service.logged.join('\n');
    expect(text).to.include('/oauth/proxy/');
    expect([text.includes(code), text.includes(server.clientSecret)]).to.deep.equal([false, false]);
  });
});
