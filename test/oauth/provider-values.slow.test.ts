import { expect } from 'chai';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { countRows } from '../api/support/tenants.ts';
import { type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { OAUTH_CONNECTORS } from './support/setup.ts';

const GRANTED = {
  access_token: 'access-token-of-realm',
  token_type: 'bearer',
  refresh_token: 'refresh-token-of-realm',
};
const CALLBACK = 'https://app.example.com/cb';

describe('what a provider tells beside code and token', () => {
  const service = useApp({ CONNECTORS_PATH: OAUTH_CONNECTORS });
  const server = useMisbehavingServer();

  before(() => {
    server.answer('/token', json({ ...GRANTED, api: `${server.url}/v7/` }));
    server.answer('/v7/me', json({}));
    server.answer('/v8/me', json({}));
  });

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
      "providerData: 'realmId' is missing. Send every parameter that the callback URL received beside the code.";
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
    const response = await create(undefined, refreshed);
    expectProblem(response, 'REQUEST_INVALID');
    expect(faultsOf(response)).to.have.keys('body.configuration.realm.id');
    const evil = await create(undefined, { ...refreshed, 'realm.id': '1', 'api.url': 'https://evil.example' });
    expectProblem(evil, 'REQUEST_INVALID', /'api.url' must lead to a host of Realm/);
    expect((await create(undefined, { ...refreshed, 'realm.id': '1' })).status).to.equal(200);
  });

  describe('changes with a refresh', () => {
    let other: StartedApp;
    let codes = 0;

    before('a second process over the same database', async function startOther() {
      this.timeout(60_000);
      other = await startTestApp({ DATABASE_URL: service.databaseUrl, CONNECTORS_PATH: OAUTH_CONNECTORS });
    });
    after(() => other.stop());
    afterEach(() => server.answer('/token', json({ ...GRANTED, api: `${server.url}/v7/` })));

    /** An instance at /v7 whose access ends; the refresh answers as given. */
    async function refreshWith(response: object) {
      const { id, token } = (await create({ code: `c0de-refreshed-${codes++}`, realmId: '1' })).body;
      const call = (app: Pick<StartedApp, 'call'> = service) => app.call('/items', { token });
      server.answer('/v7/items', json({}));
      await Promise.all([call(service), call(other)]);
      server.answer('/token', json({ ...GRANTED, access_token: 'another-access-token', ...response }));
      server.answer('/v7/items', status(401), json({}));
      expect((await call()).status).to.equal(200);
      const read = async () => (await service.call(`/instances/${id}`)).body;
      const placeOf = async (app: Pick<StartedApp, 'call'>) => {
        expect((await call(app)).status).to.equal(200);
        return server.requests.at(-1)?.url;
      };
      return { read, placeOf, change: (body: object) => service.call(`/instances/${id}`, { method: 'PATCH', body }) };
    }

    it('and calls of every process go where it says from then on', async () => {
      server.answer('/v8/items', json({}));
      const { read, placeOf, change } = await refreshWith({ api: `${server.url}/v8/` });
      expect(await placeOf(service)).to.equal('/v8/items');
      await until(async () => (await placeOf(other)) === '/v8/items');
      const { configuration: shown, valid } = await read();
      expect(shown).to.include({ 'api.url': `${server.url}/v8`, 'realm.id': '1', 'oauth.api.key': 'realm-client' });
      expect(valid).to.equal(true);
      expect((await change({ configuration: { 'oauth.scope': 'a' } })).body.configuration).to.include({
        'api.url': `${server.url}/v8`,
      });
    });

    it('but not to another host: the tokens are taken, the place is not', async () => {
      const { read, placeOf } = await refreshWith({ api: 'https://evil.example' });
      expect(await placeOf(service)).to.equal('/v7/items');
      expect(server.requests.at(-1)?.headers.authorization).to.equal('Bearer another-access-token');
      expect((await read()).configuration).to.include({ 'api.url': `${server.url}/v7` });
    });
  });

  it('may change, when the provider accepts the token there', async () => {
    const { id } = (await create({ code: 'c0de-3', realmId: '1' })).body;
    const change = (url: string) =>
      service.call(`/instances/${id}`, { method: 'PATCH', body: { configuration: { 'api.url': url } } });
    expect((await change(`${server.url}/v8`)).body.configuration).to.include({ 'api.url': `${server.url}/v8` });
    expectProblem(await change(`${server.url}/v9`), 'PROVIDER_CREDENTIALS_INVALID');
    expectProblem(await change('https://evil.example'), 'REQUEST_INVALID');
  });
});
