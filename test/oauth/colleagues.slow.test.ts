import { expect } from 'chai';
import { CLIENTS as QUICKBOOKS_CLIENTS } from '../../connectors/quickbooks/simulator.ts';
import { CLIENTS as SALESFORCE_CLIENTS } from '../../connectors/salesforce/simulator.ts';
import { createBrowser, openPage, registerOrigins } from '../api/support/connect-page.ts';
import { expectProblem } from '../api/support/expect-problem.ts';
import { authorizationOf, createTenants, type OtherTenants, withDatabase } from '../api/support/tenants.ts';
import { type TestApp, useApp } from '../support/app.ts';
import { useOAuth } from './support/setup.ts';
import { simulatedProvider } from './support/simulated-provider.ts';

/** As if every authorization URL had been asked for that long ago. */
const age = (service: TestApp, minutes: number) =>
  withDatabase(service, (knex) =>
    knex.raw("update oauth_authorization set created_at = created_at - ? * interval '1 minute'", [minutes]),
  );

const forget = (service: TestApp) => withDatabase(service, (knex) => knex('oauth_authorization').delete());

describe('a code at a provider that demands PKCE', () => {
  const setup = useOAuth();
  const { service, authorize, create } = setup;
  let tenants: OtherTenants;
  const colleague = () => authorizationOf(tenants.colleague);
  const here = () => ({ 'base.url': setup.server.url });
  const elsewhere = () => setup.server.url.replace('127.0.0.1', 'localhost');

  before(async () => {
    tenants = await createTenants(service);
  });
  beforeEach(() => forget(service));

  for (const sent of [['code'], ['code', 'state']]) {
    it(`makes an instance when its URL is 15.5 minutes old, of its ${sent.join(' and ')}`, () =>
      expectMade(sent, {}, 15.5));

    it(`makes an instance of the colleague who sends its ${sent.join(' and ')}`, () =>
      expectMade(sent, authorizationOf(tenants.colleague)));
  }

  async function expectMade(
    sent: readonly string[],
    headers: Readonly<Record<string, string>>,
    minutes = 0,
  ): Promise<void> {
    const back = await authorize({ state: 'of Ada' });
    await age(service, minutes);
    const { status, body } = await create(Object.fromEntries(sent.map((name) => [name, back[name]])), here(), headers);
    expect(status, JSON.stringify(body)).to.equal(200);
    const own = 'authorization' in headers ? authorizationOf(tenants.colleague, body.token) : {};
    expect((await service.call('/items', { token: body.token, headers: own })).status).to.equal(200);
  }

  it('authenticates an instance again with the settings that the instance has', async () => {
    const { body } = await create(await authorize());
    const back = await authorize();
    const again = { method: 'PATCH', body: { providerData: back }, headers: colleague() };
    const { status, body: patched } = await service.call(`/instances/${body.id}`, again);
    expect([status, patched.token], JSON.stringify(patched)).to.deep.equal([200, body.token]);
  });

  it('is not used up where the configuration lacks what only its URL had', async () => {
    const back = await authorize();
    const count = setup.server.tokenRequests.length;
    expectProblem(await create(back, {}, colleague()), 'REQUEST_INVALID', /'base.url' is required/);
    expect(setup.server.tokenRequests.length).to.equal(count);
    expect((await create(back, here(), colleague())).status).to.equal(200);
  });

  it('is not shown to the provider twice, whoever sends it again', async () => {
    const back = await authorize();
    const { body } = await create(back, here(), colleague());
    const count = setup.server.tokenRequests.length;
    const message =
      'The code was already exchanged, and Granted accepts it only once. Get a new one with GET /elements/granted/oauth/url. Nothing was stored.';
    for (const headers of [{}, colleague()]) {
      for (const providerData of [back, { code: back.code }, { ...back, state: 'another' }])
        expectProblem(await create(providerData, here(), headers), 'PROVIDER_CREDENTIALS_INVALID', message);
    }
    expect(setup.server.tokenRequests.length).to.equal(count);
    const items = await service.call('/items', { headers: authorizationOf(tenants.colleague, body.token) });
    expect(items.status).to.equal(200);
  });

  it('leaves the open authorization of another user to him', async () => {
    await authorize({ siteAddress: elsewhere(), state: 'elsewhere' });
    const mine = await authorize({ state: 'here' }, colleague());
    expect((await create({ code: mine.code }, {}, colleague())).status).to.equal(200);
    const unused = await withDatabase(service, (knex) => knex('oauth_authorization').where({ is_used: false }));
    expect(unused.map(({ state }) => state)).to.deep.equal(['elsewhere']);
  });

  it('goes where the configuration says, not where the authorization of another user with the same state leads', async () => {
    const back = await authorize({ state: 'same' });
    await age(service, 15.5);
    await authorize({ state: 'same', siteAddress: elsewhere() }, colleague());
    const { status, body } = await create(back, here());
    expect(status, JSON.stringify(body)).to.equal(200);
    const { configuration } = (await service.call(`/instances/${body.id}`)).body;
    expect(configuration['base.url']).to.equal(setup.server.url);
  });

  it('of another account is refused by the provider: the verifier is another one', async () => {
    const back = await authorize();
    const response = await create(back, here(), authorizationOf(tenants.sibling));
    const message =
      'Granted refuses the code. This user has no open authorization with this client, callback URL and state, so Causeway sent the code to the address in the configuration. The code must come from a URL of this account with the same client and callback URL. Send base.url as its URL had it. Get a new one with GET /elements/granted/oauth/url. Nothing was stored.';
    expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID', message);
  });

  it('is bound to client and callback URL by its verifier', async () => {
    const verifierFor = async (more: object) => {
      const count = setup.server.tokenRequests.length;
      await create({ code: 'invented' }, { ...here(), ...more }, colleague());
      expect(setup.server.tokenRequests.length).to.equal(count + 1);
      return setup.server.tokenRequests.at(-1)?.parameters.code_verifier;
    };
    const verifiers = [
      await verifierFor({}),
      await verifierFor({ 'oauth.api.key': 'another-client' }),
      await verifierFor({ 'oauth.callback.url': 'https://app.example.com/other' }),
    ];
    expect(verifiers.map((verifier) => verifier?.length)).to.deep.equal([43, 43, 43]);
    expect(new Set(verifiers).size).to.equal(3);
    expect(await verifierFor({})).to.equal(verifiers[0]);
  });

  it('of a connect session is that of its browser, whatever others have open', async () => {
    setup.server.addCallbackUrl(`${service.app.url}/oauth/callback`);
    await registerOrigins(service);
    const client = { 'oauth.api.key': setup.server.clientId, 'oauth.api.secret': setup.server.clientSecret };
    const page = await openPage(service, { elements: ['granted'], configuration: client }, colleague());
    const callbackUrl = `${service.app.url}/oauth/callback`;
    for (const headers of [{}, colleague()])
      await setup.oauthUrl({ callbackUrl, siteAddress: elsewhere(), state: 'elsewhere' }, headers);
    const begun = await page.call('/authorization', {
      method: 'POST',
      body: { elementKey: 'granted', configuration: here() },
    });
    const browser = createBrowser();
    const departure = await browser.open(begun.body.url, { 'sec-fetch-site': 'same-origin' });
    const back = await setup.server.authorize(departure.headers.get('location') ?? '');
    const count = setup.server.tokenRequests.length;
    expect((await createBrowser().open(back.href)).text).to.include('This was started in another browser');
    expect(setup.server.tokenRequests.length).to.equal(count);
    expect((await browser.open(back.href)).text).to.include('<h1>Connected</h1>');
    expect(await page.read()).to.deep.include({ status: 'completed' });
  });
});

describe('a code of a provider with a sandbox', () => {
  const service = useApp();
  const salesforce = simulatedProvider(service, 'salesforce', SALESFORCE_CLIENTS);
  const quickbooks = simulatedProvider(service, 'quickbooks', QUICKBOOKS_CLIENTS);
  let colleague: { readonly authorization: string };

  before(async () => {
    colleague = authorizationOf((await createTenants(service)).colleague);
  });
  beforeEach(() => forget(service));

  async function create(providerData: object, settings: object = {}) {
    const response = await salesforce.post(providerData, settings);
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    const shown = (await service.call(`/instances/${response.body.id}`)).body.configuration;
    return { isSandbox: shown['salesforce.sandbox'], url: shown['instance.url'] };
  }

  const PRODUCTION = { isSandbox: false, url: 'https://acme.my.salesforce.com' };
  const SANDBOX = { isSandbox: true, url: 'https://acme--dev.sandbox.my.salesforce.com' };

  it('is of production where neither its sender nor the body names a sandbox, whatever others have open', async () => {
    const { code = '' } = await salesforce.authorize({ state: 'mine' });
    await age(service, 15.5);
    await salesforce.authorize({ sandbox: 'true', state: 'theirs' }, colleague);
    expect(await create({ code })).to.deep.equal(PRODUCTION);
  });

  it('is of the sandbox where the state picks it, and where the body says so', async () => {
    await salesforce.authorize({ state: 'production' });
    expect(await create(await salesforce.authorize({ sandbox: 'true', state: 'picked' }))).to.deep.equal(SANDBOX);
    const back = await salesforce.authorize({ sandbox: 'true', state: 'late' });
    await age(service, 15.5);
    expect(await create(back, { 'salesforce.sandbox': true })).to.deep.equal(SANDBOX);
  });

  it('comes with no verifier where the provider accepts none', async () => {
    expect(new URL(await quickbooks.urlFor()).searchParams.has('code_challenge')).to.equal(false);
    // The simulator refuses a verifier without a challenge.
    const { status, body } = await quickbooks.post(await quickbooks.authorize(), {}, colleague);
    expect(status, JSON.stringify(body)).to.equal(200);
  });
});
