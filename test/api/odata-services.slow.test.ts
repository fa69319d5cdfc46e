import { expect } from 'chai';
import type { ODataSimulatorOptions } from '../../connectors/odata/simulator.ts';
import { pluck, useSharedApp } from '../support/app.ts';
import { type ODataService, startODataService } from '../support/odata-service.ts';
import { expectProblem } from './support/expect-problem.ts';

describe('OData services that go their own way', () => {
  const service = useSharedApp();
  let provider: ODataService | undefined;

  afterEach(() => provider?.stop());

  async function connect(options: Partial<ODataSimulatorOptions>, configuration: object = {}) {
    provider = await startODataService(options);
    const { url, requests } = provider;
    const { id, token } = await service.createInstance('odata', { 'base.url': url, ...configuration });
    return { id, token, requests };
  }

  const configurationOf = async (id: number) => (await service.get(`/instances/${id}`)).configuration;

  const WRONG = [
    [
      'ignored',
      "The service returns records of Products for 'Name ne null and Name eq null', although no record can match it.",
    ],
    ['finds no text', 'The service finds no record of Products by a word that one of them has in Name.'],
  ] as const;
  for (const [filter, words] of WRONG) {
    it(`are told apart by a filter that is wrong: ${filter}`, async () => {
      const { id, token } = await connect({ quirks: { filter } });
      const advice =
        'Its filters are not reliable. Set filter.local to true, and Causeway evaluates all filters itself, over all records.';
      expect(await configurationOf(id)).to.have.property('filter.warning', `${words} ${advice}`);

      const body = { configuration: { 'filter.local': true } };
      const changed = await service.send('PATCH', `/instances/${id}`, body);
      expect(changed.body.configuration).to.include({ 'filter.local': true });
      expect(changed.body.configuration).to.not.have.property('filter.warning');
      const query = { where: "Name like 'AB%'", fields: 'Name' };
      const found = await service.call('/Products', { token, query });
      expect(found.body).to.deep.equal([{ Name: 'ABC' }]);
      expect(found.headers.get('elements-query-pushdown')).to.equal('none');
    });
  }

  it('are not warned of when nothing is wrong, whatever the caller gives', async () => {
    const { id } = await connect({}, { 'filter.warning': 'made up', 'enum.warning': 'made up' });
    expect(await configurationOf(id)).to.not.have.any.keys('filter.warning', 'enum.warning');
  });

  it('may find nothing by an enumeration, which is then compared here', async () => {
    const { id, token } = await connect({ quirks: { filter: 'finds no enumeration' } });
    const list = () => service.call('/Products', { token, query: { where: "Category = 'Book'", fields: 'Category' } });
    const categoryOf = async () => {
      const body = await service.get('/objects/Products/metadata', { token });
      return body.fields.find(({ name }: { readonly name: string }) => name === 'Category');
    };
    expect((await list()).body).to.deep.equal([]);
    expect((await categoryOf()).filter).to.include({ '=': 'exact' });
    const instance = await service.get(`/instances/${id}`);
    const warning =
      "The service finds no record of Products by 'Category eq Demo.Category'Book'', although one has this value. " +
      'Set odata.enum to local, and Causeway evaluates filters on enumerations itself.';
    expect(instance.warnings).to.deep.equal([warning]);
    expect(instance.configuration).to.include({ 'enum.warning': warning, 'odata.enum': 'service' });

    const body = { configuration: { 'odata.enum': 'local' } };
    const changed = await service.send('PATCH', `/instances/${id}`, body);
    expect(changed.body.configuration).to.not.have.property('enum.warning');
    const found = await list();
    expect(found.body).not.to.deep.equal([]);
    expect(new Set(pluck(found.body, 'Category'))).to.deep.equal(new Set(['Book']));
    expect(found.headers.get('elements-query-pushdown')).to.equal('none');
    expect((await categoryOf()).filter).to.deep.equal({});
    expect((await categoryOf()).values).to.deep.equal(['Book', 'Music', 'Tool']);
  });

  it('may call enumerations nothing that there is', async () => {
    const { id } = await connect({}, {});
    const body = { configuration: { 'odata.enum': 'elsewhere' } };
    expectProblem(await service.send('PATCH', `/instances/${id}`, body), 'REQUEST_INVALID');
  });

  const SECRETS = { username: 'demo', password: 'demo-password' };
  const WRONG_SECRETS = { username: 'demo', password: 'wrong' };

  async function tryPrivate(options: Partial<ODataSimulatorOptions>, configuration: object) {
    provider = await startODataService(options);
    const body = {
      element: { key: 'odata' },
      name: 'Private',
      configuration: { 'base.url': provider.url.replace('/shop', '/private'), ...configuration },
    };
    return service.send('POST', '/instances', body);
  }

  for (const quirks of [{}, { showsDocuments: true }] as const) {
    it(`refuse wrong credentials when the instance is made: ${JSON.stringify(quirks)}`, async () => {
      const refused = await tryPrivate({ quirks }, WRONG_SECRETS);
      expectProblem(refused, 'PROVIDER_CREDENTIALS_INVALID', /^OData rejects these credentials\./);
      expect(await service.get('/instances', { query: { searchText: 'Private' } })).to.deep.equal([]);
    });

    it(`take right ones without a warning: ${JSON.stringify(quirks)}`, async () => {
      const { status, body } = await tryPrivate({ quirks }, SECRETS);
      expect([status, body.valid, body.warnings]).to.deep.equal([200, true, undefined]);
      await service.send('DELETE', `/instances/${body.id}`);
    });
  }

  it('are said not to have proved credentials when they show everybody everything', async () => {
    const warning = 'Causeway could not verify username and password, because no request that it tried required them.';
    const made = await service.createInstance('odata', { 'base.url': (await startShop()).url, ...WRONG_SECRETS });
    expect(made.warnings).to.deep.equal([warning]);
    const read = await service.get(`/instances/${made.id}`);
    expect(read.warnings).to.deep.equal([warning]);
    expect(read.configuration['credentials.warning']).to.equal(warning);
    expect((await service.get('/accounts/instances')).at(-1).warnings).to.deep.equal([warning]);

    const body = { ...read, configuration: { 'base.url': provider?.url } };
    const open = await service.send('PUT', `/instances/${made.id}`, body);
    expect([open.status, open.body.warnings]).to.deep.equal([200, undefined]);
  });

  it('are asked nothing about credentials when there are none', async () => {
    const { url, requests } = await startShop();
    await service.createInstance('odata', { 'base.url': url });
    expect(requests.filter((request) => request === 'GET /odata/v4/shop/')).to.have.length(2);
  });

  async function startShop() {
    provider = await startODataService();
    return provider;
  }

  it('create nothing that stays when an unknown record is changed, and the caller is told', async () => {
    const { token } = await connect({ quirks: { upserts: 'under a key of its own' } });
    const change = await service.send('PATCH', '/Products/4711', { Name: 'nobody' }, { token });
    expectProblem(change, 'NOT_FOUND', "There is no record '4711' in 'Products'.");
    const told = /created one at \/Products\(241\) \(status 201\)\. Causeway deleted it again\.$/;
    expect(change.body.details[0].message).to.match(told);
    expectProblem(await service.call('/Products/241', { token }), 'NOT_FOUND');
  });

  it('do not make a creation look as if it had failed when they do not show the record', async () => {
    const { token } = await connect({ answersChanges: 'without record', quirks: { hidesCreated: true } });
    const created = await service.send('POST', '/Orders', { Code: 'hidden' }, { token });
    const message =
      /^The service created the record with the id 'hidden'\. Do not create it again\. Reading it back failed: OData returned 404/;
    expectProblem(created, 'PROVIDER_PROTOCOL', message);
  });

  it('are asked for a long list in pieces, whose pages go on from one to the next', async () => {
    const { token, requests } = await connect({});
    const ids = Array.from({ length: 60 }, (_, index) => 3 * index + 1);
    const before = requests.length;
    const where = `Id in (${ids.join(', ')}) and Stock is not null`;
    const whole = await service.call('/Products', { token, query: { where, fields: 'Id' } });
    expect(whole.headers.get('elements-query-pushdown')).to.equal('full');
    const lists = requests.slice(before).filter((request) => request.includes('$filter'));
    expect(lists.map((request) => request.match(/Id eq/g)?.length)).to.deep.equal([20, 20, 20]);
    const meant = pluck(whole.body, 'Id');
    expect(meant).to.have.length.within(30, 60);
    for (const pageSize of [1, 7, 20, meant.length]) {
      const seen: number[] = [];
      for (let nextPage: string | undefined, pages = 0; pages === 0 || nextPage !== undefined; pages++) {
        const page = await service.call('/Products', { token, query: { where, fields: 'Id', pageSize, nextPage } });
        seen.push(...pluck(page.body, 'Id'));
        nextPage = page.headers.get('elements-next-page-token') ?? undefined;
      }
      expect(seen, `pages of ${pageSize}`).to.deep.equal(meant);
    }
    const second = await service.call('/Products', { token, query: { where, fields: 'Id', pageSize: 7, page: 4 } });
    expect(pluck(second.body, 'Id')).to.deep.equal(meant.slice(21, 28));
  });

  it('are asked for a long list by its bounds where an order is wanted', async () => {
    const { token, requests } = await connect({});
    const ids = Array.from({ length: 60 }, (_, index) => 2 * index + 1);
    const query = { where: `Id in (${ids.join(', ')})`, orderBy: 'Id desc', fields: 'Id' };
    const { body, headers } = await service.call('/Products', { token, query });
    expect(pluck(body, 'Id')).to.deep.equal(ids.toReversed());
    expect(headers.get('elements-query-pushdown')).to.equal('partial');
    expect(requests.at(-1)).to.include('$filter=(Id ge 1 and Id le 119)');
  });
});
