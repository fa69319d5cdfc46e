import { request as sendRaw } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { DEMO_CONFIGURATION } from '../../connectors/servicenow/simulator.ts';
import { useApp } from '../support/app.ts';
import { createKey, withKey } from './support/access-keys.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf, createUser, updateRows, withDatabase } from './support/tenants.ts';

const REFUSAL = 'The access key is not valid: it was deleted or has expired, or its user may no longer use it.';

describe('attacks with access keys', function attacks() {
  this.timeout(60_000);
  const service = useApp({ RATE_LIMIT_USER: 'off', RATE_LIMIT_ACCOUNT: 'off' });
  const shop = useInstance(service, 'odata', SHOP);
  const people = useInstance(service, 'bamboohr', BAMBOOHR);
  const desk = useInstance(service, 'servicenow', { ...DEMO_CONFIGURATION, simulator: true });

  /** Sends a path as it is, which `fetch` would normalise. */
  const send = (path: string, key: string, method = 'GET', headers: Record<string, string> = {}) =>
    new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
      const { hostname, port } = new URL(service.app.url);
      const authorization = `Bearer ${key}`;
      const sent = sendRaw({ hostname, port, path, method, headers: { authorization, ...headers } });
      sent.on('error', reject);
      sent.on('response', (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
      });
      sent.end();
    });
  const BASE = '/elements/api-v2';

  describe('by the spelling of a path', () => {
    let key: string;
    before(async () => {
      key = (await createKey(service, { instances: [shop.id], objects: ['Orders'], access: 'write' })).key;
    });

    for (const path of [
      ...[
        '/Products',
        '/Products/',
        '//Products',
        '/Products//',
        '/./Products',
        '/Orders/../Products',
        '/Orders/..%2fProducts',
      ],
      ...[
        '/%50roducts',
        '/products',
        '/PRODUCTS',
        '/Products?x=/Orders',
        '/Orders%2F..%2FProducts',
        '/Products;Orders',
      ],
      ...['/hubs/general/Products', '/hubs/general/%50roducts', '/hubs//Products', '/hubs/general//Products'],
      ...['/objects/Products/metadata', '/objects/%50roducts/metadata', '/hubs/general/objects/Products/metadata'],
      ...[
        '/Products/1',
        '/Products/1/Lines',
        '/Orders/A-1/Lines',
        '/Orders/A-1%2FLines',
        '/Orders/A-1/Lines/',
        '/Orders/A-1/%4Cines',
      ],
      ...[
        '/passthrough/Orders',
        '/%70assthrough/Orders',
        '/passthrough%2FOrders',
        '/bulk/jobs',
        '/bulk/query',
        '/%62ulk/jobs',
      ],
      ...[
        '/instances',
        '/instances/1',
        '/%69nstances',
        '/keys',
        '/keys/1',
        '/keys/me/',
        '/users/me',
        '/federated/Orders',
        '/federated/Products',
      ],
      ...['/formulas', '/activity', '/notifications/subscriptions', '/instances/1/watches', '/instances/watches'],
    ])
      it(`${path} does not lead out of the scope`, async () => {
        for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) {
          const { status, body } = await send(BASE + path, key, method);
          const what = `${method} ${path}: ${status} ${body.slice(0, 300)}`;
          if (method === 'GET' && path === '/keys/me/') expect(status, what).to.equal(200);
          else if (method === 'HEAD' && path === '/keys/me/') expect(status, what).to.equal(200);
          else expect([400, 403, 404, 405], what).to.include(status);
          expect(body, what).to.not.contain('"Name"');
        }
      });

    it('an object by another name is another object, and children are reached by both names', async () => {
      const call = withKey(service, (await createKey(service, { instances: [desk.id], objects: ['incidents'] })).key);
      expect((await call('/incidents', { query: { pageSize: 1 } })).status).to.be.oneOf([200, 404]);
      expectProblem(await call('/incident'), 'FORBIDDEN', /scope objects/);
      const both = await createKey(service, { instances: [shop.id], objects: ['Orders', 'Lines'] });
      expect((await withKey(service, both.key)('/Orders/A-1/Lines')).status).to.equal(200);
      const child = await createKey(service, { instances: [shop.id], objects: ['Lines'] });
      expectProblem(await withKey(service, child.key)('/Orders/A-1/Lines'), 'FORBIDDEN', /scope objects/);
    });
  });

  describe('by a mapping', () => {
    it('a key for a mapped object does not reach the object behind it, nor the other way round', async () => {
      const post = (path: string, body: unknown) => service.send('POST', path, body);
      await post(`/instances/${shop.id}/objects/goods/definitions`, { fields: [{ path: 'title', type: 'string' }] });
      await post(`/instances/${shop.id}/transformations/goods`, {
        vendorName: 'Products',
        fields: [{ path: 'title', vendorPath: 'Name' }],
      });
      const mapped = withKey(service, (await createKey(service, { instances: [shop.id], objects: ['goods'] })).key);
      expect((await mapped('/goods', { query: { pageSize: 1 } })).status).to.equal(200);
      expect((await mapped('/objects')).body).to.deep.equal(['goods']);
      expectProblem(await mapped('/Products'), 'FORBIDDEN', /scope objects/);
      const own = withKey(service, (await createKey(service, { instances: [shop.id], objects: ['Products'] })).key);
      expectProblem(await own('/goods'), 'FORBIDDEN', /scope objects/);
      await service.send('DELETE', `/instances/${shop.id}/transformations/goods`);
    });
  });

  describe('by what a request names beside its path', () => {
    it('neither a filter nor a list of fields reaches another object', async () => {
      const call = withKey(service, (await createKey(service, { instances: [shop.id], objects: ['Orders'] })).key);
      for (const query of [
        { where: "Products.Name = 'x'" },
        { where: 'Lines.ProductId = 1' },
        { where: 'Code IN (SELECT Name FROM Products)' },
      ])
        expect((await call('/Orders', { query })).status, query.where).to.equal(400);
      for (const query of [
        { fields: 'Lines' },
        { fields: 'Code,Lines.ProductId' },
        { expand: 'Lines' },
        { $expand: 'Lines' },
      ]) {
        const { status, body } = await call('/Orders', { query });
        expect(JSON.stringify(body), JSON.stringify(query)).to.not.contain('ProductId":');
        expect(status).to.be.oneOf([200, 400]);
      }
    });

    it('neither a page token nor a key of a repeated request of another object or key', async () => {
      const all = withKey(service, (await createKey(service, { instances: [shop.id], access: 'write' })).key);
      const few = withKey(
        service,
        (await createKey(service, { instances: [shop.id], objects: ['Orders'], access: 'write' })).key,
      );
      const first = await all('/Products', { query: { pageSize: 1 } });
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      expect(nextPage).to.not.equal('');
      const stolen = await few('/Orders', { query: { pageSize: 1, nextPage } });
      expect(stolen.status).to.equal(400);
      const headers = { 'idempotency-key': 'one-of-another-key' };
      const body = { Name: 'Made once' };
      expect((await all('/Products', { method: 'POST', body, headers })).status).to.equal(200);
      expectProblem(await few('/Products', { method: 'POST', body, headers }), 'FORBIDDEN', /scope objects/);
    });

    it('a bulk job of another instance is not found', async () => {
      const scope = { access: 'write', allow: ['bulk'] };
      const own = withKey(service, (await createKey(service, { ...scope, instances: [people.id] })).key);
      const other = withKey(service, (await createKey(service, { ...scope, instances: [shop.id] })).key);
      const { id } = (await other('/bulk/query?q=select * from Orders', { method: 'POST' })).body;
      expect((await other(`/bulk/${id}/status`)).status).to.equal(200);
      for (const [path, method] of [
        [`/bulk/${id}/status`, 'GET'],
        [`/bulk/${id}/errors`, 'GET'],
        [`/bulk/${id}/Orders`, 'GET'],
        [`/bulk/${id}/cancel`, 'PUT'],
        [`/bulk/${id}`, 'DELETE'],
      ] as const)
        expect((await own(path, { method })).status, path).to.be.oneOf([404, 405]);
      expect((await own('/bulk/jobs')).body).to.deep.equal([]);
    });

    it('no other credentials beside the key are used', async () => {
      const { key } = await createKey(service, { instances: [shop.id] });
      const secrets = `User ${service.userSecret}, Organization ${service.organizationSecret}`;
      for (const authorization of [
        `Bearer ${key}, ${secrets}`,
        `${secrets}, Bearer ${key}`,
        `Bearer ${key} ${secrets}`,
      ])
        expect((await service.call('/instances', { headers: { authorization } })).status).to.equal(401);
      // The header of the console names no instance for a key.
      const headers = { 'elements-element-instance-id': String(people.id) };
      expect((await withKey(service, key)('/Orders', { headers })).status).to.equal(200);
      for (const id of ['0', '-1', '1e9', '1,2', ' ', `${shop.id}x`, '99999999999999999999'])
        expect(
          (await withKey(service, key)('/Orders', { headers: { 'elements-instance-id': id } })).status,
          id,
        ).to.be.oneOf([400, 403]);
    });
  });

  it('a formula as a resource is out of the reach of every key', async () => {
    const formula = await service.send('POST', '/formulas', {
      ...{ name: 'As a resource', method: 'GET', uri: '/secret-sync' },
      triggers: [{ type: 'manual', onSuccess: ['end'] }],
      steps: [{ name: 'end', type: 'script', properties: { body: 'done({});' } }],
    });
    expect(formula.status, JSON.stringify(formula.body)).to.equal(200);
    const instance = await service.send('POST', `/formulas/${formula.body.id}/instances`, { name: 'x' });
    expect(instance.status, JSON.stringify(instance.body)).to.equal(200);
    const scope = { access: 'write', allow: ['passthrough', 'bulk', 'federated'] };
    const headers = { 'elements-formula-instance-id': String(instance.body.id) };
    for (const more of [{}, { instances: [shop.id] }]) {
      const call = withKey(service, (await createKey(service, { ...scope, ...more })).key, shop.id);
      for (const path of ['/secret-sync', '/secret-sync/', '/%73ecret-sync']) {
        const { status, body } = await call(path, { headers });
        expect(status, `${path} ${JSON.stringify(body)}`).to.be.oneOf([403, 404]);
      }
    }
    const started = await service.call(`/formulas/instances/${instance.body.id}/executions`);
    expect(started.body).to.deep.equal([]);
  });

  describe('by time', () => {
    it('a key ends at its expiry, however often it was used just before', async () => {
      const { id, key } = await createKey(service, { instances: [shop.id], expiresIn: 60 });
      const ends = new Date(Date.now() + 1000);
      await updateRows(service, 'access_key', { id }, { expires_at: ends });
      const call = withKey(service, key);
      expect((await call('/keys/me')).status).to.equal(200);
      const endMs = Date.now() + 10_000;
      let status = 200;
      while (status === 200 && Date.now() < endMs) ({ status } = await call('/keys/me'));
      expect(status).to.equal(401);
      expectProblem(await call('/keys/me'), 'UNAUTHENTICATED', REFUSAL);
    });

    it('a secret ends with its overlap, and a deletion beside requests leaves none of them valid', async () => {
      const { id, key: first } = await createKey(service, { instances: [shop.id] });
      const rotated = await service.send('POST', `/keys/${id}/rotate`, { overlapSeconds: 1 });
      const second = rotated.body.key;
      expect((await withKey(service, first)('/keys/me')).status).to.equal(200);
      const endMs = Date.now() + 10_000;
      let status = 200;
      while (status === 200 && Date.now() < endMs) ({ status } = await withKey(service, first)('/keys/me'));
      expect(status).to.equal(401);
      expect((await withKey(service, second)('/keys/me')).status).to.equal(200);

      let isDeleted = false;
      const late: number[] = [];
      const use = async () => {
        // Few wrong requests: after many, the service rejects all from the address.
        for (let wrong = 0; wrong < 2; ) {
          const wasDeleted = isDeleted;
          const answer = await withKey(service, second)('/keys/me');
          if (wasDeleted) late.push(answer.status);
          if (answer.status === 401) wrong++;
        }
      };
      const remove = async () => {
        await service.send('DELETE', `/keys/${id}`);
        isDeleted = true;
      };
      await Promise.all([use(), use(), remove(), use()]);
      late.push((await withKey(service, second)('/keys/me')).status);
      expect(new Set(late)).to.deep.equal(new Set([401]));
    });

    it('two rotations at once leave two new secrets, and each is shown once', async () => {
      const { id } = await createKey(service, { instances: [shop.id] });
      const rotate = () => service.send('POST', `/keys/${id}/rotate`, { overlapSeconds: 60 });
      const keys = (await Promise.all([rotate(), rotate()])).map(({ body }) => body.key);
      expect(new Set(keys).size).to.equal(2);
      for (const key of keys) expect((await withKey(service, key)('/keys/me')).status).to.equal(200);
      expect((await service.get(`/keys/${id}`)).validKeys).to.have.length(3);
    });
  });

  describe('by rights that its user has lost', () => {
    it('a key ends with the home account of its user, in every account', async () => {
      const home = await service.change('POST', '/accounts', { externalId: 'home' });
      const manager = await createUser(service, { accountId: home.id, name: 'wanderer', role: 'org-admin' });
      const headers = { ...authorizationOf(manager), 'elements-account-id': String(service.accountId) };
      const { key } = await createKey(service, { instances: [shop.id] }, headers);
      expect((await withKey(service, key)('/Orders')).status).to.equal(200);
      expect((await service.send('DELETE', `/accounts/${home.id}`)).status).to.equal(200);
      expectProblem(await withKey(service, key)('/Orders'), 'UNAUTHENTICATED', REFUSAL);
    });

    it('a key ends with its account', async () => {
      const account = await service.change('POST', '/accounts', { externalId: 'to-end' });
      const headers = { 'elements-account-id': String(account.id) };
      const { key } = await createKey(service, {}, headers);
      expect((await withKey(service, key)('/keys/me')).status).to.equal(200);
      expect((await service.send('DELETE', `/accounts/${account.id}`)).status).to.equal(200);
      expectProblem(await withKey(service, key)('/keys/me'), 'UNAUTHENTICATED', REFUSAL);
    });

    it('an instance that loses a tag leaves the reach of the key at once', async () => {
      const tagged = await service.createInstance('odata', SHOP, { tags: ['blue'] });
      const call = withKey(service, (await createKey(service, { tags: ['blue'] })).key, tagged.id);
      expect((await call('/Orders')).status).to.equal(200);
      await service.send('PATCH', `/instances/${tagged.id}`, { tags: ['red'] });
      expectProblem(await call('/Orders'), 'FORBIDDEN', /scope tags/);
      await service.send('DELETE', `/instances/${tagged.id}`);
    });
  });

  it('leave no secret of a key in a row of the database', async () => {
    const { key } = await createKey(service, { instances: [shop.id] });
    const rows = await withDatabase(service, (knex) => knex('access_key_secret').select('*'));
    expect(JSON.stringify(rows)).to.not.contain(key.slice(3, 30));
  });
});
