import { expect } from 'chai';
import type { Objects } from '#connector';
import bamboohr from './index.ts';
import {
  allFields,
  CONFIG,
  failureOf,
  fieldOf,
  getObject,
  normalise,
  run,
  type Simulated,
  startSimulated,
  translate,
} from './simulated.ts';

describe('BambooHR, from the connector to its simulator', () => {
  let simulated: Simulated;
  let objects: Objects;

  before(async () => {
    simulated = await startSimulated();
    objects = await simulated.discover();
  });
  after(() => simulated.stop());
  beforeEach(() => simulated.reset());

  it('pins every request to the host of the company', () => {
    expect(bamboohr.baseUrl(CONFIG)).to.equal('https://acme.bamboohr.com');
    expect(typeof bamboohr.hosts === 'function' && bamboohr.hosts(CONFIG)).to.deep.equal(['acme.bamboohr.com']);
    const { pattern } = bamboohr.configuration.find(({ key }) => key === 'company.name') ?? {};
    const names = ['acme', 'Acme-2', 'a.b', 'evil.com/', 'a@b', '-a', 'a-', '', 'a'.repeat(64)];
    expect(names.map((name) => pattern?.test(name))).to.deep.equal([true, true, ...Array(7).fill(false)]);
  });

  it('sees with one call whether the key is good', async () => {
    await simulated.connect().send(bamboohr.probe);
    const failure = await failureOf(simulated.connect({ ...CONFIG, username: 'wrong' }).send(bamboohr.probe));
    expect(failure).to.deep.equal({ kind: 'credentials', message: 'Invalid API key' });
    const elsewhere = await failureOf(simulated.connect({ ...CONFIG, 'company.name': 'other' }).send(bamboohr.probe));
    expect(elsewhere).to.deep.equal({ kind: 'notFound', message: 'Company not found' });
  });

  it('discovers the fields of the account', () => {
    const { fields } = getObject(objects, 'employees');
    expect(fields).to.include.keys('id', 'workEmail', 'department', 'compensationEffectiveDate', 'customField4401');
    expect(fields.hireDate).to.deep.include({ type: 'date', nativeType: 'date', createable: true });
    expect(fields.department).to.include({ native: 'jobInformationDepartment', label: 'Department', type: 'string' });
    expect(fields.customField4402).to.include({ custom: true, type: 'boolean', createable: true });
  });

  it('lists everybody once, whatever the page size', async () => {
    const employees = getObject(objects, 'employees');
    const order = { orderBy: [{ field: fieldOf(employees, 'lastName'), direction: 'asc' as const }] };
    const inOne = await simulated.listAll(employees, { ...order, limit: 1000 });
    const inMany = await simulated.listAll(employees, { ...order, limit: 37 });
    expect(new Set(inOne.map(({ id }) => id)).size).to.equal(300);
    expect(inMany).to.deep.equal(inOne);
  });

  it('goes on at any row', async () => {
    const employees = getObject(objects, 'employees');
    const everybody = await simulated.listAll(employees, { limit: 1000 });
    const cursor = employees.list?.cursorAt?.(123);
    const page = await simulated.list(employees, { limit: 20, ...(cursor !== undefined && { cursor }) });
    expect(page.records.map((record) => normalise(employees, record))).to.deep.equal(everybody.slice(123, 143));
    expect([page.total, page.next]).to.deep.equal([300, '143']);
  });

  it('joins predicates by and, and by or', async () => {
    const employees = getObject(objects, 'employees');
    const active = translate(employees, 'status', '=', 'active');
    const hired = translate(employees, 'hireDate', '>=', '2024-12-31');
    const both = await simulated.listAll(employees, {
      limit: 200,
      filter: employees.translator?.and?.([active, hired]),
    });
    const either = await simulated.listAll(employees, {
      limit: 200,
      filter: employees.translator?.or?.([active, hired]),
    });
    expect([both.length, either.length]).to.deep.equal([81, 261]);
    expect(both.every(({ status, hireDate }) => status === 'Active' && String(hireDate) >= '2024-12-31')).to.equal(
      true,
    );
  });

  it('gets a record that equals the listed one', async () => {
    const employees = getObject(objects, 'employees');
    const everybody = await simulated.listAll(employees, { limit: 1000 });
    for (const listed of [0, 4, 13, 100, 299].map((index) => everybody[index])) {
      const input = { id: String(listed?.id), fields: allFields(employees) };
      expect(normalise(employees, await run(employees.get, simulated.connect(), input))).to.deep.equal(listed);
    }
  });

  it('finds nobody under an unknown id', async () => {
    const employees = getObject(objects, 'employees');
    const get = run(employees.get, simulated.connect(), { id: '99999', fields: allFields(employees) });
    expect(await failureOf(get)).to.deep.equal({ kind: 'notFound', message: 'Employee not found' });
  });

  const HOSTILE = [
    "O'Brien",
    "''",
    '"',
    '`',
    '‘’“”',
    '\\',
    "\\'",
    'a\nb',
    '%_%27',
    'Zoe\u0308 👩‍🚀',
    "x'".repeat(5120),
  ];

  it('creates, changes and finds again what nobody else would name so', async () => {
    const employees = getObject(objects, 'employees');
    const fields = allFields(employees);
    for (const name of HOSTILE) {
      const values = { firstName: 'New', lastName: name, compensationPayRate: '12.50', customField4402: 'yes' };
      const created = normalise(employees, await run(employees.create, simulated.connect(), { values, fields }));
      expect(created).to.include({ firstName: 'New', lastName: name, payRate: 12.5, customField4402: true });
      const id = String(created.id);
      const changes = { values: { email: `${id}@example.com`, compensationPayRate: '' }, fields, id };
      const updated = normalise(employees, await run(employees.update, simulated.connect(), changes));
      expect(updated).to.include({ lastName: name, workEmail: `${id}@example.com`, payRate: null });
      const filter = translate(employees, 'lastName', '=', name);
      const found = await simulated.listAll(employees, { limit: 1000, filter });
      expect(found.map((row) => row.id)).to.include(created.id);
    }
  });

  it('answers well-known and custom fields, and the others of the dataset where they are named', async () => {
    const employees = getObject(objects, 'employees');
    const onDemand = Object.keys(employees.fields).filter((name) => employees.fields[name]?.onDemand === true);
    expect(onDemand).to.deep.equal([
      'ethnicity',
      'compensationPayRateCurrencyCode',
      'compensationEffectiveDate',
      'ssn',
      'name',
      'dependentFirstName',
      'dependentBirthDate',
      'customTable4607',
    ]);
    const named = { id: '101', fields: onDemand.map((name) => fieldOf(employees, name)) };
    expect(await run(employees.get, simulated.connect(), named)).to.deep.include({
      ethnicity: null,
      compensationPayRateCurrencyCode: 'USD',
      compensationEffectiveDate: '2000-01-01',
      name: 'Ashley Smith',
      dependentFirstName: ['ASHLEY', 'ashley'],
      customTable4607: [],
    });
  });

  it('says so when BambooHR answers success and leaves a field as it was', async () => {
    const employees = getObject(objects, 'employees');
    const values = { city: 'Apia', customField4404: 'B-1' };
    const change = { id: '105', values, fields: allFields(employees) };
    const ignored = await messageOf(run(employees.update, simulated.connect(), change));
    expect(ignored).to.match(
      /^BambooHR answered that it changed the employee 105, but did not store 'customField4404': /,
    );
    const record = await run(employees.get, simulated.connect(), { id: '105', fields: allFields(employees) });
    expect(record).to.include({ city: 'Apia', customField4404: 'B-105' });
    const same = { ...change, values: { customField4404: 'B-105' } };
    expect(await run(employees.update, simulated.connect(), same)).to.include({ customField4404: 'B-105' });
    const created = { values: { firstName: 'A', lastName: 'B', customField4404: 'B-2' }, fields: allFields(employees) };
    const half = await messageOf(run(employees.create, simulated.connect(), created));
    expect(half).to.match(/^BambooHR created the employee 401, but did not store 'customField4404': /);
  });

  it('passes on why a change is refused', async () => {
    const employees = getObject(objects, 'employees');
    const change = { id: '105', values: { jobInformationDepartment: 'Nowhere' }, fields: [] };
    expect(await failureOf(run(employees.update, simulated.connect(), change))).to.deep.equal({
      kind: 'rejected',
      message: 'Invalid value for jobInformationDepartment',
    });
  });

  it('lists time off, by window and below an employee', async () => {
    const timeOff = getObject(objects, 'time-off');
    const all = await simulated.listAll(timeOff, { limit: 50 });
    expect(all).to.have.length(120);
    expect(all[1]).to.deep.equal({
      id: 1301,
      employeeId: 108,
      employeeName: 'Мария Two\nLines',
      start: '2025-01-01',
      end: '2025-01-02',
      created: '2024-11-30',
      status: 'denied',
      statusChangedDate: '2024-12-01',
      statusChangedByUserId: 2340,
      typeId: 79,
      typeName: 'Sick Leave',
      unit: 'hours',
      amount: 2.5,
      dates: { '2025-01-01': 1, '2025-01-02': 0.5 },
      employeeNote: undefined,
      managerNote: undefined,
    });
    const filter = translate(timeOff, 'end', '>=', '2026-01-01');
    expect(await simulated.listAll(timeOff, { limit: 50, filter })).to.have.length(24);
    const child = getObject(getObject(objects, 'employees').children ?? {}, 'time-off');
    expect(await simulated.listAll(child, { parentId: '108' })).to.deep.equal(
      all.filter(({ employeeId }) => employeeId === 108),
    );
  });

  it('lists files of the company and of an employee', async () => {
    const company = await simulated.listAll(getObject(objects, 'files'));
    expect(company.map(({ id, size, categoryName }) => [id, size, categoryName])).to.deep.equal([
      [470, 470_000, 'New Hire Docs'],
      [471, 471_000, 'New Hire Docs'],
    ]);
    const child = getObject(getObject(objects, 'employees').children ?? {}, 'files');
    const [first] = await simulated.listAll(child, { parentId: '102' });
    expect(first).to.include({
      id: 1021,
      size: 1000,
      categoryId: 12,
      dateCreated: '2024-01-11T23:59:59.000Z',
      shareWithEmployee: true,
    });
  });

  it('tells an employee without visible files from one that does not exist', async () => {
    const child = getObject(getObject(objects, 'employees').children ?? {}, 'files');
    expect(await simulated.listAll(child, { parentId: '103' })).to.deep.equal([]);
    expect(await failureOf(simulated.list(child, { parentId: '9999' }))).to.deep.equal({
      kind: 'notFound',
      message: 'Employee not found',
    });
  });

  it('lists types and policies of time off', async () => {
    const types = await simulated.listAll(getObject(objects, 'time-off-types'));
    const policies = await simulated.listAll(getObject(objects, 'time-off-policies'));
    expect(types.map(({ id, units }) => [id, units])).to.deep.equal([
      [78, 'days'],
      [79, 'hours'],
    ]);
    expect(policies.map(({ name }) => name)).to.deep.equal(['Vacation Full-Time', 'Sick "as needed"']);
  });
});

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.message : 'Nothing was thrown.';
}
