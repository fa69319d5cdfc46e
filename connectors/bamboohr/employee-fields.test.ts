import { expect } from 'chai';
import type { ConnectorContext, ProviderRequest } from '#connector';
import { loadCatalogue } from './discovery.ts';
import { buildFields } from './employee-fields.ts';

const EEID = { dataset: 'eeid', type: 'int', endpoint: 'id', custom: false };

function specOf(column: { dataset: string; type?: string; endpoint?: string; custom?: boolean }) {
  const fields = buildFields([EEID, { custom: false, ...column }]);
  return fields.find(({ spec }) => spec.native === column.dataset);
}

describe('the fields of employees', () => {
  it('have the names of the employee endpoints where those are known', () => {
    const { name, endpoint, spec } = specOf({ dataset: 'jobInformationDepartment', type: 'options' }) ?? {};
    expect([name, endpoint, spec?.native]).to.deep.equal(['department', 'department', 'jobInformationDepartment']);
  });

  it('keep their dataset names where they are not, and stay apart from the known ones', () => {
    expect(specOf({ dataset: 'compensationEffectiveDate', type: 'date' })?.name).to.equal('compensationEffectiveDate');
    expect(specOf({ dataset: 'payRate', type: 'currency' })?.name).to.equal('dataset_payRate');
  });

  it('are those of the account only', () => {
    expect(buildFields([EEID]).map(({ name }) => name)).to.deep.equal(['id']);
  });

  it('cannot do without the id', () => {
    expect(() => buildFields([{ dataset: 'firstName', custom: false }])).to.throw('lists no field eeid');
  });

  it('are filtered only by what is documented for their type', () => {
    const filters = ['text', 'options', 'date', 'int', 'currency', 'bool', 'multilist', 'govIdText', 'novelty'].map(
      (type) => [type, specOf({ dataset: 'x', type })?.spec.filter],
    );
    expect(Object.fromEntries(filters)).to.deep.equal({
      text: { '=': 'superset' },
      options: { '=': 'superset', IN: 'superset' },
      date: { '=': 'exact', '!=': 'superset', '<': 'superset', '<=': 'superset', '>': 'exact', '>=': 'exact' },
      int: { '=': 'superset', '!=': 'superset', '<': 'superset', '<=': 'superset', '>': 'superset', '>=': 'superset' },
      currency: undefined,
      bool: undefined,
      multilist: undefined,
      govIdText: undefined,
      novelty: undefined,
    });
  });

  it('are not filtered where the catalogue tells no type and no document either', () => {
    expect(specOf({ dataset: 'gender' })?.spec.filter).to.equal(undefined);
    expect(specOf({ dataset: 'hireDate' })?.spec.filter).to.have.property('>=', 'exact');
  });

  it('are written where that is documented, and where the customer made them', () => {
    const access = ['firstName', 'terminationDate', 'ssn'].map((dataset) => specOf({ dataset, type: 'text' })?.spec);
    expect(access.map((spec) => [spec?.required, spec?.createable, spec?.updateable])).to.deep.equal([
      [true, true, true],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
    ]);
    expect(specOf({ dataset: 'f1', type: 'bool', custom: true })?.spec).to.include({ custom: true, updateable: true });
  });
});

describe('the catalogue of fields', () => {
  it('is read page by page and joined to the employee fields by id', async () => {
    const asked: ProviderRequest[] = [];
    const pages = [
      {
        fields: [{ id: 4401, name: 'customField4401', label: 'Size', type: 'options' }],
        pagination: { total_pages: 2 },
      },
      {
        fields: [
          { id: 9, name: 'x', type: 'text' },
          { name: "x' or", type: 'text' },
        ],
        pagination: { total_pages: 2 },
      },
    ];
    const send: ConnectorContext['send'] = async (request) => {
      asked.push(request);
      const body = request.query === undefined ? EMPLOYEE_FIELDS : pages[Number(request.query.page) - 1];
      return { status: 200, headers: {}, body };
    };
    const catalogue = await loadCatalogue({ config: {}, send, signal: new AbortController().signal });
    expect(catalogue).to.deep.equal([
      { dataset: 'customField4401', label: 'Size', type: 'options', endpoint: 'customSize', custom: true },
      { dataset: 'x', type: 'text', endpoint: '9', custom: false },
    ]);
    expect(asked).to.have.deep.members([
      { path: '/api/v1_2/datasets/employee/fields', query: { page: 1 } },
      { path: '/api/v1_2/datasets/employee/fields', query: { page: 2 } },
      { path: '/api/v1/meta/fields' },
    ]);
  });

  const EMPLOYEE_FIELDS = [
    { id: '4401', name: 'Size', type: 'list', alias: 'customSize' },
    { id: 9, name: 'SSN', type: 'ssn' },
  ];
});
