import { expect } from 'chai';
import { readFaults } from '../../console/mappings/faults.ts';
import { pathOfDefinition, pathOfEditor, readAddress } from '../../console/mappings/paths.ts';
import { mappedTypeOf, nameFor, rankFields, suggestPairs } from '../../console/mappings/suggestions.ts';
import { readForm, writeForm } from '../../console/mappings/transformation-form.ts';
import { printValue, readValue } from '../../console/mappings/values.ts';
import { readPath, vendorFieldsOf } from '../../console/mappings/vendor-fields.ts';

const KEAP = [
  { path: 'id', type: 'string' },
  { path: 'given_name', type: 'string' },
  { path: 'family_name', type: 'string' },
  { path: 'company.id', type: 'string' },
  { path: 'email_addresses', type: 'array' },
  { path: 'email_addresses[0].email', type: 'string' },
  { path: 'addresses[0].locality', type: 'string' },
  { path: 'score_value', type: 'integer' },
  { path: 'create_time', type: 'datetime' },
  { path: 'update_time', type: 'datetime' },
];

const suggested = (ours: Parameters<typeof suggestPairs>[0], vendor = KEAP) =>
  Object.fromEntries([...suggestPairs(ours, vendor)].map(([path, field]) => [path, field.path]));

describe('the suggestions for a mapping', () => {
  it('pair equal names, known synonyms, and the ends of paths', () => {
    expect(
      suggested([
        { path: 'key', type: 'string' },
        { path: 'firstName', type: 'string' },
        { path: 'lastName', type: 'string' },
        { path: 'mail', type: 'string' },
        { path: 'address.city', type: 'string' },
        { path: 'scoreValue', type: 'number' },
        { path: 'changedAt', type: 'date' },
      ]),
    ).to.deep.equal({
      key: 'id',
      firstName: 'given_name',
      lastName: 'family_name',
      mail: 'email_addresses[0].email',
      'address.city': 'addresses[0].locality',
      scoreValue: 'score_value',
      changedAt: 'update_time',
    });
  });

  it('pair nothing whose type does not fit, or whose name says too little', () => {
    expect(suggested([{ path: 'emailAddresses', type: 'boolean' }])).to.deep.equal({});
    expect(suggested([{ path: 'owner.id', type: 'string' }])).to.deep.equal({});
    expect(suggested([{ path: 'weather', type: 'string' }])).to.deep.equal({});
  });

  it('use a field of the provider once, for the best of ours', () => {
    const ours = [
      { path: 'identifier', type: 'string' },
      { path: 'id', type: 'string' },
    ] as const;
    expect(suggested(ours)).to.deep.equal({ id: 'id' });
  });

  it('prefer the same type where two names are as good', () => {
    const vendor = [
      { path: 'created', type: 'string' },
      { path: 'createdDate', type: 'datetime' },
    ];
    expect(suggested([{ path: 'createdAt', type: 'date' }], vendor)).to.deep.equal({ createdAt: 'createdDate' });
  });

  it('rank all fields of the provider: by the name, then by the type', () => {
    const ranked = rankFields({ path: 'created', type: 'date' }, KEAP).map(({ path }) => path);
    expect(ranked.slice(0, 3)).to.deep.equal(['create_time', 'update_time', 'id']);
    expect(ranked).to.have.length(KEAP.length);
  });

  it('name and type a new field after one of the provider', () => {
    expect(
      ['given_name', 'email_addresses[0].email', 'FirstName', 'ID', 'company.company_name'].map(nameFor),
    ).to.deep.equal(['givenName', 'email', 'firstName', 'id', 'companyName']);
    const types = ['integer', 'datetime', 'array', 'string', 'uuid'].map((type) => mappedTypeOf({ path: 'a', type }));
    expect(types).to.deep.equal(['number', 'date', 'array', 'string', 'string']);
  });
});

const DEFINED = [
  { path: 'id', type: 'string' },
  { path: 'changed', type: 'date' },
  { path: 'state', type: 'string' },
  { path: 'amount', type: 'number', displayName: 'Amount' },
  { path: 'kind', type: 'string' },
  { path: 'name', type: 'string' },
  { path: 'phone', type: 'string' },
  { path: 'note', type: 'string' },
  { path: 'open', type: 'boolean' },
] as const;

const ENTRIES = {
  changed: [{ type: 'transformDate', properties: { pattern: 'yyyy-MM-dd' } }],
  state: [
    { type: 'valueMap', properties: { values: { '1': 'open', '2': null }, otherwise: 'keep' } },
    { type: 'remove', properties: { fromVendor: false, toVendor: true } },
  ],
  amount: [
    { type: 'number', properties: { multiply: 0.01 } },
    { type: 'defaultValue', properties: { value: 0 } },
  ],
  kind: [{ type: 'constant', properties: { value: 'crm' } }],
  name: [{ type: 'join', properties: { paths: ['first', 'last'], separator: ', ' } }],
  phone: [{ type: 'first', properties: { paths: ['mobile', 'work'] } }],
};

const STORED = {
  objectName: 'people',
  vendorName: 'contacts',
  level: 'account',
  startDate: '2026-11-23T10:00:00.000Z',
  isLegacy: false,
  fields: [
    { path: 'id', type: 'string', vendorPath: 'Id', vendorType: 'string', level: 'account' },
    { path: 'changed', type: 'date', vendorPath: 'update_time', level: 'account', configuration: ENTRIES.changed },
    { path: 'state', type: 'string', vendorPath: 'stage', level: 'account', configuration: ENTRIES.state },
    { path: 'amount', type: 'number', vendorPath: 'cents', level: 'account', configuration: ENTRIES.amount },
    { path: 'kind', type: 'string', level: 'account', configuration: ENTRIES.kind },
    { path: 'name', type: 'string', level: 'account', configuration: ENTRIES.name },
    { path: 'phone', type: 'string', level: 'account', configuration: ENTRIES.phone },
    { path: 'note', type: 'string', level: 'account' },
    { path: 'open', type: 'boolean', vendorPath: 'is_open', level: 'organization' },
    { path: 'extra', type: 'array', vendorPath: 'tags', level: 'account' },
  ],
  configuration: [
    { type: 'passThrough', properties: { fromVendor: true, toVendor: false } },
    { type: 'inherit' },
    { type: 'addToDocumentation' },
  ],
  script: { body: 'done(transformedObject);', filterEmptyResponse: true },
} satisfies Parameters<typeof readForm>[1];

describe('the form of a transformation', () => {
  it('writes what it read: every conversion, the settings and the script', () => {
    const { body, mappedFields } = writeForm(readForm(DEFINED, STORED, 'account'));
    // The level is that of the request. The type is sent where the definition has none.
    const own = STORED.fields.filter(({ level }) => level === 'account');
    expect(body.fields).to.deep.equal(
      own.map(({ level: _, type, ...field }) => (field.path === 'extra' ? { ...field, type } : field)),
    );
    expect(body.vendorName).to.equal('contacts');
    expect(body.configuration).to.deep.equal(STORED.configuration);
    expect(body.script).to.deep.equal(STORED.script);
    expect(mappedFields).to.deep.equal(own.map(({ path }) => path));
  });

  it('sends no inherited field, which would change the level above', () => {
    const form = readForm(DEFINED, STORED, 'account');
    expect(form.fields.find(({ path }) => path === 'open')?.inheritedFrom).to.equal('organization');
    const fields = form.fields.map((field) => (field.path === 'open' ? { ...field, inheritedFrom: undefined } : field));
    expect(writeForm({ ...form, fields }).body.fields?.map(({ path }) => path)).to.include('open');
  });

  it('reads both settings that leave a field out', () => {
    const directionOf = (type: string, properties: object) => {
      const configuration = [{ type, properties: { ...properties } }];
      const stored = {
        ...STORED,
        fields: [{ path: 'id', type: 'string', vendorPath: 'Id', level: 'account', configuration }],
      };
      return readForm(DEFINED, stored as typeof STORED, 'account').fields[0]?.direction;
    };
    expect(directionOf('remove', { fromVendor: true })).to.equal('write');
    expect(directionOf('passThrough', { toVendor: false })).to.equal('read');
    expect(directionOf('remove', { fromVendor: true, toVendor: true })).to.equal('none');
    expect(directionOf('passThrough', { toVendor: true })).to.equal('both');
  });

  it('begins with the fields of the definition, mapped to nothing and passing nothing', () => {
    const { body } = writeForm({ ...readForm(DEFINED, undefined, 'organization'), vendorName: ' contacts ' });
    expect(body).to.deep.equal({
      vendorName: 'contacts',
      fields: [],
      configuration: [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }],
    });
  });

  it('passes everything through where a stored one says nothing of it', () => {
    const form = readForm(DEFINED, { ...STORED, configuration: [] }, 'account');
    expect(form.flags).to.deep.equal(new Set(['passFromVendor', 'passToVendor']));
    expect(writeForm(form).body.configuration).to.deep.equal([]);
  });

  it('reads values in the type of the field, and loses no digit', () => {
    expect(readValue('5', 'number')).to.equal(5);
    expect(readValue('12345678901234567890', 'number')).to.equal('12345678901234567890');
    expect(readValue('5', 'string')).to.equal('5');
    expect(readValue('true', 'boolean')).to.equal(true);
    expect(readValue('', 'string')).to.equal(null);
    for (const value of ['', 'a', null]) expect(readValue(printValue(value), 'string')).to.equal(value);
  });
});

describe('the faults of a transformation', () => {
  it('stand at the controls that they point to', () => {
    const error = {
      details: [
        { path: '/body/fields/1/vendorPath', message: 'wrong path' },
        { path: '/body/fields/1/configuration/0/properties/pattern', message: 'wrong pattern' },
        { path: '/body/vendorName', message: 'no object' },
        { path: '/body/script/body', message: 'is no JavaScript', position: 11 },
      ],
    };
    expect(readFaults(error, ['id', 'mail'], 'let a = 1;\nlet a;')).to.deep.equal({
      byField: new Map([['mail', ['wrong path', 'wrong pattern']]]),
      vendorName: 'no object',
      script: 'Line 2, column 1: is no JavaScript',
    });
  });
});

describe('the fields of a provider', () => {
  const field = (name: string, more: object = {}) => ({ name, label: name, type: 'string', ...more });
  const fieldsOf = (fields: readonly object[], example?: Record<string, unknown>) =>
    vendorFieldsOf({ fields } as Parameters<typeof vendorFieldsOf>[0], example).map(
      ({ path, type, example: value }) => [path, type, value],
    );

  it('are those of the metadata, and what an example has inside', () => {
    const example = { id: '1', emails: [{ email: 'a@b.c', opt: { in: true } }], 'company.id': 7 };
    expect(fieldsOf([field('id'), field('emails', { type: 'array' }), field('company.id')], example)).to.deep.equal([
      ['id', 'string', '1'],
      ['emails', 'array', example.emails],
      ['emails[0].email', 'string', 'a@b.c'],
      ['emails[0].opt', 'object', { in: true }],
      ['emails[0].opt.in', 'boolean', true],
      ['company.id', 'string', 7],
    ]);
  });

  it('of a mapped object with the same name are those that it maps or passes through', () => {
    const mapped = [
      field('key', { mapped: true, vendorPath: 'id', vendorType: 'integer' }),
      field('empty', { mapped: false }),
      field('made', { mapped: true }),
      field('passed'),
    ];
    expect(fieldsOf(mapped).map(([path, type]) => [path, type])).to.deep.equal([
      ['id', 'integer'],
      ['passed', 'string'],
    ]);
  });

  it('are read by their paths', () => {
    const record = { a: [{ b: 1 }], c: { d: 2 }, 'e.f': 3 };
    expect(['a[0].b', 'c.d', 'e.f', 'a[1].b', 'c.x.y'].map((path) => readPath(record, path))).to.deep.equal([
      1,
      2,
      3,
      undefined,
      undefined,
    ]);
  });
});

describe('the addresses of mappings', () => {
  it('lead to what they were made for', () => {
    const below = (path: string) =>
      readAddress(path.replace('/console/mappings', '').replace(/^\//, '').replace(/\?.*/, ''));
    expect(below(pathOfDefinition('my-contacts', 'try'))).to.deep.equal({
      kind: 'definition',
      name: 'my-contacts',
      tab: 'try',
    });
    expect(below(pathOfEditor('people', { level: 'account', elementKey: 'keap' }, 5))).to.deep.equal({
      kind: 'editor',
      name: 'people',
      target: { level: 'account', elementKey: 'keap' },
    });
    expect(below(pathOfEditor('people', { level: 'instance', instanceId: 427 }))).to.deep.include({
      target: { level: 'instance', instanceId: 427 },
    });
    expect(readAddress(undefined)).to.deep.equal({ kind: 'list' });
    for (const path of ['nothing', 'definitions', 'definitions/a/b', 'definitions/a/instance/x', 'catalogue/a'])
      expect(readAddress(path), path).to.deep.equal({ kind: 'nowhere' });
  });
});
