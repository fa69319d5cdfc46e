import { expect } from 'chai';
import type { ConnectorContext, ProviderRequest } from '#connector';
import { joinCatalogue, loadCatalogue } from './discovery.ts';
import { buildFields, type CatalogueField } from './employee-fields.ts';

const EEID: CatalogueField = { dataset: 'eeid', custom: false, certain: true };

function specOf(column: Partial<CatalogueField> & Pick<CatalogueField, 'dataset'>) {
  const fields = buildFields([EEID, { custom: false, certain: true, ...column }]);
  return fields.find(({ spec }) => spec.native === column.dataset);
}

describe('the fields of employees', () => {
  it('have the names of the employee endpoints where those are known', () => {
    const { name, endpoint, spec } = specOf({ dataset: 'jobInformationDepartment', type: 'list' }) ?? {};
    expect([name, endpoint, spec?.native]).to.deep.equal(['department', 'department', 'jobInformationDepartment']);
  });

  it('keep their dataset names where they are not, and stay apart from the known ones', () => {
    expect(specOf({ dataset: 'compensationEffectiveDate' })?.name).to.equal('compensationEffectiveDate');
    expect(specOf({ dataset: 'payRate', type: 'currency' })?.name).to.equal('dataset_payRate');
  });

  it('are those of the account only', () => {
    expect(buildFields([EEID]).map(({ name }) => name)).to.deep.equal(['id']);
  });

  it('cannot do without the id', () => {
    expect(() => buildFields([{ ...EEID, dataset: 'firstName' }])).to.throw("lacks the field 'eeid'");
  });

  it('are filtered only by what is documented for their type', () => {
    const filters = ['text', 'list', 'date', 'int', 'currency', 'checkbox', 'multilist', 'ssn', 'novelty'].map(
      (type) => [type, specOf({ dataset: 'x', type })?.spec.filter],
    );
    expect(Object.fromEntries(filters)).to.deep.equal({
      text: { '=': 'superset' },
      list: { '=': 'superset', IN: 'superset' },
      date: { '=': 'exact', '!=': 'superset', '<': 'superset', '<=': 'superset', '>': 'exact', '>=': 'exact' },
      int: { '=': 'superset', '!=': 'superset', '<': 'superset', '<=': 'superset', '>': 'superset', '>=': 'superset' },
      currency: undefined,
      checkbox: undefined,
      multilist: undefined,
      ssn: undefined,
      novelty: undefined,
    });
  });

  it('are not filtered where the catalogue tells no type and no document either', () => {
    expect(specOf({ dataset: 'gender' })?.spec.filter).to.equal(undefined);
    expect(specOf({ dataset: 'hireDate' })?.spec.filter).to.have.property('>=', 'exact');
  });

  it('are answered on demand, and neither filtered nor sorted by BambooHR, where nobody names them', () => {
    const spec = specOf({ dataset: 'accrualLevelStartDate', type: 'date', certain: false })?.spec;
    expect(spec).to.include({ type: 'date', onDemand: true });
    const column = specOf({ dataset: 'dependentBirthDate', type: 'date', certain: false, table: 'hrisDependents' });
    expect(column?.spec).to.include({ type: 'array', onDemand: true });
    expect(column?.spec.read?.(['2020-01-01', '0000-00-00'])).to.deep.equal(['2020-01-01', null]);
    for (const each of [spec, column?.spec]) {
      expect(each).not.to.have.any.keys('filter', 'sortable', 'createable', 'updateable');
    }
  });

  it('are written where that is documented and the account lists them, and where the customer made them', () => {
    const access = ['firstName', 'terminationDate', 'ssn'].map((dataset) => {
      const spec = specOf({ dataset, type: 'text', endpoint: dataset, certain: dataset !== 'ssn' })?.spec;
      return [spec?.required, spec?.createable, spec?.updateable];
    });
    expect(access).to.deep.equal([
      [true, true, true],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
    ]);
    const custom = { dataset: 'customField7', type: 'checkbox', custom: true };
    expect(specOf({ ...custom, endpoint: 'customBox' })?.spec).to.include({ custom: true, updateable: true });
    for (const unlisted of [{ dataset: 'city', type: 'text' }, custom]) {
      expect(specOf(unlisted)?.spec).not.to.have.any.keys('createable', 'updateable');
    }
  });
});

/** A column of the catalogue as a real account returned it in May 2026. */
function column(name: string, label: string, entityName: string) {
  return { name, label, parentType: 'page', parentName: entityName, entityName };
}

describe('the catalogue of fields', () => {
  it('is read page by page, without names that a filter cannot hold', async () => {
    const asked: ProviderRequest[] = [];
    const pages = [
      { fields: [column('customField4401', 'Size', 'custom')], pagination: { total_pages: 2 } },
      { fields: [column('city', 'City', 'personal'), column("x' or", 'X', 'custom')], pagination: { total_pages: 2 } },
    ];
    const employeeFields = [{ id: 4401, name: 'Size', type: 'list', alias: 'customSize' }];
    const send: ConnectorContext['send'] = async (request) => {
      asked.push(request);
      const body = request.query === undefined ? employeeFields : pages[Number(request.query.page) - 1];
      return { status: 200, headers: {}, body };
    };
    const catalogue = await loadCatalogue({ config: {}, send, signal: new AbortController().signal });
    expect(catalogue).to.deep.equal([
      {
        dataset: 'customField4401',
        label: 'Size',
        type: 'list',
        endpoint: 'customSize',
        custom: true,
        certain: true,
      },
      { dataset: 'city', label: 'City', custom: false, certain: true },
    ]);
    expect(asked).to.have.deep.members([
      { path: '/api/v1_2/datasets/employee/fields', query: { page: 1, page_size: 1000 } },
      { path: '/api/v1_2/datasets/employee/fields', query: { page: 2, page_size: 1000 } },
      { path: '/api/v1/meta/fields' },
    ]);
  });

  it('finds the employee field of a custom column by its number', () => {
    expect(
      join(
        [column('customField4337', 'NIN', 'custom'), column('nin', 'NIN', 'personal')],
        [{ id: 4337, name: 'NIN', type: 'text', alias: 'customNIN1' }],
      ),
    ).to.deep.equal({ customField4337: ['text', 'customNIN1'], nin: [undefined, undefined] });
  });

  it('finds that of a well-known column by its alias, whatever the label', () => {
    const fields = [
      { id: 6, name: 'Birth Date', type: 'date', alias: 'dateOfBirth' },
      { id: 1358, type: 'text', deprecated: true, name: 'Nickname', alias: 'nickname' },
      { id: '19.1', name: 'Pay rate - Currency code', type: 'text', alias: 'payRate' },
      { id: 19, name: 'Pay rate', type: 'currency', alias: 'payRate' },
    ];
    const columns = [
      column('dateOfBirth', 'Date of Birth', 'personal'),
      column('compensationPayRate', 'Pay Rate', 'compensation'),
      column('compensationPayRateCurrencyCode', 'Pay rate - Currency code', 'compensation'),
      column('nickname', 'Nickname', 'personal'),
    ];
    expect(join(columns, fields)).to.deep.equal({
      dateOfBirth: ['date', 'dateOfBirth'],
      compensationPayRate: ['currency', 'payRate'],
      // A part of a field has the alias of the whole field, but is a different field.
      compensationPayRateCurrencyCode: ['text', '19.1'],
      nickname: [undefined, undefined],
    });
  });

  it('finds others by label, where it can mean one field only', () => {
    const fields = [
      { id: 1, name: 'First Name', type: 'text', alias: 'firstName' },
      { id: 1037, name: 'Ethnicity', type: 'list', alias: 'ethnicity' },
      { id: 1610, name: 'Self-service access', type: 'employee_access' },
      { id: 4607, name: 'Name', type: 'text' },
      { id: 4591, name: 'Date', type: 'date' },
      { id: 4598, name: 'Date', type: 'date' },
      { id: 4700, name: 'Final Pay Date', type: 'date' },
    ];
    const columns = [
      column('firstName', 'First Name', 'personal'),
      column('dependentFirstName', 'First Name', 'hrisDependents'),
      column('ethnicity', 'Ethnicity', 'job'),
      column('selfServiceAccess', 'Self-Service Access', 'personal'),
      column('name', 'Name', 'calculated'),
      column('customTable4607', 'Name', 'customTable_13'),
      column('date', 'Date', 'job'),
      column('employmentStatusFinalPayDate', 'Final Pay Date', 'employmentStatus'),
      column('employeeFinalPayDate', 'Final Pay Date', 'employmentStatus'),
    ];
    expect(join(columns, fields)).to.deep.equal({
      firstName: ['text', 'firstName'],
      dependentFirstName: [undefined, undefined],
      ethnicity: ['list', 'ethnicity'],
      selfServiceAccess: ['employee_access', '1610'],
      name: [undefined, undefined],
      customTable4607: ['text', '4607'],
      date: [undefined, undefined],
      employmentStatusFinalPayDate: [undefined, undefined],
      employeeFinalPayDate: [undefined, undefined],
    });
    const catalogue = joinCatalogue(columns, fields);
    expect(catalogue.filter(({ certain }) => certain).map(({ dataset }) => dataset)).to.deep.equal(['firstName']);
    expect(catalogue.flatMap(({ table }) => table ?? [])).to.deep.equal(['hrisDependents', 'customTable_13']);
  });
});

function join(columns: readonly Record<string, unknown>[], fields: readonly Record<string, unknown>[]) {
  return Object.fromEntries(
    joinCatalogue(columns, fields).map(({ dataset, type, endpoint }) => [dataset, [type, endpoint]]),
  );
}
