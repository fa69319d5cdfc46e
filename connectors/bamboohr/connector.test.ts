import { expect } from 'chai';
import type { ObjectSpec, Objects } from '#connector';
import {
  allFields,
  type Connection,
  failureOf,
  fieldOf,
  normalise,
  objectOf,
  type Provider,
  startProvider,
} from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import bamboohr from './index.ts';
import { createSimulator } from './simulator.ts';

const CONFIG = { username: 'demo-key', 'company.name': 'Acme' };

/** Returns the filter of a `where` in the provider's syntax. */
function filterOf(object: ObjectSpec, where: string): unknown {
  return prepareQuery({ where }, object).plan.native;
}

describe('BambooHR, from the connector to its simulator', () => {
  let simulator: Provider;
  let connection: Connection;
  let objects: Objects;

  before(async () => {
    simulator = await startProvider(bamboohr, createSimulator, CONFIG);
    connection = simulator.connect();
    ({ objects } = await connection.discover());
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  it('pins every request to the host of the company', () => {
    expect(bamboohr.baseUrl(CONFIG)).to.equal('https://acme.bamboohr.com');
    expect(typeof bamboohr.hosts === 'function' && bamboohr.hosts(CONFIG)).to.deep.equal(['acme.bamboohr.com']);
    const { pattern } = bamboohr.configuration.find(({ key }) => key === 'company.name') ?? {};
    const names = ['acme', 'Acme-2', 'a.b', 'evil.com/', 'a@b', '-a', 'a-', '', 'a'.repeat(64)];
    expect(names.map((name) => pattern?.test(name))).to.deep.equal([true, true, ...Array(7).fill(false)]);
  });

  it('sees with one call whether the key is good', async () => {
    await connection.context.send(bamboohr.probe);
    const failure = await failureOf(simulator.connect({ username: 'wrong' }).context.send(bamboohr.probe));
    expect(failure).to.include({ code: 'INSTANCE_CREDENTIALS_FAILED', providerMessage: 'Invalid API key' });
    const elsewhere = await failureOf(simulator.connect({ 'company.name': 'other' }).context.send(bamboohr.probe));
    expect(elsewhere).to.include({ code: 'NOT_FOUND', providerMessage: 'Company not found' });
  });

  it('discovers the fields of the account', () => {
    const { fields } = objectOf(objects, 'employees');
    expect(fields).to.include.keys('id', 'workEmail', 'department', 'compensationEffectiveDate', 'customField4401');
    expect(fields.hireDate).to.deep.include({ type: 'date', nativeType: 'date', createable: true });
    expect(fields.department).to.include({ native: 'jobInformationDepartment', label: 'Department', type: 'string' });
    expect(fields.customField4402).to.include({ custom: true, type: 'boolean', createable: true });
  });

  it('goes on at any row', async () => {
    const employees = objectOf(objects, 'employees');
    const everybody = await connection.listAll(employees, { limit: 1000 });
    const cursor = employees.list?.cursorAt?.(123);
    const page = await connection.list(employees, { limit: 20, ...(cursor !== undefined && { cursor }) });
    expect(page.records.map((record) => normalise(employees, record))).to.deep.equal(everybody.slice(123, 143));
    expect([page.total, page.next]).to.deep.equal([300, '143']);
  });

  it('gets a record that equals the listed one', async () => {
    const employees = objectOf(objects, 'employees');
    const everybody = await connection.listAll(employees, { limit: 1000 });
    for (const listed of [0, 4, 13, 100, 299].map((index) => everybody[index])) {
      const input = { id: String(listed?.id), fields: allFields(employees) };
      expect(normalise(employees, await connection.run(employees.get, input))).to.deep.equal(listed);
    }
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
    const employees = objectOf(objects, 'employees');
    const fields = allFields(employees);
    for (const name of HOSTILE) {
      const values = { firstName: 'New', lastName: name, compensationPayRate: '12.50', customField4402: 'yes' };
      const created = normalise(employees, await connection.run(employees.create, { values, fields }));
      expect(created).to.include({ firstName: 'New', lastName: name, payRate: 12.5, customField4402: true });
      const id = String(created.id);
      const changes = { values: { email: `${id}@example.com`, compensationPayRate: '' }, fields, id };
      const updated = normalise(employees, await connection.run(employees.update, changes));
      expect(updated).to.include({ lastName: name, workEmail: `${id}@example.com`, payRate: null });
      const filter = filterOf(employees, `lastName = '${name.replaceAll("'", "''")}'`);
      const found = await connection.listAll(employees, { limit: 1000, filter });
      expect(found.map((row) => row.id)).to.include(created.id);
    }
  });

  it('answers well-known and custom fields, and the others of the dataset where they are named', async () => {
    const employees = objectOf(objects, 'employees');
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
    expect(await connection.run(employees.get, named)).to.deep.include({
      ethnicity: null,
      compensationPayRateCurrencyCode: 'USD',
      compensationEffectiveDate: '2000-01-01',
      name: 'Ashley Smith',
      dependentFirstName: ['ASHLEY', 'ashley'],
      customTable4607: [],
    });
  });

  it('says so when BambooHR answers success and leaves a field as it was', async () => {
    const employees = objectOf(objects, 'employees');
    const values = { city: 'Apia', customField4404: 'B-1' };
    const change = { id: '105', values, fields: allFields(employees) };
    const ignored = await messageOf(connection.run(employees.update, change));
    expect(ignored).to.match(
      /^BambooHR reported that it changed the employee 105, but did not store 'customField4404'\. /,
    );
    const record = await connection.run(employees.get, { id: '105', fields: allFields(employees) });
    expect(record).to.include({ city: 'Apia', customField4404: 'B-105' });
    const same = { ...change, values: { customField4404: 'B-105' } };
    expect(await connection.run(employees.update, same)).to.include({ customField4404: 'B-105' });
    const created = { values: { firstName: 'A', lastName: 'B', customField4404: 'B-2' }, fields: allFields(employees) };
    const half = await messageOf(connection.run(employees.create, created));
    expect(half).to.match(/^BambooHR created the employee 401, but did not store 'customField4404'\. /);
  });

  it('passes on why a change is refused', async () => {
    const employees = objectOf(objects, 'employees');
    const change = { id: '105', values: { jobInformationDepartment: 'Nowhere' }, fields: [] };
    expect(await failureOf(connection.run(employees.update, change))).to.include({
      code: 'PROVIDER_REJECTED',
      providerMessage: 'Invalid value for jobInformationDepartment',
    });
  });

  it('lists time off, by window and below an employee', async () => {
    const timeOff = objectOf(objects, 'time-off');
    const all = await connection.listAll(timeOff, { limit: 50 });
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
      employeeNote: null,
      managerNote: null,
    });
    const filter = filterOf(timeOff, "end >= '2026-01-01'");
    expect(await connection.listAll(timeOff, { limit: 50, filter })).to.have.length(24);
    const child = objectOf(objectOf(objects, 'employees').children ?? {}, 'time-off');
    expect(await connection.listAll(child, { parentId: '108' })).to.deep.equal(
      all.filter(({ employeeId }) => employeeId === 108),
    );
  });

  it('lists files of the company and of an employee', async () => {
    const company = await connection.listAll(objectOf(objects, 'files'));
    expect(company.map(({ id, size, categoryName }) => [id, size, categoryName])).to.deep.equal([
      [470, 470_000, 'New Hire Docs'],
      [471, 471_000, 'New Hire Docs'],
    ]);
    const child = objectOf(objectOf(objects, 'employees').children ?? {}, 'files');
    const [first] = await connection.listAll(child, { parentId: '102' });
    expect(first).to.include({
      id: 1021,
      size: 1000,
      categoryId: 12,
      dateCreated: '2024-01-11T23:59:59.000Z',
      shareWithEmployee: true,
    });
  });

  it('tells an employee without visible files from one that does not exist', async () => {
    const child = objectOf(objectOf(objects, 'employees').children ?? {}, 'files');
    expect(await connection.listAll(child, { parentId: '103' })).to.deep.equal([]);
    expect(await failureOf(connection.list(child, { parentId: '9999' }))).to.include({
      code: 'NOT_FOUND',
      providerMessage: 'Employee not found',
    });
  });

  it('lists types and policies of time off', async () => {
    const types = await connection.listAll(objectOf(objects, 'time-off-types'));
    const policies = await connection.listAll(objectOf(objects, 'time-off-policies'));
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
