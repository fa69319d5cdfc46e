import { expect } from 'chai';
import { expectProblem } from '../api/support/expect-problem.ts';
import { countRows } from '../api/support/tenants.ts';
import { until } from '../support/until.ts';
import { useOAuth } from './support/setup.ts';

describe('authenticating an instance again', () => {
  const setup = useOAuth();
  const { service, authorize, create } = setup;

  const createInstance = async () => (await create(await authorize())).body;
  const change = (id: number, body: object, method = 'PATCH') => service.call(`/instances/${id}`, { method, body });
  const read = async (id: number) => (await service.call(`/instances/${id}`)).body;
  const works = async (token: string) => (await service.call('/items', { token })).status === 200;

  it('with a new code keeps id and token, and makes an instance valid that was not', async () => {
    const { id, token } = await createInstance();
    await setup.server.revokeGrants();
    expectProblem(await service.call('/items', { token }), 'INSTANCE_CREDENTIALS_FAILED');
    expect(await read(id)).to.include({ valid: false });
    const { status, body } = await change(id, { providerData: await authorize() });
    expect(status).to.equal(200);
    expect(body).to.include({ id, token, valid: true });
    expect(body.providerData).to.deep.equal({});
    expect(await works(token)).to.equal(true);
    expect(await countRows(service, 'oauth_token')).to.equal(await countRows(service, 'instance'));
  });

  it('is done by PUT as well, which needs no code when nothing changes', async () => {
    const { id, token } = await createInstance();
    const configuration = { ...setup.configuration(), 'oauth.api.secret': '********', 'base.url': setup.server.url };
    const requests = setup.server.tokenRequests.length;
    const renamed = await change(id, { name: 'Renamed', configuration }, 'PUT');
    expect(renamed.body).to.include({ id, token, name: 'Renamed', valid: true });
    expect(setup.server.tokenRequests.length).to.equal(requests);
    const again = { name: 'Again', configuration, providerData: await authorize() };
    expect((await change(id, again, 'PUT')).body).to.include({ id, token, name: 'Again' });
    expect(setup.server.tokenRequests.length).to.equal(requests + 1);
    expect(await works(token)).to.equal(true);
  });

  it('does not happen when no credential changes: no code is needed, nothing is refreshed, nothing is called', async () => {
    const { id, token } = await createInstance();
    const requests = setup.server.tokenRequests.length;
    const calls = setup.server.apiTokens.length;
    await change(id, { name: 'Other', tags: ['x'] });
    await change(id, { configuration: { 'page.limit': 7 } });
    await change(id, { configuration: { ...setup.configuration() } });
    expect(setup.server.tokenRequests.length).to.equal(requests);
    expect(setup.server.apiTokens.length).to.equal(calls);
    expect((await read(id)).configuration).to.include({ 'page.limit': 7 });
    expect(await works(token)).to.equal(true);
  });

  it('with a code that is refused changes nothing', async () => {
    const { id, token } = await createInstance();
    const changes = { name: 'Never', providerData: { code: 'invented' }, configuration: { 'page.limit': 9 } };
    expectProblem(await change(id, changes), 'PROVIDER_CREDENTIALS_INVALID');
    const { name, configuration, valid } = await read(id);
    expect([name, configuration['page.limit'], valid]).to.deep.equal(['Ada', undefined, true]);
    expect(await works(token)).to.equal(true);
  });

  it('is needed for another client, and says so', async () => {
    const { id, token } = await createInstance();
    const message =
      'Granted granted access to another client or at another address. Send a new providerData.code with these settings.';
    expectProblem(await change(id, { configuration: { 'oauth.api.key': 'another' } }), 'REQUEST_INVALID', message);
    expectProblem(await change(id, { configuration: { simulator: true } }), 'REQUEST_INVALID', message);
    expect(await works(token)).to.equal(true);
  });

  it('with a new client secret asks the provider for nothing but its word on it', async () => {
    const { id, token } = await createInstance();
    const wrong = await change(id, { configuration: { 'oauth.api.secret': 'a-secret-that-is-wrong' } });
    const message = 'Granted rejects these credentials. Check oauth.api.secret. Nothing was stored.';
    expectProblem(wrong, 'PROVIDER_CREDENTIALS_INVALID', message);
    setup.server.changeClientSecret('the-next-client-secret');
    expect((await change(id, { configuration: { 'oauth.api.secret': 'the-next-client-secret' } })).status).to.equal(
      200,
    );
    setup.server.expireAccessTokens();
    expect(await works(token)).to.equal(true);
    expect(await read(id)).to.include({ valid: true });
    setup.server.changeClientSecret(setup.server.clientSecret);
  });

  it('without a code answers how to get one', async () => {
    const { id } = await createInstance();
    expectProblem(
      await change(id, { providerData: { state: 'x' } }),
      'REQUEST_INVALID',
      /providerData.code is missing/,
    );
  });

  describe('while something else changes', () => {
    /** Authenticates again, and stands still while the provider answers. */
    async function authenticateSlowly(id: number) {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const back = await authorize();
      setup.server.expireAccessTokens();
      setup.server.mishap({ until: released });
      const requests = setup.server.tokenRequests.length;
      const response = change(id, { providerData: back });
      await until(async () => setup.server.tokenRequests.length > requests);
      return { answer: response, release };
    }

    it('is not overtaken by another configuration: one wins, the other is a conflict', async () => {
      const { id, token } = await createInstance();
      const { answer: response, release } = await authenticateSlowly(id);
      expect((await change(id, { configuration: { 'page.limit': 1 } })).status).to.equal(200);
      release();
      expectProblem(await response, 'CONFLICT');
      expect((await read(id)).configuration).to.include({ 'page.limit': 1 });
      expect(await works(token)).to.equal(true);
    });

    it('does not lose its code because a call finds the credentials refused meanwhile', async () => {
      const { id, token } = await createInstance();
      const { answer: response, release } = await authenticateSlowly(id);
      setup.server.mishap({ refuse: { status: 400, body: { error: 'invalid_grant' } } });
      expectProblem(await service.call('/items', { token }), 'INSTANCE_CREDENTIALS_FAILED');
      expect(await read(id)).to.include({ valid: false });
      release();
      expect((await response).body).to.include({ id, token, valid: true });
      expect(await works(token)).to.equal(true);
      expect(await read(id)).to.include({ valid: true });
    });

    it('goes on beside a new name and beside being switched off, and keeps both', async () => {
      const { id } = await createInstance();
      const { answer: response, release } = await authenticateSlowly(id);
      await change(id, { name: 'Renamed' });
      await service.call(`/instances/${id}/enabled`, { method: 'DELETE' });
      release();
      expect((await response).body).to.include({ name: 'Renamed', disabled: true, valid: true });
    });
  });
});
