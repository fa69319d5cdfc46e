import { expect } from 'chai';
import { type ApiCall, type Client, pluck, useSharedApp } from '../support/app.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';
import { createUser, updateRows, useTenants, withDatabase } from './support/tenants.ts';

/** A name that is no id is quoted. */
const noAccount = (named: string | number) =>
  `There is no account ${/^\d+$/.test(String(named)) ? named : `'${named}'`}.`;
const NO_PRIVILEGE = (key: string) => new RegExp(`^This needs the privilege ${key} \\(`);

describe('accounts', () => {
  const service = useSharedApp();
  const tenants = useTenants(service);
  let worker: Client;
  before(async () => {
    worker = await createUser(service, { accountId: tenants.sibling.accountId, name: 'worker', role: 'default-user' });
  });

  const create = async (body: object) => await service.change('POST', '/accounts', body);
  const setFirst = (active: boolean) => updateRows(service, 'app_user', { id: service.userId }, { active });
  const names = ({ body }: { readonly body: readonly { readonly externalId: string }[] }) =>
    body.map(({ externalId }) => externalId);

  describe('are made', () => {
    it('with an external id, which is name and description unless they are given', async () => {
      const body = await service.change('POST', '/accounts', { externalId: '  plain ' });
      const { id, createdDate, ...rest } = body;
      expect(rest).to.deep.equal({
        externalId: 'plain',
        name: 'plain',
        description: 'plain',
        active: true,
        defaultAccount: false,
        type: 'CompanyAccount',
        status: 'active',
      });
      expect(id).to.be.a('number');
      expect(new Date(createdDate).toISOString()).to.equal(createdDate);
      const given = { externalId: 'full', name: 'Full', description: '', active: false };
      expect(await create(given)).to.include({ ...given, status: 'inactive' });
    });

    it('once for each external id of an organization, and once for a key', async () => {
      await create({ externalId: 'once' });
      const again = await service.send('POST', '/accounts', { externalId: 'once ' });
      const message = "An account with the external id 'once' already exists in the organization.";
      expectProblem(again, 'CONFLICT', message);
      expect(faultsOf(again)).to.deep.equal({ 'body.externalId': message });
      const elsewhere = await tenants.stranger.send('POST', '/accounts', { externalId: 'once' });
      expect(elsewhere.status).to.equal(200);
      const call = { method: 'POST', body: { externalId: 'keyed' }, headers: { 'idempotency-key': 'an-account' } };
      const [first, second] = [await service.call('/accounts', call), await service.call('/accounts', call)];
      expect(second.body).to.deep.equal(first.body).and.include({ externalId: 'keyed' });
    });

    it('of what can be stored', async () => {
      const faults = async (body: object) => Object.keys(faultsOf(await service.send('POST', '/accounts', body)));
      expect(await faults({})).to.deep.equal(['body.externalId']);
      expect(await faults({ externalId: ' ' })).to.deep.equal(['body.externalId']);
      expect(await faults({ externalId: 'a\0', name: '\ud800' })).to.deep.equal(['body.externalId', 'body.name']);
      expect(await faults({ externalId: 'x', nmae: 'x' })).to.deep.equal(['body.nmae']);
    });
  });

  describe('have an external id that means nothing else in a path', () => {
    const digits = (name: string) =>
      `body.externalId consists of digits, which paths and headers read as the id of an account. Add a letter, such as customer-${name}.`;
    const word = (name: string) =>
      `body.externalId is reserved for the path /accounts/${name}. Choose another, such as account-${name}.`;

    for (const [externalId, message] of [
      ['1', digits('1')],
      [' 0042 ', digits('0042')],
      ['instances', word('instances')],
      ['settings', word('settings')],
    ] as const) {
      it(`and so not '${externalId}'`, async () => {
        expectFaults(await service.send('POST', '/accounts', { externalId }), { 'body.externalId': message }, message);
        const { id } = await create({ externalId: `not ${externalId}` });
        for (const method of ['PATCH', 'PUT'])
          expectProblem(
            await service.send(method, `/accounts/${id}`, { externalId, name: 'x' }),
            'REQUEST_INVALID',
            message,
          );
      });
    }

    it('save what an earlier release took, which stays when the account is sent as it was read', async () => {
      const { id } = await create({ externalId: 'old' });
      await updateRows(service, 'account', { id }, { external_id: '4711' });
      const body = await service.get(`/accounts/${id}`);
      const response = await service.send('PATCH', `/accounts/${id}`, { ...body, name: 'New' });
      expect(response.body).to.include({ externalId: '4711', name: 'New' });
      const renamed = { method: 'PATCH', body: { externalId: 'customer-4711' } };
      expect((await service.call(`/accounts/${id}`, renamed)).body).to.include({ externalId: 'customer-4711' });
    });
  });

  describe('are read', () => {
    it('by id and by external id, where digits are an id', async () => {
      const { id } = await create({ externalId: 'acme/emea & co' });
      for (const name of [String(id), encodeURIComponent('acme/emea & co')])
        expect(await service.get(`/accounts/${name}`)).to.include({ id });
      // As earlier releases took it.
      const numbered = await create({ externalId: 'numbered' });
      await updateRows(service, 'account', { id: numbered.id }, { external_id: String(id) });
      expect(await service.get(`/accounts/${id}`)).to.include({ id });
      const body = await service.get('/accounts', { query: { where: `externalId = '${id}'` } });
      expect(pluck(body, 'id')).to.deep.equal([numbered.id]);
    });

    it('page by page, and by what their records say', async () => {
      for (const externalId of ['list-1', 'list-2', 'list-3'])
        await create({ externalId, active: externalId !== 'list-2' });
      const query = { where: "externalId LIKE 'list-%'", pageSize: 2 };
      const first = await service.call('/accounts', { query });
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      const second = await service.call('/accounts', { query: { ...query, nextPage } });
      expect([...names(first), ...names(second)]).to.deep.equal(['list-1', 'list-2', 'list-3']);
      expect(second.headers.get('elements-next-page-token')).to.equal(null);
      const find = async (where: string) => names(await service.call('/accounts', { query: { where } }));
      expect(await find("status = 'inactive' AND externalId LIKE 'list-%'")).to.deep.equal(['list-2']);
      expect(await find("active = TRUE AND type = 'CompanyAccount' AND name IN ('list-1', 'list-2')")).to.deep.equal([
        'list-1',
      ]);
      expect(await find('defaultAccount = TRUE')).to.deep.equal(['default']);
      expect(await find("createdDate < '2020-01-01T00:00:00Z'")).to.deep.equal([]);
      expectProblem(await service.call('/accounts', { query: { where: 'organization_id = 2' } }), 'WHERE_INVALID');
      expectProblem(
        await tenants.stranger.call('/accounts', { query: { ...query, nextPage } }),
        'REQUEST_INVALID',
        /^nextPage does not belong to this listing/,
      );
    });

    it('by others of the organization than its administrators as far as they are theirs', async () => {
      const { accountId } = tenants.sibling;
      for (const tenant of [tenants.sibling, worker]) {
        expect(names(await tenant.call('/accounts'))).to.deep.equal(['Siblings']);
        for (const name of [String(accountId), 'Siblings']) {
          expect(await tenant.get(`/accounts/${name}`)).to.include({ id: accountId });
        }
        for (const name of [
          String(service.accountId),
          'default',
          'nope',
          'Strangers',
          String(tenants.stranger.accountId),
        ]) {
          expectProblem(await tenant.call(`/accounts/${name}`), 'NOT_FOUND', noAccount(name));
        }
      }
      const all = names(await tenants.stranger.call('/accounts'));
      expect(all).to.include('Strangers').and.not.include('Siblings').and.not.include('default');
    });
  });

  describe('are changed', () => {
    const change = (name: string | number, body: object, method = 'PATCH') =>
      service.send(method, `/accounts/${name}`, body);

    it('as they were read, with the changes in them', async () => {
      const account = await create({ externalId: 'patched', name: 'Before', description: 'It is there.' });
      const changed = await change('patched', { ...account, name: ' After ', active: false });
      expect(changed.body).to.deep.equal({ ...account, name: 'After', active: false, status: 'inactive' });
      expect(await service.get(`/accounts/${account.id}`)).to.deep.equal(changed.body);
      const { id, type, createdDate } = account;
      expect((await change('patched', { id, type, createdDate })).body).to.deep.equal(changed.body);
      const wrong = await change('patched', { id: 1, status: 'inactive', type: 'Default', colour: 'red' });
      expect(faultsOf(wrong)).to.deep.equal({
        'body.id': "'id' cannot be changed. Leave it out, or send it as it was read.",
        'body.type': "'type' cannot be changed. Leave it out, or send it as it was read.",
        'body.colour': "Unknown member 'colour'.",
      });
    });

    it('as a whole: what is left out becomes what a new one has', async () => {
      const account = await create({ externalId: 'replaced', name: 'A', description: 'B', active: false });
      const { body } = await change('replaced', { name: 'C' }, 'PUT');
      expect(body).to.deep.equal({ ...account, name: 'C', description: 'replaced', active: true, status: 'active' });
      const whole = await change('replaced', { ...body, description: '' }, 'PUT');
      expect(whole.body).to.deep.equal({ ...body, description: '' });
      expect(Object.keys(faultsOf(await change('replaced', {}, 'PUT')))).to.deep.equal(['body.name']);
    });

    it('and go by another external id at once, which no other has', async () => {
      const { id } = await create({ externalId: 'first-name' });
      expect(await service.get('/accounts/first-name')).to.include({ id });
      expect((await change(id, { externalId: 'second-name' })).body).to.include({ id, externalId: 'second-name' });
      expectProblem(await service.call('/accounts/first-name'), 'NOT_FOUND');
      expect(await service.get('/accounts/second-name')).to.include({ id });
      expectProblem(await change(id, { externalId: 'default' }), 'CONFLICT');
      expect((await create({ externalId: 'first-name' })).id).not.to.equal(id);
    });

    it('by their own administrators, who leave the external id to those of the organization', async () => {
      const patch = (tenant: Client, body: object) => tenant.send('PATCH', '/accounts/Siblings', body);
      const read = await tenants.sibling.get('/accounts/Siblings');
      expect((await patch(tenants.sibling, { ...read, description: 'Ours' })).body).to.include({ description: 'Ours' });
      expectProblem(
        await patch(tenants.sibling, { externalId: 'Mine' }),
        'FORBIDDEN',
        NO_PRIVILEGE('manageOrganization'),
      );
      expectProblem(await patch(worker, { name: 'Mine' }), 'FORBIDDEN', NO_PRIVILEGE('editAccount'));
      expectProblem(await patch(tenants.colleague, { name: 'Mine' }), 'NOT_FOUND');
      expectProblem(await patch(tenants.stranger, { name: 'Mine' }), 'NOT_FOUND');
    });
  });

  describe('are deleted', () => {
    const remove = (name: string | number) => service.send('DELETE', `/accounts/${name}`);

    it('and their external ids are free', async () => {
      const { id } = await create({ externalId: 'gone' });
      expect((await remove('gone')).body).to.deep.equal({ id });
      for (const name of ['gone', id]) {
        expectProblem(await service.call(`/accounts/${name}`), 'NOT_FOUND', noAccount(name));
        expectProblem(await remove(name), 'NOT_FOUND');
      }
      expect(names(await service.call('/accounts'))).not.to.include('gone');
      expect((await create({ externalId: 'gone' })).id).to.be.above(id);
    });

    it('save the default account, and the one with the last administrator of the organization', async () => {
      const message = `Account ${service.accountId} is the default account of the organization and cannot be deleted.`;
      expectProblem(await remove('default'), 'CONFLICT', message);
      const { id } = await create({ externalId: 'headquarters' });
      const chief = await createUser(service, { accountId: id, name: 'chief', role: 'org-admin' });
      await setFirst(false);
      const asChief = () => chief.send('DELETE', `/accounts/${id}`);
      const last = `Account ${id} has the last active user with the role org-admin. Give the role to a user of another account first.`;
      try {
        expectProblem(await asChief(), 'CONFLICT', last);
      } finally {
        await setFirst(true);
      }
      expect((await asChief()).status).to.equal(200);
      expectProblem(await chief.call('/accounts'), 'UNAUTHENTICATED');
    });
  });

  it('are not deleted by two administrators who have the last ones of each other', async () => {
    const [one, other] = [await create({ externalId: 'one' }), await create({ externalId: 'other' })];
    const chiefs = [
      await createUser(service, { accountId: one.id, name: 'chief-of-one', role: 'org-admin' }),
      await createUser(service, { accountId: other.id, name: 'chief-of-other', role: 'org-admin' }),
    ] as const;
    await setFirst(false);
    try {
      const remove = (chief: Client, name: string) => chief.send('DELETE', `/accounts/${name}`);
      const answers = await Promise.all([remove(chiefs[0], 'other'), remove(chiefs[1], 'one')]);
      const statuses = answers.map(({ status }) => status).sort();
      // The other one came too late to be somebody, or has the last administrator.
      expect(statuses[0]).to.equal(200);
      expect([401, 409]).to.include(statuses[1]);
    } finally {
      await setFirst(true);
      for (const name of ['one', 'other']) await service.send('DELETE', `/accounts/${name}`);
    }
  });

  describe('are worked in by administrators of the organization', () => {
    it('with their names in the header, on any call', async () => {
      const { id } = await create({ externalId: 'worked in' });
      const headers = { 'elements-account-id': 'worked in' };
      const call = {
        method: 'POST',
        body: { element: { key: 'odata' }, name: 'Shop', configuration: SHOP },
        headers: { ...headers, 'idempotency-key': 'worked-in' },
      };
      const made = await service.call('/instances', call);
      const me = (await service.get('/instances', { headers }))[0].user;
      expect(made.body.user).to.deep.equal(me).and.include({ id: service.userId });
      expect((await service.call('/instances', call)).body).to.deep.equal(made.body);
      const { token } = made.body;
      const products = { query: { pageSize: 1 }, token };
      expect((await service.call('/Products', { ...products, headers })).status).to.equal(200);
      expectProblem(await service.call('/Products', products), 'UNAUTHENTICATED');
      const idsIn = async (path: string, more: ApiCall = {}) => pluck((await service.call(path, more)).body, 'id');
      expect(await idsIn('/instances', { headers: { 'elements-account-id': String(id) } })).to.deep.equal([
        made.body.id,
      ]);
      expect(await idsIn('/instances', { headers, query: { where: `user.id = ${service.userId}` } })).to.deep.equal([
        made.body.id,
      ]);
      expect(await idsIn(`/accounts/${encodeURIComponent('worked in')}/instances`)).to.deep.equal([made.body.id]);
      expect(await idsIn('/accounts/default/instances', { headers })).not.to.include(made.body.id);
      expect(await idsIn('/instances')).not.to.include(made.body.id);
      expectProblem(await service.call(`/instances/${made.body.id}`), 'NOT_FOUND');
    });

    it('and the same key and the same page are of one account alone', async () => {
      await create({ externalId: 'pages' });
      const headers = { 'elements-account-id': 'pages' };
      const body = { element: { key: 'odata' }, name: 'Shop', configuration: SHOP };
      const post = (more: object) =>
        service.send('POST', '/instances', body, { headers: { 'idempotency-key': 'shared', ...more } });
      const [here, there] = [await post({}), await post(headers)];
      expect(here.body.id).not.to.equal(there.body.id);
      await service.createInstance('odata', SHOP);
      const first = await service.call('/instances', { query: { pageSize: 1 } });
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      const query = { pageSize: 1, nextPage };
      expect((await service.call('/instances', { query })).status).to.equal(200);
      expectProblem(await service.call('/instances', { query, headers }), 'REQUEST_INVALID', /^nextPage does not/);
    });

    it('whose settings are theirs, by external id too', async () => {
      await create({ externalId: 'settled' });
      const body = { 'notification.webhook.retry.count': 9 };
      expect(await service.change('PATCH', '/accounts/settled/settings', body)).to.include(body);
      const headers = { 'elements-account-id': 'settled' };
      expect(await service.get('/accounts/settings', { headers })).to.include(body);
      expect(await service.get('/accounts/settings')).to.include({ 'notification.webhook.retry.count': 5 });
    });

    it('who authorize clients of providers there, through proxies of that account', async () => {
      const { id } = await create({ externalId: 'authorized' });
      const headers = { 'elements-account-id': 'authorized' };
      const body = { name: 'its-client', apiKey: 'its-key', apiSecret: 'its-secret' };
      const proxy = await service.send('POST', '/elements/oauthProxies', body, { headers });
      const query = { oauthProxyName: 'its-client', state: 'https://app.example.com/connected' };
      const url = '/elements/salesforce/oauth/url';
      expect((await service.call(url, { query, headers })).status).to.equal(200);
      const path = `/elements/oauthProxies/${proxy.body.id}`;
      expectProblem(await service.call(url, { query }), 'NOT_FOUND');
      expectProblem(await service.send('DELETE', path), 'NOT_FOUND');
      expect((await service.send('PATCH', path, { shared: true }, { headers })).status).to.equal(200);
      // Only its own account says where it leads.
      expectProblem(await service.call(url, { query }), 'FORBIDDEN');
      expectProblem(await service.send('DELETE', path), 'FORBIDDEN');
      const rows = await withDatabase(service, (knex) => knex('oauth_authorization').where({ account_id: id }));
      expect(rows.map(({ user_id }) => Number(user_id))).to.deep.equal([service.userId]);
      expect((await service.call(path, { method: 'DELETE', headers })).status).to.equal(200);
    });
  });
});
