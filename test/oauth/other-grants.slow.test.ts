import { expect } from 'chai';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { countRows } from '../api/support/tenants.ts';
import { useOAuth } from './support/setup.ts';

describe('an instance by client credentials', () => {
  const setup = useOAuth();
  const { service } = setup;

  const create = (more: object = {}) => {
    const { url, machine } = setup.server;
    const configuration = {
      'base.url': url,
      'oauth.api.key': machine.clientId,
      'oauth.api.secret': machine.clientSecret,
      ...more,
    };
    return service.call('/instances', {
      method: 'POST',
      body: { element: { key: 'machine' }, name: 'Machine', configuration },
    });
  };

  it('needs no code', async () => {
    const { status, body } = await create();
    expect(status).to.equal(200);
    expect(body.providerData).to.deep.equal({});
    expect(setup.server.tokenRequests.at(-1)?.parameters).to.deep.equal({
      grant_type: 'client_credentials',
      scope: 'items.read',
    });
  });

  it('is not made with a secret that is wrong', async () => {
    const count = await countRows(service, 'instance');
    const message = 'Machine rejects these credentials. Check oauth.api.key and oauth.api.secret. Nothing was stored.';
    expectProblem(await create({ 'oauth.api.secret': 'wrong-secret' }), 'PROVIDER_CREDENTIALS_INVALID', message);
    expect(await countRows(service, 'instance')).to.equal(count);
  });

  it('takes a new secret when the provider does, and asks for nothing when no credential changes', async () => {
    const { body } = await create();
    const requests = setup.server.tokenRequests.length;
    const change = (configuration: object) =>
      service.call(`/instances/${body.id}`, { method: 'PATCH', body: { configuration } });
    expect((await change({ 'oauth.api.secret': '********' })).status).to.equal(200);
    expect(setup.server.tokenRequests.length).to.equal(requests);
    expectProblem(await change({ 'oauth.api.secret': 'wrong-secret' }), 'PROVIDER_CREDENTIALS_INVALID');
    expect((await change({ 'oauth.scope': 'items.write' })).status).to.equal(200);
    expect(setup.server.tokenRequests.at(-1)?.parameters.scope).to.equal('items.write');
  });

  it('whose client is refused works again when its secret is shown once more and taken', async () => {
    const { id, token } = (await create()).body;
    setup.server.expireAccessTokens();
    setup.server.mishap({ refuse: { status: 401, body: { error: 'invalid_client' } } });
    const refused = await service.call('/items', { token });
    expectProblem(refused, 'INSTANCE_CREDENTIALS_FAILED', /refuses the client id or secret of this instance/);
    const configuration = { 'oauth.api.secret': setup.server.machine.clientSecret };
    const { body } = await service.call(`/instances/${id}`, { method: 'PATCH', body: { configuration } });
    expect(body).to.include({ id, token, valid: true });
    expect((await service.call('/items', { token })).status).to.equal(200);
  });

  it('takes no code', async () => {
    const { id } = (await create()).body;
    const response = await service.call(`/instances/${id}`, { method: 'PATCH', body: { providerData: { code: 'x' } } });
    const message = 'Machine needs no authorization by a user, so there is no code. Leave out providerData.';
    expectProblem(response, 'REQUEST_INVALID', message);
  });

  it('has no page to authorize at', async () => {
    const response = await service.call('/elements/machine/oauth/url', {
      query: { apiKey: 'x', callbackUrl: 'https://a.b' },
    });
    expectProblem(response, 'REQUEST_INVALID', /^Machine needs no authorization by a user/);
  });
});

describe('an instance by tokens that were obtained elsewhere', () => {
  const setup = useOAuth();
  const { service, create } = setup;

  /** As an application has it that ran the flow itself. */
  async function obtainRefreshToken(): Promise<string> {
    let refreshToken = '';
    setup.server.mishap({
      rewrite: (response) => {
        refreshToken = String(response.refresh_token);
        return response;
      },
    });
    await create(await setup.authorize());
    return refreshToken;
  }

  const at = () => ({ 'base.url': setup.server.url });

  it('is made of a refresh token, which is refreshed once and not kept in the configuration', async () => {
    const refreshToken = await obtainRefreshToken();
    const { status, body } = await create(undefined, { ...at(), 'oauth.user.refresh_token': refreshToken });
    expect(status).to.equal(200);
    expect(setup.server.tokenRequests.at(-1)?.parameters).to.deep.equal({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    });
    expect((await service.call('/items', { token: body.token })).status).to.equal(200);
    const shown = (await service.call(`/instances/${body.id}`)).body;
    expect(shown.configuration).not.to.have.any.keys('oauth.user.refresh_token', 'oauth.user.token');

    const requests = setup.server.tokenRequests.length;
    const masked = { 'oauth.user.refresh_token': '********', 'page.limit': 3 };
    const changed = await service.call(`/instances/${body.id}`, { method: 'PATCH', body: { configuration: masked } });
    expect(changed.body.configuration).to.include({ 'page.limit': 3 });
    expect(setup.server.tokenRequests.length).to.equal(requests);
    expect((await service.call('/items', { token: body.token })).status).to.equal(200);
  });

  it('is refreshed with the token that came of it', async () => {
    const refreshToken = await obtainRefreshToken();
    const { body } = await create(undefined, { ...at(), 'oauth.user.refresh_token': refreshToken });
    setup.server.expireAccessTokens();
    expect((await service.call('/items', { token: body.token })).status).to.equal(200);
    expect(setup.server.tokenRequests.at(-1)?.parameters.refresh_token).not.to.equal(refreshToken);
  });

  it('is not made of a refresh token that the provider refuses', async () => {
    const response = await create(undefined, { ...at(), 'oauth.user.refresh_token': 'invented-refresh-token' });
    const message = 'Granted rejects these credentials. Check oauth.user.refresh_token. Nothing was stored.';
    expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID', message);
  });

  it('is made of an access token alone, until the provider refuses it', async () => {
    await create(await setup.authorize());
    const accessToken = setup.server.apiTokens.at(-1);
    const { status, body } = await create(undefined, { ...at(), 'oauth.user.token': accessToken });
    expect(status).to.equal(200);
    expect((await service.call('/items', { token: body.token })).status).to.equal(200);
    setup.server.expireAccessTokens();
    expectProblem(await service.call('/items', { token: body.token }), 'INSTANCE_CREDENTIALS_FAILED');
    expectProblem(
      await create(undefined, { ...at(), 'oauth.user.token': accessToken }),
      'PROVIDER_CREDENTIALS_INVALID',
    );
  });

  it('needs what the URL would have brought', async () => {
    const response = await create(undefined, { 'oauth.user.refresh_token': 'some-refresh-token' });
    expectProblem(response, 'REQUEST_INVALID');
    expect(faultsOf(response)).to.have.keys('body.configuration.base.url');
  });
});
