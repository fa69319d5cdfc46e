import { expect } from 'chai';
import keap from '../../connectors/keap/index.ts';
import odata from '../../connectors/odata/index.ts';
import { AppError } from '../../src/errors.ts';
import { checkName, readDefinition } from '../../src/mappings/check-definition.ts';
import { readTransformation } from '../../src/mappings/check-transformation.ts';
import { createFaults } from '../../src/mappings/faults.ts';
import type { Level } from '../../src/mappings/model.ts';

/** The messages of the faults, by the pointers of their members. */
function faultsOf(work: () => unknown): Readonly<Record<string, string>> {
  try {
    work();
    return {};
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).to.equal('REQUEST_INVALID');
    return Object.fromEntries((error.details ?? []).map(({ path = '', message }) => [path, message]));
  }
}

const of = (level: Level = 'organization') => ({ objectName: 'people', level });

describe('the name of a definition', () => {
  const reserved = new Set(['instances']);
  const faultOf = (name: string) => {
    const faults = createFaults();
    checkName(name, ['path', 'objectName'], faults, reserved);
    return faults.list[0]?.message;
  };

  for (const name of ['people', 'myContacts', 'time-off', 'a_1', 'orders'])
    it(`can be ${name}`, () => expect(faultOf(name)).to.equal(undefined));

  const form = 'path.objectName must begin with a letter, followed by letters, digits, _ and -, such as myContacts.';
  const refused: Readonly<Record<string, string>> = {
    '1a': form,
    'a b': form,
    'a/b': form,
    'a.b': form,
    '': form,
    order: "path.objectName must not be 'order', which is a word of the query language.",
    SELECT: "path.objectName must not be 'SELECT', which is a word of the query language.",
    instances:
      "path.objectName must not be 'instances', because paths of the platform begin with /instances. Choose another name.",
    ['a'.repeat(101)]: 'path.objectName must have at most 100 characters.',
  };
  for (const [name, message] of Object.entries(refused))
    it(`cannot be ${JSON.stringify(name.slice(0, 20))}`, () => expect(faultOf(name)).to.equal(message));
});

describe('the body of a definition', () => {
  const read = (body: unknown, level?: Level) => readDefinition(body, of(level));
  const faults = (...fields: readonly unknown[]) => faultsOf(() => read({ fields }));

  it('may have no fields, and members that others write', () => {
    expect(read({ fields: [] }).own).to.deep.equal([]);
    const field = { path: 'a', type: 'string', displayName: '', level: null, fieldCreatedDate: 'x' };
    expect(read({ fields: [field], vdrShared: true, createdDate: 'x', level: null }).own).to.deep.equal([
      { path: 'a', type: 'string' },
    ]);
  });

  it('must be an object with fields', () => {
    const message = 'body.fields must be a list of fields. It may be empty.';
    for (const body of [{}, { fields: {} }, { fields: 'a' }])
      expect(faultsOf(() => read(body))).to.deep.equal({ '/body/fields': message });
    for (const body of [undefined, null, [], 'a'])
      expect(faultsOf(() => read(body))).to.deep.equal({ '/body': 'body must be an object with the member fields.' });
  });

  it('says of each field what is wrong', () => {
    expect(
      faults({}, 1, { path: 'a', type: 'text' }, { path: 'b', type: 'strng' }, { path: 1, type: 'date' }),
    ).to.deep.equal({
      '/body/fields/0/path': 'body.fields.0.path is missing.',
      '/body/fields/0/type': 'body.fields.0.type is missing. Expected: string, number, boolean, date, array, object.',
      '/body/fields/1': 'body.fields.1 must be an object.',
      '/body/fields/2/type': 'body.fields.2.type must be one of string, number, boolean, date, array, object.',
      '/body/fields/3/type':
        "body.fields.3.type must be one of string, number, boolean, date, array, object. Did you mean 'string'?",
      '/body/fields/4/path': 'body.fields.4.path must be a text.',
    });
  });

  const form = 'body.fields.0.path must be a path such as address.city, users[*].name or lines[0].price.';
  const paths: Readonly<Record<string, string | undefined>> = {
    'address.city': undefined,
    'users[*].name': undefined,
    'lines[0].price': undefined,
    'portal-id': undefined,
    'with blank': undefined,
    'a[*][0]': undefined,
    '': form,
    '.a': form,
    'a.': form,
    'a..b': form,
    'a[]': form,
    'a[x]': form,
    '[0]': form,
    ' a': form,
    'a`b': form,
    'a\u0001': form,
    'a.__proto__.b': "body.fields.0.path must not contain '__proto__'.",
    'a.b.c.d.e.f.g.h.i.j': undefined,
    'a.b.c.d.e.f.g.h.i.j.k': 'body.fields.0.path must lead through at most 10 members; it has 11.',
    ['a'.repeat(256)]: 'body.fields.0.path must have at most 255 characters.',
  };
  for (const [path, message] of Object.entries(paths))
    it(`${message === undefined ? 'may have' : 'may not have'} the path ${JSON.stringify(path.slice(0, 30))}`, () =>
      expect(faults({ path, type: 'string' })['/body/fields/0/path']).to.equal(message));

  it('has each path once', () => {
    const field = { path: 'a', type: 'string' };
    expect(faults(field, { path: 'b', type: 'string' }, field)).to.deep.equal({
      '/body/fields/2/path': "body.fields.2.path 'a' is also the path of fields.0.",
    });
  });

  it('has at most 1,000 fields', () => {
    const fields = Array.from({ length: 1_001 }, (_, n) => ({ path: `f${n}`, type: 'string' }));
    expect(faultsOf(() => read({ fields }))).to.deep.equal({
      '/body/fields': 'body.fields must have at most 1000 fields; it has 1001.',
    });
    expect(read({ fields: fields.slice(1) }).own).to.have.length(1_000);
  });

  it('names its object and its level as the path does, or not at all', () => {
    expect(faultsOf(() => read({ objectName: 'others', level: 'account', fields: [] }))).to.deep.equal({
      '/body/objectName': "body.objectName must be 'people', as in the path. To rename, use PATCH. Or leave it out.",
      '/body/level': "body.level must be 'organization', which is the level of the path. Or leave it out.",
    });
    expect(read({ objectName: 'people', level: 'organization', fields: [] }).own).to.deep.equal([]);
  });

  it('separates the fields of higher levels, and refuses those of lower ones', () => {
    const fields = (['instance', 'account', 'organization', undefined] as const).map((level, n) => ({
      path: `f${n}`,
      type: 'string',
      ...(level !== undefined && (n === 1 ? { associatedLevel: level, level: 'organization' } : { level })),
    }));
    const { own, others } = read({ fields }, 'instance');
    expect(own.map(({ path }) => path)).to.deep.equal(['f0', 'f3']);
    expect([...others].map(([level, found]) => [level, found.map(({ path }) => path)])).to.deep.equal([
      ['account', ['f1']],
      ['organization', ['f2']],
    ]);
    expect(faultsOf(() => read({ fields }, 'account'))).to.deep.equal({
      '/body/fields/0/level':
        "body.fields.0.level must not be 'instance', which is below the level 'account' of the path. Send the field to a path of its own level.",
    });
    expect(faults({ path: 'a', type: 'string', level: 'system' })).to.deep.equal({
      '/body/fields/0/level': 'body.fields.0.level must be one of instance, account, organization.',
    });
  });
});

describe('the body of a transformation', () => {
  const ports = { connector: keap, findSyntaxFault: undefined };
  const valid = { vendorName: 'contacts', fields: [{ path: 'key', vendorPath: 'id' }] };
  const read = (body: object) => readTransformation({ ...valid, ...body }, of(), ports);
  const faults = (body: object) => faultsOf(() => read(body));
  const faultOf = (body: object) => Object.values(faults(body))[0];
  const entry = (type: string, properties?: unknown) => ({
    fields: [
      {
        path: 'key',
        ...(!['constant', 'join', 'first'].includes(type) && { vendorPath: 'id' }),
        configuration: [{ type, properties }],
      },
    ],
  });

  it('names an object of the element that can be listed', () => {
    expect(faultOf({ vendorName: 'contact' })).to.equal(
      "body.vendorName 'contact' is no object of the element 'keap'. Did you mean 'contacts'?",
    );
    expect(faultOf({ vendorName: undefined })).to.equal(
      "body.vendorName is missing. It names an object of the element 'keap'.",
    );
    const discovered = { connector: odata, findSyntaxFault: undefined };
    expect(readTransformation({ ...valid, vendorName: 'Anything' }, of(), discovered).vendorName).to.equal('Anything');
  });

  it('is not of the old engine', () => {
    expect(faultOf({ isLegacy: true })).to.equal(
      'body.isLegacy must not be true: it selects an old script engine that does not exist here. Send false, or leave it out.',
    );
    expect(read({ isLegacy: false }).own).to.have.length(1);
  });

  it('says where the value of each field comes from', () => {
    expect(faultOf({ fields: [{ path: 'a' }] })).to.equal(
      'body.fields.0.vendorPath is missing. Name the field of the provider, or make the value with a script or one of constant, join, first.',
    );
    expect(read({ fields: [{ path: 'a' }], script: { body: 'done(transformedObject)' } }).own).to.deep.equal([
      { path: 'a' },
    ]);
    const both = { path: 'a', vendorPath: 'id', configuration: [{ type: 'constant', properties: { value: 1 } }] };
    expect(faultOf({ fields: [both] })).to.equal(
      "body.fields.0.vendorPath must be left out, because 'constant' makes the value.",
    );
    const makers = [
      { type: 'constant', properties: { value: 1 } },
      { type: 'first', properties: { paths: ['a'] } },
    ];
    expect(faultOf({ fields: [{ path: 'a', configuration: makers }] })).to.equal(
      'body.fields.0.configuration must have only one of constant, join, first; it has constant, first.',
    );
  });

  for (const vendorPath of [
    'a.b',
    'a[0].b',
    'a[*].b',
    'a[id=4].b',
    'a[?(@.id==2)].b',
    'a[?(@.x.y==true)].b',
    'a[*].size()',
  ])
    it(`may have the provider's path ${vendorPath}`, () =>
      expect(read({ fields: [{ path: 'key', vendorPath }] }).own[0]?.vendorPath).to.equal(vendorPath));

  for (const vendorPath of ['a..b', 'a[?(id==2)].b', 'a[', '.a', 'a[?(@.id>2)]'])
    it(`may not have the provider's path ${vendorPath}`, () =>
      expect(faultOf({ fields: [{ path: 'key', vendorPath }] })).to.equal(
        'body.fields.0.vendorPath must be a path such as a.b, a[0].b, a[*].b, a[id=4].b, a[?(@.id==2)].b or a[*].size().',
      ));

  describe('with configuration', () => {
    const known: Readonly<Record<string, unknown>> = {
      passThrough: { fromVendor: false },
      remove: { fromVendor: true, toVendor: false },
      transformDate: { pattern: "yyyy-MM-dd'T'HH:mm:ss" },
      defaultValue: { value: null },
      valueMap: { values: { '1': 'open', '2': true }, otherwise: 'keep' },
      constant: { value: 0 },
      join: { paths: ['a', 'b.c'], separator: ', ' },
      first: { paths: ['a[0].b'] },
      number: { multiply: '0.01' },
    };
    for (const [type, properties] of Object.entries(known))
      it(`keeps ${type} of a field as it is`, () =>
        expect(read(entry(type, properties)).own[0]?.configuration).to.deep.equal([{ type, properties }]));

    const at = 'body.fields.0.configuration.0.properties';
    const wrong: readonly (readonly [type: string, properties: unknown, message: string])[] = [
      ['remove', { fromVendor: 'yes' }, `${at}.fromVendor must be true or false.`],
      ['remove', { fromvendor: true }, "Unknown property 'fromvendor'. Did you mean 'fromVendor'?"],
      ['remove', 1, `${at} must be an object with fromVendor, toVendor.`],
      ['transformDate', {}, `${at}.pattern is missing.`],
      [
        'transformDate',
        { pattern: 'dd/TT' },
        `${at}.pattern must be a Java date pattern, such as yyyy-MM-dd or yyyy-MM-dd'T'HH:mm:ssXXX.`,
      ],
      ['defaultValue', {}, `${at}.value is missing.`],
      ['defaultValue', { value: [] }, `${at}.value must be a text, a number, true, false or null.`],
      ['valueMap', { values: {} }, `${at}.values must have 1 to 1000 values; it has 0.`],
      [
        'valueMap',
        { values: [1] },
        `${at}.values must be an object with our values by those of the provider, such as { "1": "open" }.`,
      ],
      ['join', { paths: [] }, `${at}.paths must be a list of 1 to 20 paths in the record of the provider.`],
      ['join', { paths: ['a', 1] }, `${at}.paths has an entry 1 that must be a text.`],
      ['first', { paths: ['a'], separator: ',' }, "Unknown property 'separator'."],
      ['number', { multiply: 0 }, `${at}.multiply must be a number other than 0, such as 0.01.`],
      ['number', { multiply: 'x' }, `${at}.multiply must be a number other than 0, such as 0.01.`],
      ['transformdate', {}, "Unknown configuration entry 'transformdate'. Did you mean 'transformDate'?"],
    ];
    for (const [type, properties, message] of wrong)
      it(`refuses ${type} with ${JSON.stringify(properties)}`, () =>
        expect(faultOf(entry(type, properties))).to.equal(message));

    it('accepts that of a transformation as clients export it', () => {
      const configuration = [
        { level: 'account', type: 'addToDocumentation' },
        { level: 'account', properties: { toVendor: null }, type: 'applyJSOnQueryFieldValue' },
        { level: 'account', type: 'inherit' },
        { level: 'account', properties: { fromVendor: false, toVendor: null }, type: 'passThrough' },
      ];
      expect(read({ configuration }).configuration).to.deep.equal([
        { type: 'addToDocumentation' },
        { type: 'applyJSOnQueryFieldValue' },
        { type: 'inherit' },
        { type: 'passThrough', properties: { fromVendor: false } },
      ]);
    });

    it('has each type once', () => {
      const configuration = [{ type: 'inherit' }, { type: 'inherit' }];
      expect(faults({ configuration })).to.deep.equal({
        '/body/configuration/1/type': "body.configuration.1.type 'inherit' is there twice.",
      });
    });
  });

  describe('with a script', () => {
    it('has at most 64 kB of JavaScript', () => {
      expect(faultOf({ script: { body: 'ü'.repeat(32_769) } })).to.equal(
        'body.script.body must have at most 65536 bytes; it has 65538.',
      );
      expect(faultOf({ script: { body: 'done()', mimeType: 'text/python' } })).to.equal(
        'body.script.mimeType must be application/javascript or text/javascript.',
      );
      expect(faultOf({ script: 'done()' })).to.equal('body.script must be an object with the member body.');
      expect(faultOf({ script: { body: 'x', filterEmptyResponse: 1 } })).to.equal(
        'body.script.filterEmptyResponse must be true or false.',
      );
    });

    it('has what it is checked with say where its syntax is wrong', () => {
      const context = { connector: keap, findSyntaxFault: () => ({ message: 'Unexpected token (1:3)', position: 3 }) };
      const body = { ...valid, script: { body: 'if}' } };
      expect(faultsOf(() => readTransformation(body, of(), context))).to.deep.equal({
        '/body/script/body': 'body.script.body is no JavaScript: Unexpected token (1:3)',
      });
    });

    it('has none where its body is empty, as clients send it', () => {
      for (const script of [null, {}, { body: '' }, { mimeType: 'application/javascript', level: 'organization' }])
        expect(read({ script })).to.not.have.property('script');
    });
  });
});
