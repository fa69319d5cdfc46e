import { expect } from 'chai';
import { type ApiAnswer, type ApiCall, type StartedApp, startTestApp } from '../support/app.ts';
import { createTestDatabase } from '../support/database.ts';
import { json, type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { createProxy } from './support/oauth-proxies.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { PRIVATE_SHOP, SHOP } from './support/simulated.ts';
import { withDatabase } from './support/tenants.ts';

const SECRET_OF_FILING = 'key-of-the-connector-that-is-gone';

/** Instances of a service that was then started without one of its connectors, and with damage in its database. */
describe('instances that cannot be used', () => {
  const connectors = OUTSIDE_CONNECTORS;
  let service: StartedApp;
  let provider: MisbehavingServer;
  let receiver: MisbehavingServer;
  let databaseUrl: string;
  let whole: ApiAnswer['body'];
  let damaged: ApiAnswer['body'];
  let orphan: ApiAnswer['body'];
  let tokenless: ApiAnswer['body'];
  let proxy: { readonly id: number; readonly name: string };

  before(async function start() {
    this.timeout(120_000);
    provider = await startMisbehavingServer();
    provider.answer('/me', json({}));
    receiver = await startMisbehavingServer();
    receiver.answer('/', status(204));
    databaseUrl = await createTestDatabase();
    const first = await startTestApp({ DATABASE_URL: databaseUrl, CONNECTORS_PATH: connectors });
    whole = await first.createInstance('odata', SHOP, { name: 'whole' });
    damaged = await first.createInstance('odata', PRIVATE_SHOP, { name: 'damaged' });
    orphan = await first.createInstance(
      'filing',
      { 'base.url': provider.url, 'api.key': SECRET_OF_FILING },
      { name: 'orphan' },
    );
    const events = { 'event.notification.enabled': true, 'event.notification.callback.url': `${receiver.url}/` };
    tokenless = await first.createInstance('odata', { ...SHOP, ...events }, { name: 'tokenless' });
    proxy = await createProxy(first);
    await first.stop();
    await withDatabase({ databaseUrl }, async (knex) => {
      const damage = async (table: string, column: string, id: number) => {
        // Still of the form of a ciphertext under a key that is there.
        const changed = knex.raw(`left(??, -4) || case right(??, 4) when 'AAAA' then 'BBBB' else 'AAAA' end`, [
          column,
          column,
        ]);
        expect(
          await knex(table)
            .where({ id })
            .update({ [column]: changed }),
        ).to.equal(1);
      };
      await damage('instance', 'credentials', damaged.id);
      await damage('instance', 'token', tokenless.id);
      await damage('subscription', 'secrets', 1);
      await damage('oauth_proxy', 'api_secret', proxy.id);
    });
    service = await startTestApp({ DATABASE_URL: databaseUrl });
  });
  after(async function stop() {
    this.timeout(60_000);
    await service.stop();
    await Promise.all([provider.close(), receiver.close()]);
  });

  const unreadable = () =>
    `The stored settings and credentials of instance ${damaged.id} cannot be read, or were changed outside of the service. Send the whole configuration with PATCH /instances/${damaged.id}.`;
  const gone = () => `The element 'filing' of instance ${orphan.id} is no longer offered by this service.`;
  const change = (id: number, body: object, method = 'PATCH') => service.send(method, `/instances/${id}`, body);

  for (const path of ['/instances', '/accounts/instances', '/accounts/1/instances']) {
    it(`are shown as invalid, with the reason, beside the others in GET ${path}`, async () => {
      const body = await service.get(path);
      const shown = body.map(({ name, valid, invalidReason, element: { key, deleted } }: ApiAnswer['body']) => ({
        name,
        valid,
        invalidReason,
        key,
        deleted,
      }));
      expect(shown).to.deep.equal([
        { name: 'whole', valid: true, invalidReason: undefined, key: 'odata', deleted: false },
        { name: 'damaged', valid: false, invalidReason: unreadable(), key: 'odata', deleted: false },
        { name: 'orphan', valid: false, invalidReason: gone(), key: 'filing', deleted: true },
        { name: 'tokenless', valid: true, invalidReason: undefined, key: 'odata', deleted: false },
      ]);
    });
  }

  it('are shown one by one as they are listed', async () => {
    for (const record of await service.get('/instances')) {
      expect(await service.get(`/instances/${record.id}`)).to.deep.equal(record);
    }
    expect(await service.get('/instances', { token: damaged.token })).to.include({ id: damaged.id });
  });

  it('show no secret', async () => {
    const texts = [await service.call('/instances'), await service.call(`/instances/${orphan.id}/configuration`)];
    expect(JSON.stringify(texts.map(({ body }) => body))).not.to.include(SECRET_OF_FILING);
    expect(service.logged.join('\n')).not.to.include(SECRET_OF_FILING);
    expect(service.logged.join('\n')).to.include('unreadable credentials of an instance');
  });

  const calls: readonly (readonly [string, ApiCall])[] = [
    ['/objects', {}],
    ['/Products', {}],
    ['/Products/1', { method: 'DELETE' }],
    ['/objects/Products/metadata', {}],
  ];
  for (const [path, call] of calls) {
    it(`refuse ${call.method ?? 'GET'} ${path} with the same reason`, async () => {
      expectProblem(
        await service.call(path, { ...call, token: damaged.token }),
        'INSTANCE_CREDENTIALS_FAILED',
        unreadable(),
      );
      expectProblem(await service.call(path, { ...call, token: orphan.token }), 'NOT_FOUND', gone());
    });
  }

  it('can be renamed, tagged and switched off', async () => {
    for (const { id, name } of [damaged, orphan]) {
      expect((await change(id, { tags: ['broken'] })).body).to.deep.include({ name, tags: ['broken'], valid: false });
      expect((await change(id, { tags: [] })).status).to.equal(200);
      expect((await service.send('DELETE', `/instances/${id}/enabled`)).status).to.equal(200);
      expect(await service.change('PUT', `/instances/${id}/enabled`)).to.include({ disabled: false });
    }
  });

  it('take no new configuration without their element', async () => {
    expectProblem(await change(orphan.id, { configuration: { 'api.key': 'new' } }), 'NOT_FOUND', gone());
    const body = { name: 'orphan', configuration: { 'base.url': provider.url, 'api.key': 'new' } };
    expectProblem(await change(orphan.id, body, 'PUT'), 'NOT_FOUND', gone());
  });

  it('do not take a mask for a secret that cannot be read', async () => {
    const masked = { 'base.url': PRIVATE_SHOP['base.url'], username: 'demo', password: '********', simulator: true };
    for (const response of [
      await change(damaged.id, { configuration: { password: '********' } }),
      await change(damaged.id, { name: 'damaged', configuration: masked }, 'PUT'),
    ]) {
      expectFaults(response, {
        'body.configuration.password': `'password' must be sent again: the stored value can no longer be read.`,
      });
    }
  });

  it('do not go on from settings that may have been changed with what cannot be read', async () => {
    const { username, password } = PRIVATE_SHOP;
    const response = await change(damaged.id, { configuration: { username, password } });
    expectProblem(response, 'REQUEST_INVALID');
    expect(faultsOf(response)).to.have.property('body.configuration.base.url');
  });

  it('work again with their whole configuration, under the same id and token', async () => {
    const { body } = await change(damaged.id, { configuration: PRIVATE_SHOP });
    expect(body).to.include({ id: damaged.id, token: damaged.token, valid: true });
    expect(body).not.to.have.property('invalidReason');
    expect((await service.call('/objects', { token: damaged.token })).status).to.equal(200);
  });

  it('can be deleted', async () => {
    expect((await service.send('DELETE', `/instances/${orphan.id}`)).status).to.equal(200);
    expectProblem(await service.call(`/instances/${orphan.id}`), 'NOT_FOUND');
  });

  it('work as before when only their token cannot be shown', async () => {
    expect(await service.get(`/instances/${tokenless.id}`)).to.include({ token: '********', valid: true });
    expect((await service.call('/objects', { token: tokenless.token })).status).to.equal(200);
  });

  it('leave the whole one alone', async () => {
    expect((await service.call('/objects', { token: whole.token })).status).to.equal(200);
  });

  describe('and what else is damaged', () => {
    it('a subscription is listed, shown without its secret, and whole again after a rotation', async () => {
      const path = '/notifications/subscriptions';
      expect(await service.get(path)).to.have.length(1);
      expect(await service.get(`${path}/1`)).to.include({ id: 1, secret: '********' });
      const rotated = await service.send('PATCH', `${path}/1`, { rotateSecret: true });
      expect(rotated.body.secret).to.match(/^whsec_/);
      expect(rotated.body).not.to.have.property('previousSecretExpiresAt');
      expect((await service.get(`${path}/1`)).secret).to.equal(rotated.body.secret);
    });

    it('an OAuth proxy is listed, shown, not used, and can be deleted', async () => {
      const path = '/elements/oauthProxies';
      expect(await service.get(path)).to.have.length(1);
      expect(await service.get(`${path}/${proxy.id}`)).to.include({ id: proxy.id, apiSecret: '********' });
      const query = { oauthProxyName: proxy.name, state: 'https://app.example.com/' };
      const message = `The OAuth proxy '${proxy.name}' cannot be used: its stored data cannot be read, or was changed outside of the service. Delete the proxy and create it again.`;
      expectProblem(await service.call('/elements/salesforce/oauth/url', { query }), 'CONFLICT', message);
      expect((await service.send('DELETE', `${path}/${proxy.id}`)).status).to.equal(200);
    });
  });
});
