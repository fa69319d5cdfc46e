import { expect } from 'chai';
import { createBrowser, openPage, type PageClient, PRODUCT, registerOrigins } from '../api/support/connect-page.ts';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { arrive } from '../api/support/oauth-proxies.ts';
import {
  authorizationOf,
  countRows,
  createTenants,
  createUser,
  readEverything,
  withDatabase,
} from '../api/support/tenants.ts';
import { useOAuth } from './support/setup.ts';

type Browser = ReturnType<typeof createBrowser>;

const CLOSE_SCRIPT = /<script src="\/console\/assets\/connect-return-\w+\.js"><\/script>/;

describe('an authorization from a connect session', () => {
  const setup = useOAuth();
  const { service } = setup;

  before(async () => {
    setup.server.addCallbackUrl(`${service.app.url}/oauth/callback`);
    await registerOrigins(service);
  });

  const client = () => ({
    'oauth.api.key': setup.server.clientId,
    'oauth.api.secret': setup.server.clientSecret,
  });
  const openGranted = (more: object = {}) =>
    openPage(service, { elements: ['granted'], configuration: client(), ...more });

  const begin = (page: PageClient, more: object = {}) =>
    page.call('/authorization', {
      method: 'POST',
      body: { elementKey: 'granted', configuration: { 'base.url': setup.server.url }, ...more },
    });

  /** Opens what the page was answered. @returns the provider's page */
  async function depart(browser: Browser, page: PageClient, more: object = {}): Promise<string> {
    const { status, body } = await begin(page, more);
    expect(status, JSON.stringify(body)).to.equal(200);
    const response = await browser.open(body.url, { 'sec-fetch-site': 'same-origin' });
    expect(response.status, response.text).to.equal(302);
    return response.headers.get('location') ?? '';
  }

  /** There and back. */
  async function authorize(
    browser: Browser,
    page: PageClient,
    more: object = {},
    decision: 'allow' | 'deny' = 'allow',
  ) {
    const back = await setup.server.authorize(await depart(browser, page, more), decision);
    return { back, answer: await browser.open(back.href) };
  }

  it('makes the instance in a window of its own, which then closes', async () => {
    const page = await openGranted({ name: 'Ada at Granted' });
    const { answer: response } = await authorize(createBrowser(), page);
    expect(response.status).to.equal(200);
    expect(response.text).to.include('<h1>Connected</h1>').and.match(CLOSE_SCRIPT);
    expect(response.headers.get('content-security-policy')).to.include("script-src 'self'").and.not.include('unsafe');
    expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
    const session = await page.read();
    expect(session).to.deep.include({ status: 'completed', elementKey: 'granted' });
    expect((await page.call()).body).to.deep.include({ status: 'completed' });
    const items = await service.call('/items', { token: session.token });
    expect(items.body.map(({ name }: { name: string }) => name)).to.deep.equal(['Anvil', 'Rope']);
    const { name, configuration } = (await service.call(`/instances/${session.instanceId}`)).body;
    expect(name).to.equal('Ada at Granted');
    expect(configuration).to.deep.equal({
      ...client(),
      'oauth.api.secret': '********',
      'oauth.callback.url': `${service.app.url}/oauth/callback`,
      'base.url': setup.server.url,
    });
  });

  it('sends the window of the page on to the product, or back to the page where there is none', async () => {
    const page = await openGranted({ redirectUrl: `${PRODUCT}/connected` });
    const { answer: response } = await authorize(createBrowser(), page, { opener: 'page' });
    const { id, instanceId } = await page.read();
    expect(response.status).to.equal(303);
    expect(response.headers.get('location')).to.equal(`${PRODUCT}/connected?instanceId=${instanceId}&sessionId=${id}`);
    const alone = await openGranted();
    const { answer: back } = await authorize(createBrowser(), alone, { opener: 'page' });
    expect([back.status, back.headers.get('location')]).to.deep.equal([
      303,
      `${alone.session.url}?element=granted&returned=`,
    ]);
  });

  it('shows the provider PKCE and a state, and nothing of the key', async () => {
    const browser = createBrowser();
    const page = await openGranted();
    const url = new URL(await depart(browser, page));
    expect(url.origin).to.equal(setup.server.url);
    expect(url.searchParams.get('code_challenge_method')).to.equal('S256');
    expect(url.searchParams.get('redirect_uri')).to.equal(`${service.app.url}/oauth/callback`);
    expect(url.searchParams.get('state')).to.match(/^[\w-]{43}$/);
    expect(url.href).not.to.include(page.key);
  });

  it('leaves the session open after a denial, with the words of it, and works the next time', async () => {
    const page = await openGranted();
    const browser = createBrowser();
    const { answer: response } = await authorize(browser, page, {}, 'deny');
    expect(response.text).to.include('<h1>Nothing was connected</h1>').and.match(CLOSE_SCRIPT);
    expect(response.text).to.include('access_denied: Ada said no &amp; closed the page');
    const error = {
      code: 'REQUEST_INVALID',
      message: 'Granted was not authorized, so no account was connected.',
      providerMessage: 'access_denied: Ada said no & closed the page',
    };
    for (const shown of [await page.read(), (await page.call()).body])
      expect(shown).to.deep.include({ status: 'open', error });
    const inPage = await authorize(browser, page, { opener: 'page' }, 'deny');
    expect([inPage.answer.status, inPage.answer.headers.get('location')]).to.deep.equal([
      303,
      `${page.session.url}?element=granted&returned=`,
    ]);
    await authorize(browser, page);
    expect(await page.read()).to.deep.include({ status: 'completed' });
  });

  it('ends in the language of the session, whatever the browser asks for', async () => {
    const page = await openGranted({ branding: { language: 'de' } });
    const browser = createBrowser();
    const back = await setup.server.authorize(await depart(browser, page));
    const { text } = await browser.open(back.href, { 'accept-language': 'fr' });
    expect(text).to.include('<html lang="de">').and.include('<h1>Verbunden</h1>').and.match(CLOSE_SCRIPT);
    expect((await browser.open(back.href, { 'accept-language': 'fr' })).text).to.include(
      '<h1>Cela a déjà été traité</h1>',
    );
  });

  it('leaves the session open when the provider refuses the client, and says so', async () => {
    const page = await openGranted({ configuration: { ...client(), 'oauth.api.secret': 'a-wrong-client-secret' } });
    const { answer: response } = await authorize(createBrowser(), page);
    expect(response.text).to.include('<h1>Nothing was connected</h1>').and.not.include('a-wrong-client-secret');
    const { status, error } = await page.read();
    expect([status, error.code]).to.deep.equal(['open', 'PROVIDER_CREDENTIALS_INVALID']);
  });

  describe('is refused', () => {
    const refusals = {
      otherBrowser: 'This was started in another browser',
      again: 'This was already done',
      late: 'This took too long',
      ended: 'The session has ended',
    };

    async function expectRefused(response: Awaited<ReturnType<Browser['open']>>, kind: keyof typeof refusals) {
      expect(response.status).to.equal(400);
      expect(response.text).to.include(`<h1>${refusals[kind]}</h1>`).and.not.include('<script');
    }

    it('to a browser that did not begin it, which leaves it to the one that did', async () => {
      const page = await openGranted();
      const browser = createBrowser();
      const back = await setup.server.authorize(await depart(browser, page));
      const victim = createBrowser();
      await expectRefused(await victim.open(back.href), 'otherBrowser');
      // With a session of its own, too.
      const own = await openGranted();
      await depart(victim, own);
      const [[, value = ''] = []] = victim.cookies;
      for (const [name] of browser.cookies) victim.cookies.set(name, value);
      await expectRefused(await victim.open(back.href), 'otherBrowser');
      expect(await page.read()).to.deep.include({ status: 'open' });
      expect((await browser.open(back.href)).text).to.include('<h1>Connected</h1>');
      expect(await page.read()).to.deep.include({ status: 'completed' });
    });

    it('a second time', async () => {
      const browser = createBrowser();
      const page = await openGranted();
      const { back } = await authorize(browser, page);
      const before = [await countRows(service, 'instance'), setup.server.tokenRequests.length];
      await expectRefused(await browser.open(back.href), 'again');
      expect([await countRows(service, 'instance'), setup.server.tokenRequests.length]).to.deep.equal(before);
      expect(await page.read()).to.deep.include({ status: 'completed' });
    });

    it('after 15 minutes, and after the end of the session', async () => {
      const browser = createBrowser();
      const page = await openGranted();
      const late = await setup.server.authorize(await depart(browser, page));
      await withDatabase(service, (knex) =>
        knex('connect_authorization')
          .where({ session_id: page.session.id })
          .update({ created_at: knex.raw("now() - interval '15 minutes'") }),
      );
      await expectRefused(await browser.open(late.href), 'late');
      const ended = await setup.server.authorize(await depart(browser, page));
      await service.call(`/connect/sessions/${page.session.id}`, { method: 'DELETE' });
      const before = setup.server.tokenRequests.length;
      await expectRefused(await browser.open(ended.href), 'ended');
      expect(setup.server.tokenRequests.length).to.equal(before);
    });

    it('after the user who made the session has lost the role that makes instances', async () => {
      const leaver = await createUser(service, { accountId: 1, name: 'leaver', role: 'default-user' });
      const granted = { elements: ['granted'], configuration: client() };
      const page = await openPage(service, granted, authorizationOf(leaver));
      const browser = createBrowser();
      const back = await setup.server.authorize(await depart(browser, page));
      await service.call('/users/leaver@example.com/roles/default-user', { method: 'DELETE' });
      const before = setup.server.tokenRequests.length;
      await expectRefused(await browser.open(back.href), 'ended');
      expect(setup.server.tokenRequests.length).to.equal(before);
    });

    it('with a state that is nobody’s: what came is shown, and goes nowhere', async () => {
      const page = await openGranted();
      const browser = createBrowser();
      const back = await setup.server.authorize(await depart(browser, page));
      back.searchParams.set('state', 'another-state');
      const response = await browser.open(back.href);
      expect(response.status).to.equal(200);
      expect(response.text).to.include('<h1>Authorized</h1>');
      expect(await page.read()).to.deep.include({ status: 'open' });
    });
  });

  describe('has a way to the provider', () => {
    const sent = (browser: Browser, url: string, site = 'same-origin') => browser.open(url, { 'sec-fetch-site': site });

    it('that is open once, for two minutes, and to the page alone', async () => {
      const page = await openGranted();
      const urlOf = async () => (await begin(page)).body.url;
      const once = await urlOf();
      const browser = createBrowser();
      for (const site of ['cross-site', 'same-site', 'none'])
        expect((await sent(browser, once, site)).status, site).to.equal(400);
      for (const added of ['A', '.', '=', '%20', '%00'])
        expect((await sent(browser, once + added)).status, added).to.equal(400);
      expect(browser.cookies.size).to.equal(0);
      expect((await sent(browser, once)).status).to.equal(302);
      const again = await sent(createBrowser(), once);
      expect(again.status).to.equal(400);
      expect(again.text).to.include('This cannot be opened again');
      const late = await urlOf();
      await withDatabase(service, (knex) =>
        knex('connect_authorization')
          .where({ session_id: page.session.id })
          .update({ created_at: knex.raw("now() - interval '2 minutes'") }),
      );
      expect((await sent(createBrowser(), late)).status).to.equal(400);
      expect((await sent(createBrowser(), `${service.app.url}/connect/authorize/invented`)).status).to.equal(400);
    });

    it('that leaves a cookie which no script and no other site sends', async () => {
      const { body } = await begin(await openGranted());
      const response = await sent(createBrowser(), body.url);
      expect(response.headers.get('set-cookie')).to.match(
        /^causeway-connect-\d+=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900$/,
      );
      expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
      expect(response.headers.get('cache-control')).to.equal('no-store');
    });
  });

  describe('is not begun', () => {
    it('where a field is missing, wrong or not asked for', async () => {
      const page = await openGranted();
      const missing = await begin(page, { configuration: {} });
      expectProblem(missing, 'REQUEST_INVALID', /'base.url' is required/);
      const other = await begin(page, { configuration: { 'base.url': 'nowhere', simulator: true } });
      expect(Object.keys(faultsOf(other))).to.have.members([
        'body.configuration.base.url',
        'body.configuration.simulator',
      ]);
      const userInfo = await begin(page, { configuration: { 'base.url': 'https://ada.example.com/x?y' } });
      expect(Object.keys(faultsOf(userInfo))).to.deep.equal(['body.configuration.base.url']);
    });

    it('for a session that has ended', async () => {
      const page = await openGranted();
      await page.call('', { method: 'DELETE' });
      expectProblem(await begin(page), 'CONFLICT', /^This connect session was ended\./);
    });
  });

  it('goes through an OAuth proxy, whose client the user never sees, for other accounts of its organization too', async () => {
    const configuration = JSON.stringify({ tokenOrigins: [setup.server.url] });
    const { clientId: apiKey, clientSecret: apiSecret } = setup.server;
    const body = { name: 'for connect sessions', apiKey, apiSecret, configuration, shared: true };
    const proxy = (await service.call('/elements/oauthProxies', { method: 'POST', body })).body;
    setup.server.addCallbackUrl(proxy.proxyUrl);
    const { sibling } = await createTenants(service);
    // Of its own, by the same name: the session says which is meant.
    const own = { name: body.name, apiKey: 'another-client', apiSecret };
    await service.call('/elements/oauthProxies', { method: 'POST', body: own, headers: authorizationOf(sibling) });
    for (const headers of [{}, authorizationOf(sibling)]) {
      const page = await openPage(service, { elements: ['granted'], proxyId: proxy.id }, headers);
      const [offered] = (await page.call()).body.elements;
      expect(offered.fields.map(({ key }: { key: string }) => key)).to.deep.equal(['base.url']);
      const browser = createBrowser();
      const back = await setup.server.authorize(await depart(browser, page));
      expect(back.origin + back.pathname).to.equal(proxy.proxyUrl);
      const through = await arrive(proxy, back.search.slice(1));
      expect(through.status).to.equal(302);
      const response = await browser.open(through.headers.get('location') ?? '');
      expect(response.text).to.include('<h1>Connected</h1>');
      const session = await page.read();
      expect(session).to.deep.include({ status: 'completed', proxyId: proxy.id });
      expect(
        (await service.call('/items', { token: session.token, headers: headersOf(headers, session.token) })).status,
      ).to.equal(200);
    }

    function headersOf(headers: object, token: string) {
      return 'authorization' in headers ? authorizationOf(sibling, token) : {};
    }
  });

  it('authenticates an instance again, which keeps id, token and client', async () => {
    const first = await openGranted();
    await authorize(createBrowser(), first);
    const { instanceId, token } = await first.read();
    await setup.server.revokeGrants();
    expectProblem(await service.call('/items', { token }), 'INSTANCE_CREDENTIALS_FAILED');
    const again = await openPage(service, { instanceId });
    const { body } = await again.call();
    expect(body).to.deep.include({ isReauthentication: true });
    const [{ fields }] = body.elements;
    expect(fields.map(({ key }: { key: string }) => key)).to.deep.equal(['base.url']);
    expect(fields[0].default).to.equal(setup.server.url);
    await authorize(createBrowser(), again);
    expect(await again.read()).to.deep.include({ status: 'completed', instanceId, token, isReauthentication: true });
    expect((await service.call('/items', { token })).status).to.equal(200);
  });

  it('leaves code, state, ticket, key, cookie and tokens in no table, no line of the log, and no log of others', async () => {
    const browser = createBrowser();
    const page = await openGranted();
    const { body } = await begin(page);
    const departure = await browser.open(body.url);
    const back = await setup.server.authorize(departure.headers.get('location') ?? '');
    await browser.open(back.href);
    const ticket = body.url.slice(body.url.lastIndexOf('/') + 1);
    const { token } = await page.read();
    const [accessToken = ''] = setup.server.apiTokens.slice(-1);
    const { code, state } = Object.fromEntries(back.searchParams);
    const everything = `${await readEverything(service)}\n${service.logged.join('\n')}`;
    const { clientSecret } = setup.server;
    const secrets = {
      code,
      ticket,
      key: page.key,
      token,
      accessToken,
      clientSecret,
      cookie: [...browser.cookies.values()][0],
    };
    for (const [name, secret] of Object.entries(secrets)) {
      expect(String(secret).length, name).to.be.above(15);
      expect(everything.includes(String(secret)), name).to.equal(false);
    }
    // As for any authorization, the state is remembered for 15 minutes: alone it opens nothing.
    expect(service.logged.join('\n').includes(String(state))).to.equal(false);
    const { body: rows } = await service.call('/audit-logs', { query: { pageSize: 1000 } });
    const [row] = rows
      .filter(
        ({ target, action }: { target: string; action: string }) => target === 'connect-session' && action === 'run',
      )
      .slice(-1);
    expect(JSON.stringify(rows)).not.to.include(page.key);
    expect(row).to.not.equal(undefined);
  });
});
