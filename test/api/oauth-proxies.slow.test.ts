import { expect } from 'chai';
import { type ApiAnswer, pluck, useSharedApp } from '../support/app.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { createProxy, shareProxy } from './support/oauth-proxies.ts';
import { authorizationOf, countRows, readEverything, updateRows, useTenants } from './support/tenants.ts';

const PATH = '/elements/oauthProxies';
const SECRET = 'a-client-secret-of-a-proxy';
const NEW = { name: 'plain', apiKey: 'k', apiSecret: 's' };

describe('OAuth proxies', () => {
  const service = useSharedApp();
  const tenants = useTenants(service);

  const post = (body: unknown, headers = {}) => service.send('POST', PATH, body, { headers });
  /** By the administrator of the organization. */
  const share = (id: number, shared = true, accountId = service.accountId) =>
    shareProxy(service, { id, shared, accountId });

  describe('are made', () => {
    it('with a key and a secret, and answer the record with a URL that nobody can guess', async () => {
      const input = { name: ' payroll ', apiKey: 'the-client', apiSecret: SECRET, configuration: '{"a": [1]}' };
      const { status, body } = await post(input);
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ ...input, id: body.id, name: 'payroll', shared: false, proxyUrl: body.proxyUrl });
      expect(body.id).to.be.a('number');
      expect(body.proxyUrl.startsWith(`${service.app.url}/oauth/proxy/`)).to.equal(true);
      expect(body.proxyUrl.split('/').at(-1)).to.match(/^[A-Za-z0-9_-]{32}$/);
      const other = await createProxy(service);
      expect(other.proxyUrl).not.to.equal(body.proxyUrl);
    });

    it('without settings of their own, unless given', async () => {
      const { body } = await post(NEW);
      expect(body.configuration).to.equal('{}');
    });

    it('once per name in an account, and once among those that are shared', async () => {
      const input = { name: 'taken', apiKey: 'k', apiSecret: 's' };
      const taken = "An OAuth proxy 'taken' already exists. Choose another name.";
      const first = await post(input);
      expectProblem(await post({ ...input, name: ' taken ' }), 'CONFLICT', taken);
      // Nobody learns from a name what another account has.
      const second = await post(input, authorizationOf(tenants.sibling));
      expect(second.status).to.equal(200);
      expect((await post(input, authorizationOf(tenants.stranger))).status).to.equal(200);
      expect((await share(first.body.id)).status).to.equal(200);
      expectProblem(await share(second.body.id, true, tenants.sibling.accountId), 'CONFLICT', taken);
      const third = await service.send('POST', '/accounts', { externalId: 'third' });
      const there = { 'elements-account-id': String(third.body.id) };
      expectProblem(await post({ ...input, shared: true }, there), 'CONFLICT', taken);
      expect((await post(input, there)).status).to.equal(200);
    });

    it('once per Idempotency-Key', async () => {
      const input = { name: 'repeated', apiKey: 'k', apiSecret: SECRET };
      const headers = { 'idempotency-key': 'proxy-1' };
      const first = await post(input, headers);
      expect((await post(input, headers)).body).to.deep.equal(first.body);
    });

    for (const configuration of [
      ...['', '{', '[]', 'null', '"{}"', '1', 'true', "{'a':1}", '{}{}', '\ufeff{}', '{"a":1,}'],
    ]) {
      it(`not with the settings ${JSON.stringify(configuration)}`, async () => {
        const rows = await countRows(service, 'oauth_proxy');
        const response = await post({ ...NEW, name: 'settings', configuration });
        expectProblem(response, 'REQUEST_INVALID');
        expect(Object.keys(faultsOf(response))).to.deep.equal(['body.configuration']);
        expect(await countRows(service, 'oauth_proxy')).to.equal(rows);
      });
    }

    for (const tokenOrigins of ['https://a.example', ['a.example'], ['https://a.example/token'], [1], {}]) {
      it(`not with the token origins ${JSON.stringify(tokenOrigins)}`, async () => {
        const configuration = JSON.stringify({ tokenOrigins });
        const message =
          'tokenOrigins in body.configuration must be a list of origins, such as https://acme.example.com.';
        expectProblem(await post({ ...NEW, name: 'origins', configuration }), 'REQUEST_INVALID', message);
      });
    }

    for (const [fault, change] of [
      ['body.name', { name: undefined }],
      ['body.name', { name: ' ' }],
      ['body.name', { name: 'x'.repeat(256) }],
      ['body.apiKey', { apiKey: undefined }],
      ['body.apiKey', { apiKey: 5 }],
      ['body.apiSecret', { apiSecret: '' }],
      ['body.configuration', { configuration: {} }],
      ['body.configuration', { configuration: '{"a":"\0"}' }],
      ['body.proxyUrl', { proxyUrl: 'https://attacker.example' }],
    ] as const) {
      it(`not with a fault in ${fault}: ${JSON.stringify(change).slice(0, 40)}`, async () => {
        const response = await post(Object.assign({ name: 'x', apiKey: 'k', apiSecret: 's' }, change));
        expectProblem(response, 'REQUEST_INVALID');
        expect(new Set(Object.keys(faultsOf(response)))).to.deep.equal(new Set([fault]));
      });
    }
  });

  describe('belong to an organization', () => {
    it('whose accounts all see those that are shared, with the secret masked', async () => {
      const { id, name, proxyUrl } = await createProxy(service);
      expect((await share(id)).body).to.include({ id, shared: true });
      const masked = { apiKey: 'client-id', apiSecret: '********', configuration: '{}' };
      const shown = { id, name, ...masked, shared: true, proxyUrl };
      for (const headers of [{}, authorizationOf(tenants.sibling), authorizationOf(tenants.colleague)]) {
        expect(await service.get(`${PATH}/${id}`, { headers })).to.deep.equal(shown);
        const list = await service.call(PATH, { headers });
        expect(list.body).to.deep.include(shown);
        expect(list.headers.get('elements-returned-count')).to.equal(String(list.body.length));
        expect(JSON.stringify(list.body)).not.to.include('client-secret');
      }
    });

    it('but to their own account alone while they are not: to others they are not there', async () => {
      const { id, name, proxyUrl } = await createProxy(service);
      const headers = authorizationOf(tenants.sibling);
      const url = 'https://app.example.com/';
      const notThere = async () => {
        expect(pluck(await service.get(PATH, { headers }), 'id')).not.to.include(id);
        for (const [method, path, more] of [
          ['GET', '', {}],
          ['PATCH', '', { body: { apiSecret: 'another' } }],
          ['PATCH', '', { body: { shared: true } }],
          ['DELETE', '', {}],
          ['GET', '/applicationUrls', {}],
          ['POST', '/applicationUrls', { body: { url } }],
          ['DELETE', '/applicationUrls', { query: { url } }],
        ] as const) {
          const response = await service.call(`${PATH}/${id}${path}`, { method, headers, ...more });
          expectProblem(response, 'NOT_FOUND', `There is no OAuth proxy ${id}.`);
        }
        const asked = { oauthProxyName: name, state: url };
        const begun = await service.call('/elements/quickbooks/oauth/url', { query: asked, headers });
        expectProblem(begun, 'NOT_FOUND', new RegExp(`^There is no OAuth proxy '${name}'`));
        const byUrl = { isOauthProxy: 'true', callbackUrl: proxyUrl, state: url };
        const foreign = await service.call('/elements/quickbooks/oauth/url', { query: byUrl, headers });
        expectProblem(foreign, 'REQUEST_INVALID', /^oauthProxyName is missing/);
        const session = { elements: ['quickbooks'], proxyId: id };
        const opened = await service.send('POST', '/connect/sessions', session, { headers });
        expectProblem(opened, 'NOT_FOUND', `There is no OAuth proxy ${id}.`);
      };
      await notThere();
      await share(id);
      expect((await service.call(`${PATH}/${id}`, { headers })).status).to.equal(200);
      await share(id, false);
      await notThere();
      expect((await tenants.colleague.call(`${PATH}/${id}`)).status).to.equal(200);
    });

    it('and are shared by those who manage the organization', async () => {
      const headers = authorizationOf(tenants.colleague);
      const own = await createProxy(service, headers);
      const lacking = /^This needs the privilege manageOrganization \(/;
      const patch = (body: object) => service.send('PATCH', `${PATH}/${own.id}`, body, { headers });
      expectProblem(await patch({ shared: true }), 'FORBIDDEN', lacking);
      const asShared = { name: 'shared at once', apiKey: 'k', apiSecret: 's', shared: true };
      expectProblem(await post(asShared, headers), 'FORBIDDEN', lacking);
      expect((await post(asShared)).body).to.include({ shared: true });
      // As it is, it may stand there.
      expect((await patch({ shared: false, name: 'as it is' })).status).to.equal(200);
      await share(own.id);
      expectProblem(await patch({ shared: false }), 'FORBIDDEN', lacking);
      expect((await patch({ shared: true, name: 'still shared' })).body).to.include({ shared: true });
      expect(await service.get(PATH, { query: { where: `shared = TRUE AND id = ${own.id}` } })).to.have.length(1);
    });

    it('and are found by name: the own one of an account comes before a shared one', async () => {
      const shared = await createProxy(service);
      await share(shared.id);
      const headers = authorizationOf(tenants.sibling);
      const own = (await post({ name: shared.name, apiKey: 'own-client', apiSecret: 's' }, headers)).body;
      const ask = async (more: object) => {
        const query = { state: 'https://app.example.com/', ...more };
        const body = await service.get('/elements/quickbooks/oauth/url', { headers, query });
        return new URL(body.oauthUrl).searchParams.get('redirect_uri');
      };
      expect(await ask({ oauthProxyName: own.name })).to.equal(own.proxyUrl);
      const url = 'https://app.example.com/';
      await service.send('POST', `${PATH}/${shared.id}/applicationUrls`, { url });
      expect(await ask({ isOauthProxy: 'true', callbackUrl: shared.proxyUrl })).to.equal(shared.proxyUrl);
    });

    it('but are changed and deleted by the account that made them alone', async () => {
      const url = 'https://app.example.com/';
      const sibling = authorizationOf(tenants.sibling);
      const colleague = authorizationOf(tenants.colleague);
      const changes = [
        ['POST', '/applicationUrls', { body: { url } }],
        ['DELETE', '/applicationUrls', { query: { url } }],
        ['PATCH', '', { body: { apiSecret: 'another' } }],
        ['DELETE', '', {}],
      ] as const;
      for (const [owner, own, foreign] of [
        [service.accountId, colleague, sibling],
        [tenants.sibling.accountId, sibling, colleague],
      ] as const) {
        const { id } = await createProxy(service, own);
        await share(id, true, owner);
        for (const [method, path, more] of changes) {
          const refused = await service.call(`${PATH}/${id}${path}`, { method, headers: foreign, ...more });
          const message = `OAuth proxy ${id} belongs to account ${owner} of your organization: only that account may change or delete it.`;
          expectProblem(refused, 'FORBIDDEN', message);
          const taken = await service.call(`${PATH}/${id}${path}`, { method, headers: own, ...more });
          expect(taken.status).to.equal(200);
        }
      }
    });

    it('and are listed though one of them was changed in the database', async () => {
      const { id } = await createProxy(service);
      await updateRows(service, 'oauth_proxy', { id }, { api_key: 'another' });
      expect(await service.get(PATH)).to.deep.include(await service.get(`${PATH}/${id}`));
      expect((await service.send('DELETE', `${PATH}/${id}`)).status).to.equal(200);
    });

    it('until they are deleted', async () => {
      const { id, name } = await createProxy(service);
      expect(await service.send('DELETE', `${PATH}/${id}`)).to.deep.include({ status: 200, body: { id } });
      expectProblem(await service.call(`${PATH}/${id}`), 'NOT_FOUND');
      expectProblem(await service.send('DELETE', `${PATH}/${id}`), 'NOT_FOUND');
      expect((await post({ name, apiKey: 'k', apiSecret: 's' })).status).to.equal(200);
    });

    it('and keep their secret out of the database and the log', async () => {
      await post({ name: 'secretive', apiKey: 'k', apiSecret: SECRET });
      expect((await readEverything(service)).includes(SECRET)).to.equal(false);
      expect(service.logged.join('\n').includes(SECRET)).to.equal(false);
    });
  });

  describe('are changed', () => {
    const patch = (id: number, body: object) => service.send('PATCH', `${PATH}/${id}`, body);
    const read = async (id: number) => await service.get(`${PATH}/${id}`);

    it('in key, secret, name and configuration, while URL and application URLs stay', async () => {
      const { id, proxyUrl } = await createProxy(service);
      const url = 'https://app.example.com/cb';
      await service.send('POST', `${PATH}/${id}/applicationUrls`, { url });
      const changes = { name: ' changed ', apiKey: 'next-client', apiSecret: SECRET, configuration: '{"a":1}' };
      const response = await patch(id, changes);
      const shown = { ...changes, id, name: 'changed', apiSecret: '********', shared: false, proxyUrl };
      expect(response).to.deep.include({ status: 200, body: shown });
      expect(await read(id)).to.deep.equal(shown);
      expect(await service.get(`${PATH}/${id}/applicationUrls`)).to.deep.equal([url]);
      expect((await readEverything(service)).includes(SECRET)).to.equal(false);
      expect(service.logged.join('\n').includes(SECRET)).to.equal(false);
    });

    it('when they are sent as they were read, with what changes', async () => {
      const { id } = await createProxy(service);
      const before = await read(id);
      expect((await patch(id, before)).body).to.deep.equal(before);
      expect((await patch(id, { ...before, name: 'as it was read' })).body).to.deep.equal({
        ...before,
        name: 'as it was read',
      });
      for (const [member, value] of [
        ['id', id + 1],
        ['proxyUrl', 'https://attacker.example/'],
      ] as const) {
        const response = await patch(id, { ...before, [member]: value });
        expectProblem(response, 'REQUEST_INVALID', `${member} of an OAuth proxy cannot change.`);
        expect(Object.keys(faultsOf(response))).to.deep.equal([`body.${member}`]);
      }
    });

    it('to no name that another one has', async () => {
      const [one, other] = [await createProxy(service), await createProxy(service)];
      const message = `An OAuth proxy '${one.name}' already exists. Choose another name.`;
      expectProblem(await patch(other.id, { name: one.name }), 'CONFLICT', message);
      expect((await patch(one.id, { name: one.name })).status).to.equal(200);
    });

    it('to no other key without its secret', async () => {
      const { id } = await createProxy(service);
      for (const secret of [{}, { apiSecret: '********' }]) {
        const response = await patch(id, { apiKey: 'next-client', ...secret });
        const message = 'apiSecret must be sent again: it belongs to the apiKey, which changes.';
        expectProblem(response, 'REQUEST_INVALID', message);
        expect(Object.keys(faultsOf(response))).to.deep.equal(['body.apiSecret']);
      }
      expect((await patch(id, { apiKey: 'client-id' })).status).to.equal(200);
    });

    it('to no more origins for the secret without the secret', async () => {
      const { id } = await createProxy(service);
      const configuration = JSON.stringify({ tokenOrigins: ['https://a.example', 'https://b.example'] });
      const response = await patch(id, { configuration });
      const message = 'apiSecret must be sent again: Causeway sends it to the tokenOrigins, which change.';
      expectProblem(response, 'REQUEST_INVALID', message);
      expect((await patch(id, { configuration, apiSecret: SECRET })).status).to.equal(200);
      const fewer = JSON.stringify({ tokenOrigins: ['https://b.example'] });
      expect((await patch(id, { configuration: fewer })).status).to.equal(200);
    });

    for (const [fault, changes] of [
      ['body', {}],
      ['body.name', { name: ' ' }],
      ['body.apiSecret', { apiSecret: '' }],
      ['body.configuration', { configuration: '[]' }],
      ['body.applicationUrls', { applicationUrls: [] }],
    ] as const) {
      it(`not with a fault in ${fault}`, async () => {
        const { id } = await createProxy(service);
        const before = await read(id);
        const response = await patch(id, changes);
        expectProblem(response, 'REQUEST_INVALID');
        expect(new Set(Object.keys(faultsOf(response)))).to.deep.equal(new Set([fault]));
        expect(await read(id)).to.deep.equal(before);
      });
    }

    it('by one of several who change them at the same time, or one after the other', async () => {
      const { id } = await createProxy(service);
      const names = ['a', 'b', 'c', 'd'].map((letter) => `at once ${letter}`);
      const answers = await Promise.all(names.map((name) => patch(id, { name, apiSecret: SECRET })));
      const taken = names.filter((_, at) => answers[at]?.status === 200);
      expect(taken).to.include((await read(id)).name);
      for (const response of answers.filter(({ status }) => status !== 200)) {
        const message = `OAuth proxy ${id} was changed by another request at the same time. Read it again and repeat the change.`;
        expectProblem(response, 'CONFLICT', message);
      }
    });

    it('not when they were changed in the database, so that nothing of that comes into force', async () => {
      const { id } = await createProxy(service);
      const configuration = JSON.stringify({ tokenOrigins: ['https://attacker.example'] });
      await updateRows(service, 'oauth_proxy', { id }, { configuration });
      for (const changes of [{ name: 'x' }, { apiSecret: SECRET }]) {
        expectProblem(await patch(id, changes), 'CONFLICT', /was changed outside of the service/);
      }
    });
  });

  describe('have application URLs', () => {
    it('which are added, listed and removed in their parsed form', async () => {
      const { id } = await createProxy(service);
      const path = `${PATH}/${id}/applicationUrls`;
      expect(await service.get(path)).to.deep.equal([]);
      const add = (url: string) => service.send('POST', path, { url });
      expect((await add('HTTPS://App.Example.com:443/a/../cb')).body).to.deep.equal(['https://app.example.com/cb']);
      expect((await add('https://app.example.com/cb')).body).to.deep.equal(['https://app.example.com/cb']);
      const both = ['https://app.example.com/cb', 'http://localhost:3000/'];
      expect((await add('http://localhost:3000')).body).to.deep.equal(both);
      const list = await service.call(path);
      expect(list.body).to.deep.equal(both);
      expect(list.headers.get('elements-returned-count')).to.equal('2');
      const query = { url: 'https://APP.example.com/cb' };
      expect((await service.call(path, { method: 'DELETE', query })).body).to.deep.equal(['http://localhost:3000/']);
      const again = await service.call(path, { method: 'DELETE', query });
      expectProblem(again, 'NOT_FOUND', `OAuth proxy ${id} has no application URL 'https://app.example.com/cb'.`);
    });

    it('of which there are 100 at most', async () => {
      const { id } = await createProxy(service);
      const path = `${PATH}/${id}/applicationUrls`;
      const add = (number: number) => service.send('POST', path, { url: `https://app.example.com/${number}` });
      const answers = await Promise.all(Array.from({ length: 103 }, (_, number) => add(number)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(100);
      expect(answers.filter(({ status }) => status === 409)).to.have.length(3);
      expect(await service.get(path)).to.have.length(100);
    });

    for (const url of [
      ...['app.example.com/cb', '/cb', '//app.example.com/cb', 'https:app.example.com', 'https:///app.example.com/'],
      ...['ftp://app.example.com/', 'javascript:alert(1)', 'data:text/html,x', 'https://user@app.example.com/'],
      ...['https://user:password@app.example.com/', 'https://app.example.com/cb#part'],
      ...['https://app.example.com/cb#', 'https://app.example.com/cb?a=1', 'https://app.example.com/cb?'],
      ...['https://app.example.com\\cb', 'https://app.example.com/a b', 'https://app.example.com/\tcb'],
      ...[' https://app.example.com/cb', 'https://app.example.com/\u2028cb', 'https://', 'https://a..b:99999/'],
    ]) {
      it(`which cannot be ${JSON.stringify(url)}`, async () => {
        const { id } = await createProxy(service);
        const response = await service.send('POST', `${PATH}/${id}/applicationUrls`, { url });
        expectProblem(response, 'REQUEST_INVALID', /^body\.url must /);
        expect(Object.keys(faultsOf(response))).to.deep.equal(['body.url']);
      });
    }
  });
});

describe('the list of OAuth proxies', () => {
  const service = useSharedApp();
  const NAMES = ['Sales EU', 'Payroll', 'Sales US'];

  before(async () => {
    for (const [index, name] of NAMES.entries()) {
      const body = { name, apiKey: `client-${index}`, apiSecret: SECRET };
      expect((await service.send('POST', PATH, body)).status).to.equal(200);
    }
  });

  const list = async (query: Readonly<Record<string, string | number>>) => service.call(PATH, { query });
  const namesOf = ({ body }: ApiAnswer): string[] => pluck(body, 'name');

  it('has those for which where is true', async () => {
    expect(namesOf(await list({ where: "name LIKE 'Sales%'" }))).to.deep.equal(['Sales EU', 'Sales US']);
    expect(namesOf(await list({ where: "apiKey = 'client-1' OR id < 0" }))).to.deep.equal(['Payroll']);
    expectProblem(await list({ where: "apiSecret = 'x'" }), 'WHERE_INVALID');
  });

  it('comes page by page', async () => {
    const first = await list({ pageSize: 2 });
    expect(namesOf(first)).to.deep.equal(['Sales EU', 'Payroll']);
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    const rest = await list({ pageSize: 2, nextPage });
    expect(namesOf(rest)).to.deep.equal(['Sales US']);
    expect(rest.headers.has('elements-next-page-token')).to.equal(false);
    expectProblem(await list({ nextPage, where: 'id > 0' }), 'REQUEST_INVALID');
  });
});
