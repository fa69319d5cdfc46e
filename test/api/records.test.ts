import { expect } from 'chai';
import { pluck, useApp } from '../support/app.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';

describe('records', () => {
  const service = useApp();
  const shop = useInstance(service, 'odata', SHOP);
  const people = useInstance(service, 'bamboohr', BAMBOOHR);

  const inShop = (method: string, path: string, body?: unknown) =>
    service.call(path, { method, token: shop.token, ...(body !== undefined && { body }) });
  const inPeople = (method: string, path: string, body?: unknown) =>
    service.call(path, { method, token: people.token, ...(body !== undefined && { body }) });

  it('are created, read, changed, replaced and deleted', async () => {
    const created = await inShop('POST', '/Products', { Name: "It's “new” 😀", Price: 12.5, Stock: 3, Tags: ['a'] });
    expect(created.status).to.equal(200);
    expect(created.headers.get('elements-element-instance-id')).to.equal(String(shop.id));
    expect(Number(created.headers.get('elements-provider-calls'))).to.be.greaterThan(0);
    const path = `/Products/${created.body.Id}`;
    expect((await inShop('GET', path)).body).to.deep.equal(created.body);

    const changed = await inShop('PATCH', path, { Price: null, Package: { Unit: 'box' } });
    expect(changed.body).to.deep.equal({ ...created.body, Price: null, Package: { Unit: 'box' } });
    const replaced = await inShop('PUT', path, { Name: 'Replaced' });
    expect(replaced.body).to.deep.include({
      Id: created.body.Id,
      Name: 'Replaced',
      Stock: null,
      Package: null,
      Tags: [],
    });
    expect((await inShop('GET', path)).body).to.deep.equal(replaced.body);

    const deleted = await inShop('DELETE', path);
    expect(deleted.body).to.deep.equal({ id: String(created.body.Id) });
    for (const method of ['GET', 'DELETE']) {
      expectProblem(await inShop(method, path), 'NOT_FOUND', `There is no record '${created.body.Id}' in 'Products'.`);
    }
    const gone = await inShop('PATCH', path, { Stock: 1 });
    expectProblem(gone, 'NOT_FOUND', `There is no record '${created.body.Id}' in 'Products'.`);
  });

  it('come back whole after a change of one field', async () => {
    const before = (await inPeople('GET', '/employees/110')).body;
    const { body } = await inPeople('PATCH', '/employees/110', { preferredName: 'Zed' });
    expect(body).to.deep.equal({ ...before, preferredName: 'Zed' });
    const created = await inPeople('POST', '/employees', { firstName: 'Ada', lastName: "O'Neil" });
    expect(created.body).to.include({ firstName: 'Ada', lastName: "O'Neil", status: 'Active' });
    expect((await inPeople('GET', `/employees/${created.body.id}`)).body).to.deep.equal(created.body);
  });

  it('that their provider says it changed, and did not, are an error that says so', async () => {
    const { id } = (await inPeople('POST', '/employees', { firstName: 'Ada', lastName: 'Locked' })).body;
    const response = await inPeople('PATCH', `/employees/${id}`, { city: 'Apia', customField4404: 'B-1' });
    const message = `BambooHR reported that it changed the employee ${id}, but did not store 'customField4404'. The owner of the API key may not change these fields, or the change waits for an approval. BambooHR stored the rest of the request.`;
    expectProblem(response, 'PROVIDER_REJECTED', message);
    expect((await inPeople('GET', `/employees/${id}`)).body).to.include({ city: 'Apia', customField4404: null });
    const unknown = await inPeople('PATCH', `/employees/${id}`, { ethnicity: 'Other' });
    expectProblem(unknown, 'REQUEST_INVALID');
  });

  it('stay one each when the columns of a table are named, and have them as lists', async () => {
    const usual = (await inPeople('GET', '/employees?pageSize=3&orderBy=id')).body;
    expect(usual[0]).not.to.have.any.keys('ethnicity', 'dependentFirstName', 'customTable4607');
    const fields = 'id,ethnicity,dependentFirstName,dependentBirthDate';
    const named = (await inPeople('GET', `/employees?pageSize=3&orderBy=id&fields=${fields}`)).body;
    expect(named).to.deep.equal([
      {
        id: 101,
        ethnicity: null,
        dependentFirstName: ['ASHLEY', 'ashley'],
        dependentBirthDate: ['2024-12-31', '2025-01-01'],
      },
      { id: 102, ethnicity: 'Other', dependentFirstName: [], dependentBirthDate: [] },
      { id: 103, ethnicity: 'Declined', dependentFirstName: ['Zoë'], dependentBirthDate: ['2038-01-19'] },
    ]);
  });

  it('below a record that has none are an empty list, and below one that does not exist an error', async () => {
    expect((await inPeople('GET', '/employees/103/files')).body).to.deep.equal([]);
    expectProblem(await inPeople('GET', '/employees/9999/files'), 'NOT_FOUND');
  });

  it('with composite or textual ids are found by what the list shows', async () => {
    const [line] = (await inShop('GET', '/OrderLines?pageSize=1')).body;
    expect((await inShop('GET', `/OrderLines/${encodeURIComponent(line.id)}`)).body).to.deep.equal(line);
    const [order] = (await inShop('GET', `/Orders?pageSize=1&where=${encodeURIComponent("Code = 'A/0''x'")}`)).body;
    expect(order.Code).to.equal("A/0'x");
    expect((await inShop('GET', `/Orders/${encodeURIComponent(order.Code)}`)).body).to.deep.equal(order);
  });

  it('have children', async () => {
    const lines = await inShop('GET', '/Products/1/Lines');
    expect(lines.body).to.have.length.greaterThan(1);
    for (const line of lines.body) expect(line.ProductId).to.equal(1);
    const query = { where: 'Quantity > 3', fields: 'id,Quantity', orderBy: 'Quantity desc' };
    const some = await shop.call('/Products/1/Lines', { query });
    const quantities: number[] = pluck(some.body, 'Quantity');
    const meant: number[] = pluck(lines.body, 'Quantity').filter((quantity: number) => quantity > 3);
    expect(quantities).to.deep.equal(meant.sort((a, b) => b - a));
    const message =
      "There are no 'Lines' of the record '99999' in 'Products': the record does not exist, or this instance may not see it.";
    expectProblem(await inShop('GET', '/Products/99999/Lines'), 'NOT_FOUND', message);
    expectProblem(
      await inShop('GET', '/Products/1/Line'),
      'NOT_FOUND',
      "'Products' has no child object 'Line'. Did you mean 'Lines'? It has: Lines.",
    );
    expectProblem(
      await inShop('GET', '/Countries/DE/Cities'),
      'NOT_FOUND',
      "'Countries' has no child object 'Cities'. It has none.",
    );
  });

  it('refuse an operation that their object does not support, and say which ones it does', async () => {
    const cases: readonly (readonly [typeof inShop, string, string, string, string])[] = [
      [
        inPeople,
        'DELETE',
        '/employees/101',
        'GET, PATCH',
        'BambooHR cannot DELETE /employees/{objectId}; it supports GET, PATCH there.',
      ],
      [
        inPeople,
        'PUT',
        '/employees/101',
        'GET, PATCH',
        'BambooHR cannot PUT /employees/{objectId}; it supports GET, PATCH there.',
      ],
      [inPeople, 'POST', '/time-off', 'GET', 'BambooHR cannot POST /time-off; it supports GET there.'],
      [inPeople, 'GET', '/time-off/1', '', 'BambooHR cannot GET /time-off/{objectId}; it supports nothing there.'],
      [inShop, 'POST', '/Countries', 'GET', 'OData cannot POST /Countries; it supports GET there.'],
      [inShop, 'PATCH', '/Countries/DE', 'GET', 'OData cannot PATCH /Countries/{objectId}; it supports GET there.'],
    ];
    for (const [call, method, path, allow, message] of cases) {
      const response = await call(method, path, method === 'GET' || method === 'DELETE' ? undefined : {});
      expectProblem(response, 'OPERATION_UNSUPPORTED', message);
      expect(response.headers.get('allow')).to.equal(allow.replace('GET', 'GET, HEAD'));
    }
  });

  describe('refuse', () => {
    it('fields that are unknown, cannot be set or are missing, all at once', async () => {
      const response = await inShop('POST', '/Products', { Nmae: 'x', Pirce: 1, id: 2 });
      const message = "Unknown field 'Nmae'. Did you mean 'Name'? (and 3 more, see details)";
      expectFaults(
        response,
        {
          'body.Nmae': "Unknown field 'Nmae'. Did you mean 'Name'?",
          'body.Pirce': "Unknown field 'Pirce'. Did you mean 'Price'?",
          'body.id': "Unknown field 'id'. Did you mean 'Id'?",
          'body.Name': "'Name' is required.",
        },
        message,
      );
      expect(response.body.details[0].nearest).to.equal('Name');
      const update = await inPeople('PATCH', '/employees/101', { id: 5, supervisor: 'x' });
      expect(faultsOf(update)).to.include({
        'body.id': "'id' cannot be set on update, and is not what the record has.",
      });
    });

    it('names of members that every object has', async () => {
      const body = '{"__proto__":{"Name":"x"},"constructor":1,"toString":2,"hasOwnProperty":3,"Name":"x"}';
      const response = await inShop('POST', '/Products', body);
      expectProblem(response, 'REQUEST_INVALID');
      expect(Object.keys(faultsOf(response))).to.have.members([
        'body.constructor',
        'body.toString',
        'body.hasOwnProperty',
        'body.__proto__',
      ]);
      expect(Reflect.get({}, 'Name')).to.equal(undefined);
    });

    it('lists and objects in place of single values', async () => {
      const response = await inPeople('PATCH', '/employees/101', {
        firstName: ['a'],
        hireDate: {},
        payRate: { toString: 1, valueOf: 2 },
      });
      const message = "'firstName' is of type string: expected a single value. (and 2 more, see details)";
      expectFaults(
        response,
        {
          'body.firstName': "'firstName' is of type string: expected a single value.",
          'body.hireDate': "'hireDate' is of type date: expected a single value.",
          'body.payRate': "'payRate' is of type number: expected a single value.",
        },
        message,
      );
    });

    it('what the provider refuses, in its words', async () => {
      const twice = await inShop('POST', '/Products', { Id: 1, Name: 'There already' });
      const message =
        'OData returned 409: the request conflicts with an existing record, such as one with the same key.';
      expectProblem(twice, 'CONFLICT', message);
      expect(twice.body.providerMessage).to.equal('There is an entity with this key already.');
      const date = await inPeople('PATCH', '/employees/101', { hireDate: 'tomorrow' });
      expectProblem(date, 'PROVIDER_REJECTED');
      expect(date.body.providerMessage).to.equal('Invalid value for hireDate');
    });

    it('changes that come from two callers at once in no half way', async () => {
      const { body } = await inShop('POST', '/Products', { Name: 'Shared' });
      const stocks = Array.from({ length: 8 }, (_, index) => index);
      const answers = await Promise.all(
        stocks.map((Stock) => inShop('PATCH', `/Products/${body.Id}`, { Stock, Description: `stock ${Stock}` })),
      );
      for (const { status } of answers) expect(status).to.equal(200);
      const { Stock, Description } = (await inShop('GET', `/Products/${body.Id}`)).body;
      expect(Description).to.equal(`stock ${Stock}`);
    });
  });
});
