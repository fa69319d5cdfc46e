import { expect } from 'chai';
import type { ListInput, ListPage, ObjectSpec, ProviderRequest, ProviderResponse, PushedField } from '#connector';
import { buildFields } from './employee-fields.ts';
import { findIgnored } from './employee-writes.ts';
import { createEmployees, readCreatedId } from './employees.ts';

const fields = buildFields([
  { dataset: 'eeid', custom: false, certain: true },
  { dataset: 'lastName', type: 'text', endpoint: 'lastName', custom: false, certain: true },
  { dataset: 'email', type: 'text', endpoint: 'workEmail', custom: false, certain: true },
  { dataset: 'compensationEffectiveDate', custom: false, certain: false },
]);
const employees = createEmployees(fields);

const input: ListInput<string> = { parameters: {}, fields: [], orderBy: [], limit: 20 };

describe('listing employees', () => {
  it('asks the dataset for the wanted fields, filtered, ordered and by page', () => {
    const request = requestOf({
      ...input,
      filter: "lastName eq 'Smith'",
      fields: [field('workEmail')],
      orderBy: [{ field: field('lastName'), direction: 'desc' }],
      cursor: '40',
    });
    expect(request).to.deep.equal({
      method: 'POST',
      path: '/api/v2/datasets/employee/data',
      idempotent: true,
      json: {
        fields: ['eeid', 'email', 'lastName'],
        filter: "lastName eq 'Smith'",
        orderBy: 'lastName desc,eeid asc',
        page: 3,
        pageSize: 20,
      },
    });
  });

  it('always orders by id, and only once', () => {
    expect(requestOf(input).json).to.deep.equal({ fields: ['eeid'], orderBy: 'eeid asc', page: 1, pageSize: 20 });
    const byId = requestOf({ ...input, orderBy: [{ field: field('id'), direction: 'desc' }] });
    expect(byId.json).to.include({ orderBy: 'eeid desc' });
  });

  it('reads rows, total and where to go on', () => {
    const body = {
      data: [
        { fields: { eeid: 5, lastName: "O'Brien" }, _restrictedFields: [] },
        { fields: { eeid: 6, lastName: '' } },
      ],
      links: {},
      meta: { page: 1, pageSize: 2, totalPages: 2, totalItems: 3 },
    };
    expect(pageOf(body, { ...input, limit: 2 })).to.deep.equal({
      records: [
        { eeid: 5, lastName: "O'Brien" },
        { eeid: 6, lastName: '' },
      ],
      total: 3,
      next: '2',
    });
  });

  it('skips what stands before the wanted row in its page', () => {
    const body = { data: [1, 2, 3].map((eeid) => ({ fields: { eeid } })), meta: { totalItems: 3 } };
    expect(pageOf(body, { ...input, limit: 2, cursor: '1' })).to.deep.equal({
      records: [{ eeid: 2 }, { eeid: 3 }],
      total: 3,
    });
  });

  it('asks for the columns of each table alone, and lists the values of an employee', async () => {
    const table = (dataset: string, name: string) => ({ dataset, custom: false, certain: false, table: name });
    const wide = createEmployees(
      buildFields([
        { dataset: 'eeid', custom: false, certain: true },
        table('dependentFirstName', 'hrisDependents'),
        table('dependentBirthDate', 'hrisDependents'),
        table('visaType', 'employeeVisa'),
      ]),
    );
    const rowsOf = (...rows: readonly object[]) => ({
      data: rows.map((fields) => ({ fields })),
      meta: { totalItems: 2 },
    });
    const { asked, send } = respondWith([
      rowsOf({ eeid: '7' }, { eeid: '5' }),
      rowsOf(
        { eeid: '5', dependentFirstName: 'Ann', dependentBirthDate: '2020-01-01' },
        { eeid: '5', dependentFirstName: 'Bo', dependentBirthDate: null },
        { eeid: '7', dependentFirstName: null, dependentBirthDate: '' },
      ),
      rowsOf({ eeid: '7', visaType: 'H1' }),
    ]);
    const page = await runOf(wide.list)(
      { config: {}, send, signal: AbortSignal.timeout(1000) },
      { ...input, fields: allFields(wide) },
    );
    expect(page.records).to.deep.equal([
      { eeid: '7', dependentFirstName: [], dependentBirthDate: [], visaType: ['H1'] },
      { eeid: '5', dependentFirstName: ['Ann', 'Bo'], dependentBirthDate: ['2020-01-01', null], visaType: [] },
    ]);
    const common = { filter: 'eeid eq 7 or eeid eq 5', orderBy: 'eeid asc', page: 1, pageSize: 1000 };
    expect(asked.map(({ json }) => json)).to.deep.equal([
      { fields: ['eeid'], orderBy: 'eeid asc', page: 1, pageSize: 20 },
      { ...common, fields: ['eeid', 'dependentFirstName', 'dependentBirthDate'] },
      { ...common, fields: ['eeid', 'visaType'] },
    ]);
  });

  it('says what is missing in an answer of another shape', () => {
    expect(() => pageOf('<html>', input)).to.throw('The response lacks the rows of the employee dataset.');
    expect(() => pageOf({ data: [], links: {} }, input)).to.throw('The response lacks the number of all rows.');
  });
});

describe('one employee', () => {
  it('comes from the employee endpoint, under the native names, and what that lacks from the dataset', async () => {
    const { asked, send } = respondWith([
      { id: '5', lastName: 'Smith', workEmail: 'a@example.com' },
      { data: [{ fields: { compensationEffectiveDate: '2024-01-01' } }], meta: { totalItems: 1 } },
    ]);
    const record = await runOf(employees.get)(
      { config: {}, send, signal: AbortSignal.timeout(1000) },
      { id: '5', fields: allFields() },
    );
    expect(record).to.deep.equal({
      eeid: '5',
      lastName: 'Smith',
      email: 'a@example.com',
      compensationEffectiveDate: '2024-01-01',
    });
    expect(asked).to.deep.equal([
      { path: '/api/v1/employees/5', query: { fields: 'id,lastName,workEmail' } },
      {
        method: 'POST',
        path: '/api/v2/datasets/employee/data',
        idempotent: true,
        json: { fields: ['compensationEffectiveDate'], filter: 'eeid eq 5', page: 1, pageSize: 1 },
      },
    ]);
  });

  it('takes another call for every 400 fields, which is the most BambooHR takes', async () => {
    const many = Array.from({ length: 500 }, (_, index) => ({
      dataset: `c${index}`,
      type: 'text',
      endpoint: `custom${index}`,
      custom: true,
      certain: true,
    }));
    const wide = createEmployees(buildFields([{ dataset: 'eeid', custom: false, certain: true }, ...many]));
    const { asked, send } = respondWith([
      { id: '5', custom0: 'first' },
      { id: '5', custom499: 'last' },
    ]);
    const record = await runOf(wide.get)(
      { config: {}, send, signal: AbortSignal.timeout(1000) },
      { id: '5', fields: allFields(wide) },
    );
    expect(record).to.deep.equal({ eeid: '5', c0: 'first', c499: 'last' });
    expect(asked.map(({ query }) => String(query?.fields).split(',').length)).to.deep.equal([400, 101]);
  });

  it('is not the directory, whatever the id says', async () => {
    const { send } = respondWith([{ fields: [], employees: [] }]);
    const get = runOf(employees.get)(
      { config: {}, send, signal: AbortSignal.timeout(1000) },
      { id: 'directory', fields: [] },
    );
    const error = await get.catch((reason: unknown) => reason);
    expect(error).to.be.an('error').and.to.include({
      code: 'NOT_FOUND',
      message: "BambooHR has no employee 'directory'.",
    });
  });

  it('is written under the endpoint names and read back', async () => {
    const { asked, send } = respondWith([
      { id: '5', workEmail: 'a@example.com' },
      { id: '5', firstName: 'A', lastName: 'B', status: 'Active', workEmail: 'b@example.com' },
      { id: '5', workEmail: 'b@example.com' },
    ]);
    const record = await runOf(employees.update)(
      { config: {}, send, signal: AbortSignal.timeout(1000) },
      { id: '5', values: { email: 'b@example.com' }, fields: [field('workEmail')] },
    );
    expect(record).to.deep.equal({ eeid: '5', email: 'b@example.com' });
    expect(asked).to.deep.equal([
      { path: '/api/v1/employees/5', query: { fields: 'id,workEmail' } },
      { method: 'POST', path: '/api/v1/employees/5', json: { workEmail: 'b@example.com' } },
      { path: '/api/v1/employees/5', query: { fields: 'id,workEmail' } },
    ]);
  });

  it('counts as changed when BambooHR spells the value in another way, and not when nothing came of it', () => {
    const cases: readonly (readonly [written: unknown, before: unknown, after: unknown])[] = [
      ['12.5', '12.00 USD', '12.50 USD'],
      ['', 'Lindon', null],
      ['', '2024-01-01', '0000-00-00'],
      ['no', 'yes', null],
      ['UT', 'CA', 'Utah'],
      ['b', 'b', 'b'],
      ['b', 'a', 'a'],
      ['b', null, ''],
      ['', 'a', 'a'],
    ];
    const ignored = cases.map(([x, before, after]) =>
      findIgnored({ written: { x }, before: { x: before }, after: { x: after } }),
    );
    expect(ignored.map(({ length }) => length)).to.deep.equal([0, 0, 0, 0, 0, 0, 1, 1, 1]);
    // The response of the employee endpoint omits fields that the endpoint does not know.
    expect(findIgnored({ written: { x: 'b' }, before: {}, after: {} })).to.deep.equal(['x']);
  });

  it('has the id that its body names, or else its Location ends with', () => {
    const at = (location: string): ProviderResponse => ({ status: 201, headers: { location }, body: undefined });
    expect(readCreatedId(at('https://acme.bamboohr.com/employees/employee.php?id=44259'))).to.equal('44259');
    expect(readCreatedId(at('https://api.bamboohr.com/api/gateway.php/acme2/v1/employees/44259'))).to.equal('44259');
    expect(readCreatedId(at('/employees/44259/'))).to.equal('44259');
    for (const id of ['7', 7]) {
      const headers = { location: 'https://api.bamboohr.com/api/gateway.php/acme/v1/employees/8' };
      expect(readCreatedId({ status: 201, headers, body: { id } })).to.equal('7');
    }
    expect(() => readCreatedId({ status: 201, headers: {}, body: '' })).to.throw(
      'The response lacks the id of the new employee.',
    );
  });
});

function requestOf(list: ListInput<string>): ProviderRequest {
  return halvesOf(employees).request(list, {});
}

function pageOf(body: unknown, list: ListInput<string>): ListPage {
  return halvesOf(employees).read({ status: 200, headers: {}, body }, list);
}

function halvesOf({ list }: ObjectSpec) {
  if (list === undefined || !('request' in list)) throw new Error('Two halves were expected.');
  return list;
}

function runOf<Run>(operation: { readonly run: Run } | { readonly request: unknown } | undefined): Run {
  if (operation === undefined || !('run' in operation)) throw new Error('A function was expected.');
  return operation.run;
}

function allFields(object: ObjectSpec = employees): readonly PushedField[] {
  return Object.entries(object.fields).map(([name, spec]) => ({ ...spec, name, native: spec.native ?? name }));
}

function field(name: string): PushedField {
  const found = allFields().find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`There is no field ${name}.`);
  return found;
}

function respondWith(bodies: readonly unknown[]) {
  const asked: ProviderRequest[] = [];
  const send = async (request: ProviderRequest): Promise<ProviderResponse> => {
    asked.push(request);
    return { status: 200, headers: { location: '/employees/5' }, body: bodies[asked.length - 1] };
  };
  return { asked, send };
}
