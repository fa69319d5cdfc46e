import { expect } from 'chai';
import type { Connector } from '../../src/connector/contract.ts';
import { AppError } from '../../src/errors.ts';
import { useOf } from '../../src/formulas/element-uses.ts';
import type { Step, Trigger } from '../../src/formulas/model.ts';
import { readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import type { MappingInForce, MappingsInForce } from '../../src/mappings/model.ts';
import { findBreaks } from '../../src/schemas/breaks.ts';
import { compareShapes } from '../../src/schemas/compare.ts';
import { isFieldComplaint } from '../../src/schemas/complaints.ts';
import { GONE, type Shape, shapeOf } from '../../src/schemas/shape.ts';
import { type FormulaUse, findUses, NO_USES, type ObjectUses } from '../../src/schemas/uses.ts';
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

type StepProperties = Readonly<Record<string, unknown>>;

const CRM = { elementInstanceId: '${config.crm}' };
const INSTANCE_OF_FORMULA = {
  ...{ id: 2, name: 'Acme', formula: { accountId: 1, id: 1 }, formulaName: 'Sync' },
  configuration: { crm: '7', other: '8' },
};

/** A formula that uses an object by these names. Steps are named `a`, `b` and so on. */
function formula(
  steps: readonly (readonly [Step['type'], StepProperties])[],
  { names = ['contacts'], trigger }: { readonly names?: readonly string[]; readonly trigger?: Trigger } = {},
): FormulaUse {
  const named = steps.map(([type, properties], at): [string, Step] => {
    const name = String.fromCharCode(97 + at);
    return [name, { id: at, name, type, properties, onSuccess: [], onFailure: [] }];
  });
  const program = { variables: new Set(['crm', 'other']), trigger, steps: new Map(named) };
  const use = useOf(program, INSTANCE_OF_FORMULA, 7);
  if (use === undefined) throw new Error('The formula does not use the instance.');
  return { ...use, names };
}

const request = (properties: StepProperties) => ['elementRequest', { ...CRM, method: 'GET', ...properties }] as const;
const script = (body: string) => ['script', { body }] as const;
const CONTACTS = request({ api: '/contacts' });
const FORMULA = formula([CONTACTS, script('done({ label: trigger.body.lastName, updatedAtAll: 1 })')]);

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

  describe('is a formula', () => {
    const of = (use: FormulaUse, ...names: readonly string[]) =>
      breaksOf(without(...names), { formulas: [use] }).formulas.map(({ fields }) => fields);
    const all = ['firstName', 'lastName', 'status'];

    it('whose script has the name as a member or in a text, and not as a variable, a comment or a part of a word', () => {
      expect(of(FORMULA, 'lastName')).to.deep.equal([['lastName']]);
      expect(of(FORMULA, 'updatedAt')).to.deep.equal([]);
      const body = `
        // The firstName is not needed.
        const firstName = 1;
        const { lastName } = steps.a.response.body[0];
        done({ text: "by status" });`;
      expect(of(formula([CONTACTS, script(body)]), ...all)).to.deep.equal([['lastName', 'status']]);
      const broken = formula([CONTACTS, script('this is { no script with firstName')]);
      expect(of(broken, ...all)).to.deep.equal([['firstName']]);
    });

    for (const [what, step] of [
      [
        'a reference to the records of the object',
        ['httpRequest', { url: 'https://a.example', body: '${steps.a.response.body[0].status}' }],
      ],
      ['a reference in the short form', ['httpRequest', { url: 'https://a.example/${a.response.body.status.id}' }]],
      [
        'the query of its path',
        request({ api: "/contacts?where=status = 'lastName' AND id = '${trigger.args.firstName}'" }),
      ],
      ['its query', request({ api: '/hubs/crm/contacts', query: { fields: 'status,id' } })],
      ['its query as text', request({ api: '/contacts', query: 'orderBy=status desc' })],
      ['a body', request({ api: '/contacts', method: 'POST', body: { status: '${config.other}' } })],
      ['a body as text', request({ api: '/contacts', method: 'POST', body: '{ "status": ${steps.a.response.body} }' })],
    ] as const)
      it(`that names the field in ${what}`, () => {
        expect(of(formula([CONTACTS, step]), ...all)).to.deep.equal([['status']]);
      });

    it('that names the field of an entry of a loop over records', () => {
      const loop = ['loop', { list: '${steps.a.response.body}' }] as const;
      const end = ['httpRequest', { url: 'https://a.example', body: { text: '${steps.b.entry.status}' } }] as const;
      expect(of(formula([CONTACTS, loop, end]), ...all)).to.deep.equal([['status']]);
    });

    it('that names the field of the record that started it', () => {
      const trigger: Trigger = {
        ...{ id: 1, name: 'trigger', type: 'event', onSuccess: [], onFailure: [] },
        properties: { ...CRM, objectTypes: 'contacts' },
      };
      const send = ['httpRequest', { url: 'https://a.example/${trigger.body.message.raw.status}' }] as const;
      expect(of(formula([send], { trigger }), ...all)).to.deep.equal([['status']]);
      const raw = ['httpRequest', { url: 'https://a.example/${trigger.body.message.raw.Address.city}' }] as const;
      expect(of(formula([raw], { trigger }), 'address')).to.deep.equal([['address']]);
    });

    it('and none that names a field of the same name of another object, instance, child or step', () => {
      const others = [
        request({ api: '/accounts?fields=status', method: 'POST', body: { lastName: '${config.other}' } }),
        request({ api: '/contacts/1/notes?fields=firstName' }),
        request({ elementInstanceId: '${config.other}', api: '/contacts?fields=status' }),
        ['httpRequest', { url: 'https://a.example?fields=status', body: '${steps.b.response.body.status}' }],
        ['httpRequest', { url: 'https://a.example/${steps.d.response.body.lastName}/${config.firstName}' }],
      ] as const;
      expect(of(formula([CONTACTS, ...others]), ...all)).to.deep.equal([]);
    });

    it('that names the mapped field', () => {
      const use = formula([request({ api: '/people?fields=city' })], { names: ['people'] });
      const broken = (...names: readonly string[]) =>
        breaksOf(without(...names), { mappings: [MAPPING], formulas: [use] }).formulas.map(({ fields }) => fields);
      expect(broken('address')).to.deep.equal([['city']]);
      expect(broken('status')).to.deep.equal([]);
    });

    it('that uses the object by its own name and by a mapped one, once', async () => {
      const both = [request({ api: '/people?fields=city' }), request({ api: '/contacts?fields=status' })];
      const use = formula(both);
      const uses = await findUses(
        {
          mappingsInForce: async () => ({ byName: new Map([['people', MAPPING]]) }) as unknown as MappingsInForce,
          formulasOf: async () => [use],
        },
        { accountId: 1, id: 7, config: {}, connector: {} as Connector },
      );
      const found = uses.get('contacts') ?? NO_USES;
      expect(found.formulas.map(({ names }) => names)).to.deep.equal([['people', 'contacts']]);
      expect(breaksOf(without('address', 'status'), found).formulas.map(({ fields }) => fields)).to.deep.equal([
        ['city', 'status'],
      ]);
    });
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
    const uses = { mappings: [MAPPING], formulas: [formula([request({ api: '/contacts?fields=status' })])] };
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
