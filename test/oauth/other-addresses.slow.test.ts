import { expect } from 'chai';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { withDatabase } from '../api/support/tenants.ts';
import { json, type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { useOAuth } from './support/setup.ts';

const CODE = { 'body.providerData.code': 'is missing' };
const SECRET = 'body.configuration.oauth.api.secret';

describe('tokens and the secret of a client', () => {
  const setup = useOAuth();
  const { service, authorize, create } = setup;
  let evil: MisbehavingServer;

  before(async () => {
    evil = await startMisbehavingServer({ otherwise: json({ access_token: 'x', token_type: 'bearer' }) });
  });
  after(() => evil.close());
  afterEach('nothing was sent elsewhere', () => expect(evil.requests).to.deep.equal([]));

  const createInstance = async () => (await create(await authorize())).body;
  const change = (id: number, body: object, method = 'PATCH') => service.call(`/instances/${id}`, { method, body });

  it('do not follow a new address of an instance', async () => {
    const { id, token } = await createInstance();
    const configuration = { 'base.url': evil.url };
    expect(Object.keys(faultsOf(await change(id, { configuration })))).to.deep.equal([...Object.keys(CODE), SECRET]);
    const masked = { ...setup.configuration(), ...configuration, 'oauth.api.secret': '********' };
    const put = await change(id, { name: 'x', configuration: masked }, 'PUT');
    expect(Object.keys(faultsOf(put))).to.deep.equal([...Object.keys(CODE), SECRET]);
    const shown = await change(id, { configuration: { ...configuration, ...setup.configuration() } });
    expect(faultsOf(shown)).to.deep.equal(CODE);
    expect((await service.call('/items', { token })).status).to.equal(200);
  });

  it('do not follow it with a code or a token that somebody made up either', async () => {
    const { id } = await createInstance();
    const configuration = { 'base.url': evil.url };
    const withCode = await change(id, { configuration, providerData: { code: 'invented' } });
    expect(Object.keys(faultsOf(withCode))).to.deep.equal([SECRET]);
    const withToken = await change(id, { configuration: { ...configuration, 'oauth.user.refresh_token': 'invented' } });
    expect(Object.keys(faultsOf(withToken))).to.deep.equal([SECRET]);
  });

  it('do not follow an authorization that was begun for another address', async () => {
    const { id } = await createInstance();
    await setup.oauthUrl({ siteAddress: evil.url });
    const response = await change(id, { providerData: { code: 'invented' } });
    expect(Object.keys(faultsOf(response))).to.deep.equal([SECRET]);
  });

  it('do not follow the settings of an authorization that were changed in the database', async () => {
    await withDatabase(service, (knex) => knex('oauth_authorization').delete());
    const back = await authorize();
    await withDatabase(service, (knex) =>
      knex.raw('update oauth_authorization set settings = settings || ?::jsonb', [
        JSON.stringify({ 'base.url': evil.url }),
      ]),
    );
    expectProblem(await create(back), 'REQUEST_INVALID', /'base.url' is required/);
    expect((await create(back, { 'base.url': setup.server.url })).status).to.equal(200);
  });

  it('do not follow a client that authenticates by itself', async () => {
    const { url, machine } = setup.server;
    const configuration = {
      'base.url': url,
      'oauth.api.key': machine.clientId,
      'oauth.api.secret': machine.clientSecret,
    };
    const { id } = await service.createInstance('machine', configuration);
    for (const secret of [{}, { 'oauth.api.secret': '********' }]) {
      const response = await change(id, { configuration: { 'base.url': evil.url, ...secret } });
      expect(Object.keys(faultsOf(response))).to.deep.equal([SECRET]);
    }
  });

  describe('beside settings that were changed in the database', () => {
    async function createTampered() {
      const { id, token } = await createInstance();
      await withDatabase(service, (knex) =>
        knex.raw('update instance set configuration = configuration || ?::jsonb where id = ?', [
          JSON.stringify({ 'base.url': evil.url }),
          id,
        ]),
      );
      return { id, token };
    }

    it('are sent nowhere', async () => {
      const { id, token } = await createTampered();
      expectProblem(await service.call('/items', { token }), 'INSTANCE_CREDENTIALS_FAILED');
      expect((await service.call(`/instances/${id}`)).body).to.deep.include({ valid: false, configuration: {} });
      const missing = await change(id, { configuration: { 'page.limit': 5 } });
      expectProblem(missing, 'REQUEST_INVALID', /providerData.code is missing/);
    });

    it('are good again with a new code and the whole configuration', async () => {
      const { id, token } = await createTampered();
      const providerData = await authorize();
      const { body } = await change(id, { configuration: setup.configuration(), providerData });
      expect(body).to.include({ id, token, valid: true });
      expect((await service.call('/items', { token })).status).to.equal(200);
    });
  });
});
