import { expect } from 'chai';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { countRows } from '../api/support/tenants.ts';
import { useApp } from '../support/app.ts';
import { json, type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { OAUTH_CONNECTORS } from './support/setup.ts';

const GRANTED = {
  access_token: 'access-token-of-realm',
  token_type: 'bearer',
  refresh_token: 'refresh-token-of-realm',
};
const CALLBACK = 'https://app.example.com/cb';

describe('what a provider tells beside code and token', () => {
  const service = useApp({ CONNECTORS_PATH: OAUTH_CONNECTORS });
  let server: MisbehavingServer;

  before(async () => {
    server = await startMisbehavingServer();
    server.answer('/token', json({ ...GRANTED, api: `${server.url}/v7/` }));
    server.answer('/v7/me', json({}));
    server.answer('/v8/me', json({}));
  });

  after(() => server.close());

  const configuration = () => ({
    'base.url': server.url,
    'oauth.api.key': 'realm-client',
    'oauth.api.secret': 'realm-secret',
    'oauth.callback.url': CALLBACK,
  });

  const create = (providerData: object | undefined, more: object = {}) =>
    service.call('/instances', {
      method: 'POST',
      body: {
        element: { key: 'realm' },
        name: 'Realm',
        configuration: { ...configuration(), ...more },
        ...(providerData !== undefined && { providerData }),
      },
    });

  it('becomes configuration, and says where calls go', async () => {
    const { body } = await create({ code: 'c0de-1', realmId: '4711', other: 'x' });
    expect(server.requests.at(-1)).to.include({ url: '/v7/me' });
    expect(server.requests.at(-1)?.headers.authorization).to.equal(`Bearer ${GRANTED.access_token}`);
    const shown = (await service.call(`/instances/${body.id}`)).body.configuration;
    expect(shown).to.include({ 'realm.id': '4711', 'api.url': `${server.url}/v7` });

    const put = { name: 'Realm', configuration: { ...configuration(), 'oauth.api.secret': '********' } };
    const replaced = await service.call(`/instances/${body.id}`, { method: 'PUT', body: put });
    expect(replaced.body.configuration).to.include({ 'realm.id': '4711', 'api.url': `${server.url}/v7` });
  });

  it('is asked for before the code is used', async () => {
    const requests = server.requests.length;
    const count = await countRows(service, 'instance');
    const missing = await create({ code: 'c0de-2' });
    const words =
      "providerData: 'realmId' is missing. Pass on every parameter that came to the callback URL beside the code.";
    expectProblem(missing, 'REQUEST_INVALID', words);
    expect(faultsOf(missing)).to.deep.equal({ 'body.providerData.realmId': "'realmId' is missing" });
    expectProblem(
      await create({ code: 'c0de-2', realmId: '47/11' }),
      'REQUEST_INVALID',
      /'realmId' is not as expected/,
    );
    expect(server.requests.length).to.equal(requests);
    expect(await countRows(service, 'instance')).to.equal(count);
  });

  it('has to be given with a token from elsewhere, and may lead nowhere else', async () => {
    const refreshed = { 'oauth.user.refresh_token': 'a-refresh-token' };
    const answer = await create(undefined, refreshed);
    expectProblem(answer, 'REQUEST_INVALID');
    expect(faultsOf(answer)).to.have.keys('configuration.realm.id');
    const evil = await create(undefined, { ...refreshed, 'realm.id': '1', 'api.url': 'https://evil.example' });
    expectProblem(evil, 'REQUEST_INVALID', /'api.url' must lead to a host of Realm/);
    expect((await create(undefined, { ...refreshed, 'realm.id': '1' })).status).to.equal(200);
  });

  it('may change, when the provider takes the token there', async () => {
    const { id } = (await create({ code: 'c0de-3', realmId: '1' })).body;
    const change = (url: string) =>
      service.call(`/instances/${id}`, { method: 'PATCH', body: { configuration: { 'api.url': url } } });
    expect((await change(`${server.url}/v8`)).body.configuration).to.include({ 'api.url': `${server.url}/v8` });
    expectProblem(await change(`${server.url}/v9`), 'PROVIDER_CREDENTIALS_INVALID');
    expectProblem(await change('https://evil.example'), 'REQUEST_INVALID');
  });
});
