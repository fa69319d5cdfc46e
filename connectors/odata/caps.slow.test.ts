import { expect } from 'chai';
import type { ObjectSpec, Objects } from '#connector';
import { withoutThreads } from '#connector/testing';
import { isAppError } from '../../src/errors.ts';
import readModel from './model.ts';
import { discoverObjects } from './objects.ts';

const times = (count: number, print: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => print(i)).join('');

function document(schema: string, sets: string): string {
  return `<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">${schema}<EntityContainer Name="C">${sets}</EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>`;
}

const KEY = '<Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Int32" Nullable="false"/>';

function entity(name: string, content: string, attributes = ''): string {
  return `<EntityType Name="${name}"${attributes}>${KEY}${content}</EntityType>`;
}

function property(name: string, type = 'Edm.String'): string {
  return `<Property Name="${name}" Type="${type}"/>`;
}

function set(name: string, type: string, content = ''): string {
  return `<EntitySet Name="${name}" EntityType="S.${type}">${content}</EntitySet>`;
}

const GOOD = { schema: entity('Good', ''), set: set('Goods', 'Good') };

function contextOf(body: string) {
  return withoutThreads({
    config: { 'base.url': 'https://demo.example.com' },
    signal: new AbortController().signal,
    send: async () => ({ status: 200, headers: {}, body }),
  });
}

function discover(body: string): Promise<Objects> {
  return discoverObjects(contextOf(body));
}

function describeObject(object: ObjectSpec | undefined): Promise<ObjectSpec> {
  if (object?.describe === undefined) throw new Error('There is no such outline.');
  return object.describe(contextOf(''));
}

async function messageOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (isAppError(error, 'PROVIDER_PROTOCOL')) return error.message;
    throw error;
  }
  throw new Error('It is taken, though it must not be.');
}

/** Returns the fault that discovery reports for an object of the type `S.Bad` beside a good object. */
async function faultBesideGood(schema: string): Promise<string> {
  const objects = await discover(document(GOOD.schema + schema, GOOD.set + set('Bads', 'Bad')));
  expect(Object.keys(objects)).to.deep.equal(['Goods', 'Bads']);
  expect(Object.keys((await describeObject(objects.Goods)).fields)).to.deep.equal(['id']);
  return messageOf(describeObject(objects.Bads));
}

const inType = (fault: string, type = 'S.Bad') => `The type ${type} in the $metadata of the service ${fault}.`;

describe('$metadata of an OData service with too much of something', () => {
  for (const [what, xml, message] of [
    [
      'bytes',
      `${' '.repeat(8 * 1024 * 1024)}<x/>`,
      'The $metadata of the service has 8,388,612 bytes; the maximum is 8,388,608.',
    ],
    [
      'entity sets',
      document(
        GOOD.schema,
        times(2001, (index) => set(`s${index}`, 'Good')),
      ),
      'The $metadata of the service has 2,001 entity sets; the maximum is 2,000.',
    ],
    [
      'types',
      document(
        times(10_001, (index) => `<EnumType Name="E${index}"/>`),
        '',
      ),
      'The $metadata of the service has 10,001 types; the maximum is 10,000.',
    ],
    [
      'collections below its sets',
      document(
        entity(
          'Good',
          times(1000, (index) => `<NavigationProperty Name="n${index}" Type="Collection(S.Good)"/>`),
        ),
        times(51, (index) => set(`s${index}`, 'Good')),
      ),
      'The $metadata of the service has 51,000 collections below its entity sets; the maximum is 50,000.',
    ],
    [
      'characters in a namespace, for which an alias of one letter stands',
      document(GOOD.schema, GOOD.set).replace('Namespace="S"', `Namespace="${'n'.repeat(512)}" Alias="S"`),
      'The $metadata of the service has 512 characters in a namespace; the maximum is 511.',
    ],
  ] as const) {
    it(`is refused for its number of ${what}`, async () => {
      expect(await messageOf(discover(xml))).to.equal(message);
    });
  }

  it('is refused for an annotation of a set that is as large as a document', async () => {
    const paths = times(20_000, (index) => `<PropertyPath>some/long/property${index}</PropertyPath>`);
    const annotation = `<Annotation Term="Org.OData.Capabilities.V1.FilterFunctions"><Collection>${paths}</Collection></Annotation>`;
    expect(await messageOf(discover(document(GOOD.schema, set('Goods', 'Good', annotation))))).to.match(
      /^The \$metadata of the service has [\d,]+ characters in FilterFunctions of S\.C\/Goods; the maximum is 500,000\.$/,
    );
  });
});

describe('an OData type with too much of something makes its own object unusable only', () => {
  it('properties', async () => {
    const bad = entity(
      'Bad',
      times(7212, (index) => property(`p${index}`)),
    );
    expect(await faultBesideGood(bad)).to.equal(inType('has 7,213 properties; the maximum is 5,000'));
  });

  it('fields of complex types inside complex types, of which 10 kB can make a million', async () => {
    const level = (name: string, next: string) =>
      `<ComplexType Name="${name}">${times(70, (index) => property(`p${index}`, next))}</ComplexType>`;
    const schema =
      level('A', 'S.B') +
      level('B', 'S.A') +
      entity(
        'Bad',
        times(70, (index) => property(`p${index}`, 'S.A')),
      );
    expect(schema.length).to.be.below(11_000);
    // The fields are the key and three levels of 70 properties.
    expect(await faultBesideGood(schema)).to.equal(inType('has 347,971 fields; the maximum is 5,000'));
  });

  it('properties of a complex type in it', async () => {
    const big = `<ComplexType Name="Big">${times(5001, (index) => property(`p${index}`))}</ComplexType>`;
    const message = await faultBesideGood(big + entity('Bad', property('big', 'S.Big')));
    expect(message).to.equal(inType('has 5,001 properties; the maximum is 5,000', 'S.Big'));
  });

  it('fields of all its base types together', async () => {
    const content = times(3000, (index) => property(`p${index}`));
    const message = await faultBesideGood(
      `${entity('Base', content)}<EntityType Name="Bad" BaseType="S.Base">${content}</EntityType>`,
    );
    expect(message).to.equal(inType('has 6,001 fields; the maximum is 5,000'));
  });

  it('base types', async () => {
    const chain = times(34, (index) => `<EntityType Name="T${index}" BaseType="S.T${index + 1}"/>`);
    const message = await faultBesideGood(`${chain}${entity('T34', '')}<EntityType Name="Bad" BaseType="S.T0"/>`);
    expect(message).to.equal(inType('has more than 32 base types; the maximum is 32'));
  });

  it('base types that lead in a circle', async () => {
    const circle = '<EntityType Name="Bad" BaseType="S.Other"/><EntityType Name="Other" BaseType="S.Bad"/>';
    expect(await faultBesideGood(circle)).to.equal(inType('has more than 32 base types; the maximum is 32'));
  });

  it('collections inside collections', async () => {
    const type = `${'Collection('.repeat(20)}Edm.String${')'.repeat(20)}`;
    const message = "has a collection of collections in 'deep', which OData does not have";
    expect(await faultBesideGood(entity('Bad', property('deep', type)))).to.equal(inType(message));
  });

  it('characters in a name', async () => {
    const message = await faultBesideGood(entity('Bad', property('n'.repeat(129))));
    expect(message).to.equal(inType('has 129 characters in a name; the maximum is 128'));
  });

  it('values of enumerations over its fields', async () => {
    const members = times(1000, (index) => `<Member Name="m${index}"/>`);
    const schema = `<EnumType Name="E">${members}</EnumType>${entity(
      'Bad',
      times(21, (index) => property(`p${index}`, 'S.E')),
    )}`;
    expect(await faultBesideGood(schema)).to.equal(inType('has 21,000 values of fields; the maximum is 20,000'));
  });

  it('navigation properties', async () => {
    const navigation = times(5001, (index) => `<NavigationProperty Name="n${index}" Type="Collection(S.Good)"/>`);
    const message = await faultBesideGood(entity('Bad', navigation));
    expect(message).to.equal(inType('has 5,001 navigation properties; the maximum is 5,000'));
  });
});

describe('an OData field', () => {
  async function fieldsOf(schema: string) {
    const { Items } = await discover(document(schema, set('Items', 'Item')));
    return (await describeObject(Items)).fields;
  }

  it('of an enumeration with more members than can be shown is filtered by null only', async () => {
    const members = times(1001, (index) => `<Member Name="m${index}"/>`);
    const { hue } = await fieldsOf(`<EnumType Name="E">${members}</EnumType>${entity('Item', property('hue', 'S.E'))}`);
    expect(hue).to.not.have.property('values');
    expect(Object.keys(hue?.filter ?? {})).to.deep.equal(['IS NULL', 'IS NOT NULL']);
  });

  it('whose type is defined by itself has no known type', async () => {
    const definition = '<TypeDefinition Name="D" UnderlyingType="S.D"/>';
    const { it } = await fieldsOf(definition + entity('Item', property('it', 'S.D')));
    expect(it).to.include({ type: 'object', nativeType: 'S.D' });
  });
});

describe('a large OData service', () => {
  it('becomes data no larger than a few times its document, whatever its types and sets share', () => {
    const base = entity(
      'Base',
      times(4000, (index) => property(`property${index}`)),
    );
    const derived = times(2000, (index) => `<EntityType Name="D${index}" BaseType="S.Base"/>`);
    const sets = times(2000, (index) => set(`s${index}`, `D${index}`));
    const paths = times(4000, (index) => `<PropertyPath>property${index}</PropertyPath>`);
    const restriction = `<Annotation Term="Org.OData.Capabilities.V1.SortRestrictions"><Record><PropertyValue Property="NonSortableProperties"><Collection>${paths}</Collection></PropertyValue></Record></Annotation>`;
    const xml = document(base + derived, sets + restriction);
    const reading = readModel(xml);
    if ('fault' in reading) throw new Error(reading.fault);
    const { sets: summaries, types, statements } = reading.model;
    expect(JSON.stringify([summaries, [...types], statements]).length).to.be.below(3 * xml.length);
  });

  it('has one field table for all sets and children of a type that can do the same', async () => {
    const tree = entity('Node', '<NavigationProperty Name="nodes" Type="Collection(S.Node)"/>');
    const sets = set('Ones', 'Node') + set('Twos', 'Node', '<NavigationPropertyBinding Path="nodes" Target="Ones"/>');
    const objects = await discover(document(tree, sets));
    const [ones, twos] = await Promise.all([describeObject(objects.Ones), describeObject(objects.Twos)]);
    const below = await Promise.all([ones, twos].map((each) => describeObject(each.children?.nodes)));
    for (const each of [twos, ...below]) expect(each.fields).to.equal(ones.fields);
  });

  it('is listed without a field, and described without those of its children', async () => {
    const tree = entity('Node', '<NavigationProperty Name="_nodes" Type="Collection(S.Node)"/>');
    const { Ones } = await discover(document(tree, set('Ones', 'Node')));
    expect(Ones).to.deep.include({
      fields: {},
      outline: { operations: ['list', 'get', 'create', 'update', 'replace', 'remove'], children: ['nodes'] },
    });
    const { fields, children } = await describeObject(Ones);
    expect(Object.keys(fields)).to.deep.equal(['id']);
    expect(children?.nodes).to.deep.include({ native: '_nodes', fields: {} });
  });
});
