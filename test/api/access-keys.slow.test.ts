import { expect } from 'chai';
import { isKeyText } from '../../src/accounts/access-keys/key-text.ts';
import { type ApiAnswer, pluck, useApp } from '../support/app.ts';
import { createKey, withKey } from './support/access-keys.ts';
import { expectFaults, expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf, createUser, updateRows, withDatabase } from './support/tenants.ts';

describe('access keys', function accessKeys() {
  this.timeout(60_000);
  const service = useApp();
  const shop = useInstance(service, 'odata', SHOP, { tags: ['acme', 'shop'] });
  const people = useInstance(service, 'bamboohr', BAMBOOHR, { tags: ['acme'] });

  const refusal = 'The access key is not valid: it was deleted or has expired, or its user may no longer use it.';
  const lacks = (scope: string) => new RegExp(`This needs the scope ${scope}, which the access key lacks\\.`);

  describe('creation', () => {
    it('shows the key once, and only its last four characters afterwards', async () => {
      const created = await createKey(service, { name: 'Nightly report', instances: [shop.id], expiresIn: 3600 });
      expect(isKeyText(created.key)).to.equal(true);
      const masked = `ck_…${created.key.slice(-4)}`;
      const { key: _, ...rest } = created;
      const shown = await service.get(`/keys/${created.id}`);
      expect(shown).to.deep.equal({ ...rest, key: masked });
      expect(shown).to.deep.include({ name: 'Nightly report', access: 'read', allow: [], instances: [shop.id] });
      expect(pluck(shown.validKeys, 'key')).to.deep.equal([masked]);
      expect(new Date(shown.expiresDate).getTime() - new Date(shown.createdDate).getTime()).to.equal(3_600_000);
      const listed = await service.call('/keys', { query: { where: `lastFour = '${created.key.slice(-4)}'` } });
      expect(pluck(listed.body, 'id')).to.include(created.id);
      expect(JSON.stringify(listed.body)).to.not.contain(created.key);
    });

    it('names every instance and element that does not exist, and what cannot be combined', async () => {
      const scope = { instances: [shop.id, 999], elementKeys: ['odat'], objects: ['Orders'], allow: ['bulk'] };
      const body = { name: 'Test', access: 'read', ...scope };
      expectFaults(await service.send('POST', '/keys', body), {
        'body.instances.1': 'There is no instance 999.',
        'body.elementKeys.0': "There is no element 'odat'. Did you mean 'odata'?",
        'body.allow.0': 'A key with objects cannot have bulk, which reaches every object. Leave out one of them.',
      });
    });

    it('ends at 500 keys of an account, even at the same moment', async () => {
      const { id } = await service.change('POST', '/accounts', { externalId: 'many-keys' });
      await withDatabase(service, (knex) =>
        knex.raw(
          `insert into access_key (account_id, id, user_id, name, access, allow, scope, created_at)
           select ?, -n, 1, 'Old', 'read', '{}', '{}', now() from generate_series(1, 499) n`,
          [id],
        ),
      );
      const call = { method: 'POST', body: { name: 'Test', access: 'read' } };
      const headers = { 'elements-account-id': String(id) };
      const atOnce = await Promise.all([1, 2, 3].map(() => service.call('/keys', { ...call, headers })));
      const refused = atOnce.filter(({ status }) => status !== 200);
      expect(refused).to.have.length(2);
      for (const full of refused) expectProblem(full, 'CONFLICT', /^The account has 500 keys, the maximum\./);
    });

    it('does not take an instance of another account', async () => {
      const { id } = await service.createInstance('bamboohr', BAMBOOHR);
      const account = await service.change('POST', '/accounts', { externalId: 'elsewhere' });
      const call = { method: 'POST', body: { name: 'Test', access: 'read', instances: [id] } };
      const response = await service.call('/keys', { ...call, headers: { 'elements-account-id': String(account.id) } });
      expectProblem(response, 'REQUEST_INVALID', `There is no instance ${id}.`);
    });
  });

  describe('requests', () => {
    it('need no instance where the key has one', async () => {
      const { key } = await createKey(service, { instances: [shop.id] });
      const response = await withKey(service, key)('/Orders', { query: { pageSize: 1 } });
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      expect(response.body).to.have.length(1);
      expect(response.headers.get('elements-element-instance-id')).to.equal(String(shop.id));
    });

    it('need no instance where only one matches the scope', async () => {
      const { key } = await createKey(service, { tags: ['shop'] });
      expect((await withKey(service, key)('/Orders')).status).to.equal(200);
    });

    it('name an instance where the key has several', async () => {
      const { key } = await createKey(service, { instances: [shop.id, people.id] });
      const response = await withKey(service, key)('/Orders');
      expectProblem(
        response,
        'REQUEST_INVALID',
        `The access key reaches several instances. Name one in the header Elements-Instance-Id: ${shop.id}, ${people.id}.`,
      );
      expect((await withKey(service, key, shop.id)('/Orders')).status).to.equal(200);
      expect((await withKey(service, key, people.id)('/employees')).status).to.equal(200);
      const malformed = await service.call('/Orders', {
        headers: { authorization: `Bearer ${key}`, 'elements-instance-id': 'x' },
      });
      const message = 'The header Elements-Instance-Id must be the id of an instance, a whole number.';
      expectProblem(malformed, 'REQUEST_INVALID', message);
    });

    it('on an instance out of reach are refused, whether it exists or not', async () => {
      const { key } = await createKey(service, { instances: [shop.id] });
      for (const id of [people.id, 999_999]) {
        const message = `Instance ${id} is out of reach of the key, or was deleted. This needs the scope instances, which the access key lacks. Use a key that has it, or User and Organization secrets.`;
        expectProblem(await withKey(service, key, id)('/employees'), 'FORBIDDEN', message);
      }
      const byElement = await createKey(service, { elementKeys: ['bamboohr'], tags: ['acme'] });
      expectProblem(await withKey(service, byElement.key, shop.id)('/Orders'), 'FORBIDDEN', lacks('elementKeys'));
      const byTag = await createKey(service, { tags: ['shop'] });
      expectProblem(await withKey(service, byTag.key, people.id)('/employees'), 'FORBIDDEN', lacks('tags'));
    });

    it('show only the objects of the key', async () => {
      const { key } = await createKey(service, { instances: [shop.id], objects: ['Orders'] });
      const call = withKey(service, key);
      expect((await call('/objects')).body).to.deep.equal(['Orders']);
      expect((await call('/Orders')).status).to.equal(200);
      const message = /^The key does not reach the object 'Products'\. This needs the scope objects/;
      expectProblem(await call('/Products'), 'FORBIDDEN', message);
      expectProblem(await call('/objects/Products/metadata'), 'FORBIDDEN', lacks('objects'));
      expectProblem(await call('/instances/events'), 'FORBIDDEN', lacks('objects'));
      const explain = (objectName: string) => call('/query/explain', { method: 'POST', body: { objectName } });
      expect((await explain('Orders')).status).to.equal(200);
      expectProblem(await explain('Products'), 'FORBIDDEN', lacks('objects'));
    });

    it('cannot change the method of a passthrough by a header', async () => {
      const { key } = await createKey(service, { instances: [shop.id], allow: ['passthrough'] });
      const call = withKey(service, key);
      expect((await call('/passthrough/Orders')).status).to.equal(200);
      const headers = { 'x-http-method-override': 'DELETE' };
      expectProblem(await call('/passthrough/Orders', { headers }), 'FORBIDDEN', lacks('write'));
    });

    it('list over the instances of the key only', async () => {
      const other = await service.createInstance('odata', SHOP);
      const { key } = await createKey(service, { instances: [shop.id, people.id], allow: ['federated'] });
      const response = await withKey(service, key)('/federated/Orders');
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      const ids = response.body.map(({ elementsMeta, ...row }: ApiAnswer['body']) => elementsMeta?.instanceId ?? row);
      expect(JSON.stringify(ids)).to.not.contain(`:${other.id}`);
      const all = await service.call('/federated/Orders');
      expect(all.body.length).to.equal(2 * response.body.length);
      await service.send('DELETE', `/instances/${other.id}`);
    });

    it('learn what the key is', async () => {
      const { id, key } = await createKey(service, { elementKeys: ['odata'], access: 'write', allow: ['bulk'] });
      const { body } = await withKey(service, key)('/keys/me');
      expect(body).to.deep.include({
        id,
        name: 'Test',
        accountId: service.accountId,
        access: 'write',
        allow: ['bulk'],
      });
      const instance = { id: shop.id, name: shop.name, elementKey: 'odata', tags: ['acme', 'shop'] };
      expect(body.instances).to.deep.equal([instance]);
      expectProblem(await service.call('/keys/me'), 'FORBIDDEN', 'This request has no access key. Send `Bearer ck_…`.');
    });

    it('stay in the account of the key', async () => {
      const { key } = await createKey(service, { instances: [shop.id] });
      const as = (account: string) => withKey(service, key)('/Orders', { headers: { 'elements-account-id': account } });
      expect((await as(String(service.accountId))).status).to.equal(200);
      expectProblem(await as('elsewhere'), 'FORBIDDEN', /^A key works in its own account only\./);
    });

    it('with a key that was never given are unauthenticated', async () => {
      const { key } = await createKey(service);
      for (const wrong of ['ck_x', `${key}0`, key.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))])
        expectProblem(await withKey(service, wrong)('/Orders'), 'UNAUTHENTICATED', refusal);
      const both = `Bearer ${key}, Element ${shop.token}`;
      const message =
        'The Authorization header with an access key cannot be read. Send `Bearer ck_…`, and nothing else.';
      expectProblem(await service.call('/Orders', { headers: { authorization: both } }), 'UNAUTHENTICATED', message);
    });
  });

  describe('the end of a key', () => {
    it('comes with its deletion', async () => {
      const { id, key } = await createKey(service, { instances: [shop.id] });
      expect((await withKey(service, key)('/Orders')).status).to.equal(200);
      expect(await service.change('DELETE', `/keys/${id}`)).to.deep.equal({ id });
      expectProblem(await withKey(service, key)('/Orders'), 'UNAUTHENTICATED', refusal);
      expectProblem(await service.call(`/keys/${id}`), 'NOT_FOUND', `There is no key ${id}.`);
    });

    it('comes at its expiry, which can be moved', async () => {
      const { id, key } = await createKey(service, { instances: [shop.id], expiresIn: 60 });
      await updateRows(service, 'access_key', { id }, { expires_at: new Date(0) });
      // Whatever changes a key makes the process read all of them again.
      const other = await createKey(service);
      await service.send('DELETE', `/keys/${other.id}`);
      expectProblem(await withKey(service, key)('/Orders'), 'UNAUTHENTICATED', refusal);
      const moved = await service.send('PATCH', `/keys/${id}`, { name: 'Moved', expiresIn: null });
      expect(moved.body).to.not.have.property('expiresDate');
      expect(moved.body).to.include({ name: 'Moved' });
      expect((await withKey(service, key)('/Orders')).status).to.equal(200);
    });

    it('comes with the deactivation of its user, and ends with it', async () => {
      const { accountId } = service;
      const maker = await createUser(service, { accountId, name: 'maker', role: 'default-user' });
      const { id, key } = await createKey(service, { instances: [shop.id] }, authorizationOf(maker));
      const activate = (active: boolean) => service.send('PATCH', `/users/${maker.id}`, { active });
      expect((await withKey(service, key)('/Orders')).status).to.equal(200);
      await activate(false);
      expectProblem(await withKey(service, key)('/Orders'), 'UNAUTHENTICATED', refusal);
      await activate(true);
      expect((await withKey(service, key)('/Orders')).status).to.equal(200);
      await service.send('DELETE', `/users/${maker.id}`);
      expectProblem(await withKey(service, key)('/Orders'), 'UNAUTHENTICATED', refusal);
      expect((await service.call(`/keys/${id}`)).status).to.equal(404);
    });

    it('comes when its user may no longer work in its account', async () => {
      const account = await service.change('POST', '/accounts', { externalId: 'of-a-manager' });
      const { accountId } = service;
      const maker = await createUser(service, { accountId, name: 'manager', role: 'org-admin' });
      const headers = { ...authorizationOf(maker), 'elements-account-id': String(account.id) };
      const { key } = await createKey(service, {}, headers);
      expect((await withKey(service, key)('/keys/me')).body).to.include({ accountId: account.id });
      await service.send('DELETE', `/users/${maker.id}/roles/org-admin`);
      expectProblem(await withKey(service, key)('/keys/me'), 'UNAUTHENTICATED', refusal);
    });

    it('comes with the deletion of its instance', async () => {
      const { id } = await service.createInstance('odata', SHOP);
      const only = await createKey(service, { instances: [id] });
      const several = await createKey(service, { instances: [id, shop.id] });
      expect((await withKey(service, only.key)('/Orders')).status).to.equal(200);
      expect((await withKey(service, several.key, id)('/Orders')).status).to.equal(200);
      await service.send('DELETE', `/instances/${id}`);
      const message = 'The instance of this access key was deleted.';
      expectProblem(await withKey(service, only.key)('/Orders'), 'UNAUTHENTICATED', message);
      expectProblem(await withKey(service, several.key, id)('/Orders'), 'FORBIDDEN', lacks('instances'));
      expect((await withKey(service, several.key)('/Orders')).status).to.equal(200);
    });
  });

  describe('rotation', () => {
    const rotate = (id: number, overlapSeconds?: number) =>
      service.send('POST', `/keys/${id}/rotate`, { overlapSeconds });

    it('keeps the earlier secret for the overlap, and ends it without one', async () => {
      const { id, key: first } = await createKey(service, { instances: [shop.id] });
      const second = (await rotate(id, 3600)).body;
      expect(second.key).to.not.equal(first);
      expect(second.validKeys.map(({ key }: { key: string }) => key.slice(-4))).to.deep.equal([
        second.key.slice(-4),
        first.slice(-4),
      ]);
      for (const key of [first, second.key]) expect((await withKey(service, key)('/Orders')).status).to.equal(200);
      const third = (await rotate(id, 0)).body;
      expect(third.validKeys).to.have.length(1);
      for (const key of [first, second.key])
        expectProblem(await withKey(service, key)('/Orders'), 'UNAUTHENTICATED', refusal);
      expect((await withKey(service, third.key)('/Orders')).status).to.equal(200);
    });

    it('has a limit of valid secrets', async () => {
      const { id } = await createKey(service);
      for (let count = 1; count < 5; count++) expect((await rotate(id)).status).to.equal(200);
      expectProblem(await rotate(id), 'CONFLICT', /^5 secrets of this key are valid, the maximum\./);
    });

    it('is for the user of the key only', async () => {
      const { accountId } = service;
      const maker = await createUser(service, { accountId, name: 'rotator', role: 'default-user' });
      const { id } = await createKey(service, {}, authorizationOf(maker));
      expect((await service.call(`/keys/${id}`)).status).to.equal(200);
      expectProblem(await rotate(id), 'FORBIDDEN', /^Only the user who created a key can rotate it/);
    });
  });

  it('belong to their users: others see them only if they administer users', async () => {
    const { accountId } = service;
    const maker = await createUser(service, { accountId, name: 'owner', role: 'default-user' });
    const { id } = await createKey(service);
    const own = await createKey(service, {}, authorizationOf(maker));
    const idsOf = ({ body }: ApiAnswer) => pluck(body, 'id');
    expect(idsOf(await maker.call('/keys'))).to.deep.equal([own.id]);
    expect(idsOf(await service.call('/keys'))).to.include.members([id, own.id]);
    for (const method of ['GET', 'DELETE'])
      expectProblem(await maker.send(method, `/keys/${id}`), 'NOT_FOUND', `There is no key ${id}.`);
    expect((await service.send('DELETE', `/keys/${own.id}`)).status).to.equal(200);
  });

  it('note their last use at most every few minutes', async () => {
    const { id, key } = await createKey(service, { instances: [shop.id] });
    const lastUse = async () => (await service.get(`/keys/${id}`)).lastUsedDate;
    expect(await lastUse()).to.equal(undefined);
    await withKey(service, key)('/Orders');
    const first = await lastUse();
    expect(Math.abs(Date.now() - new Date(first).getTime())).to.be.below(30_000);
    await service.send('PATCH', `/keys/${id}`, { name: 'Read again' });
    await withKey(service, key)('/Orders');
    expect(await lastUse()).to.equal(first);
    const longAgo = new Date(Date.now() - 10 * 60_000);
    await updateRows(service, 'access_key_secret', { key_id: id }, { last_used_at: longAgo });
    await service.send('PATCH', `/keys/${id}`, { name: 'Read again' });
    await withKey(service, key)('/Orders');
    expect(new Date(await lastUse()).getTime()).to.be.above(longAgo.getTime());
  });
});
