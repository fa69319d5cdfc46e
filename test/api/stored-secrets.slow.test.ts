import { expect } from 'chai';
import type { Knex } from 'knex';
import { decryptBound } from '../../src/db/bound-values.ts';
import { encryptionContext } from '../../src/db/encrypted-columns.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { ENCRYPTION_KEYS, useApp } from '../support/app.ts';
import { theRow } from '../support/database.ts';
import { json, type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { withDatabase } from './support/tenants.ts';

const PASSWORD = 'a-password-nobody-may-read';
const NEEDED =
  "'password' must be sent again: these settings lead calls to another address, and the stored secret belongs to the previous one.";

describe('a stored secret', () => {
  const service = useApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  let provider: MisbehavingServer;
  let evil: MisbehavingServer;

  before(async () => {
    [provider, evil] = await Promise.all([startMisbehavingServer(), startMisbehavingServer()]);
    for (const server of [provider, evil]) {
      for (const path of ['/', '/v2/', '/me']) server.answer(path, json({ value: [] }));
    }
  });
  after(() => Promise.all([provider.close(), evil.close()]));

  const configuration = () => ({ 'base.url': provider.url, username: 'ada', password: PASSWORD });
  const createInstance = () => service.createInstance('odata', configuration());
  const change = (id: number, body: object, method = 'PATCH') => service.send(method, `/instances/${id}`, body);
  const read = async (id: number) => await service.get(`/instances/${id}`);
  const inDatabase = <Result>(work: (knex: Knex) => Promise<Result>) => withDatabase(service, work);

  describe('stays with its address', () => {
    let requests: number;
    beforeEach(() => {
      requests = evil.requests.length;
    });
    afterEach('nothing was sent elsewhere', () => expect(evil.requests).to.have.length(requests));

    it('when PATCH leads elsewhere, with or without its mask', async () => {
      const { id } = await createInstance();
      for (const secret of [{}, { password: '********' }]) {
        expectFaults(
          await change(id, { configuration: { 'base.url': evil.url, ...secret } }),
          { 'body.configuration.password': NEEDED },
          `The configuration of OData: ${NEEDED}`,
        );
        const path = `/instances/${id}/configuration`;
        const inner = await service.send('PATCH', path, { 'base.url': evil.url, ...secret });
        expect(faultsOf(inner)).to.deep.equal({ 'body.password': NEEDED });
      }
      expect((await read(id)).configuration).to.deep.include({ 'base.url': provider.url, password: '********' });
    });

    it('when PUT leads elsewhere with its mask', async () => {
      const { id } = await createInstance();
      const moved = { ...configuration(), 'base.url': evil.url, password: '********' };
      const response = await change(id, { name: 'Moved', configuration: moved }, 'PUT');
      expect(faultsOf(response)).to.deep.equal({ 'body.configuration.password': NEEDED });
    });

    it('when calls would lose their TLS', async () => {
      const { id } = await createInstance();
      // Not the same origin, as that of the provider has none.
      const response = await change(id, { configuration: { 'base.url': provider.url.replace('http:', 'https:') } });
      expect(faultsOf(response)).to.deep.equal({ 'body.configuration.password': NEEDED });
    });

    it('when the simulator takes the place of the provider, and the other way round', async () => {
      const simulated = await service.createInstance('bamboohr', BAMBOOHR);
      const away = await change(simulated.id, { configuration: { simulator: false } });
      expect(Object.keys(faultsOf(away))).to.deep.equal(['body.configuration.username']);
      const { id } = await createInstance();
      const entered = await change(id, { configuration: { simulator: true } });
      expect(faultsOf(entered)).to.deep.equal({ 'body.configuration.password': NEEDED });
    });

    it('when a name in the settings makes another host', async () => {
      const { id } = await service.createInstance('bamboohr', BAMBOOHR);
      const response = await change(id, { configuration: { 'company.name': 'evil' } });
      expect(Object.keys(faultsOf(response))).to.deep.equal(['body.configuration.username']);
    });

    it('while everything else can be changed without it', async () => {
      const { id } = await createInstance();
      const settings = { 'base.url': `${provider.url}/v2`, 'text.binary': true };
      expect((await change(id, { configuration: settings })).status).to.equal(200);
      const { authorization } = provider.requests.at(-1)?.headers ?? {};
      expect(authorization).to.equal(`Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`);
    });
  });

  it('moves when it is sent again, or left out where it may be', async () => {
    const { id } = await createInstance();
    const moved = { 'base.url': evil.url, password: 'ein-anderes' };
    expect((await change(id, { configuration: moved })).status).to.equal(200);
    const basic = `Basic ${Buffer.from('ada:ein-anderes').toString('base64')}`;
    expect(evil.requests.at(-1)?.headers.authorization).to.equal(basic);
    const emptied = { name: 'Open', configuration: { 'base.url': provider.url } };
    expect((await change(id, emptied, 'PUT')).status).to.equal(200);
    expect(provider.requests.at(-1)?.headers).not.to.have.property('authorization');
  });

  it('that a provider never sees is no matter of addresses', async () => {
    const { id } = await service.createInstance('odata', { ...SHOP, 'event.notification.signature.key': 'a-key' });
    expect((await change(id, { configuration: { 'base.url': provider.url, simulator: false } })).status).to.equal(200);
    expect((await read(id)).configuration).to.include({ 'event.notification.signature.key': '********' });
  });

  describe('beside settings that were changed in the database', () => {
    /** An instance whose row leads to another address, and which no process knows yet. */
    async function createTampered(to: object = { 'base.url': evil.url }) {
      const { id, token } = await createInstance();
      await inDatabase((knex) =>
        knex.raw('update instance set configuration = configuration || ?::jsonb where id = ?', [
          JSON.stringify(to),
          id,
        ]),
      );
      return { id, token };
    }

    it('is sent nowhere: the instance is invalid, and says what to do', async () => {
      const requests = evil.requests.length;
      for (const to of [{ 'base.url': evil.url }, { simulator: true }, { username: 'eve' }]) {
        const { id, token } = await createTampered(to);
        const message = `The stored settings and credentials of instance ${id} cannot be read, or were changed outside of the service. Send the whole configuration with PATCH /instances/${id}.`;
        expectProblem(await service.call('/Products', { token }), 'INSTANCE_CREDENTIALS_FAILED', message);
        expectProblem(await service.call('/objects', { token }), 'INSTANCE_CREDENTIALS_FAILED');
        expect(await read(id)).to.deep.include({ valid: false, configuration: {} });
        const list = await service.get('/instances');
        expect(list.find((one: { id: number }) => one.id === id)).to.include({ valid: false });
      }
      expect(evil.requests).to.have.length(requests);
    });

    it('nor when the element was changed instead', async () => {
      const { id, token } = await service.createInstance('impatient', {
        'base.url': provider.url,
        'api.key': PASSWORD,
      });
      const requests = provider.requests.length;
      await inDatabase((knex) => knex('instance').where({ id }).update({ element_key: 'odata' }));
      expectProblem(await service.call('/Products', { token }), 'INSTANCE_CREDENTIALS_FAILED');
      expect(provider.requests).to.have.length(requests);
    });

    it('is not what a change goes on from: the whole configuration is needed', async () => {
      const { id } = await createTampered();
      const requests = evil.requests.length;
      const partial = await change(id, { configuration: { 'text.binary': true } });
      expect(Object.keys(faultsOf(partial))).to.deep.equal(['body.configuration.base.url']);
      for (const method of ['PATCH', 'PUT']) {
        const masked = { name: 'x', configuration: { ...configuration(), password: '********' } };
        expect(faultsOf(await change(id, masked, method))).to.deep.equal({
          'body.configuration.password': "'password' must be sent again: the stored value can no longer be read.",
        });
      }
      expect((await change(id, { name: 'Renamed' })).body).to.include({ name: 'Renamed', valid: false });
      expect(evil.requests).to.have.length(requests);
    });

    it('is usable again when it was sent again, or when the row is as it was', async () => {
      const { id, token } = await createTampered();
      const { body } = await change(id, { configuration: configuration() });
      expect(body).to.deep.include({ id, token, valid: true });
      expect(body.configuration).to.include({ 'base.url': provider.url, username: 'ada', password: '********' });
      const other = await createTampered();
      const original = { 'base.url': provider.url };
      await inDatabase((knex) =>
        knex.raw('update instance set configuration = configuration || ?::jsonb where id = ?', [
          JSON.stringify(original),
          other.id,
        ]),
      );
      expect(await read(other.id)).to.include({ valid: true });
    });

    it('can be deleted with its instance', async () => {
      const { id } = await createTampered();
      expect((await service.send('DELETE', `/instances/${id}`)).status).to.equal(200);
    });
  });

  describe('of an earlier release', () => {
    const keyring = createKeyring(ENCRYPTION_KEYS);
    const readRow = (id: number) => inDatabase((knex) => theRow(knex('instance').where({ id })));
    const placeOf = (row: Awaited<ReturnType<typeof readRow>>) => ({
      column: 'instance.credentials' as const,
      key: [row.account_id, row.id],
      bound: [row.element_key, row.configuration],
    });

    it('is good as it is, and bound to its settings when they change', async () => {
      const { id, token } = await createInstance();
      const context = encryptionContext('instance.credentials', 1, id);
      const credentials = keyring.encrypt(JSON.stringify({ password: PASSWORD }), context);
      await inDatabase((knex) => knex('instance').where({ id }).update({ credentials }));
      expect(await read(id)).to.deep.include({ valid: true });
      await service.call('/objects', { token });
      const { authorization } = provider.requests.at(-1)?.headers ?? {};
      expect(authorization).to.equal(`Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`);
      const before = await readRow(id);
      expect(decryptBound(keyring, before.credentials, placeOf(before)).isBound).to.equal(false);
      expect((await change(id, { configuration: { 'text.binary': true } })).status).to.equal(200);
      const after = await readRow(id);
      expect(decryptBound(keyring, after.credentials, placeOf(after)).isBound).to.equal(true);
      // A bound one is never taken for one of before.
      expect(() => keyring.decrypt(after.credentials, context)).to.throw(/does not decrypt/);
    });
  });
});
