import { expect } from 'chai';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { pluck, useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { pagesOf } from './support/pages.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';

interface Named {
  readonly name: string;
}

describe('discovery', () => {
  const service = useSharedApp();
  const shop = useInstance(service, 'odata', SHOP);
  const people = useInstance(service, 'bamboohr', BAMBOOHR);

  it('lists the elements, by hub and by text too', async () => {
    const keysOf = async (query = '') => pluck(await service.get(`/elements${query}`), 'key');
    expect(await keysOf()).to.include.members(['bamboohr', 'odata']);
    expect(await keysOf('?hub=humancapital')).to.deep.equal(['bamboohr']);
    expect(await keysOf('?searchText=TIME%20OFF')).to.deep.equal(['bamboohr']);
    expect(await keysOf('?hub=general&searchText=bamboo')).to.deep.equal([]);
    expect(await keysOf('?searchText=%25')).to.deep.equal([]);
    const { headers } = await service.call('/elements?hub=humancapital');
    expect(headers.get('elements-returned-count')).to.equal('1');
  });

  it('shows an element by key and by id, with the configuration that it takes', async () => {
    const body = await service.get('/elements/bamboohr');
    expect(await service.get('/elements/1002')).to.deep.equal(body);
    type Shown = Readonly<Record<string, unknown>>;
    const fields: readonly Shown[] = body.configuration;
    const flagsOf = (field: Shown) => ['required', 'secret'].filter((flag) => field[flag] === true).join();
    expect(fields.map((field) => [field.key, field.name, field.type, flagsOf(field)]).slice(0, 11)).to.deep.equal([
      ['username', 'API key', 'string', 'required,secret'],
      ['company.name', 'Company name', 'string', 'required'],
      ['simulator', 'Simulator', 'boolean', ''],
      ['filter.response.nulls', 'Filter response nulls', 'boolean', ''],
      ['event.notification.enabled', 'Event notification enabled', 'boolean', ''],
      ['event.notification.callback.url', 'Event notification callback URL', 'url', ''],
      ['event.notification.signature.key', 'Event notification signature key', 'string', 'secret'],
      ['event.notification.format', 'Event notification format', 'string', ''],
      ['event.notification.ordered', 'Event notification ordered', 'boolean', ''],
      ['event.notification.hydrate', 'Event notification hydrate', 'boolean', ''],
      ['event.vendor.type', 'Event vendor type', 'string', ''],
    ]);
    const limited = fields.slice(0, 11).filter(({ pattern }) => pattern !== undefined);
    expect(limited.map(({ key, example, pattern }) => [key, example, pattern])).to.deep.equal([
      ['company.name', 'acme', '^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$'],
      ['event.notification.format', 'elements', 'standard|elements'],
      ['event.vendor.type', 'webhook', 'polling|webhook'],
    ]);
    expect(fields.slice(11).map(({ key, type }) => [key, type])).to.deep.equal([
      ['event.poller.refresh_interval', 'number'],
      ['event.poller.configuration', 'object'],
      ['event.poller.time.zone', 'string'],
      ['event.poller.backfill', 'boolean'],
      ['event.objects', 'string'],
    ]);
    const message = "There is no element 'bamborh'. Did you mean 'bamboohr'?";
    expectProblem(await service.call('/elements/bamborh'), 'NOT_FOUND', message);
  });

  it('shows which objects of an element are polled unless others are named', async () => {
    const pollsOf = async (key: string) => (await service.get(`/elements/${key}`)).polls;
    expect(await pollsOf('bamboohr')).to.deep.equal(['employees']);
    expect(await pollsOf('odata')).to.equal(undefined);
  });

  it('lists the hubs with their elements', async () => {
    expect(await service.get('/hubs')).to.deep.include({ key: 'humancapital', elements: ['bamboohr'] });
  });

  it('lists the objects of an instance', async () => {
    const { body, headers } = await people.call('/objects?details=true');
    expect(body[0]).to.deep.equal({
      name: 'employees',
      nativeName: 'employee',
      vendorName: 'employees',
      type: 'vendor',
      label: 'Employees',
      aliases: [],
      operations: ['list', 'get', 'create', 'update'],
      children: ['files', 'time-off'],
      custom: false,
      identifier: 'id',
      events: ['created', 'updated', 'deleted'],
    });
    for (const object of body) {
      expect(object).to.include.all.keys('name', 'nativeName', 'label', 'aliases', 'operations', 'children', 'custom');
      expect(object.events, object.name).to.have.length(object.name === 'employees' ? 3 : 0);
    }
    expect(headers.get('elements-returned-count')).to.equal(String(body.length));
    expect(headers.get('elements-element-instance-id')).to.equal(String(people.id));
  });

  it('names the field that identifies a record alike in the list, the metadata and the records', async () => {
    const expected = { Countries: 'Code', Customers: 'Id', OrderLines: 'id', Orders: 'Code', Products: 'Id' };
    const body = await shop.get('/objects?details=true');
    const listed = body.map(({ name, identifier }: Named & { identifier: string }) => [name, identifier]);
    expect(Object.fromEntries(listed)).to.deep.equal(expected);
    for (const [name, identifier] of Object.entries(expected)) {
      const metadata = await shop.get(`/objects/${name}/metadata`);
      expect(metadata.identifier, name).to.equal(identifier);
      const marked = metadata.fields.filter((field: { identifier?: boolean }) => field.identifier === true);
      expect(pluck(marked, 'name')).to.deep.equal([identifier]);
    }
  });

  it('asks the provider again when settings changed, and not when anything else of an instance did', async () => {
    const { id, token } = await service.createInstance('odata', SHOP);
    const change = (body: object) => service.send('PATCH', `/instances/${id}`, body);
    const countCalls = async () => {
      const { headers } = await service.call('/Products', { token, query: { pageSize: 1 } });
      return Number(headers.get('elements-provider-calls'));
    };
    expect([await countCalls(), await countCalls()]).to.deep.equal([2, 1]);
    expect((await change({ name: 'Renamed', tags: ['new'] })).status).to.equal(200);
    expect(await countCalls()).to.equal(1);
    expect((await change({ configuration: SHOP })).status).to.equal(200);
    expect([await countCalls(), await countCalls()]).to.deep.equal([2, 1]);
  });

  it('lists plain names unless asked for more, as Elements-Version: Hydrogen did', async () => {
    for (const path of ['/objects', '/hubs/general/objects']) {
      const detailed = await shop.call(`${path}?details=true`);
      const helium = await shop.call(path, { headers: { 'elements-version': 'Helium' } });
      expect(helium.body).to.deep.equal(detailed.body);
      const names = await shop.call(path);
      const hydrogen = await shop.call(path, { headers: { 'elements-version': 'Hydrogen' } });
      expect(hydrogen.body).to.deep.equal(names.body);
      expect(names.body).to.deep.equal(pluck(detailed.body, 'name'));
      expect(names.body).to.have.members(['Countries', 'Customers', 'OrderLines', 'Orders', 'Products']);
    }
  });

  it('says what the records of an object are, where that is known', async () => {
    const body = await people.get('/objects/employees/metadata');
    expect(body.description).to.equal(
      'All employees that the owner of the API key may see, including inactive employees and future hires.',
    );
    expect(await shop.get('/objects/Products/metadata')).not.to.have.property('description');
  });

  it('describes the fields of an object', async () => {
    const { body, headers } = await shop.call('/objects/Products/metadata');
    expect(body).to.have.all.keys('name', 'identifier', 'fields', 'children', 'parameters', 'limits');
    expect(body.children).to.deep.equal(['Lines']);
    expect(headers.get('elements-element-instance-id')).to.equal(String(shop.id));
    const fields = new Map(body.fields.map((field: Named) => [field.name, field]));
    expect(fields.get('Stock')).to.deep.equal({
      name: 'Stock',
      nativeName: 'Stock',
      label: 'Stock',
      type: 'integer',
      nativeType: 'Edm.Int16',
      nullable: true,
      required: false,
      readOnly: false,
      createable: true,
      updateable: true,
      sortable: true,
      custom: false,
      filter: Object.fromEntries(
        ['IS NULL', 'IS NOT NULL', '=', '!=', 'IN', 'NOT IN', '<', '<=', '>', '>='].map((name) => [name, 'exact']),
      ),
    });
    expect(fields.get('Name')).to.include({ required: true, collation: 'cs' });
    expect(fields.get('Category')).to.deep.include({ values: ['Book', 'Music', 'Tool'] });
  });

  it('describes what is below a record, as it is listed and filtered there', async () => {
    const { body, headers } = await people.call('/objects/employees/time-off/metadata');
    expect(headers.get('elements-element-instance-id')).to.equal(String(people.id));
    expect(body.name).to.equal('time-off');
    const [row] = await people.get('/employees/101/time-off');
    expect(pluck(body.fields, 'name')).to.have.members(Object.keys(row));
    const start = body.fields.find(({ name }: Named) => name === 'start');
    expect(start).to.deep.include({
      type: 'date',
      filter: Object.fromEntries(['=', '<', '<=', '>', '>='].map((name) => [name, 'superset'])),
    });
    const lines = await shop.call('/objects/Orders/Lines/metadata');
    expect(pluck(lines.body.fields, 'name')).to.include.members(['OrderCode', 'Line']);
  });

  it('of what is not below a record answers 404 with the nearest name', async () => {
    const message = "'Orders' has no child object 'lines'. Did you mean 'Lines'? It has: Lines.";
    for (const path of ['/objects/Orders/lines/metadata', '/Orders/A-1/lines']) {
      expectProblem(await shop.call(path), 'NOT_FOUND', message);
    }
    const none = await shop.call('/objects/Countries/Lines/metadata');
    expectProblem(none, 'NOT_FOUND', "'Countries' has no child object 'Lines'. It has none.");
    const unknown = await shop.call('/objects/Ordes/Lines/metadata');
    expectProblem(unknown, 'NOT_FOUND', /^OData has no object 'Ordes'/);
  });

  describe('of Salesforce, which tells what is below the records of one object at a time', () => {
    const ACCOUNT = '0015g0000000001AAA';
    const sales = useInstance(service, 'salesforce', { ...CONNECTED, simulator: true });
    const call = (path: string, query: Readonly<Record<string, string>> = {}) => sales.call(path, { query });

    it('leaves that out of the list, and has it in the metadata', async () => {
      const { body } = await call('/objects', { details: 'true' });
      const account = body.find(({ name }: Named) => name === 'Account');
      expect(account).not.to.have.property('children');
      const metadata = await call('/objects/accounts/metadata');
      expect(metadata.body.children).to.deep.equal(['Contacts', 'Opportunities', 'Tasks', 'Sites__r', 'Readings__r']);
    });

    it('lists, filters, orders and pages it, by its name and by the one that CRMs share', async () => {
      const all = (await call('/Contact', { where: `AccountId = '${ACCOUNT}'` })).body;
      expect(all).to.have.length.above(1);
      for (const path of [
        `/Account/${ACCOUNT}/Contacts`,
        `/accounts/${ACCOUNT}/contacts`,
        `/hubs/crm/accounts/${ACCOUNT}/contacts`,
      ]) {
        expect((await call(path)).body, path).to.deep.equal(all);
      }
      const query = { where: 'IsDeleted = FALSE', fields: 'Id,LastName', orderBy: 'LastName desc', pageSize: '1' };
      const expected = await call('/Contact', {
        ...query,
        where: `AccountId = '${ACCOUNT}' AND ${query.where}`,
        pageSize: '200',
      });
      const pages = await pagesOf((nextPage = '') => call(`/Account/${ACCOUNT}/Contacts`, { ...query, nextPage }));
      for (const { headers } of pages) {
        expect(headers.get('elements-query-pushdown')).to.equal('full');
        expect(headers.get('elements-total-count')).to.equal(String(expected.body.length));
      }
      const rows = pages.flatMap(({ body }) => body);
      expect(rows).to.deep.equal(expected.body);
    });

    it('describes it, with what a filter there can ask', async () => {
      const { body } = await call('/objects/Account/Contacts/metadata');
      const contact = (await call('/objects/Contact/metadata')).body;
      expect(body).to.include({ name: 'Contacts', identifier: 'Id' });
      expect(body.fields).to.deep.equal(contact.fields);
      expect((await call('/hubs/crm/objects/accounts/contacts/metadata')).body).to.deep.equal(body);
    });

    it('says that a record or what would be below it is not there', async () => {
      const message =
        "There are no 'Contacts' of the record '0015g0000000999AAA' in 'Account': the record does not exist, or this instance may not see it.";
      expectProblem(await call(`/Account/0015g0000000999AAA/Contacts`), 'NOT_FOUND', message);
      expectProblem(
        await call(`/Account/${ACCOUNT}/Contact`),
        'NOT_FOUND',
        "'Account' has no child object 'Contact'. Did you mean 'Contacts'? It has: Contacts, Opportunities, Tasks, Sites__r, Readings__r.",
      );
      expectProblem(await call(`/Account/${ACCOUNT}/ActivityHistories`), 'NOT_FOUND');
    });
  });

  it('of what is no object answers 404 with the nearest name', async () => {
    const message = "OData has no object 'Prodcts'. Did you mean 'Products'? GET /objects lists them all.";
    for (const path of ['/objects/Prodcts/metadata', '/Prodcts', '/Prodcts/1', '/hubs/general/Prodcts']) {
      const response = await shop.call(path);
      expectProblem(response, 'NOT_FOUND', message);
      expect(response.body.details).to.deep.equal([
        {
          path: '/path/objectName',
          message: "Unknown object 'Prodcts'. Did you mean 'Products'?",
          nearest: 'Products',
        },
      ]);
    }
  });

  describe('below a hub', () => {
    it('answers as without it', async () => {
      for (const path of [
        ...['/objects', '/objects/employees/metadata', '/objects/employees/time-off/metadata'],
        ...['/employees?pageSize=3', '/employees/101', '/employees/101/time-off'],
      ]) {
        const direct = await people.call(path);
        const inHub = await people.call(`/hubs/humancapital${path}`);
        expect(inHub.status, path).to.equal(200);
        expect(inHub.body, path).to.deep.equal(direct.body);
        for (const name of ['elements-returned-count', 'elements-total-count', 'elements-query-pushdown']) {
          expect(inHub.headers.get(name), `${path} ${name}`).to.equal(direct.headers.get(name));
        }
      }
    });

    it('creates, changes and deletes as without it', async () => {
      const call = (method: string, path: string, body?: unknown) =>
        service.call(`/hubs/general${path}`, { method, token: shop.token, ...(body !== undefined && { body }) });
      const { body } = await call('POST', '/Products', { Name: 'In a hub' });
      expect(body).to.include({ Name: 'In a hub' });
      expect((await call('PATCH', `/Products/${body.Id}`, { Stock: 1 })).body).to.include({
        Name: 'In a hub',
        Stock: 1,
      });
      expect((await call('PUT', `/Products/${body.Id}`, { Name: 'x' })).body).to.include({ Name: 'x', Stock: null });
      expect((await call('DELETE', `/Products/${body.Id}`)).body).to.deep.equal({ id: String(body.Id) });
      expectProblem(await call('GET', `/Products/${body.Id}`), 'NOT_FOUND');
    });

    it('of another one answers 404, whatever the operation', async () => {
      const requests: readonly (readonly [string, string, unknown?])[] = [
        ['GET', '/objects'],
        ['GET', '/objects/Products/metadata'],
        ['GET', '/objects/Products/Lines/metadata'],
        ['GET', '/Products'],
        ['POST', '/Products', { Name: 'x' }],
        ['GET', '/Products/1'],
        ['PATCH', '/Products/1', { Name: 'x' }],
        ['PUT', '/Products/1', { Name: 'x' }],
        ['DELETE', '/Products/1'],
        ['GET', '/Products/1/Lines'],
      ];
      for (const hub of ['humancapital', 'nowhere', 'General', '__proto__']) {
        for (const [method, path, body] of requests) {
          const response = await shop.send(method, `/hubs/${hub}${path}`, body);
          const message = `The element of this instance is in the hub 'general', not '${hub}'.`;
          expectProblem(response, 'NOT_FOUND', message);
        }
      }
      expect((await shop.get('/Products/1')).Name).to.equal("O'Neil's guide");
    });
  });
});
