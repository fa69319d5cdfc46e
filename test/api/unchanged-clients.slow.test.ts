import { expect } from 'chai';
import { type ApiAnswer, type ApiCall, ORGANIZATION_SECRET, pluck, USER_SECRET, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { withoutLastCall } from './support/shape.ts';
import { PRIVATE_SHOP, SHOP } from './support/simulated.ts';
import { authorizationOf, useTenants } from './support/tenants.ts';

/*
 * Requests of the vendor's generated SDK (platformSDK), of its acceptance suite and of a Python client, as they send them: all secrets with every
 * call, the token of an instance too.
 */

const PASSWORD = 'violet anchor drifts past noon';
const NEW_PASSWORD = 'seven kettles under the bridge';

interface Property {
  readonly id: number;
  readonly key: string;
  readonly propertyValue?: string;
}

describe('clients of the original API, unchanged', () => {
  const service = useApp({}, { recorderOptions: { flushMs: 20 } });
  const shop = useInstance(service, 'odata', PRIVATE_SHOP, { name: 'churros-instance', tags: ['churros-backup'] });
  const tenants = useTenants(service);

  const secrets = `User ${USER_SECRET}, Organization ${ORGANIZATION_SECRET}`;
  const send = (path: string, call: ApiCall = {}, token = shop.token) =>
    service.call(path, { ...call, headers: { authorization: `${secrets}, Element ${token}`, ...call.headers } });
  const logIn = (email: string, password: string) =>
    service.send('POST', '/console/session', { email, password }, { headers: { authorization: '' } });

  async function sent(path: string, call?: ApiCall): Promise<ApiAnswer['body']> {
    const { status, body } = await send(path, call);
    expect(status, `${call?.method ?? 'GET'} ${path}: ${JSON.stringify(body)}`).to.equal(200);
    return body;
  }

  describe('who send a token with every call', () => {
    const newInstance = { element: { key: 'odata' }, name: 'second', configuration: SHOP };

    it('create instances', async () => {
      const made = await sent('/instances', { method: 'POST', body: newInstance });
      expect(made).to.include({ name: 'second' }).and.property('id').not.to.equal(shop.id);
      await sent(`/instances/${made.id}`, { method: 'DELETE' });
    });

    it('create none with a token that is not theirs, or without the organization', async () => {
      const foreign = await service.send('POST', '/instances', newInstance, {
        headers: { authorization: `${authorizationOf(tenants.stranger).authorization}, Element ${shop.token}` },
      });
      const refusal = 'The Element token is not valid, or its instance was deleted.';
      expectProblem(foreign, 'UNAUTHENTICATED', refusal);
      expectProblem(await send('/instances', { method: 'POST', body: newInstance }, 'x'), 'UNAUTHENTICATED', refusal);
      const { status } = await shop.send('POST', '/instances', newInstance);
      expect(status).to.equal(401);
      expect(await sent('/instances?pageSize=10')).to.have.length(1);
    });

    it('list instances by a filter, and get their own without one', async () => {
      expect(await sent('/instances')).to.include({ id: shop.id });
      const found = await sent('/instances?tags%5B%5D=churros-backup&hydrate=false');
      expect(found.map(({ id }: Property) => id)).to.deep.equal([shop.id]);
      expect(found[0].configuration).to.deep.equal({});
      const [full] = await sent('/instances/?searchText=churros');
      expect(full.configuration).to.include({ username: 'demo', password: '********' });
      expect(await sent('/instances?searchText=nothing-of-this')).to.deep.equal([]);
      expect(await sent('/instances?tags%5B%5D=')).to.include({ id: shop.id });
      const { status } = await shop.call('/instances?pageSize=1');
      expect(status).to.equal(401);
    });

    it('see the platform', async () => {
      for (const path of [
        ...['/hubs', '/hubs/keys', '/hubs/general', '/elements', '/accounts', '/users', '/organizations/me'],
      ])
        await sent(path);
      expectProblem(await send('/instances/trace-logging', { method: 'POST' }), 'OPERATION_UNSUPPORTED');
      expectProblem(await send('/instances/%', {}), 'REQUEST_INVALID');
    });

    it('write a colon behind the words of the header', async () => {
      for (const header of [
        `User ${USER_SECRET}, Organization ${ORGANIZATION_SECRET}, Element: ${shop.token}`,
        `User: ${USER_SECRET},Organization:${ORGANIZATION_SECRET} , element :  ${shop.token}`,
      ]) {
        await service.get('/instances', { headers: { authorization: header } });
      }
      const without = await service.call('/accounts', { headers: { authorization: `User ${USER_SECRET}, Element: ` } });
      expectProblem(without, 'UNAUTHENTICATED', 'The Authorization header has no secret after Element.');
      expect(service.logged.join('')).not.to.include(shop.token);
    });

    it('page from 0, and ask for the total', async () => {
      const query = { page: 0, pageSize: 2, returnTotalCount: 'True' };
      const first = await send('/hubs/general/Products', { query });
      expect(first.status, JSON.stringify(first.body)).to.equal(200);
      expect(await sent('/Products?page=1&pageSize=2')).to.deep.equal(first.body);
      const wrong = await send('/Products', { query: { returnTotalCount: 'yes' } });
      expect(faultsOf(wrong)).to.have.property('query.returnTotalCount');
    });
  });

  describe('of an instance, without its id', () => {
    it('disable and enable it', async () => {
      await sent('/instances/enabled', { method: 'DELETE' });
      expectProblem(await send('/Products'), 'FORBIDDEN');
      expect(await sent('/instances/enabled', { method: 'PUT' })).to.include({ id: shop.id, disabled: false });
      await sent('/Products?pageSize=1');
    });

    it('trace its calls, and list its events', async () => {
      await sent('/instances/trace-logging', { method: 'PUT' });
      expect(await sent('/instances')).to.include({ traceLoggingEnabled: true });
      expect(await sent('/instances/trace-logging', { method: 'DELETE' })).to.deep.equal({ id: shop.id });
      expect(await sent('/instances/events')).to.deep.equal([]);
    });
  });

  describe('of the configuration of an instance', () => {
    const find = (properties: readonly Property[], key: string) => properties.find((each) => each.key === key);

    it('read it as a list of properties, by token and by id', async () => {
      const byToken: readonly Property[] = await sent('/instances/configuration');
      expect(await sent(`/instances/${shop.id}/configuration`)).to.deep.equal(byToken);
      expect(await sent(`/instances/${shop.id}/configuration/?`)).to.deep.equal(byToken);
      expect(find(byToken, 'username')).to.include({ propertyValue: 'demo', type: 'string', active: true });
      expect(find(byToken, 'password')).to.include({ propertyValue: '********' });
      expect(find(byToken, 'event.notification.callback.url')).not.to.have.property('propertyValue');
      const body = await service.get(`/instances/${shop.id}/configuration`);
      expect(body, 'without a token').to.include({ username: 'demo' });
    });

    it('change a property as they read it, by its id', async () => {
      for (const path of [`/instances/${shop.id}/configuration`, '/instances/configuration']) {
        for (const propertyValue of ['true', 'false']) {
          const property = find(await sent(path), 'event.notification.ordered');
          const changed = await sent(`${path}/${property?.id}`, {
            method: 'PATCH',
            body: { ...property, propertyValue },
          });
          expect(changed).to.deep.equal({ ...property, propertyValue });
          expect(await sent(`${path}/${property?.id}`)).to.deep.equal(changed);
          expect(await sent(`${path}/event.notification.ordered`)).to.deep.equal(changed);
        }
      }
    });

    it('keep a secret that they send back masked, and are told what is wrong', async () => {
      const path = '/instances/configuration';
      const password = find(await sent(path), 'password');
      await sent(`${path}/${password?.id}`, { method: 'PATCH', body: password });
      await sent('/Products?pageSize=1');
      const flag = `${path}/event.notification.ordered`;
      const wrong = await send(flag, { method: 'PATCH', body: { propertyValue: 'maybe' } });
      expect(faultsOf(wrong)).to.have.property('body.propertyValue');
      const renamed = await send(flag, { method: 'PATCH', body: { key: 'x', propertyValue: 'true' } });
      expect(faultsOf(renamed)).to.have.property('body.key');
      expectProblem(await send(`${path}/4711`), 'NOT_FOUND', /has no configuration property '4711'\./);
    });
  });

  describe('of the instances of an element', () => {
    it('get, change and delete one', async () => {
      const { id } = await service.createInstance('odata', SHOP);
      const path = `/elements/odata/instances/${id}`;
      const read = await sent(path);
      expect(read).to.include({ id });
      const byNumber = await sent(`/elements/${read.element.id}/instances/${id}`);
      expect(withoutLastCall(byNumber)).to.deep.equal(withoutLastCall(read));
      expect(await sent(path, { method: 'PATCH', body: { tags: ['x'] } })).to.deep.include({ tags: ['x'] });
      const body = { element: { key: 'odata' }, name: 'updated-instance', configuration: SHOP };
      expect(await sent(path, { method: 'PUT', body })).to.include({ name: 'updated-instance' });
      const elsewhere = `/elements/bamboohr/instances/${id}`;
      const message = `There is no instance ${id} of the element 'bamboohr'.`;
      for (const method of ['GET', 'DELETE']) expectProblem(await send(elsewhere, { method }), 'NOT_FOUND', message);
      const rows = await service.get(`/audit-logs/element-instances/${id}`);
      expect(pluck(rows, 'action')).to.include.members(['create', 'update']);
      expect(await sent(path, { method: 'DELETE' })).to.deep.equal({ id });
      expectProblem(await send(path), 'NOT_FOUND');
    });
  });

  describe('of hubs', () => {
    it('list their keys and their elements', async () => {
      const keys = await sent('/hubs/keys');
      expect(keys).to.include.members(['crm', 'general']).and.to.deep.equal(keys.toSorted());
      const hubs = await service.get('/hubs');
      expect(await sent('/hubs/crm')).to.deep.equal(hubs.find(({ key }: Property) => key === 'crm'));
      expect(await service.get('/hubs/crm/elements')).to.deep.equal(await sent('/elements?hub=crm'));
      expectProblem(await service.call('/hubs/cmr'), 'NOT_FOUND', /^There is no hub 'cmr'\. .*'crm'/);
      expectProblem(await service.call('/hubs/cmr/elements'), 'NOT_FOUND');
      expectProblem(await service.call('/hubs/crm/contacts'), 'UNAUTHENTICATED');
    });
  });

  describe('of their organization', () => {
    it('replace its name', async () => {
      const read = await sent('/organizations/me');
      const changed = await sent('/organizations/me', { method: 'PUT', body: { ...read, name: 'Renamed' } });
      expect(changed).to.deep.equal({ ...read, name: 'Renamed' });
      expect(faultsOf(await send('/organizations/me', { method: 'PUT', body: {} }))).to.have.property('body.name');
      await sent('/organizations/me', { method: 'PUT', body: read });
    });

    it('have its accounts below it, and no others', async () => {
      const { id } = await sent('/organizations/me');
      expect(await sent(`/organizations/${id}/accounts`)).to.deep.equal(await sent('/accounts'));
      const body = { externalId: 'churros@example.com', name: 'churros' };
      const made = await sent(`/organizations/${id}/accounts`, { method: 'POST', body });
      expect(await sent(`/organizations/${id}/accounts/${made.id}`)).to.deep.equal(made);
      expectProblem(await send(`/organizations/${id}/accounts/-1`), 'NOT_FOUND');
      const path = '/organizations/-1/accounts';
      expectProblem(await send(path), 'NOT_FOUND', 'There is no organization -1.');
      const other = { externalId: 'nowhere' };
      expectProblem(await send(path, { method: 'POST', body: other }), 'NOT_FOUND');
      await sent(`/accounts/${made.id}`, { method: 'DELETE' });
    });
  });

  describe('of the roles of an account', () => {
    it('give one to all its users, and take it again', async () => {
      const { id } = await sent('/accounts', { method: 'POST', body: { externalId: 'with-roles' } });
      const path = `/accounts/${id}/roles`;
      const body = { firstName: 'a', lastName: 'b', email: 'of-account@example.com' };
      const { secret, roles } = await sent(`/accounts/${id}/users`, { method: 'POST', body });
      expect(roles).to.deep.equal(['default-user']);
      const headers = { authorization: `User ${secret}, Organization ${ORGANIZATION_SECRET}` };
      const listUsers = async () => (await service.call(`/accounts/${id}/users`, { headers })).status;
      expect(await sent(path)).to.deep.equal([]);
      expect(await listUsers()).to.equal(403);
      const role = await sent(`${path}/admin`, { method: 'PUT' });
      expect(role).to.include({ key: 'admin' });
      expect(await sent(`${path}/admin`, { method: 'PUT' })).to.deep.equal(role);
      expect(await sent(path)).to.deep.equal([role]);
      expect(await listUsers()).to.equal(200);
      expect(await sent(`${path}/admin`, { method: 'DELETE' })).to.deep.equal({ id: role.id, key: 'admin' });
      expect(await listUsers()).to.equal(403);
      expectProblem(await send(`${path}/admin`, { method: 'DELETE' }), 'NOT_FOUND');
      const log = await service.get('/audit-logs/settings');
      const changes = pluck(log, 'changes');
      expect(changes).to.deep.include.members([{ roles: { to: 'admin' } }, { roles: { from: 'admin' } }]);
    });

    it('give none above their own, and nobody the organization', async () => {
      await sent('/accounts/1/roles/admin', { method: 'PUT' });
      const user = { firstName: 'a', lastName: 'b', email: 'below@example.com', roles: ['default-user'] };
      const { id, secret } = await sent('/accounts/1/users', { method: 'POST', body: user });
      const headers = { authorization: `User ${secret}, Organization ${ORGANIZATION_SECRET}` };
      const ofAll = await service.call('/accounts/1/roles/org-admin', { method: 'PUT', headers });
      expectProblem(ofAll, 'CONFLICT', 'An account cannot have the role org-admin. Give it to single users instead.');
      // It has what nobody of the account has.
      const privileges = ['viewElements', 'viewAccountUsers', 'configureRoles'];
      const before = await sent('/organizations/roles/default-user');
      await sent('/organizations/roles/default-user', { method: 'PUT', body: { privileges } });
      const above = await tenants.sibling.send('PUT', `/accounts/${tenants.sibling.accountId}/roles/default-user`);
      expectProblem(above, 'FORBIDDEN', /^The role default-user has the privilege configureRoles/);
      const body = { privileges: before.privileges };
      await sent('/organizations/roles/default-user', { method: 'PUT', body });
      await sent('/accounts/1/roles/admin', { method: 'DELETE' });
      expect((await service.call(`/accounts/1/users/${id}`, { headers })).status).to.equal(200);
      for (const method of ['PUT', 'DELETE'])
        expectProblem(await tenants.stranger.send(method, '/accounts/1/roles/admin'), 'NOT_FOUND');
    });
  });

  describe('of users', () => {
    const person = { firstName: 'churros', lastName: 'test' };

    it('give them a password, by which they log in', async () => {
      const email = 'with-password@example.com';
      const body = { ...person, email, password: PASSWORD };
      const made = await sent('/accounts/1/users', { method: 'POST', body });
      expect(made).not.to.have.property('password');
      expect((await logIn(email, PASSWORD)).status).to.equal(200);
      expect((await logIn(email, NEW_PASSWORD)).status).to.equal(401);
      const changed = await sent(`/users/${made.id}`, { method: 'PATCH', body: { ...body, password: NEW_PASSWORD } });
      expect(changed).to.include({ email }).and.not.to.have.property('password');
      expect((await logIn(email, PASSWORD)).status).to.equal(401);
      expect((await logIn(email, NEW_PASSWORD)).status).to.equal(200);
      const log = await service.get('/audit-logs/users', { query: { pageSize: 2 } });
      for (const { changes } of log) expect(changes).to.include({ password: 'set' });
      const everything = await service.get('/audit-logs');
      const told = JSON.stringify([everything, service.logged]);
      for (const password of [PASSWORD, NEW_PASSWORD]) expect(told).not.to.include(password);
    });

    it('end the sessions of whose password they set', async () => {
      const email = 'logged-in@example.com';
      const { id } = await sent('/organizations/users', {
        method: 'POST',
        body: { ...person, email, password: PASSWORD },
      });
      const { headers } = await logIn(email, PASSWORD);
      const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
      const see = () => service.call('/console/session', { headers: { authorization: '', cookie } });
      expect((await see()).status).to.equal(200);
      await sent(`/organizations/users/${id}`, { method: 'PATCH', body: { password: NEW_PASSWORD } });
      expect((await see()).status).to.equal(401);
    });

    it('make nobody with a password that is refused', async () => {
      const body = { ...person, email: 'weak@example.com', password: 'Passw0rd!' };
      const weak = await send('/users/me', { method: 'PATCH', body: { password: 'Passw0rd!' } });
      const refused = await send('/accounts/1/users', { method: 'POST', body });
      for (const response of [weak, refused])
        expect(faultsOf(response)).to.deep.equal({
          'body.password': 'The password has 9 characters; it needs 12 to 256.',
        });
      expectProblem(await send('/users/weak@example.com'), 'NOT_FOUND');
    });

    it('set none of somebody above them, and in a session not their own without the one of now', async () => {
      const above = await tenants.colleague.send('PATCH', '/users/1', { password: PASSWORD });
      expectProblem(above, 'FORBIDDEN');
      const set = { method: 'PUT', body: { password: PASSWORD }, headers: authorizationOf(service) };
      await service.call('/users/me/password', set);
      const { headers, body } = await logIn('admin@localhost', PASSWORD);
      const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
      const inSession = { authorization: '', cookie, 'x-csrf-token': body.csrfToken };
      for (const path of ['/users/me', '/users/1', '/users/admin@localhost', '/organizations/users/1']) {
        const call = { method: 'PATCH', body: { password: NEW_PASSWORD }, headers: inSession };
        expectProblem(await service.call(path, call), 'FORBIDDEN', /PUT \/users\/me\/password/);
      }
      expect((await logIn('admin@localhost', PASSWORD)).status).to.equal(200);
    });
  });

  describe('of usage', () => {
    it('ask for days, and see the company', async () => {
      const today = new Date().toISOString().slice(0, 10);
      const day = (offset: number) => new Date(Date.parse(today) + offset * 86_400_000).toISOString().slice(0, 10);
      await until(async () => (await sent('/usage')).length > 0);
      const rows = await sent('/usage', { query: { from: day(-30), to: today } });
      expect(rows.length).to.be.above(0);
      expect(rows[0]).to.include({ company_id: 1, account_id: 1 });
      for (const [from, to] of [
        [day(1), day(2)],
        [day(-2), day(-1)],
      ])
        expect(await sent('/usage', { query: { from, to } })).to.deep.equal([]);
      const counts = await sent('/usage/analytics/activity', { query: { from: day(-1), to: today, interval: 'day' } });
      expect(counts.map(({ timestamp }: { readonly timestamp: string }) => timestamp.slice(0, 10))).to.deep.equal([
        day(-1),
        today,
      ]);
      for (const path of ['/usage', '/usage/analytics/statuses', '/usage/analytics/times'])
        for (const from of ['2026-02-30', 'yesterday', '2026'])
          expect(faultsOf(await send(path, { query: { from } })), from).to.have.property('query.from');
    });
  });

  describe('of bulk files', () => {
    it('get exactly the type that they ask for', async () => {
      const { id } = await sent('/hubs/general/bulk/query', { method: 'POST', query: { q: 'select * from Products' } });
      await until(async () => (await sent(`/bulk/${id}/status`)).status === 'COMPLETED');
      const typeOf = async (accept: string) =>
        (await send(`/hubs/general/bulk/${id}/Products`, { headers: { accept } })).headers.get('content-type');
      expect(await typeOf('text/csv')).to.equal('text/csv');
      expect(await typeOf('text/csv, */*;q=0.1')).to.equal('text/csv; charset=utf-8; header=present');
    });
  });
});
