import { expect } from 'chai';
import { AppError } from '../../src/errors.ts';
import type { ElementUse } from '../../src/formulas/element-uses.ts';
import { useOf } from '../../src/formulas/element-uses.ts';
import { readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import type { MappingInForce } from '../../src/mappings/model.ts';
import { findBreaks } from '../../src/schemas/breaks.ts';
import { compareShapes } from '../../src/schemas/compare.ts';
import { isFieldComplaint } from '../../src/schemas/complaints.ts';
import { GONE, type Shape, shapeOf } from '../../src/schemas/shape.ts';
import { NO_USES, type ObjectUses } from '../../src/schemas/uses.ts';
import type { FieldSpec } from '../../src/where/index.ts';

const DATE = { type: 'datetime', filter: { '>=': 'exact' } } as const;
const FIELDS: Readonly<Record<string, FieldSpec>> = {
  id: { type: 'string' },
  firstName: { type: 'string' },
  lastName: { type: 'string' },
  address: { type: 'object', native: 'Address' },
  status: { type: 'string' },
  updatedAt: DATE,
};
const BEFORE = shapeOf({ fields: FIELDS, idField: 'id' });

function without(...names: readonly string[]): Shape {
  return shapeOf({ fields: Object.fromEntries(Object.entries(FIELDS).filter(([name]) => !names.includes(name))) });
}

function breaksOf(after: Shape, uses: Partial<ObjectUses>) {
  const change = compareShapes(BEFORE, after);
  if (change === undefined) throw new Error('Nothing changed.');
  return findBreaks(BEFORE, change, { ...NO_USES, ...uses });
}

const MAPPING: MappingInForce = {
  ...{
    version: '1',
    objectName: 'people',
    vendorName: 'contacts',
    level: 'account',
    definition: [],
    configuration: [],
  },
  fields: [
    {
      path: 'name',
      level: 'account',
      configuration: [{ type: 'join', properties: { paths: ['firstName', 'lastName'] } }],
    },
    { path: 'city', level: 'account', vendorPath: 'Address.city' },
    { path: 'state', level: 'account', vendorPath: 'status' },
  ],
};

const FORMULA: ElementUse = {
  ...{ formulaId: 1, formulaName: 'Sync', formulaInstanceId: 2, formulaInstanceName: 'Acme' },
  objectNames: ['contacts'],
  text: JSON.stringify([{ body: 'done({ label: trigger.body.lastName, updatedAtAll: 1 })' }]),
};

const polls = (settings: object) =>
  readPollSettings({ 'event.notification.enabled': true, ...settings })?.resources ?? [];

describe('what a change of an object breaks', () => {
  it('is a mapping of the field, of a part of it, or of several fields', () => {
    const uses = { mappings: [MAPPING] };
    const of = (...names: readonly string[]) => breaksOf(without(...names), uses).mappings;
    expect(of('lastName')).to.deep.equal([{ objectName: 'people', fields: ['lastName'], mappedFields: ['name'] }]);
    expect(of('address')).to.deep.equal([{ objectName: 'people', fields: ['address'], mappedFields: ['city'] }]);
    expect(of('updatedAt')).to.deep.equal([]);
  });

  it('is a mapping whose script names the field', () => {
    const mappings = [
      { ...MAPPING, fields: [], script: { body: 'transformedObject.x = originalObject.status; done();' } },
    ];
    expect(breaksOf(without('status'), { mappings }).mappings).to.deep.equal([
      { objectName: 'people', fields: ['status'], mappedFields: [] },
    ]);
    expect(breaksOf(without('firstName'), { mappings }).mappings).to.deep.equal([]);
  });

  it('is a poll that needs the field for its time, its id or its query', () => {
    const uses = { polls: polls({ 'event.objects': 'contacts' }) };
    expect(breaksOf(without('updatedAt'), uses).polls).to.deep.equal([{ resource: 'contacts', fields: ['updatedAt'] }]);
    expect(breaksOf(without('id'), uses).polls).to.deep.equal([{ resource: 'contacts', fields: ['id'] }]);
    expect(breaksOf(without('status'), uses).polls).to.deep.equal([]);
    const url = "/contacts?where=status='open' AND updatedAt>='${gmtDate:yyyy}'";
    const queried = { polls: polls({ 'event.poller.configuration': { contacts: { url } } }) };
    expect(breaksOf(without('status'), queried).polls).to.deep.equal([{ resource: 'contacts', fields: ['status'] }]);
  });

  it('is a formula that names the field, as a whole word', () => {
    const of = (...names: readonly string[]) =>
      breaksOf(without(...names), { formulas: [FORMULA] }).formulas.map(({ fields }) => fields);
    expect(of('lastName')).to.deep.equal([['lastName']]);
    expect(of('updatedAt')).to.deep.equal([]);
  });

  it('is a formula that names the mapped field', () => {
    const formula = { ...FORMULA, objectNames: ['people'], text: '"trigger.body.city"' };
    expect(
      breaksOf(without('address'), { mappings: [MAPPING], formulas: [formula] }).formulas[0]?.fields,
    ).to.deep.equal(['city']);
    expect(breaksOf(without('status'), { mappings: [MAPPING], formulas: [formula] }).formulas).to.deep.equal([]);
  });

  it('is everything that uses an object that disappeared', () => {
    const uses = { mappings: [MAPPING], polls: polls({ 'event.objects': 'contacts' }), formulas: [FORMULA] };
    const { mappings, polls: brokenPolls, formulas } = breaksOf(GONE, uses);
    expect(mappings).to.deep.equal([{ objectName: 'people', fields: [], mappedFields: [] }]);
    expect(brokenPolls).to.deep.equal([{ resource: 'contacts', fields: [] }]);
    expect(formulas.map(({ fields }) => fields)).to.deep.equal([[]]);
  });

  it('is nothing for a new field, and for a field that can do more', () => {
    const more = shapeOf({
      fields: { ...FIELDS, status: { type: 'string', createable: true, sortable: true }, extra: { type: 'string' } },
    });
    const uses = { mappings: [MAPPING], formulas: [{ ...FORMULA, text: 'status' }] };
    expect(breaksOf(more, uses)).to.deep.equal(NO_USES);
  });
});

describe('the use of an element instance by a formula', () => {
  const step = (name: string, properties: object, type = 'elementRequest' as const) =>
    [name, { id: 1, name, type, properties: { ...properties }, onSuccess: [], onFailure: [] }] as const;
  const instance = {
    ...{ id: 9, name: 'Acme', formula: { accountId: 1, id: 4 }, formulaName: 'Sync' },
    configuration: { crm: '7', other: '8', object: 'leads' },
  };
  const variables = new Set(['crm', 'other', 'object']);

  it('names the objects of its requests and of the events that start it', () => {
    const trigger = {
      ...{ id: 1, name: 'trigger', type: 'event' as const, onSuccess: [], onFailure: [] },
      properties: { elementInstanceId: '${config.crm}', objectTypes: 'contacts, accounts' },
    };
    const steps = new Map([
      step('a', { elementInstanceId: '${config.crm}', api: '/hubs/crm/contacts/${trigger.body.id}?fields=a' }),
      step('b', { elementInstanceId: '${config.crm}', api: '/hubs/crm/${config.object}' }),
      step('c', { elementInstanceId: '${config.crm}', api: '/${steps.a.response.body.object}' }),
      step('d', { elementInstanceId: '${config.other}', api: '/orders' }),
      step('e', { elementInstanceId: '${config.crm}', api: 'two%20words' }),
    ]);
    const use = useOf({ variables, trigger, steps }, instance, 7);
    expect(use?.objectNames).to.deep.equal(['contacts', 'accounts', 'leads', 'two words']);
    expect(useOf({ variables, trigger, steps }, instance, 8)?.objectNames).to.deep.equal(['orders']);
    expect(useOf({ variables, trigger, steps }, instance, 6)).to.equal(undefined);
  });
});

describe('a complaint of a provider about a field', () => {
  const rejected = (providerMessage: string) => new AppError('PROVIDER_REJECTED', 'No.', { providerMessage });
  for (const text of [
    "Could not find a property named 'total' on type 'Shop.Order'.",
    "INVALID_FIELD: No such column 'Nickname__c' on entity 'Contact'.",
    'Property "title" not found in Shop.Documents',
    'Unknown field: shirtSize',
    "The field 'x' does not exist.",
  ])
    it(`is '${text}'`, () => {
      expect(isFieldComplaint(rejected(text))).to.equal(true);
    });

  it('is no other rejection, and no other error', () => {
    expect(isFieldComplaint(rejected('The record is locked.'))).to.equal(false);
    expect(isFieldComplaint(rejected('The field email is required.'))).to.equal(false);
    expect(
      isFieldComplaint(new AppError('PROVIDER_UNAVAILABLE', 'No.', { providerMessage: 'Unknown field' })),
    ).to.equal(false);
  });
});
