import { expect } from 'chai';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { countRows, readEverything, withDatabase } from '../api/support/tenants.ts';
import { until } from '../support/until.ts';
import { useOAuth } from './support/setup.ts';

const ONE_USE = 'A code can be used once, and only for a short time.';
const UNKNOWN =
  'This user has no open authorization with this client, callback URL and state, so Causeway sent the code to the address in the configuration. The code must come from a URL of this account with the same client and callback URL. Send base.url as its URL had it.';
const refusal = (hint: string) =>
  `Granted refuses the code. ${hint} Get a new one with GET /elements/granted/oauth/url. Nothing was stored.`;
const HOW =
  'Open the oauthUrl of GET /elements/granted/oauth/url, authorize there, and send the code that comes back as providerData.code.';

describe('an instance by authorization code', () => {
  const setup = useOAuth();
  const { service, authorize, create } = setup;

  const countStored = async () => [await countRows(service, 'instance'), await countRows(service, 'oauth_token')];

  it('is made of the code, and calls the provider with the token that was granted', async () => {
    const { code, state } = await authorize({ state: 'my own/state?&' });
    expect(state).to.equal('my own/state?&');
    const { status, body } = await create({ code });
    expect(status).to.equal(200);
    expect(body).to.deep.include({ valid: true, configuration: {}, providerData: { code } });
    expect(body.element).to.deep.include({
      typeOauth: true,
      authentication: { type: 'oauth2', siteAddressKey: 'base.url' },
    });
    const items = await service.call('/items', { token: body.token });
    expect(items.body).to.deep.equal([
      { id: 1, name: 'Anvil' },
      { id: 2, name: 'Rope' },
    ]);
    const shown = (await service.call(`/instances/${body.id}`)).body;
    expect(shown.providerData).to.deep.equal({});
    expect(shown.configuration).to.deep.equal({
      ...setup.configuration(),
      'oauth.api.secret': '********',
      'base.url': setup.server.url,
    });
  });

  it('uses one of the open authorizations', async () => {
    const countUnused = () =>
      withDatabase(service, (knex) => knex('oauth_authorization').where({ is_used: false }).count({ count: '*' }));
    const before = await countUnused();
    const codes = [(await authorize({ state: 'ada' })).code, (await authorize({ state: 'ben' })).code];
    const answers = await Promise.all(codes.map((code) => create({ code })));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(await countUnused()).to.deep.equal(before);
  });

  it('is made of every code that comes from one URL', async () => {
    const url = await setup.oauthUrl();
    for (const user of ['first', 'second']) {
      const code = (await setup.server.authorize(url)).searchParams.get('code');
      expect((await create({ code })).status, user).to.equal(200);
    }
  });

  it('leaves code, verifier, tokens and secret in no table, and in no line of the log', async () => {
    const { code } = await authorize();
    await create({ code });
    const verifier = setup.server.tokenRequests.at(-1)?.parameters.code_verifier;
    const [accessToken = ''] = setup.server.apiTokens.slice(-1);
    const everything = `${await readEverything(service)}\n${service.logged.join('\n')}`;
    expect(accessToken.length).to.be.greaterThan(20);
    expect(verifier?.length).to.equal(43);
    const secrets = [code, verifier, setup.server.clientSecret, accessToken];
    for (const secret of secrets) expect(everything.includes(String(secret)), secret).to.equal(false);
  });

  describe('is not made', () => {
    let stored: unknown;
    before('counted', async () => {
      stored = await countStored();
    });
    afterEach('nothing was stored', async () => {
      expect(await countStored()).to.deep.equal(stored);
    });

    it('without a code', async () => {
      expectProblem(
        await create(undefined),
        'REQUEST_INVALID',
        `Granted uses OAuth: providerData.code is missing. ${HOW}`,
      );
      expectProblem(await create({ state: 'x' }), 'REQUEST_INVALID', /providerData.code is missing/);
      expectProblem(await create({ code: '' }), 'REQUEST_INVALID', /providerData.code is missing/);
    });

    it('after a denial, whose words it shows', async () => {
      const back = await setup.server.authorize(await setup.oauthUrl(), 'deny');
      const response = await create(Object.fromEntries(back.searchParams));
      expectProblem(response, 'REQUEST_INVALID', `Granted was not authorized, so there is no code. ${HOW}`);
      expect(response.body.providerMessage).to.equal('access_denied: Ada said no & closed the page');
    });

    it('with a code that nobody gave', async () => {
      await authorize();
      const response = await create({ code: 'invented' });
      expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID', refusal(ONE_USE));
      expect(response.body.providerMessage).to.equal('grant request is invalid');
    });

    it('with the code of another callback URL', async () => {
      const other = 'https://app.example.com/other';
      setup.server.addCallbackUrl(other);
      const { code } = await authorize();
      const more = { 'oauth.callback.url': other, 'base.url': setup.server.url };
      expectProblem(await create({ code }, more), 'PROVIDER_CREDENTIALS_INVALID', refusal(UNKNOWN));
      const again = await authorize();
      await authorize({ callbackUrl: other });
      expectProblem(await create({ code: again.code }, more), 'PROVIDER_CREDENTIALS_INVALID', refusal(ONE_USE));
    });

    it('with a client secret that is wrong', async () => {
      const { code } = await authorize();
      const response = await create({ code }, { 'oauth.api.secret': 'another-secret-than-that' });
      expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID');
      expect(JSON.stringify(response.body)).not.to.include('another-secret');
    });

    it('without the callback URL or with keys that nobody knows', async () => {
      const { code } = await authorize();
      const noCallback = await create({ code }, { 'oauth.callback.url': '' });
      expectProblem(noCallback, 'REQUEST_INVALID', /'oauth.callback.url' is required/);
      expectProblem(
        await create({ code }, { 'oauth.api.kee': 'x' }),
        'REQUEST_INVALID',
        /Did you mean 'oauth.api.key'/,
      );
    });

    it('when the provider does not answer its token endpoint', async () => {
      const { code } = await authorize();
      setup.server.mishap({ refuse: { status: 503, body: {} } });
      expectProblem(
        await create({ code }),
        'PROVIDER_UNAVAILABLE',
        /^Granted returned 503 at its token endpoint\. The code may be used up\./,
      );
    });

    it('when the new token does not pass the probe', async () => {
      const { code } = await authorize();
      setup.server.mishap({ rewrite: (response) => ({ ...response, access_token: 'not-one-of-mine' }) });
      const answer = await create({ code });
      expectProblem(answer, 'PROVIDER_CREDENTIALS_INVALID');
      expect(answer.body.providerMessage).to.equal('Token not valid');
    });
  });

  it('is made once of one code, which is not shown to the provider again: it would end what it granted', async () => {
    const back = await authorize();
    const { body } = await create(back);
    const requests = setup.server.tokenRequests.length;
    const message =
      'The code was already exchanged, and Granted accepts it only once. Get a new one with GET /elements/granted/oauth/url. Nothing was stored.';
    for (const providerData of [back, { code: back.code }]) {
      expectProblem(await create(providerData), 'PROVIDER_CREDENTIALS_INVALID', message);
    }
    expect(setup.server.tokenRequests.length).to.equal(requests);
    expect((await service.call('/items', { token: body.token })).status).to.equal(200);
  });

  it('is made once of one code that is sent twice at the same time', async () => {
    const { code } = await authorize();
    const requests = setup.server.tokenRequests.length;
    const { promise, resolve } = Promise.withResolvers<void>();
    setup.server.mishap({ until: promise });
    const first = create({ code });
    await until(() => setup.server.tokenRequests.length > requests);
    const second = await create({ code });
    resolve();
    expectProblem(second, 'PROVIDER_CREDENTIALS_INVALID', /^The code was already exchanged/);
    expect(setup.server.tokenRequests.length).to.equal(requests + 1);
    const { status, body } = await first;
    expect(status).to.equal(200);
    expect((await service.call('/items', { token: body.token })).status).to.equal(200);
  });

  it('is made of a code whose first exchange failed, if the provider takes it then', async () => {
    const { code } = await authorize();
    setup.server.mishap({ refuse: { status: 503, body: {} } });
    expectProblem(await create({ code }), 'PROVIDER_UNAVAILABLE');
    expect((await create({ code })).status).to.equal(200);
  });

  describe('while authorizations are open that differ', () => {
    const elsewhere = () => setup.server.url.replace('127.0.0.1', 'localhost');
    const message = (of: string, way: string) =>
      `Several authorizations of Granted are open with this ${of}, and they differ in base.url. ${way}, or send base.url in the configuration. The code was not used.`;
    let back: Record<string, string>;
    before(async () => {
      await setup.oauthUrl({ state: 'elsewhere', siteAddress: elsewhere() });
    });
    beforeEach(async () => {
      back = await authorize({ state: 'here' });
    });
    after('of which none is left', () =>
      withDatabase(service, (knex) => knex('oauth_authorization').where({ state: 'elsewhere' }).delete()),
    );

    it('is not made of the code alone, which stays good', async () => {
      const requests = setup.server.tokenRequests.length;
      const response = await create({ code: back.code });
      const way = 'Send the state that came with the code as providerData.state';
      expectProblem(response, 'REQUEST_INVALID', message('client and callback URL', way));
      expect(faultsOf(response)).to.deep.equal({
        'body.providerData.state': 'is missing',
        'body.configuration.base.url': 'differs between the open authorizations',
      });
      expect(setup.server.tokenRequests.length).to.equal(requests);
      expect((await create(back)).status).to.equal(200);
    });

    it('is made of the code and the settings in which they differ', async () => {
      expect((await create({ code: back.code }, { 'base.url': setup.server.url })).status).to.equal(200);
    });

    it('is made of the code alone, when only one of them is not used yet', async () => {
      await withDatabase(service, (knex) =>
        knex('oauth_authorization').whereNot({ state: 'here' }).update({ is_used: true }),
      );
      expect((await create({ code: back.code })).status).to.equal(200);
    });

    it('is not made of a code whose state fits several', async () => {
      await setup.oauthUrl({ state: 'here', siteAddress: elsewhere() });
      const again = await create(back);
      const way = 'Begin each with a state of its own';
      expectProblem(again, 'REQUEST_INVALID', message('client, callback URL and state', way));
    });
  });

  it('keeps no scope that may be that of another URL', async () => {
    const { code } = await authorize({ scope: 'openid items.write' });
    await authorize();
    const { body } = await create({ code });
    expect((await service.call(`/instances/${body.id}`)).body.configuration).not.to.have.property('oauth.scope');
  });

  it('keeps the settings of its URL, unless they are given', async () => {
    const { body } = await create(await authorize({ scope: 'openid items.write', state: 'scoped' }), {
      'page.limit': 5,
    });
    const { configuration } = (await service.call(`/instances/${body.id}`)).body;
    expect(configuration).to.include({ 'oauth.scope': 'openid items.write', 'page.limit': 5 });
  });
});
