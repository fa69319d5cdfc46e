import { expect } from 'chai';
import { callProvider, type ServedSimulator, serveSimulator } from '#connector/testing';
import { createSimulator } from './simulator.ts';

const KEY = `Basic ${Buffer.from('demo-key:anything').toString('base64')}`;
const JSON_HEADERS = { authorization: KEY, accept: 'application/json' };

describe('the BambooHR simulator', () => {
  let simulator: ServedSimulator;

  before(async () => {
    simulator = await serveSimulator('bamboohr', createSimulator);
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  const get = (path: string, headers: Record<string, string> = JSON_HEADERS) =>
    callProvider(simulator.url + path, { headers });
  const post = (path: string, body: object) => callProvider(simulator.url + path, { headers: JSON_HEADERS, body });
  const query = (body: object) => post('/api/v2/datasets/employee/data', { fields: ['eeid'], ...body });
  const words = (response: { readonly headers: Headers }) => response.headers.get('x-bamboohr-error-message');

  it('lets in the key of acme with any password, and nobody else', async () => {
    const wrong = { ...JSON_HEADERS, authorization: `Basic ${Buffer.from('demo-key2:x').toString('base64')}` };
    const statuses = await Promise.all([
      get('/api/v1/employees/0'),
      get('/api/v1/employees/0', { ...JSON_HEADERS, forwarded: 'host=acme.bamboohr.com' }),
      get('/api/v1/employees/0', { accept: 'application/json' }),
      get('/api/v1/employees/0', wrong),
      get('/api/v1/employees/0', { ...JSON_HEADERS, forwarded: 'host=other.bamboohr.com' }),
    ]);
    expect(statuses.map(({ status }) => status)).to.deep.equal([200, 200, 401, 401, 404]);
  });

  it('answers XML unless JSON is asked for', async () => {
    const response = await get('/api/v1/files/view', { authorization: KEY });
    expect(response.headers.get('content-type')).to.match(/^text\/xml/);
  });

  it('filters, orders and pages the dataset', async () => {
    const response = await query({
      fields: ['eeid', 'status'],
      filter: "status eq 'inactive'",
      orderBy: 'eeid desc',
      page: 2,
      pageSize: 2,
    });
    expect(response.body).to.deep.equal({
      data: [{ fields: { eeid: '390', status: 'Inactive' } }, { fields: { eeid: '385', status: 'Inactive' } }],
      meta: { totalItems: 60 },
    });
  });

  it('describes columns without a number and a type, and fields with both', async () => {
    const columns = (await get('/api/v1_2/datasets/employee/fields')).body;
    const first = { name: 'firstName', label: 'First Name', entityName: 'personal' };
    expect(Object(columns).fields).to.deep.include(first);
    const fields = (await get('/api/v1/meta/fields')).body;
    expect(fields).to.deep.include({ name: 'T-Shirt Size', id: 4401, type: 'list', alias: 'customTShirtSize' });
    expect(fields).to.deep.include({ name: 'Pay rate - Currency code', id: '19.1', alias: 'payRate', type: 'text' });
  });

  it('makes a row of each dependent where a column of dependents is asked for', async () => {
    const response = await query({
      fields: ['eeid', 'dependentFirstName'],
      filter: 'eeid le 103',
      orderBy: 'eeid asc',
    });
    expect(response.body.data).to.deep.equal([
      { fields: { eeid: '101', dependentFirstName: 'ASHLEY' } },
      { fields: { eeid: '101', dependentFirstName: 'ashley' } },
      { fields: { eeid: '102', dependentFirstName: null } },
      { fields: { eeid: '103', dependentFirstName: 'Zoë' } },
    ]);
  });

  it('gives no order where none is asked for', async () => {
    const [first, second] = await Promise.all([query({ pageSize: 1 }), query({ pageSize: 1 })]);
    expect(first?.body).not.to.deep.equal(second?.body);
  });

  const REFUSED: readonly (readonly [string, object, number, string])[] = [
    ['a field it does not know', { filter: "nope eq 'x'" }, 400, 'INVALID_ARGUMENT'],
    ['a column it does not know', { fields: ['nope'] }, 400, 'INVALID_ARGUMENT'],
    ['no columns', { fields: [] }, 400, 'INVALID_ARGUMENT'],
    ['an order by a field that is not asked for', { orderBy: 'lastName asc' }, 400, 'UE-1001'],
    ['and beside or', { filter: 'eeid eq 1 and eeid eq 2 or eeid eq 3' }, 422, 'INVALID_FILTER'],
    ['and below or', { filter: '(eeid eq 1 and eeid eq 2) or eeid eq 3' }, 422, 'INVALID_FILTER'],
    ['not', { filter: 'not (eeid eq 1)' }, 422, 'INVALID_FILTER'],
    ['a function', { filter: "contains(lastName,'x')" }, 422, 'INVALID_FILTER'],
    ['null', { filter: 'lastName eq null' }, 422, 'INVALID_FILTER'],
    ['an operator it does not have', { filter: "lastName like 'x'" }, 422, 'INVALID_FILTER'],
    ['an order of texts', { filter: "lastName lt 'x'" }, 422, 'INVALID_FILTER'],
    ['several texts in a list', { filter: "lastName in ('a','b')" }, 422, 'INVALID_FILTER'],
    ['an amount', { filter: "compensationPayRate eq '1'" }, 422, 'INVALID_FILTER'],
    ['a text for a number', { filter: "eeid eq '1'" }, 422, 'INVALID_FILTER'],
    ['a date that is none', { filter: "hireDate eq '2024-99-01'" }, 422, 'INVALID_FILTER'],
    ['an open quote', { filter: "lastName eq 'O'Brien'" }, 422, 'INVALID_FILTER'],
    ['a page of more than 1,000', { pageSize: 1001 }, 422, 'VALIDATION'],
    ['page 0', { page: 0 }, 422, 'VALIDATION'],
  ];
  for (const [what, body, status, code] of REFUSED) {
    it(`refuses ${what}`, async () => {
      const response = await query(body);
      expect([response.status, response.body.code]).to.deep.equal([status, code]);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
    });
  }

  it('answers a filter of one value in a list, and of many options', async () => {
    const one = await query({ filter: "lastName in ('Smith')" });
    const many = await query({ filter: "jobInformationDepartment in ('R&D','Marketing') and status eq 'Active'" });
    expect([one.body.meta?.totalItems, many.body.meta?.totalItems]).to.deep.equal([44, 74]);
  });

  it('drops fields it does not know from an employee, and takes names and numbers', async () => {
    const response = await get('/api/v1/employees/105?fields=firstName,nope,19,terminationDate');
    expect(response.body).to.deep.equal({
      id: '105',
      firstName: 'Zoe\u0308',
      '19': '27000.00 USD',
      terminationDate: '2038-01-19',
    });
  });

  it('refuses employees without a name and values that are not valid, and passes over unknown fields without a word', async () => {
    const responses = await Promise.all([
      post('/api/v1/employees', { firstName: 'Only' }),
      post('/api/v1/employees/105', { nope: 1 }),
      post('/api/v1/employees/105', { department: 'Nowhere' }),
      post('/api/v1/employees/105', { hireDate: '2024-13-01' }),
      post('/api/v1/employees/9', { firstName: 'x' }),
      post('/api/v1/employees/105', []),
    ]);
    expect(responses.map((response) => [response.status, words(response)])).to.deep.equal([
      [400, 'First and last name are required'],
      [200, null],
      [409, 'Invalid value for jobInformationDepartment'],
      [409, 'Invalid value for hireDate'],
      [404, 'Employee not found'],
      [400, 'Malformed JSON'],
    ]);
  });

  it('changes the owner of the key by the id 0', async () => {
    await post('/api/v1/employees/0', { city: 'Bern' });
    expect((await get('/api/v1/employees/101?fields=city')).body).to.deep.equal({ id: '101', city: 'Bern' });
  });

  it('wants a window for time off', async () => {
    const response = await get('/api/v1/time_off/requests?start=2025-01-01');
    expect([response.status, words(response)]).to.deep.equal([400, 'Invalid or missing end date']);
    const all = await get('/api/v1/time_off/requests?start=2025-02-28&end=2025-02-28&status=superceded,denied');
    expect(all.body).to.have.length(24);
  });
});
