import { expect } from 'chai';
import { type StartedApp, startTestApp, useApp, useSharedApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { withoutLastCall } from './support/shape.ts';
import { BAMBOOHR, PRIVATE_SHOP, SHOP } from './support/simulated.ts';

const MASKED_SHOP = {
  ...PRIVATE_SHOP,
  password: '********',
  'text.binary': false,
  'filter.local': false,
  'odata.enum': 'service',
};

describe('the life of an instance', () => {
  const service = useSharedApp();

  const createShop = () => service.createInstance('odata', PRIVATE_SHOP, { name: 'Shop', tags: ['one', 'two'] });
  const get = async (id: number) => await service.get(`/instances/${id}`);
  const canRead = async (token: string) => (await service.call('/Products?pageSize=1', { token })).status === 200;

  describe('PATCH', () => {
    it('changes the name and leaves the rest', async () => {
      const { id, token } = await createShop();
      const body = await service.change('PATCH', `/instances/${id}`, { name: '  Market ' });
      expect(body).to.deep.include({ id, token, name: 'Market', tags: ['one', 'two'], configuration: MASKED_SHOP });
      expect(await get(id)).to.deep.equal(body);
    });

    it('replaces all tags', async () => {
      const { id } = await createShop();
      const body = await service.change('PATCH', `/instances/${id}`, { tags: ['three'] });
      expect(body).to.deep.include({ name: 'Shop', tags: ['three'] });
      await service.send('PATCH', `/instances/${id}`, { tags: [] });
      expect((await get(id)).tags).to.deep.equal([]);
    });

    it('keeps a secret that comes back masked', async () => {
      const { id, token } = await createShop();
      const body = { configuration: { ...MASKED_SHOP, username: 'demo' } };
      const response = await service.send('PATCH', `/instances/${id}`, body);
      expect(response.body.configuration).to.deep.equal(MASKED_SHOP);
      expect(await canRead(token)).to.equal(true);
    });

    it('changes single settings and keeps the others', async () => {
      const { id, token } = await createShop();
      const body = { configuration: { 'text.binary': true } };
      const response = await service.send('PATCH', `/instances/${id}`, body);
      expect(response.body.configuration).to.deep.equal({ ...MASKED_SHOP, 'text.binary': true });
      expect(await canRead(token)).to.equal(true);
    });

    it('leaves the old credentials in force when the provider refuses the new ones', async () => {
      const { id, token } = await createShop();
      const before = await get(id);
      const body = { name: 'Renamed', tags: ['x'], configuration: { password: 'confidential-word' } };
      for (const [path, withToken] of [[`/instances/${id}`], ['/instances', token]] as const) {
        const response = await service.call(path, { method: 'PATCH', body, ...(withToken && { token: withToken }) });
        const message = 'OData rejects these credentials. Check base.url, username, password. Nothing was stored.';
        expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID', message);
        expect(JSON.stringify(response.body)).not.to.include('confidential');
      }
      expect(withoutLastCall(await get(id))).to.deep.equal(withoutLastCall(before));
      expect(await canRead(token)).to.equal(true);
    });

    it('needs something to change, and refuses what it does not know', async () => {
      const { id } = await createShop();
      const empty = await service.send('PATCH', `/instances/${id}`, {});
      expectProblem(empty, 'REQUEST_INVALID', 'body must NOT have fewer than 1 properties.');
      const body = { element: { key: 'bamboohr' }, token: 'mine', valid: false, id: id + 1, configuration: {} };
      const unknown = await service.send('PATCH', `/instances/${id}`, body);
      expectProblem(unknown, 'REQUEST_INVALID');
      expect(Object.keys(faultsOf(unknown))).to.deep.equal(['body.element', 'body.token', 'body.valid', 'body.id']);
      const wrong = await service.send('PATCH', `/instances/${id}`, { name: ' ', tags: 'x' });
      expect(Object.keys(faultsOf(wrong))).to.have.members(['body.name', 'body.tags']);
    });
  });

  describe('PUT', () => {
    it('empties what is left out, and keeps id, token and element', async () => {
      const { id, token, createdDate } = await createShop();
      const body = { name: 'Public', configuration: SHOP };
      const response = await service.send('PUT', `/instances/${id}`, body);
      expect(response.body).to.deep.include({ id, token, createdDate, name: 'Public', tags: [], elementId: 1001 });
      expect(response.body.configuration).to.deep.equal({
        ...SHOP,
        'text.binary': false,
        'filter.local': false,
        'odata.enum': 'service',
      });
      expect(await canRead(token)).to.equal(true);
    });

    it('keeps a secret that comes back masked', async () => {
      const { id, token } = await createShop();
      const body = { name: 'Shop', configuration: MASKED_SHOP, element: { key: 'odata' } };
      expect((await service.send('PUT', `/instances/${id}`, body)).status).to.equal(200);
      expect(await canRead(token)).to.equal(true);
    });

    it('needs name and configuration', async () => {
      const { id } = await createShop();
      const response = await service.send('PUT', `/instances/${id}`, { tags: [] });
      expect(faultsOf(response)).to.deep.equal({ 'body.name': 'is missing', 'body.configuration': 'is missing' });
    });

    it('does not move the instance to another element', async () => {
      const { id } = await createShop();
      const body = { name: 'Shop', configuration: BAMBOOHR, element: { key: 'bamboohr' } };
      const message = `Instance ${id} belongs to the element 'odata'. Create a new instance for another element.`;
      expectProblem(await service.send('PUT', `/instances/${id}`, body), 'REQUEST_INVALID', message);
    });

    it('changes nothing when the provider refuses the credentials', async () => {
      const { id, token } = await createShop();
      const before = await get(id);
      const body = { name: 'New', configuration: { ...PRIVATE_SHOP, username: 'nobody' } };
      const response = await service.send('PUT', `/instances/${id}`, body);
      expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID');
      expect(withoutLastCall(await get(id))).to.deep.equal(withoutLastCall(before));
      expect(await canRead(token)).to.equal(true);
    });
  });

  describe('its configuration', () => {
    it('is shown with its secrets masked', async () => {
      const { id } = await createShop();
      expect(await service.get(`/instances/${id}/configuration`)).to.deep.equal(MASKED_SHOP);
    });

    it('changes by PATCH, after the provider has taken it', async () => {
      const { id, token } = await createShop();
      const path = `/instances/${id}/configuration`;
      const changed = await service.send('PATCH', path, { 'text.binary': 'true', password: '********' });
      expect(changed.body).to.deep.equal({ ...MASKED_SHOP, 'text.binary': true });
      const refused = await service.send('PATCH', path, { username: 'nobody' });
      expectProblem(refused, 'PROVIDER_CREDENTIALS_INVALID');
      const unknown = await service.send('PATCH', path, { pasword: 'confidential' });
      const message = "The configuration of OData: Unknown configuration key 'pasword'. Did you mean 'password'?";
      expectProblem(unknown, 'REQUEST_INVALID', message);
      expect(await service.get(path)).to.deep.equal({ ...MASKED_SHOP, 'text.binary': true });
      expect(await canRead(token)).to.equal(true);
    });

    it('loses a key that is set to null, unless it is needed', async () => {
      const { id } = await createShop();
      const path = `/instances/${id}/configuration`;
      const body = { 'base.url': SHOP['base.url'], username: null, password: null };
      const response = await service.send('PATCH', path, body);
      expect(response.body).to.deep.equal({
        ...SHOP,
        'text.binary': false,
        'filter.local': false,
        'odata.enum': 'service',
      });
      const needed = await service.send('PATCH', path, { 'base.url': null });
      expect(Object.keys(faultsOf(needed))).to.deep.equal(['body.base.url']);
    });
  });

  describe('enabled and disabled', () => {
    it('by PUT and DELETE of `enabled`, as often as you like', async () => {
      const { id, token } = await createShop();
      for (let times = 0; times < 2; times++) {
        expect(await service.send('DELETE', `/instances/${id}/enabled`)).to.deep.include({ status: 200, body: { id } });
      }
      expect((await get(id)).disabled).to.equal(true);
      expectProblem(await service.call('/Products', { token }), 'FORBIDDEN');
      for (let times = 0; times < 2; times++) {
        const enabled = await service.send('PUT', `/instances/${id}/enabled`);
        expect(enabled.body).to.include({ id, disabled: false });
      }
      expect(await canRead(token)).to.equal(true);
    });

    it('is not what re-authentication changes', async () => {
      const { id } = await createShop();
      await service.send('DELETE', `/instances/${id}/enabled`);
      await service.send('PATCH', `/instances/${id}`, { configuration: PRIVATE_SHOP });
      expect((await get(id)).disabled).to.equal(true);
    });
  });

  describe('with its token, as this instance', () => {
    it('answers the instance, not a list', async () => {
      const { id, token } = await createShop();
      const response = await service.call('/instances', { token });
      expect(response.body).to.deep.equal(await get(id));
    });

    it('changes and is replaced', async () => {
      const { id, token } = await createShop();
      const patched = await service.send('PATCH', '/instances', { name: 'Patched' }, { token });
      expect(patched.body).to.include({ id, name: 'Patched' });
      const body = { name: 'Replaced', configuration: SHOP };
      const replaced = await service.send('PUT', '/instances', body, { token });
      expect(replaced.body).to.deep.include({ id, name: 'Replaced', tags: [] });
      expect(withoutLastCall(await get(id))).to.deep.equal(withoutLastCall(replaced.body));
    });

    it('is deleted', async () => {
      const { id, token } = await createShop();
      const response = await service.call('/instances', { method: 'DELETE', token });
      expect(response).to.deep.include({ status: 200, body: { id } });
      expectProblem(await service.call('/instances', { method: 'DELETE', token }), 'UNAUTHENTICATED');
    });
  });

  describe('DELETE', () => {
    it('ends it at once: there is no instance and the token is refused', async () => {
      const { id, token } = await createShop();
      expect(await canRead(token)).to.equal(true);
      expect(await service.send('DELETE', `/instances/${id}`)).to.deep.include({ status: 200, body: { id } });
      expectProblem(await service.call('/Products', { token }), 'UNAUTHENTICATED');
      for (const [method, end] of [
        ['GET', ''],
        ['DELETE', ''],
        ['GET', '/configuration'],
        ['PUT', '/enabled'],
      ] as const) {
        const gone = await service.send(method, `/instances/${id}${end}`);
        expectProblem(gone, 'NOT_FOUND', `There is no instance ${id}.`);
      }
    });

    it('of one instance by many callers is done once', async () => {
      const { id } = await createShop();
      const calls = Array.from({ length: 5 }, () => service.send('DELETE', `/instances/${id}`));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses.sort()).to.deep.equal([200, 404, 404, 404, 404]);
    });
  });
});

describe('an instance, in a second process on the same database', () => {
  const first = useApp();
  let second: StartedApp;
  before(async () => {
    second = await startTestApp({ DATABASE_URL: first.databaseUrl });
  });
  after(() => second.stop());

  // The first call puts the instance into the second process's memory.
  async function createKnownToBoth() {
    const instance = await first.createInstance('odata', SHOP);
    expect((await second.call('/Products?pageSize=1', { token: instance.token })).status).to.equal(200);
    return instance;
  }

  it('is known as soon as it is created', async () => {
    const { id, token } = await createKnownToBoth();
    expect((await second.get('/instances', { token })).id).to.equal(id);
  });

  it('is refused there when it is deleted here', async () => {
    const { id, token } = await createKnownToBoth();
    expect(await first.change('DELETE', `/instances/${id}`)).to.deep.equal({ id });
    await until(async () => (await second.call('/Products?pageSize=1', { token })).status === 401);
  });

  it('is disabled and enabled there when it is here', async () => {
    const { id, token } = await createKnownToBoth();
    const setEnabled = async (method: 'PUT' | 'DELETE') =>
      (await first.send(method, `/instances/${id}/enabled`)).status;
    expect(await setEnabled('DELETE')).to.equal(200);
    await until(async () => (await second.call('/Products?pageSize=1', { token })).status === 403);
    expect(await setEnabled('PUT')).to.equal(200);
    await until(async () => (await second.call('/Products?pageSize=1', { token })).status === 200);
  });

  it('has its new configuration there when it gets it here', async () => {
    const { id, token } = await createKnownToBoth();
    const answeredBy = async () => {
      const query = { where: "Name LIKE 'ABC%'", pageSize: 1 };
      return (await second.call('/Products', { token, query })).headers.get('elements-query-pushdown');
    };
    expect(await answeredBy()).to.equal('partial');
    const body = { 'text.binary': true };
    expect((await first.send('PATCH', `/instances/${id}/configuration`, body)).status).to.equal(200);
    await until(async () => (await answeredBy()) === 'full');
  });

  it('takes a page token there that was given here', async () => {
    const { token } = await createKnownToBoth();
    const page = await first.call('/Products?pageSize=2&fields=Id', { token });
    const nextPage = page.headers.get('elements-next-page-token') ?? '';
    const next = await second.call('/Products', { token, query: { pageSize: 2, fields: 'Id', nextPage } });
    expect(next.body).to.deep.equal([{ Id: 3 }, { Id: 4 }]);
  });
});
