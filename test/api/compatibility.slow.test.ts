import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { pluck, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { withoutLastCall } from './support/shape.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';

describe('clients of the original API', () => {
  const service = useApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const shop = useInstance(service, 'odata', SHOP);
  const people = useInstance(service, 'bamboohr', BAMBOOHR);

  describe('of the settings of their account', () => {
    it('need not know which one it is', async () => {
      const written = await service.send('PATCH', '/accounts/settings', { 'notification.webhook.retry.count': 9 });
      expect(written.body).to.include({ 'notification.webhook.retry.count': 9 });
      expect(await service.get('/accounts/settings')).to.deep.equal(written.body);
      expect(await service.get(`/accounts/${service.accountId}/settings`)).to.deep.equal(written.body);
      const again = await service.send('PATCH', '/accounts/settings', written.body);
      expect(again.body).to.deep.equal(written.body);
      const reset = await service.send('POST', '/accounts/settings', {});
      expect(reset.body).to.include({ 'notification.webhook.retry.count': 5 });
    });
  });

  describe('of the instances of an element', () => {
    it('list them by key and by id, with the filters of all instances', async () => {
      const idsAt = async (path: string) => {
        const body = await service.get(path);
        return pluck(body, 'id');
      };
      expect(await idsAt('/elements/bamboohr/instances')).to.deep.equal([people.id]);
      expect(await idsAt('/elements/1002/instances')).to.deep.equal([people.id]);
      expect(await idsAt('/elements/odata/instances')).to.deep.equal([shop.id]);
      expect(await idsAt('/elements/odata/instances?searchText=nothing')).to.deep.equal([]);
      expectProblem(await service.call('/elements/odatta/instances'), 'NOT_FOUND');
    });

    it('page through them, with tokens that are of this element', async () => {
      const second = await service.createInstance('odata', SHOP);
      const first = await service.call('/elements/odata/instances?pageSize=1');
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      const next = await service.call('/elements/odata/instances', { query: { pageSize: 1, nextPage } });
      expect(pluck(next.body, 'id')).to.deep.equal([second.id]);
      expectProblem(await service.call('/elements/bamboohr/instances', { query: { nextPage } }), 'REQUEST_INVALID');
      await service.send('DELETE', `/instances/${second.id}`);
    });

    it('create one without naming the element again', async () => {
      const create = (body: object) => service.send('POST', '/elements/odata/instances', body);
      const { status, body } = await create({ name: 'Third', configuration: SHOP });
      expect(status).to.equal(200);
      expect(body.element.key).to.equal('odata');
      expect((await create({ element: { key: 'odata' }, name: 'Fourth', configuration: SHOP })).status).to.equal(200);
      const other = await create({ element: { key: 'bamboohr' }, name: 'Fifth', configuration: SHOP });
      expectProblem(other, 'REQUEST_INVALID', "The path is of the element 'odata', the body of 'bamboohr'.");
    });
  });

  describe('who send an instance back as they read it', () => {
    it('change what they changed of it', async () => {
      const path = `/instances/${shop.id}`;
      for (const method of ['PATCH', 'PUT']) {
        const read = await service.get(path);
        const { status, body } = await service.send(method, path, { ...read, name: `By ${method}` });
        expect(status, method).to.equal(200);
        expect(withoutLastCall(body)).to.deep.equal({ ...withoutLastCall(read), name: `By ${method}` });
      }
      const own = await shop.get('/instances');
      const put = await shop.send('PUT', '/instances', { ...own, tags: ['x'] });
      expect(withoutLastCall(put.body)).to.deep.equal({ ...withoutLastCall(own), tags: ['x'] });
    });

    it('are told what cannot be changed, and what is not known', async () => {
      const path = `/instances/${people.id}`;
      const read = await service.get(path);
      const response = await service.send('PATCH', path, { ...read, disabled: true, valid: false, nmae: 'x' });
      expectProblem(response, 'REQUEST_INVALID', / \(and 2 more, see details\)$/);
      expect(response.body.details.map(({ path: place }: { readonly path: string }) => place)).to.have.members([
        '/body/disabled',
        '/body/valid',
        '/body/nmae',
      ]);
      expect(withoutLastCall(await service.get(path))).to.deep.equal(withoutLastCall(read));
    });
  });

  describe('who send a record back as they read it', () => {
    it('change what they changed of it', async () => {
      for (const method of ['PATCH', 'PUT']) {
        const read = await shop.get('/Products/7');
        const body = { ...read, Name: `By ${method}` };
        const response = await shop.send(method, '/Products/7', body);
        expect(response.body, method).to.deep.equal(body);
      }
    });

    it('cost their provider a read only where there is something to judge', async () => {
      const callsOf = async (body: object) => {
        const { headers } = await shop.send('PATCH', '/Products/7', body);
        return Number(headers.get('elements-provider-calls'));
      };
      const plain = await callsOf({ Name: 'x' });
      expect(await callsOf({ Id: 7, Name: 'x' })).to.equal(plain + 1);
    });

    it('are told what cannot be changed, and nothing is', async () => {
      const read = await shop.get('/Products/7');
      for (const method of ['PATCH', 'PUT']) {
        const response = await shop.send(method, '/Products/7', { ...read, Id: 8, Name: 'y' });
        expectProblem(response, 'REQUEST_INVALID', "'Id' cannot be set on update, and is not what the record has.");
        expect(response.body.details).to.deep.include({
          path: '/body/Id',
          message: "'Id' cannot be set on update, and is not what the record has.",
        });
      }
      expect(await shop.get('/Products/7')).to.deep.equal(read);
      const unknown = await shop.send('PATCH', '/Products/99999', { Id: 99999 });
      expectProblem(unknown, 'NOT_FOUND', "There is no record '99999' in 'Products'.");
    });
  });

  it('begin an authorization with the parameters in the body', async () => {
    const request = { apiKey: 'my client', callbackUrl: 'https://app.example.com/connected', state: 'mine' };
    const body = await service.change('POST', '/elements/salesforce/oauth/url', {
      ...request,
      apiSecret: 'my secret',
      simulator: true,
    });
    expect(body.element).to.equal('salesforce');
    const { searchParams } = new URL(body.oauthUrl);
    expect([searchParams.get('client_id'), searchParams.get('state')]).to.deep.equal(['my client', 'mine']);
    const unknown = await service.send('POST', '/elements/salesforce/oauth/url', { apikey: 'x' });
    expectProblem(unknown, 'REQUEST_INVALID');
  });

  describe('who ping', () => {
    it('learn that the provider answered and took the credentials', async () => {
      for (const path of ['/ping', '/hubs/humancapital/ping']) {
        const { body, headers } = await people.call(path);
        expect(body).to.have.all.keys('dateTime', 'endpoint');
        expect(body.endpoint).to.equal('bamboohr');
        expect(headers.get('elements-provider-calls')).to.equal('1');
      }
      expectProblem(await people.call('/hubs/crm/ping'), 'NOT_FOUND');
    });

    it('are told when the instance may not be used', async () => {
      await service.send('DELETE', `/instances/${people.id}/enabled`);
      expectProblem(await people.call('/ping'), 'FORBIDDEN');
      await service.send('PUT', `/instances/${people.id}/enabled`);
    });
  });

  describe('who send the token with every call', () => {
    const withAll = (token: string) =>
      `User ${service.userSecret}, Organization ${service.organizationSecret}, Element ${token}`;
    const call = (path: string, token: string, more: object = {}) =>
      service.call(path, { ...more, headers: { authorization: withAll(token) } });
    let provider: Server;
    before(async () => {
      provider = createServer((request, response) => {
        const body = request.url === '/me' ? {} : { records: [{ id: 12 }] };
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
      }).listen(0, '127.0.0.1');
      await once(provider, 'listening');
    });
    after(() => provider.close());

    it('reach the platform where the element has no such object', async () => {
      const elements = await call('/elements', people.token);
      expect(elements.body).to.deep.equal(await service.get('/elements'));
      expect((await call('/accounts/settings', shop.token)).body).to.have.property('notification.webhook.retry.count');
      expect(await call('/notifications/subscriptions', shop.token)).to.deep.include({ status: 200, body: [] });
      const created = await call('/elements/odata/instances', shop.token, {
        method: 'POST',
        body: { name: 'With a token', configuration: SHOP },
      });
      expect(created.status).to.equal(200);
    });

    it('need the organization there', async () => {
      const message = 'This path also needs `Organization <secret>` in the Authorization header.';
      expectProblem(await people.call('/elements'), 'UNAUTHENTICATED', message);
    });

    it('reach the object of the element where it has one, and its failure where that cannot be told', async () => {
      const address = provider.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const configuration = { 'base.url': `http://127.0.0.1:${port}`, 'api.key': 'key' };
      const { token } = await service.createInstance('impatient', configuration);
      expect((await call('/accounts', token)).body).to.deep.equal([{ id: 12 }]);
      expectProblem(await call('/accounts/settings', token), 'OPERATION_UNSUPPORTED');
      expect((await call('/elements', token)).status).to.equal(200);
    });

    it('get the nearest object for what is neither', async () => {
      const message = "OData has no object 'Prodcts'. Did you mean 'Products'? GET /objects lists them all.";
      expectProblem(await call('/Prodcts', shop.token), 'NOT_FOUND', message);
    });
  });
});
